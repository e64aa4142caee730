//! The phases of an experiment, each analysed as an experiment of its own.

use iotax_record::{End, Experiment, Trial};
use iotax_spec::{Depth, Workload};

use crate::analysis::Analysis;
use crate::analyzer::Analyzer;
use crate::progress::Progress;

/// One [`Analyzer`] per phase. Each keeps its own error rate: a verdict is about its phase, and
/// more phases are more questions, not more looks at the same one.
#[derive(Debug, Clone)]
pub struct Phases {
    phases: Vec<(Experiment, Analyzer)>,
    /// All trials taken in, of whatever phase.
    trials: u32,
}

impl Phases {
    /// For the experiment with this head.
    pub fn new(experiment: &Experiment) -> Self {
        let specs = (0..).map_while(|phase| experiment.spec.phase(phase));
        let phases = specs.map(|spec| {
            let experiment = Experiment { spec, ..experiment.clone() };
            let analyzer = Analyzer::new(&experiment);
            (experiment, analyzer)
        });
        Self { phases: phases.collect(), trials: 0 }
    }

    /// Takes in one trial. One of a phase that the experiment does not have is passed over, and
    /// missed in the end.
    pub fn add(&mut self, trial: &Trial) {
        let phase = usize::try_from(trial.phase).unwrap_or(usize::MAX);
        if let Some((_, analyzer)) = self.phases.get_mut(phase) {
            analyzer.add(trial);
            self.trials += 1;
        }
    }

    /// Takes in a depth check of these phases ([`crate::depth_check`]): `finish` then tells arms
    /// that are equal because they sit on one cap from arms that are equal.
    pub fn checked_at_depths(&mut self, check: &Self) {
        for (experiment, analyzer) in &mut self.phases {
            let workload = &experiment.spec.workload;
            let mut by_arm = vec![Vec::new(); experiment.spec.arms.len()];
            for depth in Depth::ALL {
                let Some(changed) = workload.with_depth(depth) else { continue };
                let Some(at_depth) = check.of(&changed.name) else { continue };
                for (arm, level) in by_arm.iter_mut().zip(at_depth.levels(depth == Depth::Same)) {
                    arm.push(level);
                }
            }
            if by_arm.iter().all(|levels| !levels.is_empty()) {
                analyzer.with_levels(by_arm);
            }
        }
    }

    /// Takes in what was measured below the caps of these phases ([`crate::below_the_cap`]).
    /// `end`: how that ended.
    pub fn unmasked_by(&mut self, loads: &Self, end: Option<&End>) {
        for (changed, analysis) in loads.finish(end) {
            let name = &changed.spec.workload.name;
            let is_of = |workload: &Workload| name.starts_with(&format!("{} ", workload.name));
            // The longest name: one may begin with another.
            let own = self.phases.iter_mut().filter(|(head, _)| is_of(&head.spec.workload));
            if let Some((_, analyzer)) = own.max_by_key(|(head, _)| head.spec.workload.name.len()) {
                analyzer.add_unmasked(analysis);
            }
        }
    }

    /// The analyzer of the phase with this name.
    fn of(&self, name: &str) -> Option<&Analyzer> {
        let is_it = |(head, _): &&(Experiment, Analyzer)| head.spec.workload.name == name;
        self.phases.iter().find(is_it).map(|(_, analyzer)| analyzer)
    }

    /// What the data say so far, after a complete block: an arm stays open while any phase needs
    /// it, and the experiment goes on while any phase does.
    pub fn decide(&self) -> Progress {
        let looks = self.phases.iter().map(|(experiment, analyzer)| {
            let mut look = analyzer.decide();
            if self.phases.len() > 1 {
                for arm in &mut look.arms {
                    arm.name = format!("{} {}", experiment.spec.workload.name, arm.name);
                }
            }
            look
        });
        looks.reduce(both).expect("an experiment has at least one phase")
    }

    /// The experiment and the analysis of each phase. `end`: how the experiment ended; `None` if
    /// the record was cut off.
    pub fn finish(&self, end: Option<&End>) -> Vec<(Experiment, Analysis)> {
        let missing = end.and_then(|end| end.trials).map_or(0, |run| run - run.min(self.trials));
        let finish = |(experiment, analyzer): &(Experiment, Analyzer)| {
            // Of the trials that a cut record lacks, each phase may lack any.
            let own = end.map(|end| End {
                trials: end.trials.map(|_| analyzer.trials() + missing),
                ..end.clone()
            });
            (experiment.clone(), analyzer.finish(own.as_ref()))
        };
        self.phases.iter().map(finish).collect()
    }
}

fn both(first: Progress, second: Progress) -> Progress {
    let open = first.open.iter().zip(&second.open).map(|(a, b)| *a || *b).collect();
    let stop = match (first.stop, second.stop) {
        (Some(first), Some(second)) if first == second => Some(first),
        (Some(first), Some(second)) => Some(format!("{first}; {second}")),
        _ => None,
    };
    let arms = first.arms.into_iter().chain(second.arms).collect();
    Progress { open, stop, arms, blocks: first.blocks.max(second.blocks) }
}
