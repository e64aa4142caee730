//! What a unit parser accepts, it prints in a form that it reads as the same value.
#![no_main]

use iotax_experiment::units::{
    format_bytes, format_duration, parse_bandwidth, parse_bytes, parse_count, parse_duration,
    parse_iops, parse_share,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(bytes) = parse_bytes(text) {
        assert_eq!(parse_bytes(&format_bytes(bytes)).ok(), Some(bytes));
    }
    if let Ok(ns) = parse_duration(text) {
        assert_eq!(parse_duration(&format_duration(ns)).ok(), Some(ns));
    }
    for value in [parse_bandwidth(text), parse_iops(text), parse_share(text)].into_iter().flatten()
    {
        assert!(value.is_finite() && value >= 0.0);
    }
    let _ = parse_count(text);
});
