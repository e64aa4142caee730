//! Stalls and the regime monitor against vectors of an independent implementation (numpy / scipy),
//! stored in `additions.json`.

use iotax_analyze::stats::regime::two_levels;
use serde_json::Value;

fn cases(name: &str) -> Vec<Value> {
    let vectors: Value =
        serde_json::from_str(include_str!("additions.json")).expect("additions.json is JSON");
    vectors[name].as_array().expect("an array of cases").clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("an array of numbers").iter().map(number).collect()
}

/// Relative 1e-8, since the p-values are tails of 1e-12, or 1e-12 absolute near zero.
#[track_caller]
fn assert_close(found: f64, expected: f64) {
    let tolerance = 1e-8 * expected.abs() + 1e-12;
    assert!((found - expected).abs() <= tolerance, "{found} instead of {expected}");
}

#[test]
fn fits_of_two_levels() {
    let cases = cases("level_shift");
    assert!(cases.iter().any(|case| case["result"]["found"] == true));
    for case in cases {
        let found = two_levels(&numbers(&case["v"]), number(&case["p_level"]));
        let expected = &case["result"];
        let Some(found) = found else {
            assert!(expected.is_null(), "{case}");
            continue;
        };
        assert_eq!(found.before as u64, expected["tau"].as_u64().unwrap());
        assert_close(found.step, number(&expected["step"]));
        assert_close(found.autocorrelation, number(&expected["r"]));
        assert_close(found.p, number(&expected["p"]));
        assert_eq!(found.found, expected["found"].as_bool().unwrap(), "{case}");
    }
}
