//! Variables in job files.

use insta::assert_snapshot;

use super::*;
use crate::fio::section::{Machine, Outside};

/// An environment with two variables, and a machine.
struct Around;

impl Outside for Around {
    fn file(&self, name: &str) -> Result<String, String> {
        files(name)
    }

    fn variable(&self, name: &str) -> Option<String> {
        match name {
            "SIZE" => Some("1g".to_owned()),
            "DIR" => Some("/mnt/$ncpus".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        }
    }

    fn machine(&self) -> Option<Machine> {
        Some(Machine { page_bytes: 4096, memory_mib: 7962, cpus: 8 })
    }
}

fn read(text: &str) -> String {
    match read_job_file("job.fio", text, &Around) {
        Ok(sections) => listed(&sections),
        Err(error) => error.to_string(),
    }
}

/// Values of fio 3.33.
#[test]
fn variables_and_keywords_are_replaced() {
    assert_snapshot!(read("[a]\nsize=${SIZE}\nfilename=x${EMPTY}y${SIZE}\n"), @"a: size=1g filename=xy1g");
    assert_snapshot!(read("[a]\nbs=$pagesize\nnumjobs=$ncpus*2+1\nio_size=$mb_memory/2\n"), @"a: bs=4096 numjobs=17 io_size=3981");
    assert_snapshot!(read("[a]\nsize=$mb_memorym\nnrfiles=($ncpus+2)*3\n"), @"a: size=7962m nrfiles=30");
    assert_snapshot!(read("[a]\nfilename_format=$jobname.$filenum\ndescription=${x\n"), @"a: description=${x filename_format=$jobname.$filenum");
}

#[test]
fn what_is_not_set_or_cannot_be_computed_is_named() {
    let cases = [
        "[a]\nsize=${HOME_OF}\n",
        "[a]\nsize=$mb_memory*1m\n",
        "[a]\nfilename=/data/$ncpus\n",
        "[a]\ndirectory=${DIR}\n",
        "[a]\nbs=${SIZE}x\n",
    ];
    let said: Vec<_> = cases.iter().map(|text| read(text)).collect();
    assert_snapshot!(said.join("\n\n"), @"
    job.fio:2:6: `${HOME_OF}` is not set in the environment
      2 | size=${HOME_OF}
        |      ^^^^^^^^^^
    set it before the command, as in HOME_OF=VALUE iotax ..., or replace it with its value

    job.fio:2:1: fio passes `7962*1m` to the calculator bc, which cannot read it
      2 | size=$mb_memory*1m
        | ^^^^^^^^^^^^^^^^^^
    with a keyword, use only + - * /, parentheses, and whole numbers without units

    job.fio:2:1: fio passes `/data/8` to the calculator bc, which cannot read it
      2 | filename=/data/$ncpus
        | ^^^^^^^^^^^^^^^^^^^^^
    with a keyword, use only + - * /, parentheses, and whole numbers without units

    job.fio:2:1: fio passes `/mnt/8` to the calculator bc, which cannot read it
      2 | directory=${DIR}
        | ^^^^^^^^^^^^^^^^
    with a keyword, use only + - * /, parentheses, and whole numbers without units

    job.fio:2:4: bs: fio has no unit `gx` and would read `1gx` as a plain number
      2 | bs=${SIZE}x
        |    ^^^^^^^^
    write k, m, g, t or p, or no unit
    ");
}

#[test]
fn variables_are_kept_with_the_setting() {
    let text = "[a]\nnumjobs=$ncpus\nsize=${SIZE}\nrw=read\n";
    let sections = read_job_file("job.fio", text, &Around).unwrap();
    let variables: Vec<_> = sections[0].settings.iter().map(|s| s.variables.join(",")).collect();
    assert_eq!(variables, ["$ncpus", "${SIZE}", ""]);
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_text() {
    assert_snapshot!(read("\u{feff}[a]\r\nbs=4k\r\n"), @"a: bs=4k");
}
