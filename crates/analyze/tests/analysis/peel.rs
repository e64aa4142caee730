//! Records of peels: what was put into a layer must be attributed to it.

use iotax_analyze::{Analysis, Attribution, LayerCost, Metric, Verdict};
use iotax_record::{EndReason, Trial};
use iotax_wording::name::subject;
use iotax_wording::verdict::comparison::hypothesis;

use crate::support::{Bed, Found, failed, of};
use crate::warnings::asked;

/// A peel whose stack takes `time_us(mask)` per I/O.
fn peel(layers: &[&str], blocks: u32, time_us: impl Fn(u32) -> f64) -> (Bed, Vec<Trial>) {
    let mut bed = Bed::peel(layers);
    let iops: Vec<f64> = (0..1 << layers.len()).map(|mask| 1e6 / time_us(mask)).collect();
    let trials = bed.blocks(blocks, &iops, 0.005);
    (bed, trials)
}

/// What is said of the first pair of layers.
fn guess(found: &Found) -> String {
    hypothesis(&costs(found).interactions[0], found.experiment.spec.workload())
}

fn costs(analysis: &Analysis) -> &Attribution {
    analysis.attribution.as_ref().expect("a peel has an attribution")
}

fn near(estimate: Option<iotax_analyze::Estimate>, truth_us: f64) {
    let estimate = estimate.expect("enough blocks for an interval");
    let truth = truth_us * 1e3;
    assert!(estimate.lo <= truth && truth <= estimate.hi, "{estimate:?} does not hold {truth}");
    assert!((estimate.value - truth).abs() < 0.1 * truth.abs() + 20e3, "{estimate:?} {truth}");
}

#[test]
fn serial_layers_have_one_cost_in_every_order_and_no_interaction() {
    let (bed, trials) = peel(&["aes", "queue"], 6, |mask| {
        1000.0 + if mask & 1 == 0 { 0.0 } else { 400.0 } + if mask & 2 == 0 { 0.0 } else { 200.0 }
    });
    let analysis = bed.analyze(&trials);
    let attribution = costs(&analysis);
    for (cost, truth) in attribution.layers.iter().zip([400.0, 200.0]) {
        let LayerCost { first_in_ns, shapley_ns, last_in_ns, .. } = cost;
        for estimate in [first_in_ns, shapley_ns, last_in_ns] {
            near(*estimate, truth);
        }
    }
    near(attribution.total_ns, 600.0);
    assert!((attribution.bare_ns / 1e6 - 1.0).abs() < 0.02);
    assert_eq!(attribution.blocks, 6);
    let pair = of(&analysis, "aes x queue", Metric::Throughput);
    assert_eq!(pair.verdict, Verdict::Equivalent, "{pair:?}");
    assert_eq!(
        guess(&analysis),
        "no relevant interaction: they work one after the other, so their costs add up"
    );
    let shown: Vec<_> = analysis.comparisons.iter().map(|c| subject(&c.subject)).collect();
    let each = ["aes", "queue", "total"].map(|name| [name; 3]).concat();
    assert_eq!(shown, [&each[..], &["aes x queue"]].concat());
}

#[test]
fn taxes_of_the_layers_multiply_to_the_total() {
    let (bed, trials) = peel(&["a", "b", "c"], 4, |mask| 1000.0 + 300.0 * f64::from(mask));
    let analysis = bed.analyze(&trials);
    let tax = |layer| of(&analysis, layer, Metric::Throughput).tax.unwrap();
    let product: f64 = ["a", "b", "c"].map(|layer| 1.0 - tax(layer)).iter().product();
    assert!((1.0 - product - tax("total")).abs() < 1e-9);
    assert!((tax("total") - (1.0 - 1.0 / 3.1)).abs() < 0.03);
    let sum: f64 = costs(&analysis).layers.iter().map(|l| l.shapley_ns.unwrap().value).sum();
    assert!((sum - costs(&analysis).total_ns.unwrap().value).abs() < 1.0);
}

#[test]
fn layers_that_are_dearer_together_are_called_so() {
    let (bed, trials) =
        peel(&["aes", "aes#2"], 6, |mask| [1000.0, 1300.0, 1300.0, 2000.0][mask as usize]);
    let analysis = bed.analyze(&trials);
    let pair = of(&analysis, "aes x aes#2", Metric::Throughput);
    assert_eq!(pair.verdict, Verdict::Slower);
    // 2000 us where the sum of costs says 1600.
    assert!((pair.tax.unwrap() - 0.2).abs() < 0.02, "{pair:?}");
    let interaction = &costs(&analysis).interactions[0];
    near(interaction.cost_ns, 400.0);
    assert!(guess(&analysis).starts_with("they cost more together"));
}

#[test]
fn layers_that_hide_behind_each_other_are_called_cheaper() {
    let (bed, trials) =
        peel(&["a", "b"], 6, |mask| [1000.0, 1500.0, 1500.0, 1500.0][mask as usize]);
    let analysis = bed.analyze(&trials);
    assert_eq!(of(&analysis, "a x b", Metric::Throughput).verdict, Verdict::Faster);
    assert!(guess(&analysis).starts_with("they cost less together"));
}

#[test]
fn no_arm_is_dropped_before_all_layers_are_resolved() {
    let (bed, mut trials) =
        peel(&["clear", "vague"], 4, |mask| 1000.0 + if mask & 1 == 0 { 0.0 } else { 1500.0 });
    let mut other = Bed::peel(&["clear", "vague"]);
    for trial in &mut trials {
        let mask: usize = trial.arm.trim_start_matches("mask ").parse().unwrap();
        let wobble = [0.6, 1.4, 1.0, 0.9][trial.block as usize];
        let slot = trial.slot;
        let rate = if mask & 1 == 0 { 1000.0 } else { 400.0 };
        let rate = rate * if mask & 2 == 0 { 1.0 } else { wobble };
        *trial = Trial { slot, ..other.trial(trial.block, mask, rate) };
    }
    let progress = bed.decide(&trials);
    assert_eq!((progress.open, progress.stop), (vec![true; 4], Vec::new()));
    let names: Vec<String> = progress.arms.iter().map(|arm| subject(&arm.of)).collect();
    assert_eq!(names, ["clear", "vague", "total"]);
    assert!(progress.arms[1].blocks_needed.is_some());
}

#[test]
fn a_peel_stops_when_every_layer_has_a_verdict() {
    let (bed, trials) = peel(&["a", "b"], 4, |mask| 1000.0 + 400.0 * f64::from(mask));
    assert_eq!(bed.decide(&trials).stop, [EndReason::Resolved { besides: None }]);
}

#[test]
fn one_failed_trial_costs_the_whole_block() {
    let (bed, mut trials) = peel(&["a"], 6, |mask| 1000.0 + 400.0 * f64::from(mask));
    trials[0] = failed(trials[0].clone());
    let analysis = bed.analyze(&trials);
    assert_eq!(of(&analysis, "a", Metric::Throughput).blocks, 5);
    assert_eq!(costs(&analysis).blocks, 5);
}

#[test]
fn many_layers_are_screened_and_dependent_costs_become_ranges() {
    let masks = vec![0, 15, 1, 2, 4, 8, 14, 13, 11, 7];
    let mut bed = Bed::peel_of(&["a", "b", "c", "d"], masks.clone());
    // b and c cost 200 us each, and another 600 us together; a and d are serial.
    let time = |mask: u32| {
        let has = |layer: u32| f64::from(mask >> layer & 1);
        1000.0
            + 300.0 * has(0)
            + 200.0 * (has(1) + has(2))
            + 600.0 * has(1) * has(2)
            + 250.0 * has(3)
    };
    let iops: Vec<f64> = masks.iter().map(|mask| 1e6 / time(*mask)).collect();
    let trials = bed.blocks(6, &iops, 0.003);
    let analysis = bed.analyze(&trials);
    let b = of(&analysis, "b", Metric::Throughput);
    assert_eq!(b.tax, None, "one number would hide that the cost depends on the order");
    // 1 - 1000/1200 alone, 1 - 1750/2550 on top of the others.
    assert!(b.lo.unwrap() < 0.17 && b.hi.unwrap() > 0.31, "{b:?}");
    assert_eq!(b.verdict, Verdict::Slower);
    let layer = &costs(&analysis).layers[1];
    near(layer.first_in_ns, 200.0);
    near(layer.last_in_ns, 800.0);
    assert_eq!(layer.shapley_ns, None);
    assert!(of(&analysis, "d", Metric::Throughput).tax.is_some());
    assert!(costs(&analysis).interactions.is_empty());
    let question = "The cost of b and c depends on other layers";
    assert!(asked(&analysis).iter().any(|q| q.starts_with(question)), "{:?}", asked(&analysis));
}

#[test]
fn p99_of_a_layer_is_compared_only_with_enough_ios() {
    let (bed, trials) = peel(&["a"], 4, |mask| 450.0 + 40.0 * f64::from(mask));
    let delta = costs(&bed.analyze(&trials)).layers[0].delta_p99_ns.unwrap();
    // Latencies go up to 1.5 times their mean.
    assert!((delta.value - 1.49 * 40e3).abs() < 15e3, "{delta:?}");
    let (bed, trials) = peel(&["a"], 4, |mask| 1000.0 + 100.0 * f64::from(mask));
    assert_eq!(costs(&bed.analyze(&trials)).layers[0].delta_p99_ns, None, "5000 I/Os per trial");
}
