//! No job file of fio makes the reader panic, and each value it takes reads.
#![no_main]

use iotax_dialects::fio::written::read_job_file;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    // Files that include each other, and one with options.
    let include = |name: &str| match name {
        "a" => Ok("include b\nbs=4k\n".to_owned()),
        "b" => Ok("iodepth=2\ninclude a\n".to_owned()),
        "c" => Ok("direct=1\n".to_owned()),
        _ => Err("no such file".to_owned()),
    };
    if let Ok(sections) = read_job_file("fuzz.fio", text, &include) {
        assert!(!sections.is_empty(), "a file without jobs is refused");
    }
});
