//! No command line of `DiskSpd` makes the reader panic, nor the checks after it.
#![no_main]

use iotax_dialects::diskspd;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(workload) = diskspd::from_command(text) {
        let _ = workload.validate();
        let _ = workload.explain();
    }
});
