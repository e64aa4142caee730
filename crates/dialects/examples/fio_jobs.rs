//! What iotax makes of the job files in a checkout of fio's repository, as a table for
//! docs/fio-newest.md. Those files are fio's (GPL) and stay there.
//!
//! ```sh
//! FIO_CHECKOUT=/path/to/fio cargo run -p iotax-dialects --example fio_jobs > docs/fio-newest.md
//! ```
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

#[path = "../tests/support/fio_jobs.rs"]
mod fio_jobs;

use std::path::PathBuf;
use std::process::ExitCode;

use fio_jobs::{Row, counts, in_directory, row};

const INTRO: &str = "\
# Job files of the newest fio

This page shows what `iotax run FILE TARGET` does with the job files in `examples` and `t/jobs` of
[fio's repository](https://github.com/axboe/fio) (August 2026, after fio 3.42). No environment variables were set.
The files belong to fio and are not part of iotax. To update this page, run:

```sh
FIO_CHECKOUT=/path/to/fio cargo run -p iotax-dialects --example fio_jobs > docs/fio-newest.md
```

[fio-examples.md](fio-examples.md) explains *native*, *with fio* and *refused*. If a file has options that
are newer than the installed fio, `--engine fio` refuses it before anything runs, and names the release that
introduced them.
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
            "- `{folder}`: {} files: {}",
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
