//! No line of a record makes the reader panic; one it accepts it can write again.
#![no_main]

use iotax_record::Trial;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &[u8]| {
    if let Ok(trial) = serde_json::from_slice::<Trial>(line) {
        let text = serde_json::to_string(&trial).expect("a trial is always JSON");
        serde_json::from_str::<Trial>(&text).expect("what is written can be read");
    }
});
