//! A made-up suite of three phases.

use iotax_analyze::{Analysis, Check};
use iotax_experiment::Subject;
use iotax_record::ExperimentHead;
use iotax_report::{Document, experiments};

use super::{analyses, compare, troubled};

/// A comparison without trouble, one with, and one whose precision is in doubt.
pub(crate) fn suite() -> Document {
    let named = |name: &str, mut analysis: Analysis| -> (ExperimentHead, Analysis) {
        name.clone_into(&mut analysis.workload);
        (compare(), analysis)
    };
    let mut imprecise = analyses::factors();
    imprecise.warnings = troubled::warned().warnings;
    imprecise.warnings.retain(|warning| warning.check() == Check::Precision);
    let parts = [
        named("reads", analyses::compare()),
        named("writes", troubled::warned()),
        named("git-status", imprecise),
    ];
    experiments("a-suite", &parts)
}

/// As many phases and arms as a terminal must hold.
pub(crate) fn large() -> Document {
    let phase = |number: usize| {
        let mut analysis = analyses::factors();
        analysis.workload = format!("random-reads-{number}");
        let first = analysis.comparisons[0].clone();
        analysis.comparisons = (1..8)
            .map(|arm| {
                let mut comparison = first.clone();
                comparison.subject = Subject::Arm(format!("encrypted-on-host-{arm}"));
                comparison.tax = Some(0.04 * (arm + number) as f64);
                comparison
            })
            .collect();
        (compare(), analysis)
    };
    experiments("large", &(1..=12).map(phase).collect::<Vec<_>>())
}
