//! Any text either reads as a disk whose limits are sound, alone and on its own, or is refused.
#![no_main]

use iotax_catalog::{Caching, Setup, attached_disk, expect};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(attached) = attached_disk(text, Caching::None) else { return };
    for limit in &attached.0.limits {
        for rate in [&limit.iops, &limit.bw_bytes].into_iter().flatten() {
            assert!(rate.sustained.is_finite() && rate.sustained > 0.0, "{rate:?}");
            assert!(rate.peak() >= rate.sustained, "{rate:?}");
        }
    }
    let disks = vec![attached.clone(), attached];
    if let Ok(both) = expect(&Setup { disks, ..Setup::default() }) {
        for side in &both.together {
            for bound in [&side.iops, &side.bw_bytes].into_iter().flatten() {
                let burst = bound.burst.as_ref();
                assert!(burst.is_none_or(|burst| burst.per_s > bound.sustained), "{bound:?}");
            }
        }
    }
});
