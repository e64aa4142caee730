//! Trials so short that neighbours see the same weather: slices.
//!
//! Most of the noise of a disk that others share is slower than a second. Two trials of 5 s see different
//! weather; in the ratio of two slices of 100 ms, one right after the other, it cancels. How long a
//! slice has to be depends on the machine, too, so a pilot settles it once the arms are up, within bounds
//! that follow from the workload.

use serde::{Deserialize, Serialize};

use crate::plan::Phase;
use crate::spec::{Arm, Design, Draft, Driver, Stop};
use crate::workload::{Bound, Job, Workload};

/// The shortest slice: below it, what starting and ending one costs shows, and what a device had in flight
/// for the other arm.
const LEAST_NS: u64 = 100_000_000;
/// The same where all arms are stacks in this process: nothing of one reaches into the other's.
const LEAST_IN_PROCESS_NS: u64 = 50_000_000;
/// Cycles of whatever is periodic that a slice has room for.
const CYCLES: f64 = 8.0;
/// Blocks before the first look: how much slices depend on each other is not known sooner.
const FEWEST_BLOCKS: u32 = 20;
/// Blocks at most, where nobody says: the time ends first.
const MOST_BLOCKS: u32 = 5120;
/// Longest time of an experiment made of slices, where nobody says.
const MOST_TIME_NS: u64 = 600_000_000_000;

/// That the trials of a workload are slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slices {
    /// How long the measured window of one is at least, in nanoseconds.
    pub least_ns: u64,
    /// What its trials take where they cannot be slices. A window of more than half of that is none.
    pub usual: Phase,
}

impl Draft {
    /// Leaves the trials of all phases slices where arms can alternate that fast.
    pub fn alternate(&mut self) {
        let is_compared = matches!(self.design, Design::Compare | Design::Peel { .. });
        // What is set for each turn may take longer than a slice.
        let is_quick = |arm: &Arm| arm.driver == Driver::Native && arm.host_commands.is_none();
        let can = is_compared
            && self.at_once == 1
            && self.side_runs.drain_ns.is_none()
            && !self.is_of_results()
            && self.stop.min_blocks < self.stop.max_blocks
            && self.arms.iter().all(is_quick)
            && self
                .phases()
                .all(|phase| phase.slices.is_some() && phase.sliced(LEAST_NS).is_some());
        let in_process = self.arms.iter().all(|arm| arm.target.is_in_memory());
        let least_ns = if in_process { LEAST_IN_PROCESS_NS } else { LEAST_NS };
        for phase in &mut self.phases {
            phase.slices = if can { phase.sliced(least_ns) } else { None };
        }
    }

    /// Whether its trials are slices, or a pilot may make them so.
    pub fn is_of_slices(&self) -> bool {
        self.workload().slices.is_some()
    }

    /// Gives slices up for trials of the usual length: what slices show is not what these would.
    pub fn give_up_slices(&mut self) {
        for phase in &mut self.phases {
            *phase = std::mem::replace(phase, Workload::new("", Vec::new())).unsliced();
        }
        let usual = Stop::default();
        if self.stop.max_blocks == MOST_BLOCKS {
            self.stop.max_blocks = usual.max_blocks;
        }
        self.stop.min_blocks = usual.min_blocks.min(self.stop.max_blocks);
    }

    /// Gives the slices of each phase the times that a pilot found right; without any, trials take what they
    /// usually do. Blocks and time that nobody asked for make room for many.
    pub fn settle(&mut self, times: Option<&[Phase]>) {
        let Some(times) = times else {
            self.phases.iter_mut().for_each(|phase| phase.slices = None);
            return;
        };
        for (phase, times) in self.phases.iter_mut().zip(times) {
            (phase.ramp_ns, phase.time_ns) = (times.ramp_ns, times.time_ns);
        }
        let usual = Stop::default();
        if self.stop.max_blocks == usual.max_blocks {
            self.stop.max_blocks = MOST_BLOCKS;
            self.stop.max_time_ns.get_or_insert(MOST_TIME_NS);
        }
        self.stop.min_blocks = self.stop.min_blocks.max(FEWEST_BLOCKS).min(self.stop.max_blocks);
    }
}

impl Workload {
    /// With trials that are slices, if they may be. Whoever asks for their length takes that back.
    #[must_use]
    pub fn in_slices(mut self) -> Self {
        self.slices = self.sliced(LEAST_NS);
        self
    }

    /// The same with trials that take what they usually do.
    #[must_use]
    pub fn unsliced(mut self) -> Self {
        if let Some(slices) = self.slices.take() {
            (self.ramp_ns, self.time_ns) = (slices.usual.ramp_ns, slices.usual.time_ns);
        }
        self
    }

    /// How short its trials may be; `None` if a part of one is not the same as the whole: jobs that begin
    /// later, or end by themselves.
    fn sliced(&self, least_ns: u64) -> Option<Slices> {
        let is_even = |job: &Job| {
            job.bound == Bound::Time
                && job.start_delay_ns == 0
                && job.end_after_ns.is_none()
                && job.latency_target.is_none()
                && !job.ends_all
        };
        if !self.jobs.iter().all(is_even) {
            return None;
        }
        let thinks = self.jobs.iter().filter_map(|job| job.think).map(|think| think.time_ns as f64);
        let index = self.index.map(|index| 1e9 / index.versions_per_second);
        let cycle_ns = thinks.chain(index).fold(0.0, f64::max);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let least_ns = least_ns.max((CYCLES * cycle_ns) as u64);
        let usual = Phase { ramp_ns: self.ramp_ns, time_ns: self.time_ns };
        (2 * least_ns <= usual.time_ns).then_some(Slices { least_ns, usual })
    }
}
