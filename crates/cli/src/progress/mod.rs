//! The progress line: the comparison that takes longest to decide, and the time to its verdict. On
//! stderr, and only on a terminal.

mod layout;
mod left;
mod running;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use iotax_analyze::{ArmStanding, Lengths, Standing as Look};
use iotax_experiment::plan::Plan;
use iotax_load::LoadProgress;
use iotax_quantity::{count, set_percent, size};
use iotax_record::ExperimentHead;
use iotax_rig::Preparing;
use iotax_run::{Event, Observer};
use iotax_wording::effect::EffectWords as _;
use iotax_wording::{name, slices};

use self::layout::{Part, fit};
use self::left::{Left, Remaining};
use self::running::{Running, seconds};
use crate::output::say;

/// Interval at which the line is redrawn.
const REDRAWN: Duration = Duration::from_millis(200);
/// Shorter trials change too fast to show their names.
const NAMED: Duration = Duration::from_secs(1);
/// Columns of the spinner.
const SPINNER: usize = 2;

/// Shows the progress of a run.
pub(crate) struct ProgressLine {
    bar: ProgressBar,
    shown: Arc<Mutex<Moment>>,
    running: Running,
    /// Maximum time of the whole run.
    longest: Duration,
    /// Start of the first trial.
    started: Option<Instant>,
    plan: Option<Plan>,
    /// The run has changed from slices to whole trials.
    is_whole: bool,
    rounds: u32,
}

/// The current state, laid out whenever the line is drawn.
#[derive(Default)]
struct Moment {
    /// Name of a side run; empty for the experiment itself.
    title: String,
    /// The current trial, pass or step.
    what: String,
    /// The comparison that takes longest to decide.
    slowest: String,
    /// How many of several comparisons have a verdict.
    others: String,
    left: Option<Left>,
}

impl Moment {
    fn line(&self, load: &str, now: Instant, columns: usize) -> String {
        let remaining = self.left.map(|left| left.remaining(now));
        let Remaining { verdict, limit } =
            remaining.unwrap_or(Remaining { verdict: None, limit: None });
        let verdict = verdict.map(|left| format!("~{} left", seconds(left)));
        let limit = limit.map(|left| format!("at most {}", seconds(left)));
        // One of the two is always shown.
        let rank_of_limit = if verdict.is_some() { 3 } else { 0 };
        let rank_of_what = u8::from(!self.slowest.is_empty());
        let parts = [
            Part::new(0, &self.slowest),
            Part::new(4, &self.others),
            Part::new(rank_of_what, &self.what),
            Part::new(0, verdict.unwrap_or_default()),
            Part::new(rank_of_limit, limit.unwrap_or_default()),
            Part::new(if self.left.is_some() { 2 } else { 0 }, load),
        ];
        fit(&self.title, &parts, columns)
    }
}

impl ProgressLine {
    /// A line for `plan`, hidden if `quiet` or if stderr is not a terminal. Between events, it
    /// follows `live`, the counters of the load.
    pub(crate) fn new(plan: &Plan, live: &Arc<LoadProgress>, quiet: bool) -> Self {
        let longest = Duration::from_nanos(plan.duration_ns().1);
        let mut of_plan = Self::of_search(longest, live, quiet);
        of_plan.plan = Some(plan.clone());
        of_plan
    }

    /// A line for a search for caps that takes about `longest`.
    pub(crate) fn of_search(longest: Duration, live: &Arc<LoadProgress>, quiet: bool) -> Self {
        let running = Running::of(Arc::clone(live));
        let shown = Arc::new(Mutex::new(Moment::default()));
        let (load, moment) = (running.clone(), Arc::clone(&shown));
        let draw = move |_: &_, out: &mut dyn fmt::Write| {
            let (load, columns) = (load.text(), textwrap::termwidth());
            let text = locked(&moment).line(&load, Instant::now(), columns.saturating_sub(SPINNER));
            // There is no way to report that the line could not be written.
            let _ = out.write_str(&text);
        };
        let style = ProgressStyle::with_template("{spinner} {line}")
            .expect("the template is constant")
            .with_key("line", draw);
        let bar = if quiet {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden())
        } else {
            ProgressBar::new_spinner()
        };
        bar.set_style(style);
        bar.enable_steady_tick(REDRAWN);
        Self { bar, shown, running, longest, started: None, plan: None, is_whole: false, rounds: 0 }
    }

    /// Puts a title in front of the line.
    #[must_use]
    pub(crate) fn titled(self, title: &str) -> Self {
        self.shown().title = format!("{title}: ");
        self
    }

    /// Shows the progress of the rig.
    pub(crate) fn preparing(&self, progress: &Preparing<'_>) {
        match *progress {
            Preparing::Filling { done_bytes, size_bytes, .. } => {
                self.laying_out(done_bytes, size_bytes);
            }
            Preparing::Making { arm } => self.shown().what = format!("creating {arm}"),
        }
    }

    /// Shows the progress of writing test files.
    pub(crate) fn laying_out(&self, done_bytes: u64, total_bytes: u64) {
        let percent =
            set_percent((done_bytes * 100).checked_div(total_bytes).unwrap_or(100) as f64);
        let total = size(total_bytes);
        self.shown().what = format!("writing {total} of test data: {percent}");
    }

    /// Shows a short step.
    pub(crate) fn briefly(&self, what: &str) {
        what.clone_into(&mut self.shown().what);
    }

    /// Hides the line while `print` prints.
    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// Removes the line.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    fn shown(&self) -> MutexGuard<'_, Moment> {
        locked(&self.shown)
    }

    fn trial_starts(
        &mut self,
        block: u32,
        arm: &str,
        phase: Option<&str>,
        [place, of]: [usize; 2],
    ) {
        let now = Instant::now();
        let started = *self.started.get_or_insert(now);
        let Some(plan) = &self.plan else { return };
        let is_short = !self.is_whole && Duration::from_nanos(plan.block_ns(1)) < NAMED;
        let (arms, next) = (plan.arms, block + 1);
        let mut shown = locked(&self.shown);
        shown.left.get_or_insert_with(|| {
            let block = Duration::from_nanos(plan.block_ns(plan.arms));
            let limit = plan.max_time_ns.map(Duration::from_nanos);
            Left::new(started, block, [plan.min_blocks, plan.max_blocks], limit)
        });
        let first = plan.min_blocks;
        shown.what = if is_short && shown.slowest.is_empty() && block < first {
            // There is no result before the first look.
            format!("{block} of {}", count(first, slices::block(arms)))
        } else if is_short {
            count(block, slices::block(arms))
        } else {
            let phase = phase.map(|name| format!(": {name}")).unwrap_or_default();
            let of = if of > 1 { format!(", {}/{of}", place + 1) } else { String::new() };
            format!("block {next}{of} {arm}{phase}")
        };
    }

    /// Counts a round of preconditioning; there are no looks in between.
    fn round_ended(&mut self) {
        self.rounds += 1;
        if let Some(left) = &mut self.shown().left {
            left.done(self.rounds, Instant::now());
            left.expect(Some(self.rounds + 1));
        }
    }

    fn looked(&mut self, look: &Look) {
        let gives_up_slices = look.lengths == Lengths::Differ && !self.is_whole;
        self.is_whole |= gives_up_slices;
        let mut shown = self.shown();
        let first = self.plan.as_ref().map_or(0, |plan| plan.min_blocks);
        let open = slowest(look, first);
        if let Some(left) = &mut shown.left {
            left.done(look.blocks, Instant::now());
            left.expect(open.map_or(Some(look.blocks + 1), |(_, needed)| needed));
            if gives_up_slices {
                left.forget_pace();
            }
        }
        let arm = open.map(|(arm, _)| arm).or(look.arms.first());
        shown.slowest = arm.map(standing).unwrap_or_default();
        let decided = look.arms.iter().filter(|arm| arm.verdict.is_decided()).count();
        shown.others = if look.arms.len() > 1 {
            format!("{decided} of {} decided", look.arms.len())
        } else {
            String::new()
        };
    }
}

/// The comparison that takes longest to decide, and the total number of blocks for that; `None` if
/// no number is enough. Before the first look, that is the number of blocks of the first look.
fn slowest(look: &Look, first: u32) -> Option<(&ArmStanding, Option<u32>)> {
    let is_open = |arm: &&ArmStanding| !arm.verdict.is_decided() || arm.blocks_needed.is_some();
    let needed = |arm: &ArmStanding| match arm.blocks {
        0 => Some(first.max(look.blocks + 1)),
        _ => arm.blocks_needed,
    };
    let open = look.arms.iter().filter(is_open).map(|arm| (arm, needed(arm)));
    open.max_by_key(|(_, needed)| needed.unwrap_or(u32::MAX))
}

/// `b 11 % slower [7, 15]`
fn standing(arm: &ArmStanding) -> String {
    let ArmStanding { phase, of, verdict, tax, .. } = arm;
    let phase = phase.as_ref().map_or_else(String::new, |phase| format!("{phase}: "));
    let name = name::subject(of);
    match tax {
        Some(tax) => format!("{phase}{name} {}", tax.in_words()),
        None if arm.blocks == 0 => String::new(),
        None => format!("{phase}{name} {}", name::verdict(*verdict)),
    }
}

fn locked(shown: &Mutex<Moment>) -> MutexGuard<'_, Moment> {
    shown.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Observer for ProgressLine {
    fn on(&mut self, event: &Event<'_>) {
        match event {
            Event::TrialStarts { block, arm, phase, place, trials_in_block, unit } => {
                self.trial_starts(*block, arm, *phase, [*place, *trials_in_block]);
                self.running.trial_begins(unit);
            }
            Event::PassStarts { pass, passes, arm, bytes } => {
                let (pass, size) = (pass + 1, size(*bytes));
                self.shown().what = format!("pass {pass}/{passes} over {size} of {arm}");
                self.running.pass_begins(*bytes);
            }
            Event::StepStarts { purpose, takes } => {
                let started = *self.started.get_or_insert_with(Instant::now);
                let left = self.longest.saturating_sub(started.elapsed()).max(*takes);
                let what = iotax_wording::cap::purpose(*purpose);
                self.shown().what = format!("{what} · about {} left", seconds(left));
            }
            Event::TrialEnded(_) => self.running.ends(),
            Event::RoundEnded => self.round_ended(),
            Event::Looked(look) => self.looked(look),
        }
    }
}

/// The progress line, and with `--iostat` the tables of each trial when it ends.
pub(crate) struct Shown<'a> {
    /// The line, on stderr.
    pub line: &'a mut ProgressLine,
    pub experiment: &'a ExperimentHead,
    /// Whether to print tables on stdout.
    pub iostat: bool,
}

impl Observer for Shown<'_> {
    fn on(&mut self, event: &Event<'_>) {
        if let (Event::TrialEnded(trial), true) = (event, self.iostat) {
            let tables = iotax_report::iostat(self.experiment, trial);
            // A closed pipe is not an error (`say`). Another error stops the tables, not the
            // measurement; printing the results will meet and report it again.
            self.iostat = self.line.aside(|| say(&tables)).is_ok();
        }
        self.line.on(event);
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use iotax_analyze::{Effect, Lengths, Metric, Verdict};
    use iotax_experiment::Subject;

    use super::*;

    fn arm(
        name: &str,
        tax: Option<[f64; 3]>,
        verdict: Verdict,
        needed: Option<u32>,
    ) -> ArmStanding {
        let on = Metric::Throughput.on();
        ArmStanding {
            phase: None,
            of: Subject::Arm(name.to_owned()),
            tax: tax.map(|[tax, lo, hi]| Effect::of(on, tax, [lo, hi])),
            verdict,
            blocks: if tax.is_some() { 140 } else { 0 },
            blocks_needed: needed,
        }
    }

    fn look(arms: Vec<ArmStanding>) -> Look {
        let open = vec![true; arms.len() + 1];
        Look { open, stop: Vec::new(), arms, blocks: 140, lengths: Lengths::Alike }
    }

    #[test]
    fn the_comparison_that_needs_most_blocks_is_shown() {
        let slower = arm("b", Some([0.11, 0.07, 0.15]), Verdict::Slower, Some(200));
        let undecided = arm("c", Some([0.02, -0.04, 0.08]), Verdict::Undecided, Some(900));
        let done = arm("d", Some([0.5, 0.49, 0.51]), Verdict::Slower, None);
        let shown = |arms: &[&ArmStanding]| {
            let look = look(arms.iter().copied().cloned().collect());
            slowest(&look, 20).map(|(arm, needed)| (standing(arm), needed))
        };
        assert_eq!(
            shown(&[&slower, &undecided, &done]),
            Some(("c 2 % slower [−4, 8]".to_owned(), Some(900)))
        );
        assert_eq!(shown(&[&slower, &done]), Some(("b 11 % slower [7, 15]".to_owned(), Some(200))));
        assert_eq!(shown(&[&done]), None, "all are decided");
        let hopeless = ArmStanding { blocks_needed: None, ..undecided };
        assert_eq!(shown(&[&slower, &hopeless]).unwrap().1, None, "no number would do");
        let early = arm("b", None, Verdict::Undecided, None);
        assert_eq!(slowest(&look(vec![early]), 160).unwrap().1, Some(160), "the first look");
    }

    #[test]
    fn the_line_fits_80_and_60_columns() {
        let start = Instant::now();
        let mut left =
            Left::new(start, Duration::from_millis(240), [20, 5120], Some(Duration::from_mins(10)));
        left.done(140, start + Duration::from_secs(34));
        left.expect(Some(170));
        let moment = Moment {
            what: "140 pairs".to_owned(),
            slowest: "b 11 % slower [7, 15]".to_owned(),
            others: "1 of 3 decided".to_owned(),
            left: Some(left),
            ..Moment::default()
        };
        let line = |columns: usize| {
            moment.line("4,712 IOPS", start + Duration::from_secs(34), columns - SPINNER)
        };
        assert_eq!(line(80), "b 11 % slower [7, 15] · 140 pairs · ~8 s left · 4,712 IOPS");
        assert_eq!(line(60), "b 11 % slower [7, 15] · 140 pairs · ~8 s left");
        assert_eq!(line(40), "b 11 % slower [7, 15] · ~8 s left");
        assert_eq!(
            line(120),
            "b 11 % slower [7, 15] · 1 of 3 decided · 140 pairs · ~8 s left · at most 9 min 26 s · 4,712 IOPS"
        );
    }
}
