//! Spends burst credits before anything is measured, and again before each trial.

use std::sync::atomic::Ordering;
use std::time::Instant;

use iotax_analyze::{Phases, Sustained};
use iotax_load::{LoadDriver, Request};
use iotax_record::{End, Outcome, Writer};

use crate::error::Error;
use crate::nanos::nanos;
use crate::observer::{Event, Observer};
use crate::trial::{Bench, workload};
use crate::walk::Setup;

/// A look at whether credits are spent.
const LOOK_NS: u64 = 2_000_000_000;
/// Looks before a trial at most: credits that came back while other arms were driven are few.
const MOST_LOOKS: u32 = 15;
/// Longest time that draining again may take before a trial.
pub const LONGEST_LOOKS_NS: u64 = LOOK_NS * MOST_LOOKS as u64;
/// Above the sustained rate by this factor credits are being spent.
const DRAINED: f64 = 1.05;

/// Loads one arm after the other, as [`iotax_analyze::drain_spec`] says, by each phase until
/// `phases` sees that it is drained. Every stretch is a trial of the record.
///
/// # Errors
/// If the record cannot be written.
pub fn drain(
    setup: Setup<'_>,
    writer: &mut Writer,
    phases: &mut Phases,
    observer: &mut dyn Observer,
) -> Result<End, Error> {
    let started = Instant::now();
    let Setup { experiment, plan, rig, drivers, stop, live, .. } = setup;
    let spec = &experiment.spec;
    let sustained = &Sustained::default();
    let mut bench = Bench { spec, plan, rig, drivers, stop, live, started, sustained };
    let mut slot = 0;
    let loads =
        (0..plan.arms).flat_map(|arm| (0..plan.phases.len()).map(move |phase| (arm, phase)));
    for (place, (arm, phase)) in loads.enumerate() {
        for stretch in 0..plan.max_blocks {
            if stop.load(Ordering::Relaxed) || phases.is_drained(arm, phase) {
                break;
            }
            observer.on(&Event::TrialStarts {
                block: stretch,
                arm: &spec.arms[arm].name,
                phase: (plan.phases.len() > 1).then(|| workload(spec, phase).name.as_str()),
                place,
                trials_in_block: plan.arms * plan.phases.len(),
            });
            let trial = bench.trial((stretch, slot), arm, phase);
            slot += 1;
            writer.append(&trial)?;
            phases.add(&trial);
            observer.on(&Event::TrialEnded(&trial));
            if matches!(trial.outcome, Outcome::Failed { .. }) {
                break;
            }
        }
    }
    let end = End {
        reason: "every arm was loaded until its throughput fell, or its time was over".to_owned(),
        wall_ns: nanos(started.elapsed()),
        interrupted: stop.load(Ordering::Relaxed),
        gave_up: false,
        trials: Some(slot),
    };
    writer.finish(&end)?;
    Ok(end)
}

/// Spends what came back since: loads until two seconds are no faster than the sustained rate. An
/// error shows in the trial that follows.
pub(crate) fn again(driver: &dyn LoadDriver, request: &Request<'_>, sustained_iops: f64) {
    for _ in 0..MOST_LOOKS {
        let look = Request { ramp_ns: 0, time_ns: LOOK_NS, ..*request };
        let Ok(load) = driver.run(&look) else { return };
        let primary = load.jobs.iter().find(|job| job.name == request.workload.primary);
        let ios = primary.map_or(0, |job| job.read.ios + job.write.ios);
        let seconds = primary.map_or(0, |job| job.active_ns) as f64 / 1e9;
        let is_spent = ios as f64 <= DRAINED * sustained_iops * seconds;
        if is_spent || request.stop.load(Ordering::Relaxed) {
            return;
        }
    }
}
