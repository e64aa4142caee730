//! How long a slice has to be on this machine: tried once on each arm, before anything is measured.

use iotax_experiment::plan::Phase;
use iotax_experiment::Slices;
use iotax_record::{JobRecord, LoadRecord, SliceLength};

use crate::clock::nanos;
use crate::error::Error;
use crate::host::Task;
use crate::trials::{Trials, Turn, workload};

/// I/Os of the primary job that a slice has room for, in the slowest arm.
const IOS: f64 = 200.0;
/// Times the 99th percentile of latency: an I/O that begins in one slice and ends after it belongs to none.
const TAILS: f64 = 10.0;
/// Times the switch from one arm to the other.
const SWITCHES: f64 = 10.0;
/// The shortest discarded start: threads are up, and the queue is full.
const LEAST_RAMP_NS: u64 = 20_000_000;
/// Times the 99th percentile of latency that a start is discarded for.
const RAMP_TAILS: f64 = 3.0;
/// Lengths are rounded up to one of these.
const STEPS: [u64; 6] = [100, 150, 200, 300, 500, 700];

/// What was seen of one arm.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    iops: f64,
    p99_ns: f64,
    switch_ns: f64,
}

impl Trials<'_> {
    /// The times of each phase's trials: those of the plan, or those of slices. An arm that is made anew for
    /// each of its turns, or that completes nothing, has none.
    pub(crate) fn pilot(&mut self) -> Result<Vec<Phase>, Error> {
        let plan = self.setup.plan;
        let of_phase = |phase: usize| {
            let Some(slices) = plan.phases[phase].slices else { return Ok(plan.phases[phase]) };
            self.pilot_of(phase, slices)
        };
        (0..plan.phases.len()).map(of_phase).collect()
    }

    fn pilot_of(&mut self, phase: usize, slices: Slices) -> Result<Phase, Error> {
        let usual = Phase { slices: None, ..self.setup.plan.phases[phase] };
        let tried = Phase { ramp_ns: LEAST_RAMP_NS.min(usual.ramp_ns), time_ns: slices.least_ns, slices: None };
        let mut slowest = Seen::default();
        for arm in 0..self.setup.plan.arms {
            if self.is_stopped() || self.setup.host.is_made_anew(arm) {
                return Ok(usual);
            }
            let turn = Turn { arm, phase };
            let task = Task::Run(workload(self.spec(), phase).clone());
            let request = self.request(0, turn, task, tried);
            // The first brings the arm up.
            if self.bring_up(&request).is_err() || self.setup.host.is_made_anew(arm) {
                return Ok(usual);
            }
            let before = self.elapsed();
            let Ok(measured) = self.setup.host.trial(&request) else { return Ok(usual) };
            let took_ns = nanos(self.elapsed().saturating_sub(before));
            let Ok(load) = measured.load else { return Ok(usual) };
            let Some(seen) = seen(&load, &workload(self.spec(), phase).primary) else { return Ok(usual) };
            let switch_ns = took_ns.saturating_sub(request.ramp_ns + request.time_ns) as f64;
            slowest = Seen {
                iops: if arm == 0 { seen.iops } else { slowest.iops.min(seen.iops) },
                p99_ns: slowest.p99_ns.max(seen.p99_ns),
                switch_ns: slowest.switch_ns.max(switch_ns),
            };
        }
        Ok(chosen(usual, slices, slowest))
    }

    /// How long slices were made, for the record.
    pub(crate) fn slice_lengths(&self) -> Vec<SliceLength> {
        let of = |(phase, times): (usize, &Phase)| {
            let is_slice = self.setup.plan.phases[phase].slices.is_some()
                && times.time_ns < self.setup.plan.phases[phase].time_ns;
            is_slice.then(|| SliceLength {
                phase: u32::try_from(phase).unwrap_or(u32::MAX),
                ramp_ns: times.ramp_ns,
                time_ns: times.time_ns,
            })
        };
        self.times.iter().enumerate().filter_map(of).collect()
    }
}

fn seen(load: &LoadRecord, primary: &str) -> Option<Seen> {
    let job = load.jobs.iter().find(|job| job.name == primary)?;
    let (ios, tail_ns) = if job.sync.count() > 0 {
        (job.sync.count(), job.sync.quantile_ns(0.99))
    } else {
        let all = job.latency_from(true);
        (JobRecord::ios(job), all.quantile_ns(0.99))
    };
    let iops = ios as f64 * 1e9 / job.active_ns.max(1) as f64;
    (ios > 0).then_some(Seen { iops, p99_ns: tail_ns as f64, switch_ns: 0.0 })
}

/// The usual times, if a slice would have to be more than half as long.
fn chosen(usual: Phase, slices: Slices, slowest: Seen) -> Phase {
    let Seen { iops, p99_ns, switch_ns } = slowest;
    let needs_ns = (IOS * 1e9 / iops)
        .max(TAILS * p99_ns)
        .max(SWITCHES * switch_ns)
        .max(slices.least_ns as f64);
    let steps = (0..).flat_map(|power| STEPS.map(|step| step * 1_000_000 * 10_u64.pow(power)));
    let time_ns = steps.into_iter().find(|step| *step as f64 >= needs_ns);
    let Some(time_ns) = time_ns.filter(|time| 2 * time <= slices.most_ns) else { return usual };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below a second")]
    let ramp_ns = ((RAMP_TAILS * p99_ns) as u64).clamp(LEAST_RAMP_NS, time_ns / 2);
    Phase { ramp_ns: ramp_ns.min(usual.ramp_ns.max(1)), time_ns, slices: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Phase = Phase { ramp_ns: 2_000_000_000, time_ns: 5_000_000_000, slices: None };
    const SLICES: Slices = Slices { least_ns: 100_000_000, most_ns: 5_000_000_000 };

    fn chosen_ms(iops: f64, p99_ms: f64, switch_ms: f64) -> (u64, u64) {
        let slowest = Seen { iops, p99_ns: p99_ms * 1e6, switch_ns: switch_ms * 1e6 };
        let Phase { ramp_ns, time_ns, .. } = chosen(USUAL, SLICES, slowest);
        (ramp_ns / 1_000_000, time_ns / 1_000_000)
    }

    #[test]
    fn a_slice_has_room_for_ios_tails_and_switches() {
        assert_eq!(chosen_ms(1e5, 0.3, 3.0), (20, 100));
        assert_eq!(chosen_ms(800.0, 2.0, 3.0), (20, 300), "200 I/Os take 250 ms");
        assert_eq!(chosen_ms(1e4, 25.0, 3.0), (75, 300), "ten times the tail");
        assert_eq!(chosen_ms(1e4, 1.0, 90.0), (20, 1000), "switching is slow");
        assert_eq!(chosen_ms(50.0, 30.0, 3.0), (2000, 5000), "200 I/Os take 4 s: no slices");
    }
}
