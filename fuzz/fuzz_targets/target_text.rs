//! Any text either reads as a target whose canonical text reads as the same target, or is refused.
#![no_main]

use iotax_experiment::Target;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(target @ Target::Stack(_)) = Target::parse(text) {
        let again = Target::parse(&target.to_string()).expect("canonical text reads");
        assert_eq!(again, target);
    }
});
