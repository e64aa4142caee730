//! Stalls, the regime monitor, gates, matrices and fleets against vectors of an independent
//! implementation (numpy / scipy), stored in `additions.json`.

use iotax_stats::design::Design;
use iotax_stats::fleet::{Fleet, Probes};
use iotax_stats::gate::{Outcome, bounds, by_sign, least_operations};
use iotax_stats::matrix::{Cells, Level, contrast, interaction};
use iotax_stats::rci::CriticalValues;
use iotax_stats::regime::two_levels;
use iotax_stats::stalls::{Sides, StallTest, boundary};
use iotax_stats::verdict::Sign;
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
fn boundaries_of_the_sign_tests() {
    for case in cases("sign_boundary") {
        let sides = if case["sides"] == 2 { Sides::Two } else { Sides::One };
        let expected: Vec<usize> = serde_json::from_value(case["c"].clone()).unwrap();
        assert_eq!(boundary(number(&case["alpha"]), sides), expected, "{case}");
    }
}

#[test]
fn verdicts_with_stalls() {
    for case in cases("stall_verdict") {
        let limit = number(&case["limit"]);
        let trial = |x: f64| (x >= limit).then_some(x);
        let (arm, base) = (numbers(&case["x_arm"]), numbers(&case["x_base"]));
        let blocks: Vec<_> = arm.into_iter().zip(base).map(|(x, y)| (trial(x), trial(y))).collect();
        let (found, expected) = (StallTest::of(&blocks, limit, 0.05), &case["result"]);
        let word = match found.sign {
            Some(Sign::Slower) => "slower",
            Some(Sign::Faster) => "faster",
            None if found.has_no_information() => "no information",
            None => "undecided",
        };
        assert_eq!(word, expected["verdict"].as_str().unwrap(), "{case}");
        assert_eq!(
            (found.by_sign, found.by_stalls),
            (expected["by_sign"] == true, expected["by_stalls"] == true)
        );
        for (count, name) in [
            (found.informative, "informative"),
            (found.worse, "worse"),
            (found.needed, "needed"),
            (found.arm_stalls, "arm_stalls"),
            (found.base_stalls, "base_stalls"),
            (found.blocks, "blocks"),
        ] {
            assert_eq!(count as u64, expected[name].as_u64().unwrap(), "{name}: {case}");
        }
        assert_close(found.factor, number(&expected["factor"]));
    }
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

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Fail => "fail",
        Outcome::Pass => "pass",
        Outcome::Undecided => "undecided",
    }
}

#[test]
fn gates_on_the_difference_from_a_baseline() {
    for case in cases("gate") {
        let tax = bounds(&numbers(&case["d"]), Design::default(), 0.05).unwrap().to_tax();
        let expected = &case["result"];
        assert_close(tax.lo, number(&expected["lo"]));
        assert_close(tax.hi, number(&expected["hi"]));
        assert_eq!(word(Outcome::of(&tax, number(&case["margin"]))), expected["state"]);
    }
}

#[test]
fn gates_on_a_quantile_of_each_trial() {
    for case in cases("quantile") {
        let (p99, limit) = (numbers(&case["p99"]), number(&case["threshold"]));
        let logs: Vec<f64> = p99.iter().map(|value| (value / limit).ln()).collect();
        let found = Outcome::of(&bounds(&logs, Design::default(), 0.05).unwrap(), 0.0);
        assert_eq!(word(found), case["log_t"], "{case}");
        assert_eq!(word(by_sign(p99, limit, 0.05)), case["sign"], "{case}");
    }
}

#[test]
fn operations_without_which_a_quantile_has_no_bound() {
    for case in cases("min_samples") {
        let found = least_operations(number(&case["q"]), 0.05, number(&case["cluster"]));
        assert_close(found, number(&case["n"]));
    }
}

#[test]
fn effects_of_factors_and_an_interaction() {
    for case in cases("matrix") {
        let cells = Cells::new(serde_json::from_value(case["cells"].clone()).unwrap());
        let blocks: Vec<Vec<Option<f64>>> = serde_json::from_value(case["Y"].clone()).unwrap();
        let expected = case["effects"].as_array().unwrap();
        let critical = CriticalValues::new(Design::default(), 0.05 / expected.len() as f64);
        assert_eq!(cells.levels().len(), expected.len());
        for (level, expected) in cells.levels().into_iter().zip(expected) {
            assert_eq!(
                (level.factor, level.level),
                (index(&expected["factor"]), index(&expected["level"]))
            );
            let found = contrast(&blocks, &cells.pairs(level)).unwrap();
            let found: Vec<f64> = found.into_iter().map(|(_, value)| value).collect();
            assert_eq!(found.len(), index(&expected["blocks"]));
            let found = critical.rci(&found).unwrap();
            assert_close(found.mean, number(&expected["mean"]));
            assert_close(found.lo, number(&expected["lo"]));
            assert_close(found.hi, number(&expected["hi"]));
        }
        let level = |factor, level| Level { factor, level };
        let found = interaction(&blocks, &cells.pairs_at(level(0, 2), level(1, 1)));
        let expected = numbers(&case["interaction_0_2_1_1"]);
        assert_eq!(found.len(), expected.len());
        for ((_, found), expected) in found.into_iter().zip(expected) {
            assert_close(found, expected);
        }
    }
}

#[test]
fn nodes_that_lie_outside_of_their_fleet() {
    for case in cases("fleet") {
        let nodes = numbers(&case["z"]).into_iter().zip(numbers(&case["within_var"]));
        let count = index(&case["m"]);
        let nodes: Vec<Probes> =
            nodes.map(|(mean, variance)| Probes { mean, variance, count }).collect();
        let fleet = Fleet::of(&nodes, 0.05).unwrap();
        assert_close(fleet.within, number(&case["s2_within"]));
        assert_close(fleet.centre, number(&case["centre"]));
        assert_close(fleet.spread, number(&case["tau"]));
        let slow: Vec<usize> = serde_json::from_value(case["slow_bh"].clone()).unwrap();
        for (at, (node, p)) in fleet.nodes.iter().zip(numbers(&case["p"])).enumerate() {
            assert_close(node.p, p);
            assert_eq!(node.is_slow, slow.contains(&at));
        }
    }
}

fn index(value: &Value) -> usize {
    serde_json::from_value(value.clone()).unwrap_or_else(|_| panic!("{value} is not an index"))
}
