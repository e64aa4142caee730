//! No command line of `DiskSpd` makes the reader panic, nor the checks after it.
#![no_main]

use iotax_dialects::diskspd;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for workload in diskspd::from_command(text).into_iter().flatten() {
        let _ = workload.validate();
        let _ = workload.explain();
    }
});
