use iotax_experiment::Design;

use crate::analysis::{Check, Warning};
use crate::evidence::Evidence;
use crate::stand_in;

/// Results of other tools: were they made by the same job, and how were the runs arranged?
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
    let mut warnings = other_jobs(evidence);
    warnings.extend(other_engines(evidence));
    warnings.extend(not_interleaved(evidence));
    warnings
}

fn other_jobs(evidence: &Evidence<'_>) -> Vec<Warning> {
    let notes = &evidence.experiment.spec.workload().notes;
    let warning = |note: &String| Warning {
        check: Check::AnotherJob,
        arm: None,
        message: note.clone(),
        advice:
            "What results differ in is part of every difference below, and what one side lacks \
                 is not compared. Compare results of one job, or read them as a comparison of the \
                 jobs too."
                .to_owned(),
        trials: 0,
    };
    notes.iter().map(warning).collect()
}

/// Where a sandbox forbids `io_uring`, something else drives what is direct: another load, and no
/// verdict.
fn other_engines(evidence: &Evidence<'_>) -> Option<Warning> {
    stand_in::mixes_engines(evidence.trials.iter().copied()).then(|| Warning {
        check: Check::AnotherJob,
        arm: None,
        message: "some results were driven with libaio, for a sandbox forbade io_uring there, and \
                  others with another engine: what differs may be the engines"
            .to_owned(),
        advice: "Between them there is no verdict. Measure all with engine=libaio.".to_owned(),
        trials: 0,
    })
}

/// Nobody randomised the order, so the difference has in it whatever else changed.
fn not_interleaved(evidence: &Evidence<'_>) -> Option<Warning> {
    (evidence.experiment.spec.design == Design::Compare).then(|| Warning {
        check: Check::NotInterleaved,
        arm: None,
        message: "the runs were not interleaved in random order, as far as the results tell: \
                  whatever changed between them (neighbours, credits, temperature, what the \
                  volume holds) is in the difference, and no interval covers it"
            .to_owned(),
        advice: "For the difference between the arms alone, measure them in one iotax compare: it \
                 runs them in random blocks."
            .to_owned(),
        trials: 0,
    })
}
