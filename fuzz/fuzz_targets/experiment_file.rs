//! No experiment file makes the reader panic, however wrong.
#![no_main]

use iotax_dialects::fio;
use iotax_experiment::file::WorkloadElsewhere;
use iotax_experiment::{Draft, Error};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let include = |_: &str| Err("other files are not read here".to_owned());
    let read = |elsewhere: WorkloadElsewhere<'_>| match elsewhere {
        WorkloadElsewhere::Fio(entry) => fio::from_entry(entry, &include),
        WorkloadElsewhere::Recording(_) => Err(Error::syntax("recordings are not read here", "")),
    };
    match Draft::from_toml("fuzz.toml", text, &read) {
        Ok(spec) => spec.validate().expect("a resolved file is valid"),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
