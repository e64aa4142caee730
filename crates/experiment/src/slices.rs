//! Slices: trials so short that neighbouring ones see the same noise.
//!
//! Most noise of a shared disk is slower than a second. Two trials of 5 s see different noise; in
//! the ratio of two slices of 100 ms, one directly after the other, it cancels. The necessary
//! length of a slice also depends on the machine, so a pilot determines it once the arms are up,
//! within bounds given by the workload.
//!
//! A recording is cut into parts, which are its slices: block by block, all arms replay the same
//! part. There are at least as many blocks as parts, so that the verdict is about all of it.

use serde::Serialize;

use crate::spec::{Arm, Design, Draft, Driver, Stop};
use crate::workload::{Bound, Job, Phase, Slices, Uncut, Workload};

/// The shortest ramp of a slice: threads have started, and the queue is full.
pub const LEAST_SLICE_RAMP_NS: u64 = 20_000_000;

/// The shortest slice: below it, the cost of starting and ending a slice becomes visible, and so do
/// I/Os that the device still had in flight for the other arm.
const LEAST_NS: u64 = 100_000_000;
/// The same if all arms are in-process stacks, which do not affect each other.
const LEAST_IN_PROCESS_NS: u64 = 50_000_000;
/// Minimum number of cycles of a periodic effect in a slice.
const CYCLES: f64 = 4.0;
/// Number of blocks before the first look: enough to give each arm [`LEAST_IN_ALL_NS`], within this
/// range. By then, effects of the device's state have passed, and the dependence between slices is
/// known.
const FEWEST_BLOCKS: std::ops::RangeInclusive<u32> = 8..=20;
/// Minimum total time of the slices of an arm before the first look.
const LEAST_IN_ALL_NS: u64 = 2_000_000_000;
/// Default maximum number of blocks: the time limit is reached first.
const MOST_BLOCKS: u32 = 5120;
/// Default maximum time of an experiment with slices.
const MOST_TIME_NS: u64 = 600_000_000_000;

/// Numbers of parts of a recording. Some multiple of each is the number of blocks at the first look
/// (see `iotax_stats::design::SLICE_LOOKS`), so that this look is about all of the recording.
pub const PART_COUNTS: [u32; 24] = [
    2, 4, 5, 8, 10, 13, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 160, 200, 256, 320, 400, 512,
    640, 800,
];
/// The time limit allows for this many replays of a whole recording.
const LEAST_ROOM: u64 = 2;

/// Why the trials of an experiment are not slices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WholeTrials {
    /// There is only one arm.
    OneArm,
    /// Arms are nodes of a fleet, with independent noise.
    Nodes,
    /// Nothing is run.
    SavedResults,
    /// The number of trials is fixed.
    FixedTrials,
    /// Several arms are measured at the same time.
    AtTheSameTime,
    /// Burst credits are spent before each trial.
    Drained,
    /// Another program drives an arm, and takes too long to start.
    DrivenBy { arm: String, driver: Driver },
    /// Commands run before each turn of an arm.
    HostCommands { arm: String },
    /// The user, or the job file, sets the length of the trials of a workload.
    TimesAreSet { workload: String },
    /// A job ends by itself, or starts later than the trial.
    NotEven { job: String },
    /// A job searches for the depth that meets its latency target.
    LatencyTarget { job: String },
    /// A recording is not cut into parts.
    Recording { workload: String, why: Uncut },
    /// Not all parts of a recording would be replayed.
    TooFewForParts { parts: u32, max_blocks: u32 },
    /// The user allows fewer blocks than the first analysis of slices needs.
    TooFewBlocks { least: u32, max_blocks: u32 },
    /// Parts of a recording are replayed in order, so nothing else may change its files.
    SeveralRecordings,
    /// A slice of at least `least_ns` is more than half of a trial of `time_ns`, in nanoseconds.
    TooShort { least_ns: u64, time_ns: u64 },
}

impl Draft {
    /// Makes the trials of all phases slices if arms can alternate that fast. Otherwise they stay
    /// whole trials, and the reason is returned.
    pub fn alternate(&mut self) -> Option<WholeTrials> {
        let slices = self.slices();
        let (each, why) = match slices {
            Ok(each) => (each.into_iter().map(Some).collect(), None),
            Err(why) => (vec![None; self.phases.len()], Some(why)),
        };
        for (phase, slices) in self.phases.iter_mut().zip(each) {
            phase.slices = slices;
        }
        why
    }

    /// The slices of each phase.
    fn slices(&self) -> Result<Vec<Slices>, WholeTrials> {
        if self.is_of_results() {
            return Err(WholeTrials::SavedResults);
        }
        match self.design {
            Design::Compare | Design::Peel { .. } => {}
            Design::Single => return Err(WholeTrials::OneArm),
            Design::Fleet => return Err(WholeTrials::Nodes),
        }
        if self.stop.min_blocks >= self.stop.max_blocks {
            return Err(WholeTrials::FixedTrials);
        }
        if self.at_once != 1 {
            return Err(WholeTrials::AtTheSameTime);
        }
        if self.side_runs.drain_ns.is_some() {
            return Err(WholeTrials::Drained);
        }
        let arm = |arm: &Arm| arm.name.clone();
        if let Some(of) = self.arms.iter().find(|arm| arm.driver != Driver::Native) {
            return Err(WholeTrials::DrivenBy { arm: arm(of), driver: of.driver });
        }
        // A setting made for each turn may take longer than a slice.
        if let Some(of) = self.arms.iter().find(|arm| arm.host_commands.is_some()) {
            return Err(WholeTrials::HostCommands { arm: arm(of) });
        }
        if self.phases.len() > 1 && self.phases().any(Workload::is_recorded) {
            return Err(WholeTrials::SeveralRecordings);
        }
        let parts = self.phases().filter_map(Workload::parts).max().unwrap_or(1);
        let max_blocks = self.stop.max_blocks;
        if self.stop.max_blocks_asked && max_blocks < parts {
            return Err(WholeTrials::TooFewForParts { parts, max_blocks });
        }
        let least = *FEWEST_BLOCKS.start();
        if self.stop.max_blocks_asked && max_blocks < least {
            return Err(WholeTrials::TooFewBlocks { least, max_blocks });
        }
        let in_process = self.arms.iter().all(|arm| arm.target.is_in_memory());
        let least_ns = if in_process { LEAST_IN_PROCESS_NS } else { LEAST_NS };
        let slices = |phase: &Workload| match phase.slices {
            Some(_) => phase.sliced(least_ns),
            None => Err(phase
                .uncut()
                .unwrap_or_else(|| WholeTrials::TimesAreSet { workload: phase.name.clone() })),
        };
        self.phases().map(slices).collect()
    }

    /// The experiment if a pilot chooses the shortest slices.
    #[must_use]
    pub fn in_shortest_slices(&self) -> Option<Self> {
        let shortest = |phase: &Workload| phase.slices.map(Slices::shortest);
        let times = self.phases().map(shortest).collect::<Option<Vec<Phase>>>()?;
        let mut draft = self.clone();
        draft.settle(Some(&times));
        Some(draft)
    }

    /// Whether a pilot may make its trials slices, or has done so.
    pub fn may_be_of_slices(&self) -> bool {
        self.workload().slices.is_some()
    }

    /// Whether its trials are slices.
    pub fn is_of_slices(&self) -> bool {
        self.workload().is_sliced()
    }

    /// Replaces slices by trials of the usual length, because slices do not show what whole trials
    /// show.
    pub fn give_up_slices(&mut self) {
        for phase in &mut self.phases {
            *phase = std::mem::replace(phase, Workload::new("", Vec::new())).unsliced();
        }
        let usual = Stop::default();
        if !self.stop.max_blocks_asked {
            self.stop.max_blocks = usual.max_blocks;
        }
        self.stop.min_blocks = usual.min_blocks.min(self.stop.max_blocks);
    }

    /// Sets the slices of each phase to the times from a pilot; without them, trials have their
    /// usual length. Default limits on blocks and time are raised for many slices.
    pub fn settle(&mut self, times: Option<&[Phase]>) {
        let Some(times) = times else {
            self.phases.iter_mut().for_each(|phase| phase.slices = None);
            return;
        };
        for (phase, times) in self.phases.iter_mut().zip(times) {
            (phase.ramp_ns, phase.time_ns) = (times.ramp_ns, times.time_ns);
        }
        let turn_ns = times.iter().map(|phase| phase.time_ns).fold(0, u64::saturating_add);
        let fewest = LEAST_IN_ALL_NS.div_ceil(turn_ns.max(1));
        let fewest = u32::try_from(fewest).unwrap_or(u32::MAX);
        let fewest = fewest.clamp(*FEWEST_BLOCKS.start(), *FEWEST_BLOCKS.end());
        // Recordings are replayed to their ends.
        let parts = self.phases().filter_map(Workload::parts).max().unwrap_or(1);
        let fewest = fewest.next_multiple_of(parts.max(1));
        if !self.stop.max_blocks_asked {
            self.stop.max_blocks = MOST_BLOCKS;
            let most_ns = MOST_TIME_NS.saturating_add(self.most_hold_ns());
            let of_parts = u64::from(parts).saturating_mul(turn_ns);
            let needs_ns = of_parts.saturating_mul(self.arms.len() as u64 * LEAST_ROOM);
            let most_ns = if parts > 1 { most_ns.max(needs_ns) } else { most_ns };
            self.stop.max_time_ns.get_or_insert(most_ns);
        }
        self.stop.min_blocks = self.stop.min_blocks.max(fewest).min(self.stop.max_blocks);
    }
}

impl Slices {
    /// The times of the shortest.
    pub fn shortest(self) -> Phase {
        Phase { ramp_ns: LEAST_SLICE_RAMP_NS.min(self.usual.ramp_ns), time_ns: self.least_ns }
    }

    /// Maximum length of the measured window, in nanoseconds.
    pub const fn longest_ns(self) -> u64 {
        self.usual.time_ns / 2
    }
}

impl Workload {
    /// With slices as trials, if possible. Setting the length of trials undoes that.
    #[must_use]
    pub fn in_slices(mut self) -> Self {
        self.slices = self.sliced(LEAST_NS).ok();
        self
    }

    /// Whether its trials are slices: a pilot has set their length, which is shorter than usual.
    pub fn is_sliced(&self) -> bool {
        self.slices.is_some_and(|slices| self.time_ns < slices.usual.time_ns)
    }

    /// The same with trials of the usual length.
    #[must_use]
    pub fn unsliced(mut self) -> Self {
        if let Some(slices) = self.slices.take() {
            (self.ramp_ns, self.time_ns) = (slices.usual.ramp_ns, slices.usual.time_ns);
        }
        self
    }

    /// Why its recording cannot be replayed in slices.
    fn uncut(&self) -> Option<WholeTrials> {
        let why = self.recording()?.uncut?;
        Some(WholeTrials::Recording { workload: self.name.clone(), why })
    }

    /// How short its trials may be. A part of a trial must be like the whole, except that of a
    /// recording, because the others follow.
    fn sliced(&self, least_ns: u64) -> Result<Slices, WholeTrials> {
        let usual = Phase { ramp_ns: self.ramp_ns, time_ns: self.time_ns };
        if let Some(parts) = self.parts() {
            return match self.uncut() {
                Some(why) => Err(why),
                None => Ok(Slices { least_ns: self.time_ns / u64::from(parts.max(2)), usual }),
            };
        }
        let is_even = |job: &Job| {
            job.bound == Bound::Time
                && job.start_delay_ns == 0
                && job.end_after_ns.is_none()
                && !job.ends_all
        };
        if let Some(job) = self.jobs.iter().find(|job| !is_even(job)) {
            return Err(WholeTrials::NotEven { job: job.name.clone() });
        }
        if let Some(job) = self.jobs.iter().find(|job| job.latency_target.is_some()) {
            return Err(WholeTrials::LatencyTarget { job: job.name.clone() });
        }
        let thinks = self.jobs.iter().filter_map(|job| job.think).map(|think| think.time_ns as f64);
        let index = self.index.map(|index| 1e9 / index.versions_per_second);
        let cycle_ns = thinks.chain(index).fold(0.0, f64::max);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let least_ns = least_ns.max((CYCLES * cycle_ns) as u64);
        if least_ns.saturating_mul(2) > usual.time_ns {
            return Err(WholeTrials::TooShort { least_ns, time_ns: usual.time_ns });
        }
        Ok(Slices { least_ns, usual })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HostCommands, SideRuns};

    fn compared(workload: Workload) -> Draft {
        let arms = ["a=/a", "b=/b"].map(|text| Arm::parse(text).unwrap()).to_vec();
        Draft::compare(vec![workload], arms).unwrap()
    }

    fn preset(name: &str) -> Draft {
        compared(Workload::preset(name).unwrap())
    }

    #[test]
    fn two_arms_of_a_preset_alternate_from_a_tenth_of_a_second_to_half_of_a_trial() {
        let mut draft = preset("randread-4k");
        assert_eq!(draft.alternate(), None);
        let slices = draft.workload().slices.unwrap();
        assert_eq!([slices.least_ns, slices.longest_ns()], [100_000_000, 2_500_000_000]);
        let settled = draft.in_shortest_slices().unwrap();
        let plan = crate::plan::Plan::new(&settled);
        assert_eq!((plan.min_blocks, plan.max_blocks), (20, 5120));
        assert_eq!(plan.duration_ns(), (4_800_000_000, 600_000_000_000));
        let asked = Stop { max_blocks: 40, max_blocks_asked: true, ..draft.stop };
        let mut few = Draft { stop: asked, ..draft }.in_shortest_slices().unwrap();
        let plan = crate::plan::Plan::new(&few);
        assert_eq!((plan.max_blocks, plan.max_time_ns), (40, None), "as the user set it");
        few.give_up_slices();
        assert_eq!(few.stop.max_blocks, 40);
    }

    fn recorded(length_ns: u64, parts: u32, uncut: Option<Uncut>) -> Workload {
        let recording = crate::RecordedLoad {
            path: "/app.iotx".into(),
            hash: "1".to_owned(),
            length_ns,
            threads: 4,
            requests: 0,
            waits_for_syncs: true,
            allow_loss: false,
            arrivals: crate::Arrivals::default(),
            copies: 1,
            parts,
            uncut,
            writes: true,
            device_bytes: None,
            logs: None,
        };
        let job = Job {
            engine: crate::Engine::Replay,
            pattern: crate::Pattern::Random,
            advise: false,
            recording: Some(recording),
            ..Job::new("replay")
        };
        Workload { time_ns: length_ns, ..Workload::new("app", vec![job]) }.in_slices()
    }

    #[test]
    fn a_recording_is_replayed_in_its_parts_to_its_end() {
        const SECOND_NS: u64 = 1_000_000_000;
        let mut draft = compared(recorded(60 * SECOND_NS, 50, None));
        assert_eq!(draft.alternate(), None);
        let settled = draft.in_shortest_slices().unwrap();
        let plan = crate::plan::Plan::new(&settled);
        assert_eq!((plan.min_blocks, plan.usual_slices), (50, 0));
        assert_eq!(plan.max_time_ns, Some(600 * SECOND_NS));
        assert_eq!(plan.phases[0].ramp_ns, 0);
        let few = compared(recorded(5 * SECOND_NS, 5, None)).in_shortest_slices().unwrap();
        assert_eq!(few.stop.min_blocks, 10, "whole replays, and not fewer than other slices");
        let long = compared(recorded(3600 * SECOND_NS, 800, None)).in_shortest_slices().unwrap();
        assert_eq!(long.stop.min_blocks, 800);
        assert!(long.stop.max_time_ns.unwrap() >= 4 * 3599 * SECOND_NS);
        draft.stop = Stop { max_blocks: 49, max_blocks_asked: true, ..draft.stop };
        let why = WholeTrials::TooFewForParts { parts: 50, max_blocks: 49 };
        assert_eq!(draft.alternate(), Some(why));
        let mut few = compared(recorded(3 * SECOND_NS, 3, None));
        few.stop = Stop { max_blocks: 7, max_blocks_asked: true, ..few.stop };
        let why = WholeTrials::TooFewBlocks { least: 8, max_blocks: 7 };
        assert_eq!(few.alternate(), Some(why));
        let mut whole = compared(recorded(60 * SECOND_NS, 1, Some(Uncut::Busy)));
        let why = WholeTrials::Recording { workload: "app".to_owned(), why: Uncut::Busy };
        assert_eq!(whole.alternate(), Some(why));
        let mut two = compared(recorded(60 * SECOND_NS, 50, None));
        two.phases.push(Workload { name: "other".to_owned(), ..two.phases[0].clone() });
        assert_eq!(two.alternate(), Some(WholeTrials::SeveralRecordings));
    }

    #[test]
    fn each_obstacle_leaves_whole_trials_and_is_named() {
        let whole = |change: &dyn Fn(&mut Draft)| {
            let mut draft = preset("randread-4k");
            change(&mut draft);
            let why = draft.alternate();
            assert!(!draft.may_be_of_slices() && draft.in_shortest_slices().is_none(), "{why:?}");
            why.unwrap()
        };
        let first_job =
            |change: &dyn Fn(&mut Job)| whole(&|draft| change(&mut draft.phases[0].jobs[0]));
        let (arm, job) = (|| "b".to_owned(), || "io".to_owned());
        assert_eq!(whole(&|draft| draft.design = Design::Single), WholeTrials::OneArm);
        assert_eq!(whole(&|draft| draft.design = Design::Fleet), WholeTrials::Nodes);
        assert_eq!(
            whole(&|draft| draft.stop.min_blocks = draft.stop.max_blocks),
            WholeTrials::FixedTrials
        );
        assert_eq!(whole(&|draft| draft.at_once = 2), WholeTrials::AtTheSameTime);
        let drain = SideRuns { drain_ns: Some(1), ..SideRuns::default() };
        assert_eq!(whole(&|draft| draft.side_runs = drain), WholeTrials::Drained);
        assert_eq!(
            whole(&|draft| draft.arms[1].driver = Driver::Fio),
            WholeTrials::DrivenBy { arm: arm(), driver: Driver::Fio }
        );
        let commands = HostCommands { before: "true".into(), after: None, directory: "/".into() };
        assert_eq!(
            whole(&|draft| draft.arms[1].host_commands = Some(commands.clone())),
            WholeTrials::HostCommands { arm: arm() }
        );
        assert_eq!(
            whole(&|draft| draft.phases[0].slices = None),
            WholeTrials::TimesAreSet { workload: "randread-4k".into() }
        );
        assert_eq!(
            first_job(&|job| job.bound = Bound::Bytes(1 << 20)),
            WholeTrials::NotEven { job: job() }
        );
        assert_eq!(first_job(&|job| job.start_delay_ns = 1), WholeTrials::NotEven { job: job() });
        assert_eq!(
            whole(&|draft| draft.phases[0].time_ns = 150_000_000),
            WholeTrials::TooShort { least_ns: 100_000_000, time_ns: 150_000_000 }
        );
    }
}
