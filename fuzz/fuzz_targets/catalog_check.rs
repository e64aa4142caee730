//! No table makes the reader of users' limits panic; what it reads, it can tell on as JSON, and
//! figures are numbers that can be compared.
#![no_main]

use iotax_catalog::{Claim, read_claims};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|table: &[u8]| {
    if let Ok(claims) = read_claims("table.csv", table) {
        for claim in &claims {
            let of = claim.claimed;
            let figures = [of.iops, of.bw_bytes, of.burst_iops, of.burst_bw_bytes];
            assert!(figures.iter().flatten().all(|figure| figure.is_finite() && *figure >= 0.0));
        }
        let text = serde_json::to_string(&claims).expect("a claim is always JSON");
        let again: Vec<Claim> = serde_json::from_str(&text).expect("what is written can be read");
        assert_eq!(again.len(), claims.len());
    }
});
