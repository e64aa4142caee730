//! The record of a replay, from what its threads counted.

use iotax_record::{JobRecord, LoadRecord, PauseRecord, ReplayRecord, SystemCounters};

use super::drive::{Counted, Trial};
use super::parts::Part;
use super::survey::Survey;
use crate::native::add_to_job;

/// A trial is too late if the mean lateness is above this share of the recorded think time and
/// latency of an I/O, in percent: throughput is off by as much.
const MEAN_LATE_PERCENT: f64 = 5.0;
/// Or if the p99 lateness is above this share and above the limit below.
const P99_LATE_PERCENT: f64 = 10.0;
const P99_LATE_NS: u64 = 1_000_000;

/// What was counted from the start to the end.
pub(super) struct Watched {
    pub start_ns: u64,
    pub ended_ns: u64,
    pub system: SystemCounters,
    pub paused: Option<PauseRecord>,
}

/// Facts of a replay that the threads do not count.
pub(super) struct Frame<'a> {
    pub survey: &'a Survey,
    pub part: &'a Part,
    pub job: &'a str,
    pub copies: u64,
    /// When the replay must end, after its start.
    pub limit_ns: Option<u64>,
    pub is_stopped: bool,
}

impl Trial<'_> {
    /// All copies are counted together.
    pub(super) fn merge(&self, mut all: Vec<Counted<'_>>, watched: &Watched) -> LoadRecord {
        let frame = self.frame();
        let window_ns = frame.window_ns(&all, watched);
        let threads = |of: &dyn Fn(&Counted<'_>) -> bool| {
            let number = all.iter().filter(|one| one.plan.lane == 0 && of(one)).count();
            u32::try_from(number).unwrap_or(u32::MAX)
        };
        let mut job = JobRecord {
            name: frame.job.to_owned(),
            engine: "replay".to_owned(),
            threads: threads(&|_| true),
            queue_depth: 1,
            active_ns: window_ns,
            ..JobRecord::default()
        };
        let mut replay = ReplayRecord {
            recorded_ns: frame.part.length_ns,
            recorded_cycle_ns: frame.survey.cycle_ns,
            recorded_run_delay_ns: frame.survey.run_delay_ns,
            clocked_threads: threads(&|one| one.plan.is_clocked),
            ..ReplayRecord::default()
        };
        for Counted { tally, plan } in &mut all {
            replay.lateness.merge(&tally.lateness);
            if !plan.is_clocked && plan.lane == 0 {
                replay.times.add(&tally.times);
            }
            replay.operations += tally.operations;
            replay.waits += tally.waits;
            replay.bounded_waits += tally.bounded_waits;
            replay.shared_syncs += tally.shared_syncs;
            replay.added_syncs += tally.added_syncs;
            replay.failed_as_recorded += tally.failed_as_recorded;
            add_to_job(&mut job, tally.record(window_ns));
        }
        job.max_slip_ns = replay.lateness.max_ns();
        let operations = frame.part.operations.saturating_mul(frame.copies);
        replay.left_over = operations.saturating_sub(replay.operations);
        replay.is_too_late = is_too_late(&replay);
        LoadRecord {
            driver: "replay".to_owned(),
            window_ns,
            jobs: vec![job],
            system: watched.system.clone(),
            paused: watched.paused,
            replay: Some(replay),
            warnings: Vec::new(),
            ..LoadRecord::default()
        }
    }
}

impl Frame<'_> {
    /// The last operation ends the window, unless the time was up or the user stopped it.
    fn window_ns(&self, all: &[Counted<'_>], watched: &Watched) -> u64 {
        let of_work = || all.iter().filter(|one| !one.plan.is_clocked).map(|one| &one.tally);
        let last_ns = of_work().map(|tally| tally.last_ns).max().unwrap_or(0);
        let window_ns = if self.is_stopped {
            watched.ended_ns.saturating_sub(watched.start_ns)
        } else {
            self.limit_ns.filter(|_| of_work().any(|tally| tally.was_cut)).unwrap_or(last_ns)
        };
        window_ns.max(last_ns).max(1)
    }
}

/// Whether the lateness says more about this machine than about the storage. Threads that waited
/// for a CPU in the recording may also wait in the replay.
fn is_too_late(replay: &ReplayRecord) -> bool {
    let (lateness, cycle_ns) = (&replay.lateness, replay.recorded_cycle_ns as f64);
    // Nothing can be late for a recording without times.
    if replay.recorded_cycle_ns == 0 {
        return false;
    }
    let [mean_delay_ns, p99_delay_ns] = replay.recorded_run_delay_ns;
    let mean_ns = lateness.mean_ns() - mean_delay_ns as f64;
    let p99_ns = lateness.quantile_ns(0.99).saturating_sub(p99_delay_ns);
    mean_ns * 100.0 > cycle_ns * MEAN_LATE_PERCENT
        || p99_ns > P99_LATE_NS && p99_ns as f64 * 100.0 > cycle_ns * P99_LATE_PERCENT
}
