//! A made-up suite of three phases.

use iotax_analyze::{Analysis, Check};
use iotax_record::Experiment;
use iotax_report::{Document, experiments};

use super::{analyses, compare, troubled};

/// A comparison without trouble, one with, and one whose precision is in doubt.
pub(crate) fn suite() -> Document {
    let named = |name: &str, mut analysis: Analysis| -> (Experiment, Analysis) {
        name.clone_into(&mut analysis.workload);
        (compare(), analysis)
    };
    let mut imprecise = analyses::factors();
    imprecise.warnings = troubled::warned().warnings;
    imprecise.warnings.retain(|warning| warning.check == Check::Precision);
    let parts = [
        named("reads", analyses::compare()),
        named("writes", troubled::warned()),
        named("git-status", imprecise),
    ];
    experiments("a-suite", &parts)
}
