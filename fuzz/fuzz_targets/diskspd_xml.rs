//! No text makes the reader of DiskSpd's XML panic; what it accepts are finite figures.
#![no_main]

use iotax_dialects::importers::diskspd;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(result) = diskspd::read_diskspd(text) else { return };
    assert_eq!(result.jobs.len(), result.options.len());
    for job in &result.jobs {
        assert!(job.active_ns > 0);
        for summary in [&job.read, &job.write].into_iter().filter_map(|d| d.summary.as_ref()) {
            assert!(summary.mean_ns.is_finite() && summary.mean_ns >= 0.0);
        }
    }
});
