//! Trials in, progress and analysis out.

use iotax_experiment::rule::Condition;
use iotax_experiment::{Design, Draft, Rule};
use iotax_record::{End, EndReason, ExperimentHead, Trial, TrialLength};
use iotax_stats::sample::{count, mean};

use crate::analysis::{
    Analysis, ArmDepths, ArmDrain, ArmPrecondition, Comparison, Ending, FORMAT, FactorEffects,
    Outliers,
};
use crate::attribution::{Layout, Peel};
use crate::blocks::Blocks;
use crate::checks;
use crate::conclude::{Conclusion, conclude};
use crate::counters::{IntervalBudget, MOST_INTERVALS};
use crate::drain::{self, Stretches};
use crate::evidence::Evidence;
use crate::facts::{JobFacts, TrialFacts};
use crate::lengths::{self, LengthEffect, Lengths};
use crate::masked::{self, DepthCheck, Level};
use crate::matrix::Factors;
use crate::method::Method;
use crate::metrics::{Metric, Role};
use crate::pool::ArmPool;
use crate::progress::{self, Kind, Standing};
use crate::rules::{self, Judged, RuleContext};
use crate::{
    block_differences, bound, family, held, late, missing, nodes, outliers, questions, results,
    screened, stalled, stand_in, stretch, summary,
};

/// Collects the trials of an experiment and draws conclusions from them.
///
/// Keeps a kilobyte or two per trial, series of the first trials, and one pooled histogram per arm
/// and job, never a trial's own histograms: tens of thousands of trials fit. The result depends on
/// which trials were added, not on the order of adding; the same code serves a live run and a
/// record read back.
#[derive(Debug, Clone)]
pub struct Analyzer {
    experiment: ExperimentHead,
    names: Vec<String>,
    method: Method,
    layout: Option<Layout>,
    factors: Option<Factors>,
    trials: Vec<TrialFacts>,
    pools: Vec<ArmPool>,
    /// Slices were given up for trials of the usual length, which count alone.
    has_given_up_slices: bool,
    /// Intervals of series that came since some were dropped last.
    intervals: usize,
    /// Trials of a depth check: by arm, by ascending depth. See [`masked`].
    pub(crate) levels: Vec<Vec<Level>>,
    /// What was measured below a cap.
    pub(crate) below_cap: Vec<(ExperimentHead, Analysis)>,
    /// What was seen while credits were spent, by arm.
    pub(crate) drained: Vec<ArmDrain>,
    pub(crate) preconditioned: Vec<ArmPrecondition>,
}

impl Analyzer {
    pub fn new(experiment: &ExperimentHead) -> Self {
        let spec = &experiment.spec;
        let layout = match &spec.design {
            Design::Peel { layers, masks } => Layout::new(layers, masks),
            Design::Single | Design::Compare | Design::Fleet => None,
        };
        Self {
            names: spec.arms.iter().map(|arm| arm.name.clone()).collect(),
            method: Method::new(spec),
            layout: layout.filter(|layout| layout.total.len() == spec.arms.len()),
            factors: Factors::of(spec),
            trials: Vec::new(),
            pools: vec![ArmPool::new(spec.workload()); spec.arms.len()],
            experiment: experiment.clone(),
            intervals: 0,
            has_given_up_slices: false,
            levels: Vec::new(),
            below_cap: Vec::new(),
            drained: Vec::new(),
            preconditioned: Vec::new(),
        }
    }

    /// Takes in one trial: extracts its facts, merges its histograms, keeps nothing else of it.
    pub fn add(&mut self, trial: &Trial) {
        if trial.length == TrialLength::Usual && !self.has_given_up_slices {
            self.give_up_slices();
        }
        let workload = self.experiment.spec.workload();
        let arm = self.names.iter().position(|name| *name == trial.arm);
        let facts = TrialFacts::of(trial, &self.experiment.spec, arm);
        let counts = facts.usable && self.counts(&facts);
        if let (true, Some(arm), Some(load)) = (counts, arm, &trial.load) {
            let from_submission = self.experiment.spec.counts_from_submission();
            self.pools[arm].add(load, workload, from_submission);
        }
        self.intervals += facts.intervals;
        self.trials.push(facts);
        // Only now and then: it looks at all trials.
        if self.intervals > 2 * MOST_INTERVALS {
            shed_series(&mut self.trials);
            self.intervals = 0;
        }
    }

    /// Makes it an experiment whose trials are no slices: those that are, are left out.
    fn give_up_slices(&mut self) {
        self.has_given_up_slices = true;
        let spec = self.experiment.spec.with(Draft::give_up_slices);
        self.method = Method::new(&spec);
        self.factors = Factors::of(&spec);
        self.pools = vec![ArmPool::new(spec.workload()); spec.arms.len()];
        self.experiment.spec = spec;
    }

    /// What was run, with trials as long as those that count.
    pub(crate) const fn experiment(&self) -> &ExperimentHead {
        &self.experiment
    }

    /// Whether its figures are among those that are concluded from.
    fn counts(&self, trial: &TrialFacts) -> bool {
        !self.has_given_up_slices || trial.length == TrialLength::Usual
    }

    /// Whether slices show the same as longer trials, as far as that is known.
    fn worst_length(&self, subjects: &[Vec<Conclusion>]) -> Lengths {
        if self.has_given_up_slices {
            return Lengths::Alike;
        }
        let lengths = self.lengths();
        let worst = lengths.iter().map(|effect| effect.lengths).max().unwrap_or_default();
        let longest_ns = lengths.iter().map(|effect| effect.long_ns).max().unwrap_or(u64::MAX);
        let mut primary = subjects.iter().filter_map(|conclusions| conclusions.first());
        let does_order_matter = primary.any(|c| c.comparison.place.is_some());
        if does_order_matter && longest_ns < self.usual_ns() {
            worst.max(Lengths::Unsure)
        } else if held::is_due(&self.experiment.spec, &self.trials) {
            worst.max(Lengths::NotHeld)
        } else {
            worst
        }
    }

    /// The measured window of trials that are no slices.
    fn usual_ns(&self) -> u64 {
        let workload = self.experiment.spec.workload();
        workload.slices.map_or(workload.time_ns, |slices| slices.usual.time_ns)
    }

    /// The longer slices of each arm beside its short ones.
    fn lengths(&self) -> Vec<LengthEffect> {
        let metric = Metric::additive(self.experiment.spec.workload());
        let (margin, usual_ns) = (self.method.margin, self.usual_ns());
        let arms = self.names.len();
        let mut effects = lengths::of_arms(&self.trials, arms, metric, margin, usual_ns);
        held::judge(&self.experiment.spec, usual_ns, &mut effects);
        effects
    }

    /// As one phase of preconditioning: the trials of one arm, in their order.
    pub(crate) fn rounds(&self, arm: usize) -> Vec<&TrialFacts> {
        let mut own: Vec<_> = self.trials.iter().filter(|t| t.arm == Some(arm)).collect();
        own.sort_by_key(|trial| trial.slot);
        own
    }

    /// As the stretches of draining: those of one arm.
    pub(crate) fn stretches(&self, arm: usize) -> Stretches {
        let mut own: Vec<&TrialFacts> =
            self.trials.iter().filter(|t| t.usable && t.arm == Some(arm)).collect();
        own.sort_by_key(|trial| trial.slot);
        let per_second_ios = own.iter().flat_map(|trial| trial.per_second_ios.iter().copied());
        let jobs = || own.iter().filter_map(|trial| trial.primary());
        let (ios, bytes) = (jobs().map(|job| job.ios).sum::<u64>(), jobs().map(JobFacts::bytes));
        let bytes_per_io = bytes.sum::<u64>() as f64 / ios.max(1) as f64;
        Stretches { per_second_ios: per_second_ios.collect(), bytes_per_io }
    }

    /// The trials of each arm, as one level of a depth check.
    pub(crate) fn levels(&self, is_own: bool) -> Vec<Level> {
        let in_flight = self
            .experiment
            .spec
            .workload()
            .primary_job()
            .map_or(1, iotax_experiment::Job::in_flight);
        let of_arm = |arm: usize| {
            let usable = self.trials.iter().filter(|trial| trial.usable && trial.arm == Some(arm));
            let environment = &self.experiment.host(arm).environment;
            let (mut trials, mut busy) = (Vec::new(), Vec::new());
            for trial in usable {
                let (Some(job), Some(iops)) = (trial.primary(), Metric::Throughput.of(trial))
                else {
                    continue;
                };
                let latency_ns = Metric::Latency.of(trial).unwrap_or(f64::NAN);
                trials.push((trial.block, iops, job.bytes_per_s(), latency_ns));
                busy.extend(checks::busiest(trial, environment));
            }
            let busy = (!busy.is_empty()).then(|| mean(&busy));
            Level { in_flight, is_own, trials, busy }
        };
        (0..self.names.len()).map(of_arm).collect()
    }

    /// Trials taken in.
    pub(crate) fn trials(&self) -> u32 {
        count(self.trials.len())
    }

    /// What the data say so far: call it after each complete block. Cheap; only the metrics that
    /// decide are concluded on.
    pub fn decide(&self) -> Standing {
        let spec = &self.experiment.spec;
        let metrics = self.deciding();
        let blocks = self.blocks();
        let by_subject = |conclude: &dyn Fn(Metric) -> Vec<Conclusion>| {
            let mut subjects = by_subject(self.method.alpha, &metrics, conclude);
            for subject in &mut subjects {
                subject.retain(|c| !self.is_beside(c.comparison.metric));
            }
            subjects
        };
        let subjects = by_subject(&|metric| self.subjects(&blocks, metric));
        let counted = || self.trials.iter().filter(|trial| self.counts(trial)).map(|t| t.block);
        let before = if self.has_given_up_slices { counted().min().unwrap_or(0) } else { 0 };
        let begun = counted().max().map_or(0, |block| block + 1 - before);
        let arms = self.names.len();
        let mut progress = match &self.factors {
            Some(factors) => {
                let effects = by_subject(&|metric| factors.conclude(&blocks, metric));
                progress::progress(Kind::Effects, &spec.stop, arms, begun, &effects)
            }
            None if screened::is_population(spec) => {
                screened::progress(spec, &self.trials, self.metrics().first().copied(), begun)
            }
            None => progress::progress(Kind::of(&spec.design), &spec.stop, arms, begun, &subjects),
        };
        let mut judged = self.judged(&subjects);
        // Whoever compares asks for the difference; what the workload requires is told beside it.
        if spec.design == Design::Single {
            judged.rules.append(&mut judged.requirements);
        }
        progress = rules::progress(progress, &judged.rules, &spec.stop);
        progress.lengths = self.worst_length(&subjects);
        if progress.lengths.is_open() && begun < spec.stop.max_blocks {
            // What slices say is not believed until that is clear.
            progress.stop.clear();
            progress.open.fill(true);
        }
        if progress.lengths == Lengths::NotKept {
            progress.stop = vec![EndReason::NotKeptUp];
        }
        if progress.stop.is_empty()
            && let Some(arm) = self.given_up()
        {
            let (arm, trials) = (self.names[arm].clone(), stalled::GIVE_UP_AFTER);
            progress.stop = vec![EndReason::ArmSilent { arm, trials }];
        }
        progress
    }

    /// What the data say of the rules so far.
    fn judged(&self, subjects: &[Vec<Conclusion>]) -> Judged {
        let spec = &self.experiment.spec;
        if spec.rules().next().is_none() {
            return Judged::default();
        }
        let mut trials: Vec<&TrialFacts> = self.trials.iter().collect();
        trials.sort_by_key(|trial| trial.slot);
        rules::judge(&RuleContext {
            spec,
            names: &self.names,
            trials: &trials,
            conclusions: &subjects.iter().flatten().collect::<Vec<_>>(),
            method: &self.method,
        })
    }

    /// The arm that ends the experiment by completing nothing. In a comparison that is a result to
    /// be had from more blocks; in a plain run more of it tell nothing, and in a peel every layer's
    /// share needs all arms.
    fn given_up(&self) -> Option<usize> {
        let needs_all = !matches!(self.experiment.spec.design, Design::Compare | Design::Fleet);
        stalled::given_up(&self.trials, &self.experiment.spec).filter(|_| needs_all)
    }

    /// The analysis. `end`: how the experiment ended; `None` if the record was cut off.
    pub fn finish(&self, end: Option<&End>) -> Analysis {
        let spec = &self.experiment.spec;
        let mut trials: Vec<&TrialFacts> =
            self.trials.iter().filter(|trial| self.counts(trial)).collect();
        trials.sort_by_key(|trial| (trial.slot, trial.block, trial.arm));
        let lengths = self.lengths();
        let blocks = self.blocks();
        let (mut conclusions, attribution) = self.conclusions(&blocks);
        let depths = self.depths();
        let check = DepthCheck {
            names: &self.names,
            method: &self.method,
            blocks: &blocks,
            levels: &self.levels,
            room: self.room(),
        };
        let shifts = check.shifts();
        check.withhold(&mut conclusions, &shifts);
        check.mask(&mut conclusions, &depths);
        held::take_back(&mut conclusions, &lengths, &self.names);
        masked::hide_typical(conclusions.iter_mut().map(|c| &mut c.comparison));
        stand_in::leave_out_what_agrees(&mut conclusions, self.method.margin);
        let arms = summary::arms(&self.experiment, &trials, &self.pools);
        let mut drained = self.drained.clone();
        let iops: Vec<f64> = arms.iter().map(|arm| arm.iops).collect();
        drain::label(&mut drained, &iops, conclusions.iter_mut().map(|c| &mut c.comparison));
        let stretches = stretch::stretches(spec, &trials);
        let evidence = Evidence {
            stretches: &stretches,
            lengths: &lengths,
            left_out: count(self.trials.len() - trials.len()),
            experiment: &self.experiment,
            names: &self.names,
            trials: &trials,
            blocks: &blocks,
            conclusions: &conclusions,
            method: &self.method,
            depths: &depths,
            shifts: &shifts,
            drained: &drained,
            preconditioned: &self.preconditioned,
            other_programs: end.and_then(|end| end.other_programs.as_ref()),
            is_measured_below_cap: !self.below_cap.is_empty(),
        };
        let Judged { mut rules, requirements } = rules::judge(&RuleContext {
            spec,
            names: &self.names,
            trials: &trials,
            conclusions: &conclusions.iter().collect::<Vec<_>>(),
            method: &self.method,
        });
        rules::keep_none_of_a_part(&mut rules, spec, end, self.trials.len());
        let work = |arm| summary::work(&evidence.usable(arm).collect::<Vec<_>>());
        let work = (0..self.names.len()).map(work).collect();
        let of_arms: Vec<Comparison> = conclusions.iter().map(|c| c.comparison.clone()).collect();
        let effects = |factors: &Factors| {
            let metrics = self.metrics();
            let effects = if spec.is_of_results() {
                factors.analysis_of_results(&self.trials, &metrics, &of_arms)
            } else {
                factors.analysis(&blocks, &metrics, &of_arms)
            };
            let shifts = factors.shifts(&arms);
            let shifts =
                if spec.is_of_results() { shifts } else { factors.within_blocks(shifts, &blocks) };
            FactorEffects { shifts, ..effects }
        };
        let matrix = self.factors.as_ref().map(effects);
        let warnings = checks::run(&evidence);
        let open_questions = questions::open(&evidence, self.peel(&blocks).as_ref(), end);
        Analysis {
            format: FORMAT,
            workload: spec.workload().name.clone(),
            primary: spec.workload().primary.clone(),
            baseline: self.names.first().cloned().unwrap_or_default(),
            margin: spec.stop.margin,
            alpha: spec.stop.alpha,
            documented: bound::arms(&self.experiment, &arms),
            arms,
            outliers: self.outliers(),
            fleet: nodes::cost(spec, &trials),
            matrix,
            rules,
            requirements,
            work,
            trials: summary::points(&self.experiment, &trials, &self.used(&conclusions)),
            below_cap: self.below_cap(&conclusions),
            comparisons: conclusions.into_iter().map(|c| c.comparison).collect(),
            drained,
            preconditioned: self.preconditioned.clone(),
            depths,
            attribution,
            warnings,
            open_questions,
            ending: Ending {
                longest_load_ns: self.longest_load_ns(),
                ..ending(&spec.design, &trials, &blocks, end)
            },
        }
    }

    /// The longest time for which an arm was loaded without a pause, if trials are slices, or were
    /// until they were given up.
    fn longest_load_ns(&self) -> Option<u64> {
        let spec = &self.experiment.spec;
        let has_slices = self.has_given_up_slices || spec.is_of_slices();
        let windows = self.trials.iter().map(|trial| trial.window_ns);
        windows.max().filter(|_| has_slices).map(|ns| ns + spec.workload().ramp_ns)
    }

    /// The largest tax that counts as none, or keeps a rule.
    fn room(&self) -> f64 {
        let shares = self.experiment.spec.fail_if.iter().filter_map(|rule| match rule.condition {
            Condition::SlowerBy(slowdown) => Some(slowdown.share),
            _ => None,
        });
        shares.fold(self.method.margin, f64::max)
    }

    /// How each arm answers to its depth; empty without a depth check.
    fn depths(&self) -> Vec<ArmDepths> {
        let named = self.names.iter().zip(&self.levels);
        named.map(|(name, levels)| masked::arm(name, levels)).collect()
    }

    /// What was measured below the cap that the first masked comparison names.
    fn below_cap(&self, conclusions: &[Conclusion]) -> Vec<(ExperimentHead, Analysis)> {
        let cap = conclusions.iter().find_map(|conclusion| conclusion.comparison.cap);
        let mut below_cap = self.below_cap.clone();
        for (_, analysis) in &mut below_cap {
            if let Some(cap) = &cap {
                masked::even_one_at_a_time(&mut analysis.comparisons, cap);
            }
        }
        below_cap
    }

    fn blocks(&self) -> Blocks<'_> {
        let is_compared =
            |trial: &TrialFacts| trial.length != TrialLength::LongSlice && self.counts(trial);
        Blocks::new(&self.trials, self.names.len(), is_compared)
    }

    /// What is compared, the primary metric first.
    fn metrics(&self) -> Vec<Metric> {
        let spec = &self.experiment.spec;
        if spec.is_of_results() {
            results::metrics(&self.trials, spec.workload())
        } else {
            let mut metrics = Metric::of_workload(spec.workload());
            // Where all latencies count from submission, it would be said twice.
            metrics.retain(|m| *m != Metric::ServiceTime || !spec.counts_from_submission());
            metrics
        }
    }

    /// Those that decide when a run ends; all of them, where the word of one of a family is waited
    /// for.
    fn deciding(&self) -> Vec<Metric> {
        let metrics = self.metrics();
        let is_of_family =
            |metric: &Metric| matches!(metric.role(), Role::NeedsWord | Role::StandsIn);
        let is_waited_for = metrics.iter().any(is_of_family);
        let decides = |metric: &Metric| is_waited_for || !self.is_beside(*metric);
        metrics.into_iter().filter(decides).collect()
    }

    /// Whether it has nothing to do with the end of a run: it has if a rule is about it.
    fn is_beside(&self, metric: Metric) -> bool {
        let is_typical = |rule: &Rule| matches!(rule.condition, Condition::SlowerBy(slowdown) if slowdown.typical);
        let is_ruled = metric == Metric::P50 && self.experiment.spec.fail_if.iter().any(is_typical);
        metric.role() == Role::Beside && !is_ruled
    }

    /// All conclusions, those of one arm or layer side by side with its primary metric first.
    fn conclusions(
        &self,
        blocks: &Blocks<'_>,
    ) -> (Vec<Conclusion>, Option<crate::analysis::Attribution>) {
        let metrics = self.metrics();
        let by_subject =
            by_subject(self.method.alpha, &metrics, |metric| self.subjects(blocks, metric));
        let mut all: Vec<Conclusion> = by_subject.into_iter().flatten().collect();
        let attribution = self.peel(blocks).map(|peel| {
            // One says it all: the others tell of the same time per I/O.
            let additive = metrics.iter().find(|metric| metric.adds_up());
            let interactions: Vec<Conclusion> =
                additive.map_or_else(Vec::new, |m| peel.interactions(&self.method, *m));
            let attribution = peel.attribution(&self.method, &interactions);
            all.extend(interactions);
            attribution
        });
        (all, attribution)
    }

    /// One conclusion per arm but the first, or per layer and the total.
    fn subjects(&self, blocks: &Blocks<'_>, metric: Metric) -> Vec<Conclusion> {
        let mut conclusions = self.of_those_there_are(blocks, metric);
        missing::withhold(&mut conclusions, &self.trials, &self.names, self.method.margin);
        late::withhold(&mut conclusions, &self.trials, &self.names);
        conclusions
    }

    /// The same of the trials that there are alone.
    fn of_those_there_are(&self, blocks: &Blocks<'_>, metric: Metric) -> Vec<Conclusion> {
        let spec = &self.experiment.spec;
        match &spec.design {
            Design::Single => Vec::new(),
            Design::Compare if spec.is_of_results() => {
                results::conclude(&self.method, &self.trials, spec, metric)
            }
            Design::Compare => {
                conclude(&self.method, block_differences::of_arms(blocks, &self.names, metric))
            }
            Design::Fleet if screened::is_population(spec) => Vec::new(),
            Design::Fleet => nodes::conclude(&self.method, blocks, &self.names, metric),
            Design::Peel { .. } => {
                self.peel(blocks).map_or_else(Vec::new, |peel| peel.layers(&self.method, metric))
            }
        }
    }

    /// In the primary metric.
    fn outliers(&self) -> Option<Outliers> {
        let metric = self.metrics().into_iter().next()?;
        outliers::of(&self.experiment.spec, &self.names, &self.trials, metric)
    }

    fn peel<'a>(&'a self, blocks: &Blocks<'a>) -> Option<Peel<'a>> {
        self.layout.as_ref().map(|layout| Peel::new(layout, blocks))
    }

    /// The (block, arm) pairs that some conclusion rests on. In a plain run nothing is compared:
    /// every usable trial is used for the summary.
    fn used(&self, conclusions: &[Conclusion]) -> Vec<(u32, usize)> {
        let design = &self.experiment.spec.design;
        let mut used: Vec<(u32, usize)> = Vec::new();
        if *design == Design::Single {
            used.extend(self.trials.iter().map(|trial| (trial.block, 0)));
        }
        for conclusion in conclusions {
            let arm = conclusion.comparison.subject.arm();
            let arm = arm.and_then(|arm| self.names.iter().position(|name| name == arm));
            let arms = match arm {
                Some(arm) if *design != Design::Fleet => vec![0, arm],
                _ => (0..self.names.len()).collect(),
            };
            for block in &conclusion.blocks {
                used.extend(arms.iter().map(|arm| (*block, *arm)));
            }
        }
        used.sort_unstable();
        used.dedup();
        used
    }
}

/// Conclusions on each subject, side by side by metric, as one family.
fn by_subject(
    alpha: f64,
    metrics: &[Metric],
    conclude: impl Fn(Metric) -> Vec<Conclusion>,
) -> Vec<Vec<Conclusion>> {
    let mut by_metric: Vec<Vec<Conclusion>> = metrics.iter().map(|m| conclude(*m)).collect();
    family::correct(alpha, &mut by_metric);
    let of_subject = |at| by_metric.iter().filter_map(|rows| rows.get(at).cloned()).collect();
    (0..by_metric.first().map_or(0, Vec::len)).map(of_subject).collect()
}

/// Drops what charts have no room for. Which trials are shown depends on their place in the
/// experiment, not on the order of adding; so the room of those dropped stays taken.
fn shed_series(trials: &mut [TrialFacts]) {
    let mut by_slot: Vec<&mut TrialFacts> = trials.iter_mut().collect();
    by_slot.sort_by_key(|trial| (trial.slot, trial.block, trial.arm));
    let mut budget = IntervalBudget::default();
    for trial in by_slot {
        if !budget.takes(trial.intervals) {
            trial.series = None;
        }
    }
}

fn ending(
    design: &Design,
    trials: &[&TrialFacts],
    blocks: &Blocks<'_>,
    end: Option<&End>,
) -> Ending {
    let complete = blocks.all.iter().filter(|block| block.is_comparable(design)).count();
    let last_ns = trials.iter().map(|t| t.started_ns + t.window_ns).max().unwrap_or(0);
    Ending {
        reasons: end.map_or_else(Vec::new, |end| end.reasons.clone()),
        blocks: count(complete),
        trials: count(trials.len()),
        wall_ns: end.map_or(last_ns, |end| end.wall_ns),
        switch_ns: trials.iter().map(|trial| trial.switch_ns).sum(),
        longest_load_ns: None,
        interrupted: end.is_some_and(|end| end.interrupted),
        gaps: Vec::new(),
    }
}
