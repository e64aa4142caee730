//! The phases of an experiment, each analysed as an experiment of its own.

use iotax_experiment::{Depth, Draft, SidePhase, SideRole, Spec};
use iotax_record::{End, EndReason, ExperimentHead, Trial};

use crate::analysis::{Analysis, ArmDrain, DepthResponse};
use crate::analyzer::Analyzer;
use crate::drain::{self, KeptUp};
use crate::masked::{self, Level};
use crate::precondition;
use crate::progress::Standing;

/// One [`Analyzer`] per phase. Each keeps its own error rate: a verdict is about its phase, and
/// more phases are more questions, not more looks at the same one.
#[derive(Debug, Clone)]
pub struct Phases {
    each: Vec<(ExperimentHead, Analyzer)>,
    /// All trials taken in, of whatever phase.
    trials: u32,
    /// If these are a depth check: how many phases it is about.
    checked: usize,
    /// Whether a phase that has its answers is not driven any more.
    closes: bool,
}

impl Phases {
    pub fn new(experiment: &ExperimentHead) -> Self {
        let specs = (0..).map_while(|phase| experiment.spec.phase(phase));
        let phases = specs.map(|spec| {
            let experiment = ExperimentHead { spec, ..experiment.clone() };
            let analyzer = Analyzer::new(&experiment);
            (experiment, analyzer)
        });
        Self { each: phases.collect(), trials: 0, checked: 0, closes: false }
    }

    /// For loads below a cap ([`crate::below_the_cap`]): each asks its own question, and is driven
    /// until that has its answer.
    pub fn of_loads(experiment: &ExperimentHead) -> Self {
        Self { closes: true, ..Self::new(experiment) }
    }

    /// For the depth check ([`crate::depth_check`]) of `checked`: it goes on until it is clear how
    /// each arm answers to its depth.
    pub fn of_depth_check(experiment: &ExperimentHead, checked: &Self) -> Self {
        Self { checked: checked.each.len(), ..Self::new(experiment) }
    }

    /// Takes in one trial. One of a phase that the experiment does not have is passed over, and
    /// missed in the end.
    pub fn add(&mut self, trial: &Trial) {
        let phase = usize::try_from(trial.phase).unwrap_or(usize::MAX);
        if let Some((_, analyzer)) = self.each.get_mut(phase) {
            analyzer.add(trial);
            self.trials += 1;
        }
    }

    /// Takes in a depth check of these phases ([`crate::depth_check`]): `finish` then tells arms
    /// that are equal because they sit on one cap from arms that are equal.
    pub fn checked_at_depths(&mut self, check: &Self) {
        for (of, (_, analyzer)) in self.each.iter_mut().enumerate() {
            if let Some(levels) = check.levels(of) {
                analyzer.levels = levels;
            }
        }
    }

    /// As a depth check of a phase: its trials by arm and ascending depth.
    fn levels(&self, of: usize) -> Option<Vec<Vec<Level>>> {
        let mut by_arm = vec![Vec::new(); self.each.first()?.0.spec.arms.len()];
        for depth in Depth::ALL {
            let Some(at_depth) = self.side_phase(of, SideRole::Depth(depth)) else { continue };
            for (arm, level) in by_arm.iter_mut().zip(at_depth.levels(depth == Depth::Same)) {
                arm.push(level);
            }
        }
        by_arm.iter().all(|levels| !levels.is_empty()).then_some(by_arm)
    }

    /// As a depth check: whether it is clear how each arm answers to its depth.
    fn is_clear(&self) -> bool {
        let levels = (0..self.checked).filter_map(|of| self.levels(of)).flatten();
        levels.into_iter().all(|levels| masked::arm("", &levels).response != DepthResponse::Unclear)
    }

    /// Takes in what was measured below the caps of these phases ([`crate::below_the_cap`]).
    /// `end`: how that ended.
    pub fn measured_below_caps(&mut self, loads: &Self, end: Option<&End>) {
        for (load, analysis) in loads.finish(end) {
            let of = load.spec.side_phases.first().and_then(|phase| self.each.get_mut(phase.of));
            if let Some((_, analyzer)) = of {
                analyzer.below_cap.push((load, analysis));
            }
        }
    }

    /// Takes in how the arms were preconditioned ([`crate::precondition_spec`]).
    pub fn preconditioned_by(&mut self, rounds: &Self) {
        for (of, (experiment, analyzer)) in self.each.iter_mut().enumerate() {
            let spec = &experiment.spec;
            let [fill, steady] =
                [SideRole::Fill, SideRole::Rounds].map(|role| rounds.side_phase(of, role));
            let arms = (0..).zip(&spec.arms);
            let told = arms.map(|(at, arm)| {
                let [passes, rounds] = [fill, steady].map(|phase| phase.map(|of| of.rounds(at)));
                precondition::arm(arm, spec.workload(), passes.as_deref(), rounds.as_deref())
            });
            analyzer.preconditioned = told.collect();
        }
    }

    /// As preconditioning: whether a phase of it is steady on an arm.
    pub fn is_steady(&self, arm: usize, phase: usize) -> bool {
        let Some((head, analyzer)) = self.each.get(phase) else { return false };
        precondition::is_steady(head.spec.workload(), &analyzer.rounds(arm))
    }

    /// Takes in what was seen while the credits of the arms were spent ([`crate::drain_spec`]), and
    /// returns what each arm keeps up under each of these phases.
    pub fn drained_by(&mut self, stretches: &Self) -> Sustained {
        let drained = stretches.drains();
        let iops = drained.iter().map(|arms| arms.iter().map(|drain| drain.rate_iops).collect());
        let sustained = Sustained(iops.collect());
        // Of a record of an earlier version: the first phase alone was drained.
        for ((_, analyzer), drained) in self.each.iter_mut().zip(drained) {
            analyzer.drained = drained;
        }
        sustained
    }

    /// As stretches of draining: whether the credits of an arm that a phase uses are spent.
    pub fn is_drained(&self, arm: usize, phase: usize) -> bool {
        let drain = self.drains().into_iter().nth(phase).and_then(|arms| arms.into_iter().nth(arm));
        drain.is_some_and(|drain| drain.rate_iops.is_some())
    }

    /// As stretches of draining: what each phase shows of each arm, in the order in which they are
    /// driven, all phases on one arm and then on the next.
    fn drains(&self) -> Vec<Vec<ArmDrain>> {
        let Some((head, _)) = self.each.first() else { return Vec::new() };
        let mut drains = vec![Vec::new(); self.each.len()];
        let mut kept_up: Vec<(&str, KeptUp)> = Vec::new();
        for (at, arm) in head.spec.arms.iter().enumerate() {
            let storage = head.sites.get(at).map_or(arm.name.as_str(), |site| &site.storage_id);
            for ((_, analyzer), drains) in self.each.iter().zip(&mut drains) {
                let stretches = analyzer.stretches(at);
                let here: Vec<KeptUp> = kept_up
                    .iter()
                    .filter(|(of, _)| *of == storage)
                    .map(|(_, level)| *level)
                    .collect();
                let drain = drain::arm(&arm.name, &stretches, &here);
                kept_up.extend(KeptUp::of(&drain, &stretches).map(|level| (storage, level)));
                drains.push(drain);
            }
        }
        drains
    }

    /// As a side run: the analyzer of what it did for a phase of the experiment.
    fn side_phase(&self, of: usize, role: SideRole) -> Option<&Analyzer> {
        let wanted = [SidePhase { of, role }];
        let mut each = self.each.iter();
        each.find(|(head, _)| head.spec.side_phases == wanted).map(|(_, analyzer)| analyzer)
    }

    /// The same experiment with trials as long as those that count.
    pub fn as_counted(&self, spec: &Spec) -> Spec {
        let has_slices = self.each.iter().any(|(_, each)| each.experiment().spec.is_of_slices());
        if has_slices || !spec.is_of_slices() {
            spec.clone()
        } else {
            spec.with(Draft::give_up_slices)
        }
    }

    /// Which arms are to be driven in the next block, by phase; `progress`: what
    /// [`Phases::decide`] said last.
    pub fn open(&self, progress: &Standing) -> Vec<Vec<bool>> {
        let open = |(_, analyzer): &(ExperimentHead, Analyzer)| {
            let look = self.closes.then(|| analyzer.decide());
            match look {
                None => progress.open.clone(),
                Some(Standing { stop, open, .. }) if !stop.is_empty() => vec![false; open.len()],
                Some(look) => look.open,
            }
        };
        self.each.iter().map(open).collect()
    }

    /// What the data say so far, after a complete block: an arm stays open while any phase needs
    /// it, and the experiment goes on while any phase does.
    pub fn decide(&self) -> Standing {
        if self.checked > 0 {
            return self.decide_on_depths();
        }
        let looks = self.each.iter().map(|(experiment, analyzer)| {
            let mut look = analyzer.decide();
            if self.each.len() > 1 {
                for arm in &mut look.arms {
                    arm.phase = Some(experiment.spec.workload().name.clone());
                }
            }
            look
        });
        looks.reduce(both).expect("an experiment has at least one phase")
    }

    fn decide_on_depths(&self) -> Standing {
        let first = self.each.first().expect("an experiment has at least one phase");
        let look = first.1.decide();
        let stop = if self.is_clear() {
            vec![EndReason::DepthsClear]
        } else if look.blocks >= first.0.spec.stop.max_blocks {
            look.stop
        } else {
            Vec::new()
        };
        Standing { open: vec![true; look.open.len()], stop, arms: Vec::new(), ..look }
    }

    /// The experiment and the analysis of each phase. `end`: how the experiment ended; `None` if
    /// the record was cut off.
    pub fn finish(&self, end: Option<&End>) -> Vec<(ExperimentHead, Analysis)> {
        let missing = end.and_then(|end| end.trials).map_or(0, |run| run - run.min(self.trials));
        let finish = |(_, analyzer): &(ExperimentHead, Analyzer)| {
            // Of the trials that a cut record lacks, each phase may lack any.
            let own = end.map(|end| End {
                trials: end.trials.map(|_| analyzer.trials() + missing),
                ..end.clone()
            });
            (analyzer.experiment().clone(), analyzer.finish(own.as_ref()))
        };
        self.each.iter().map(finish).collect()
    }
}

/// What arms keep up once their burst credits are spent, in I/Os per second of each phase's primary
/// job.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sustained(Vec<Vec<Option<f64>>>);

impl Sustained {
    /// That of an arm under a phase, if it is known.
    pub fn iops(&self, arm: usize, phase: usize) -> Option<f64> {
        self.0.get(phase)?.get(arm).copied().flatten()
    }

    /// As far as it holds for a follow-up: of the loads that were made of one phase, each arm is
    /// driven by the first before credits can come back.
    #[must_use]
    pub fn of_follow_up(&self, follow_up: &Spec) -> Self {
        let mut is_driven = vec![false; self.0.len()];
        let mut of_load = |phase: &SidePhase| {
            let is_again = std::mem::replace(is_driven.get_mut(phase.of)?, true);
            self.0.get(phase.of).filter(|_| !is_again).cloned()
        };
        Self(follow_up.side_phases.iter().map(|load| of_load(load).unwrap_or_default()).collect())
    }
}

fn both(first: Standing, second: Standing) -> Standing {
    let open = first.open.iter().zip(&second.open).map(|(a, b)| *a || *b).collect();
    let mut stop = Vec::new();
    if !first.stop.is_empty() && !second.stop.is_empty() {
        let new = second.stop.into_iter().filter(|reason| !first.stop.contains(reason));
        stop = first.stop.iter().cloned().chain(new).collect();
    }
    let arms = first.arms.into_iter().chain(second.arms).collect();
    let blocks = first.blocks.max(second.blocks);
    Standing { open, stop, arms, blocks, lengths: first.lengths.max(second.lengths) }
}
