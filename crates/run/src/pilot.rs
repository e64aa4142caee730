//! Determines the length of a slice on this machine by one trial on each arm, before anything is
//! measured.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use iotax_analyze::Metric;
use iotax_experiment::plan::Phase;
use iotax_experiment::{IndexEnds, LEAST_SLICE_RAMP_NS, Slices, Spec, Workload};
use iotax_record::{JobRecord, LoadRecord};

use crate::clock::nanos;
use crate::error::Error;
use crate::host::{Files, Host, Task, TrialRequest};

/// Minimum length in 99th percentiles of latency: an I/O that ends after its slice is lost.
const TAILS: f64 = 5.0;
/// Minimum length in times of a switch from one arm to the other.
const SWITCHES: f64 = 10.0;
/// The discarded start in 99th percentiles of latency.
const RAMP_TAILS: f64 = 3.0;
/// Lengths are rounded up to one of these, in milliseconds.
const STEPS_MS: [u64; 9] = [10, 12, 15, 20, 25, 30, 40, 50, 70];

/// Figures of the slowest arm.
#[derive(Debug, Clone, Copy)]
struct Seen {
    iops: f64,
    p99_ns: f64,
    switch_ns: f64,
}

impl Seen {
    const NOTHING: Self = Self { iops: f64::INFINITY, p99_ns: 0.0, switch_ns: 0.0 };

    fn and(self, other: Self) -> Self {
        Self {
            iops: self.iops.min(other.iops),
            p99_ns: self.p99_ns.max(other.p99_ns),
            switch_ns: self.switch_ns.max(other.switch_ns),
        }
    }
}

/// The experiment with the lengths of its trials: those of slices or of parts of a recording, or the usual ones if an arm is
/// rebuilt for each of its turns, completes too little, or fails. Arms must be up with their files.
///
/// # Errors
/// If an arm could not be brought up again.
pub fn pilot(spec: &Spec, host: &mut dyn Host, stop: &AtomicBool) -> Result<Spec, Error> {
    if !spec.may_be_of_slices() {
        return Ok(spec.clone());
    }
    let phases = spec.phases().map(|phase| times(spec, phase, host, stop));
    let times = phases.collect::<Result<Option<Vec<Phase>>, Error>>()?;
    Ok(spec.with(|draft| draft.settle(times.as_deref())))
}

/// The times of slices of one phase; `None` if it has to have the usual ones.
fn times(
    spec: &Spec,
    phase: &Workload,
    host: &mut dyn Host,
    stop: &AtomicBool,
) -> Result<Option<Phase>, Error> {
    let Some(slices) = phase.slices else { return Ok(None) };
    if phase.parts().is_some() {
        // Its parts are as long as they are.
        let is_kept = |at: usize| !host.is_made_anew(at);
        return Ok((0..spec.arms.len()).all(is_kept).then(|| slices.shortest()));
    }
    let all: Vec<&Workload> = spec.phases().collect();
    let mut slowest = Seen::NOTHING;
    for (at, arm) in spec.arms.iter().enumerate() {
        if stop.load(Ordering::Relaxed) || host.is_made_anew(at) {
            return Ok(None);
        }
        let request = TrialRequest {
            arm: at,
            driver: arm.driver,
            task: Task::Run(phase.clone()),
            index_ends: IndexEnds::Both,
            ramp_ns: LEAST_SLICE_RAMP_NS.min(slices.usual.ramp_ns),
            time_ns: slices.least_ns,
            part: None,
            seed: spec.seed,
            sustained_iops: None,
        };
        let begun = Instant::now();
        if host.up(at)? == Files::Missing {
            host.prepare(at, arm.driver, &all, &|_, _| ())?;
        }
        let measured = host.trial(&request);
        let took_ns = nanos(begun.elapsed());
        // The first trial will report the reason again.
        let Ok(Ok(load)) = measured.map(|measured| measured.load) else { return Ok(None) };
        let Some(seen) = seen(&load, &phase.primary) else { return Ok(None) };
        let switch_ns = took_ns.saturating_sub(request.ramp_ns + request.time_ns) as f64;
        slowest = slowest.and(Seen { switch_ns, ..seen });
    }
    Ok(chosen(slices, Metric::operations_needed(phase) as f64, slowest))
}

fn seen(load: &LoadRecord, primary: &str) -> Option<Seen> {
    let job = load.jobs.iter().find(|job| job.name == primary)?;
    let (operations, tail_ns) = if job.sync.count() > 0 {
        (job.sync.count(), job.sync.quantile_ns(0.99))
    } else {
        (JobRecord::ios(job), job.latency_from(true).quantile_ns(0.99))
    };
    let iops = operations as f64 * 1e9 / job.active_ns.max(1) as f64;
    (operations > 0).then_some(Seen { iops, p99_ns: tail_ns as f64, switch_ns: 0.0 })
}

/// `None` if a slice would have to be more than half as long as a trial usually is.
fn chosen(slices: Slices, operations: f64, slowest: Seen) -> Option<Phase> {
    let Seen { iops, p99_ns, switch_ns } = slowest;
    let needs_ns = (operations * 1e9 / iops)
        .max(TAILS * p99_ns)
        .max(SWITCHES * switch_ns)
        .max(slices.least_ns as f64);
    let steps = (0..9).flat_map(|power| STEPS_MS.map(|step| step * 1_000_000 * 10_u64.pow(power)));
    let usual = slices.usual;
    let time_ns = steps.into_iter().find(|step| *step as f64 >= needs_ns)?;
    if 2 * time_ns > usual.time_ns {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below a second")]
    let ramp_ns = ((RAMP_TAILS * p99_ns) as u64).clamp(LEAST_SLICE_RAMP_NS, time_ns / 2);
    Some(Phase { ramp_ns: ramp_ns.min(usual.ramp_ns), time_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen_ms(iops: f64, p99_ms: f64, switch_ms: f64) -> Option<(u64, u64)> {
        let usual = Phase { ramp_ns: 2_000_000_000, time_ns: 5_000_000_000 };
        let slowest = Seen { iops, p99_ns: p99_ms * 1e6, switch_ns: switch_ms * 1e6 };
        let Phase { ramp_ns, time_ns } =
            chosen(Slices { least_ns: 100_000_000, usual }, 100.0, slowest)?;
        Some((ramp_ns / 1_000_000, time_ns / 1_000_000))
    }

    #[test]
    fn a_slice_has_room_for_ios_tails_and_switches() {
        assert_eq!(chosen_ms(1e5, 0.3, 3.0), Some((20, 100)));
        assert_eq!(chosen_ms(300.0, 2.0, 3.0), Some((20, 400)), "100 I/Os take 333 ms");
        assert_eq!(chosen_ms(1e4, 45.0, 3.0), Some((125, 250)), "five times the tail");
        assert_eq!(chosen_ms(1e4, 1.0, 90.0), Some((20, 1000)), "switching is slow");
        assert_eq!(chosen_ms(30.0, 30.0, 3.0), None, "100 I/Os take 3.3 s: no slices");
        assert_eq!(chosen_ms(f64::MIN_POSITIVE, 0.1, 3.0), None);
    }
}
