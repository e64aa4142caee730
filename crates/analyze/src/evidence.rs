//! What self-checks and open questions are judged by.

use iotax_experiment::{Job, Layer, Subject};
use iotax_record::{ExperimentHead, OtherPrograms, Site};

use crate::analysis::{ArmDepths, ArmDrain, ArmPrecondition, Doubt, DoubtKind};
use crate::blocks::Blocks;
use crate::conclude::Conclusion;
use crate::facts::{JobFacts, TrialFacts};
use crate::lengths::LengthEffect;
use crate::masked::LevelShift;
use crate::method::Method;

/// Everything a check may look at.
pub(crate) struct Evidence<'a> {
    pub experiment: &'a ExperimentHead,
    pub names: &'a [String],
    /// All trials, in the order in which they ran.
    pub trials: &'a [&'a TrialFacts],
    /// The same, slices joined to what checks can be made on.
    pub stretches: &'a [TrialFacts],
    /// How longer slices compare with short ones, by arm; empty without longer slices.
    pub lengths: &'a [LengthEffect],
    /// Trials beside `trials`: slices that were given up.
    pub left_out: u32,
    pub blocks: &'a Blocks<'a>,
    pub conclusions: &'a [Conclusion],
    pub method: &'a Method,
    /// How each arm answers to its depth; empty if that was not measured.
    pub depths: &'a [ArmDepths],
    /// Arms whose level was another one in the depth check.
    pub shifts: &'a [LevelShift],
    /// What was seen while burst credits were spent; empty if that was not asked for.
    pub drained: &'a [ArmDrain],
    /// How the arms were preconditioned; empty if that was not asked for.
    pub preconditioned: &'a [ArmPrecondition],
    /// What other programs used meanwhile, where that is known.
    pub other_programs: Option<&'a OtherPrograms>,
    /// Whether something was measured below a cap.
    pub is_measured_below_cap: bool,
}

/// The trials of one arm in which something was found, with the worst of it.
pub(crate) struct Worst<T> {
    pub arm: String,
    /// Trials in which it was found.
    pub trials: u32,
    /// Trials looked at.
    pub of: u32,
    pub finding: T,
}

impl<T> Worst<T> {
    /// `kind`: what the finding is.
    pub(crate) fn doubt(self, kind: impl FnOnce(T) -> DoubtKind) -> Doubt {
        Doubt {
            kind: kind(self.finding),
            of: Some(Subject::Arm(self.arm)),
            trials: self.trials,
            of_trials: Some(self.of),
        }
    }
}

impl<'a> Evidence<'a> {
    /// Usable trials of an arm, each slice one.
    pub(crate) fn count_usable(&self, arm: usize) -> u32 {
        self.usable(arm).map(|trial| trial.slices).sum()
    }

    /// Looks at the usable trials of each arm. `judge` returns how bad a trial is, with details;
    /// the worst one of each arm is kept.
    pub(crate) fn worst_per_arm<T>(
        &self,
        judge: impl Fn(&'a TrialFacts, usize) -> Option<(f64, T)>,
    ) -> Vec<Worst<T>> {
        let per_arm = (0..self.names.len()).filter_map(|arm| {
            let mut worst: Option<(f64, T)> = None;
            let (mut trials, mut of) = (0, 0);
            for trial in self.usable(arm) {
                of += trial.slices;
                let Some(found) = judge(trial, arm) else { continue };
                trials += trial.slices;
                if worst.as_ref().is_none_or(|worst| found.0 > worst.0) {
                    worst = Some(found);
                }
            }
            let arm = self.names[arm].clone();
            worst.map(|(_, finding)| Worst { arm, trials, of, finding })
        });
        per_arm.collect()
    }

    /// The worst of the usable trials of each arm, as a doubt.
    pub(crate) fn worst_trials(
        &self,
        judge: impl Fn(&'a TrialFacts, usize) -> Option<(f64, DoubtKind)>,
    ) -> Vec<Doubt> {
        let worst = self.worst_per_arm(judge).into_iter();
        worst.map(|worst| worst.doubt(|kind| kind)).collect()
    }

    /// The same of what each of [`Self::real_jobs`] did in them.
    pub(crate) fn worst_jobs(
        &self,
        judge: impl Fn(usize, &'a Job, &'a JobFacts) -> Option<(f64, DoubtKind)>,
    ) -> Vec<Doubt> {
        self.worst_trials(|trial, arm| {
            let jobs = self.real_jobs(trial).filter_map(|(job, facts)| judge(arm, job, facts));
            jobs.max_by(|a, b| a.0.total_cmp(&b.0))
        })
    }

    /// In the primary metric, which decides when a run stops.
    pub(crate) fn primary(&self) -> impl Iterator<Item = &'a Conclusion> + use<'a> {
        let primary = self.conclusions.first().map(|c| c.comparison.metric);
        self.conclusions.iter().filter(move |c| Some(c.comparison.metric) == primary)
    }

    pub(crate) fn subject(&self, arm: usize) -> Subject {
        Subject::Arm(self.names[arm].clone())
    }

    pub(crate) fn usable(&self, arm: usize) -> impl Iterator<Item = &'a TrialFacts> + '_ {
        self.stretches.iter().filter(move |trial| trial.usable && trial.arm == Some(arm))
    }

    /// The jobs of a trial that really move data, with what was asked of them. Operations on trees
    /// of files are about names and inodes, which devices do not count.
    pub(crate) fn real_jobs(
        &self,
        trial: &'a TrialFacts,
    ) -> impl Iterator<Item = (&'a Job, &'a JobFacts)> + use<'a> {
        let experiment = self.experiment;
        trial.jobs.iter().map(|facts| (&experiment.spec.workload().jobs[facts.job], facts)).filter(
            |(_, facts)| {
                !matches!(facts.engine.as_str(), "null" | "metadata")
                    && facts.ios > 0
                    && facts.active_ns > 0
            },
        )
    }

    /// Whether nothing was run: all arms are results of other tools.
    pub(crate) fn is_of_results(&self) -> bool {
        self.experiment.spec.is_of_results()
    }

    pub(crate) fn site(&self, arm: usize) -> Option<&'a Site> {
        self.experiment.sites.get(arm)
    }

    /// The layers of an arm that is a stack; empty for any other.
    pub(crate) fn layers(&self, arm: usize) -> &'a [Layer] {
        self.experiment.spec.arms.get(arm).map_or(&[], |arm| arm.target.layers())
    }

    /// Whether an arm has layers of the system: programs and kernel threads beside this process.
    pub(crate) fn is_in_system(&self, arm: usize) -> bool {
        self.experiment.spec.arms.get(arm).is_some_and(|arm| arm.target.is_in_system())
    }
}
