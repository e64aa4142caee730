//! The statistics against vectors of an independent implementation (numpy / scipy), stored
//! in `golden.json`. An infinite half-width is stored there as `null`.

use iotax_stats::bucket::two_phase;
use iotax_stats::design::{Design, LOOKS};
use iotax_stats::factorial::Factorial;
use iotax_stats::holm;
use iotax_stats::measuring_time::optimal_seconds;
use iotax_stats::rci::{CriticalValues, Summary, rci, t_p_value};
use iotax_stats::steady::is_steady;
use iotax_stats::stopping::{Better, Goal, Mode};
use iotax_stats::verdict::Verdict;
use serde_json::Value;

fn golden() -> Value {
    serde_json::from_str(include_str!("golden.json")).expect("golden.json is JSON")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("an array of numbers").iter().map(number).collect()
}

/// Relative 1e-9, or 1e-12 absolute near zero.
#[track_caller]
fn assert_close(found: f64, expected: f64) {
    let tolerance = 1e-9 * expected.abs() + 1e-12;
    assert!((found - expected).abs() <= tolerance, "{found} instead of {expected}");
}

#[test]
fn looks_and_nominal_levels() {
    let golden = golden();
    let design = Design::default();
    assert_eq!(numbers(&golden["looks"]), LOOKS.map(|n| n as f64));
    for pair in golden["pstar"].as_array().unwrap() {
        let (alpha, p_star) = (number(&pair[0]), number(&pair[1]));
        assert_close(design.nominal_level(alpha), p_star);
    }
}

#[test]
fn critical_t_at_every_look() {
    let critical = CriticalValues::new(Design::default(), 0.05);
    for (blocks, t) in golden()["crit_t_alpha_05"].as_object().unwrap() {
        assert_close(critical.at(blocks.parse().unwrap()), number(t));
    }
}

#[test]
fn nominal_level_by_maximum_number_of_blocks() {
    for (max, p_star) in golden()["pstar_05_by_nmax"].as_object().unwrap() {
        let level = Design::with_max_blocks(max.parse().unwrap()).nominal_level(0.05);
        // The 40-block value exists twice there, from runs of 1 and of 2 million: 1e-4 apart.
        let deviation = (level / number(p_star) - 1.0).abs();
        assert!(deviation < 2e-4, "{max} blocks: {level}");
    }
}

#[test]
fn intervals_p_values_verdicts_and_futility() {
    let design = Design::default();
    let critical = CriticalValues::new(design, 0.05);
    let goal = Goal { mode: Mode::Quick, margin: 0.05, better: Better::Higher };
    for case in golden()["rci"].as_array().unwrap() {
        let d = numbers(&case["d"]);
        let interval = rci(&d, design, 0.05).unwrap();
        assert_close(interval.mean, number(&case["mean"]));
        assert_close(interval.lo, number(&case["lo"]));
        assert_close(interval.hi, number(&case["hi"]));
        let tax = interval.to_tax();
        assert_close(tax.lo, number(&case["overhead"][0]));
        assert_close(tax.hi, number(&case["overhead"][1]));
        let p = t_p_value(&d);
        assert_close(p, number(&case["p"]));
        assert_close(design.sequential_p(p), number(&case["seq_p"]));
        assert_eq!(serde_json::to_value(Verdict::of(&tax, 0.05)).unwrap(), case["verdict"]);
        let futile = goal.futile(&Summary::of(&d).unwrap(), &critical);
        assert_eq!(futile, case["futile"].as_bool().unwrap());
    }
}

#[test]
fn holm_rejections() {
    let golden = golden();
    let rejected = holm::rejected(&numbers(&golden["holm"]["p"]), 0.05);
    let expected: Vec<usize> = serde_json::from_value(golden["holm"]["rejected"].clone()).unwrap();
    assert_eq!(rejected, expected);
}

#[test]
fn token_bucket_fit() {
    let golden = golden();
    let expected = &golden["two_phase"]["result"];
    let fit = two_phase(&numbers(&golden["two_phase"]["x"])).unwrap();
    assert_eq!(fit.found, expected["found"].as_bool().unwrap());
    assert_eq!(fit.split as u64, expected["tau"].as_u64().unwrap());
    assert_close(fit.peak, number(&expected["peak"]));
    assert_close(fit.rate, number(&expected["rate"]));
    assert_close(fit.burst, number(&expected["burst"]));
    assert_close(fit.ratio, number(&expected["ratio"]));
    assert_close(fit.gain, number(&expected["gain"]));
    assert_close(fit.autocorrelation, number(&expected["ar"]));
}

#[test]
fn steady_state() {
    for case in golden()["snia"].as_array().unwrap() {
        assert_eq!(is_steady(&numbers(&case["v"])), case["steady"].as_bool().unwrap(), "{case}");
    }
}

#[test]
fn shapley_weights_of_three_layers() {
    let golden = golden();
    let design = Factorial::new(3).unwrap();
    for (layer, expected) in golden["shapley_weights_3"].as_array().unwrap().iter().enumerate() {
        for (found, expected) in design.shapley(layer).into_iter().zip(numbers(expected)) {
            assert_close(found, expected);
        }
    }
}

#[test]
fn measuring_times() {
    for case in golden()["optimal_trial_seconds"].as_array().unwrap() {
        let [overhead, long_run, between, seconds] = numbers(case)[..] else { panic!("{case}") };
        assert_close(optimal_seconds(overhead, long_run, between), seconds);
    }
}
