//! A rule that is read is written so that it is read again: records hold rules as text.
#![no_main]

use iotax_experiment::Rule;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(rule) = Rule::parse(text) {
        let written = rule.to_string();
        let again = Rule::parse(&written).expect("what is written can be read");
        assert_eq!(again.to_string(), written);
    }
});
