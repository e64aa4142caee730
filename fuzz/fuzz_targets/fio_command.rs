//! No command line of fio makes the reader panic, and places lie within the text.
#![no_main]

use iotax_dialects::fio::written::read_command;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let include = |name: &str| match name {
        "job.fio" => Ok("[a]\nbs=4k\n".to_owned()),
        _ => Err("no such file".to_owned()),
    };
    if let Ok(sections) = read_command(text, &include) {
        for setting in sections.iter().flat_map(|section| &section.settings) {
            assert!(setting.place.text.get(setting.place.span.clone()).is_some());
        }
    }
});
