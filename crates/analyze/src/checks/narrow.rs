use iotax_experiment::Subject;

use crate::analysis::{Doubt, DoubtKind};
use crate::conclude::Conclusion;
use crate::evidence::Evidence;

/// Blocks from which on an interval this narrow is believed.
const ENOUGH: u32 = 8;

/// Width of an interval, as a fraction, that few blocks do not bear.
const NARROW: f64 = 0.001;

/// Few blocks that agree better than disks do. Their interval tells how well they repeat, not what
/// other blocks would have shown. Only in the primary metric, which decides when a run stops.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let is_narrow = |conclusion: &&Conclusion| {
        let comparison = &conclusion.comparison;
        let width = comparison.hi.zip(comparison.lo).map(|(hi, lo)| hi - lo);
        comparison.blocks < ENOUGH
            && comparison.verdict.is_signed()
            && width.is_some_and(|width| width < NARROW)
    };
    let found: Vec<&Conclusion> = evidence.primary().filter(is_narrow).collect();
    let Some(blocks) = found.iter().map(|c| c.comparison.blocks).max() else { return Vec::new() };
    let of: Vec<Subject> = found.iter().map(|c| c.comparison.subject.clone()).collect();
    let spread = found.iter().filter_map(|c| c.spread).fold(0.0, f64::max);
    vec![Doubt::about_each(&of.clone(), DoubtKind::Narrow { of, spread }, blocks)]
}
