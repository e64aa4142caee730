//! No text makes the reader of knb's JSON panic; what it accepts has moved something in some time.
#![no_main]

use iotax_dialects::importers::knb;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(result) = knb::read_knb(text) else { return };
    assert_eq!(result.jobs.len(), result.options.len());
    for job in &result.jobs {
        assert!(job.active_ns > 0 && job.read.bytes + job.write.bytes > 0);
        assert!(job.udp.is_none_or(|udp| udp.received <= udp.sent));
    }
});
