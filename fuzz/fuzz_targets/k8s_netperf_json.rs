//! No text makes the reader of k8s_netperf's JSON panic; what it accepts has moved something in
//! some time.
#![no_main]

use iotax_dialects::importers::k8s_netperf;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(result) = k8s_netperf::read_k8s_netperf(text) else { return };
    assert_eq!(result.jobs.len(), result.options.len());
    for job in &result.jobs {
        assert!(job.active_ns > 0 && job.read.bytes + job.write.bytes > 0);
        assert!(job.udp.is_none_or(|udp| udp.received <= udp.sent));
    }
});
