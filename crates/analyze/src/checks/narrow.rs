use iotax_quantity::{list, percent};

use crate::analysis::{Check, Warning};
use crate::conclude::Conclusion;
use crate::evidence::Evidence;

/// Blocks from which on an interval this narrow is believed.
const ENOUGH: u32 = 8;

/// Width of an interval, as a fraction, that few blocks do not bear.
const NARROW: f64 = 0.001;

/// Few blocks that agree better than disks do. Their interval tells how well they repeat, not what
/// other blocks would have shown. Only in the primary metric, which decides when a run stops.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
    let primary = evidence.conclusions.first().map(|c| c.comparison.metric);
    let is_narrow = |conclusion: &&Conclusion| {
        let comparison = &conclusion.comparison;
        let width = comparison.hi.zip(comparison.lo).map(|(hi, lo)| hi - lo);
        Some(comparison.metric) == primary
            && comparison.blocks < ENOUGH
            && comparison.verdict.is_signed()
            && width.is_some_and(|width| width < NARROW)
    };
    let found: Vec<&Conclusion> = evidence.conclusions.iter().filter(is_narrow).collect();
    let Some(blocks) = found.iter().map(|c| c.comparison.blocks).max() else { return Vec::new() };
    let subjects: Vec<String> = found.iter().map(|c| c.subject()).collect();
    let spread = found.iter().filter_map(|c| c.spread).fold(0.0, f64::max);
    vec![Warning {
        check: Check::Precision,
        arm: (subjects.len() == 1).then(|| subjects[0].clone()),
        message: format!(
            "the {blocks} blocks of {} agree to {}: an interval this narrow tells how well these \
             few repeat, not what more of them would show",
            list(&subjects.iter().map(String::as_str).collect::<Vec<_>>()),
            percent(spread)
        ),
        advice:
            "If the size matters, run again with another --seed: it deals out the order of the \
                 arms anew, so that what agrees again is not in step with it."
                .to_owned(),
        trials: blocks,
    }]
}
