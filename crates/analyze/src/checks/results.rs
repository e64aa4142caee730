use iotax_spec::{Design, Engine};

use crate::analysis::{Check, Warning};
use crate::evidence::Evidence;

/// Results of other tools: were they made by the same job, and how were the runs arranged?
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
    let mut warnings = other_jobs(evidence);
    warnings.extend(stand_in(evidence));
    warnings.extend(not_interleaved(evidence));
    warnings
}

fn other_jobs(evidence: &Evidence<'_>) -> Vec<Warning> {
    let notes = &evidence.experiment.spec.workload.notes;
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
fn stand_in(evidence: &Evidence<'_>) -> Option<Warning> {
    let jobs = || evidence.trials.iter().flat_map(|trial| &trial.jobs);
    let is_there = |engine: Engine| jobs().any(|job| job.engine == engine.name());
    (is_there(Engine::IoUring) && is_there(Engine::Libaio)).then(|| Warning {
        check: Check::AnotherJob,
        arm: None,
        message: "some results were driven with io_uring, and others with libaio, as where a \
                  sandbox forbids io_uring: what differs may be the engines"
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
