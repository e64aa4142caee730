//! Prints a table of what iotax does with each job file in a checkout of fio's repository.
//! docs/fio.md has the counts. The job files belong to fio (GPL) and are not copied.
//!
//! ```sh
//! FIO_CHECKOUT=/path/to/fio cargo run -p iotax-dialects --example fio_jobs
//! ```
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

#[path = "../tests/support/fio_jobs.rs"]
mod fio_jobs;

use std::path::PathBuf;
use std::process::ExitCode;

use fio_jobs::{Row, counts, in_directory, row};

const INTRO: &str = "\
# Job files from the latest fio version

This table shows what `iotax run FILE TARGET` does with the job files in `examples` and `t/jobs` in
[fio's repository](https://github.com/axboe/fio). No environment variables were set. docs/fio.md explains *native*,
*with fio* and *refused*.
";

fn main() -> ExitCode {
    let Some(checkout) = std::env::var_os("FIO_CHECKOUT").map(PathBuf::from) else {
        eprintln!("set FIO_CHECKOUT to a checkout of fio's repository");
        return ExitCode::from(2);
    };
    println!("{INTRO}");
    let folders = ["examples", "t/jobs"].map(|folder| {
        let files = in_directory(&checkout.join(folder));
        let rows: Vec<Row> = files.iter().map(|path| row(path)).collect();
        (folder, rows)
    });
    for (folder, rows) in &folders {
        println!(
            "- `{folder}` has {} files: {}",
            rows.len(),
            counts(&rows.iter().collect::<Vec<_>>())
        );
    }
    for (folder, rows) in &folders {
        println!("\n## {folder}\n\n| file | iotax | why |\n|---|---|---|");
        for Row { file, verdict, why } in rows {
            println!("| {file} | {} | {why} |", verdict.name());
        }
    }
    ExitCode::SUCCESS
}
