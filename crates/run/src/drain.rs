//! Spends burst credits before anything is measured.

use iotax_analyze::Phases;
use iotax_record::{End, EndReason, ExperimentHead, Outcome, Writer};

use crate::error::Error;
use crate::observer::Observer;
use crate::trials::{Setup, Sinks, Trials};

/// Loads one arm after the other, as [`iotax_analyze::drain_spec`] says, by each phase until
/// `phases` sees that it is drained. Every stretch is a trial of the record.
///
/// # Errors
/// If the record cannot be written.
pub fn drain(
    setup: Setup<'_>,
    writer: &mut Writer<ExperimentHead>,
    phases: &mut Phases,
    observer: &mut dyn Observer,
) -> Result<End, Error> {
    let plan = setup.plan;
    let mut trials = Trials::start(setup, Sinks { writer, phases, observer });
    let loads =
        (0..plan.arms).flat_map(|arm| (0..plan.phases.len()).map(move |phase| (arm, phase)));
    for (place, (arm, phase)) in loads.enumerate() {
        for stretch in 0..plan.max_blocks {
            if trials.is_stopped() || trials.sinks.phases.is_drained(arm, phase) {
                break;
            }
            trials.announce(stretch, (arm, phase), (place, plan.arms * plan.phases.len()));
            let trial = trials.run(stretch, &[(arm, phase)])?.remove(0);
            if matches!(trial.outcome, Outcome::Failed { .. }) {
                break;
            }
        }
    }
    trials.end(vec![EndReason::Drained], false)
}
