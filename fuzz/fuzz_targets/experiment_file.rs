//! No experiment file makes the reader panic, however wrong.
#![no_main]

use iotax_spec::Spec;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Spec::from_toml("fuzz.toml", text) {
        Ok(spec) => spec.validate().expect("a resolved file is valid"),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
