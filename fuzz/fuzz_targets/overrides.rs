//! No `--set` makes the reader panic, nor the checks after it.
#![no_main]

use iotax_experiment::Workload;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut workload = Workload::preset("driver-searcher").expect("it is built in");
    if workload.set(text).is_ok() {
        let _ = workload.validate();
        let _ = workload.explain();
    }
});
