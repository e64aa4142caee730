//! No text makes the reader of iperf3's JSON panic; what it accepts has moved something in some
//! time.
#![no_main]

use iotax_dialects::importers::iperf3;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(result) = iperf3::read_iperf3(text) else { return };
    assert_eq!(result.jobs.len(), result.options.len());
    for job in &result.jobs {
        assert!(job.active_ns > 0 && job.read.bytes + job.write.bytes > 0);
        assert!(job.udp.is_none_or(|udp| udp.received <= udp.sent));
    }
});
