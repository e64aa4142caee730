//! The progress line: arm, block, current intervals, time left. On stderr, only on a terminal.

mod running;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use iotax_analyze::{ArmStanding, Standing as Look};
use iotax_experiment::plan::Plan;
use iotax_load::LoadProgress;
use iotax_quantity::{set_percent, size};
use iotax_record::ExperimentHead;
use iotax_rig::Preparing;
use iotax_run::{Event, Observer};
use iotax_wording::effect::EffectWords as _;
use iotax_wording::name;

use self::running::{Running, seconds};
use crate::output::say;

/// Shows how a run goes.
pub(crate) struct ProgressLine {
    bar: ProgressBar,
    /// What is run, where it is not the experiment itself.
    title: String,
    /// All of it, at most.
    longest: Duration,
    running: Running,
    /// Of the first trial.
    started: Option<Instant>,
    /// Time per block, ramp and measured time only; replaced by what blocks really took.
    block: Duration,
    trial: String,
    looked: String,
    /// Blocks the run will probably take.
    expected_blocks: u32,
    max_blocks: u32,
    done_blocks: u32,
}

impl ProgressLine {
    /// A line for `plan`; hidden if `quiet` or if stderr is no terminal. Between
    /// events it follows the counters of the load, `live`.
    pub(crate) fn new(plan: &Plan, live: &Arc<LoadProgress>, quiet: bool) -> Self {
        let longest = Duration::from_nanos(plan.duration_ns().1);
        let mut shown = Self::of_search(longest, live, quiet);
        shown.block = Duration::from_nanos(plan.block_ns(plan.arms));
        (shown.expected_blocks, shown.max_blocks) = (plan.min_blocks, plan.max_blocks);
        shown
    }

    /// The same for a search for caps that takes about so long.
    pub(crate) fn of_search(longest: Duration, live: &Arc<LoadProgress>, quiet: bool) -> Self {
        let running = Running::of(Arc::clone(live));
        let load = running.clone();
        let style = ProgressStyle::with_template("{spinner} {wide_msg}{load}")
            .expect("the template is constant")
            .with_key("load", move |state: &_, out: &mut dyn fmt::Write| load.write(state, out));
        let bar = if quiet {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden())
        } else {
            ProgressBar::new_spinner()
        };
        bar.set_style(style);
        bar.enable_steady_tick(Duration::from_millis(200));
        Self {
            bar,
            title: String::new(),
            longest,
            running,
            started: None,
            block: Duration::ZERO,
            trial: String::new(),
            looked: String::new(),
            expected_blocks: 0,
            max_blocks: 0,
            done_blocks: 0,
        }
    }

    /// The line with a title in front.
    #[must_use]
    pub(crate) fn titled(mut self, title: &str) -> Self {
        self.title = format!("{title}: ");
        self
    }

    /// Shows how far the rig is.
    pub(crate) fn preparing(&self, progress: &Preparing<'_>) {
        match *progress {
            Preparing::Filling { done_bytes, size_bytes, .. } => {
                self.laying_out(done_bytes, size_bytes);
            }
            Preparing::Making { arm } => self.bar.set_message(format!("making {arm}")),
        }
    }

    /// Shows how far the laying out of files is.
    pub(crate) fn laying_out(&self, done_bytes: u64, total_bytes: u64) {
        let percent =
            set_percent((done_bytes * 100).checked_div(total_bytes).unwrap_or(100) as f64);
        let total = size(total_bytes);
        self.bar.set_message(format!("writing {total} of test data: {percent}"));
    }

    /// Does something that prints elsewhere, without the line in between.
    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// Removes the line.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    fn show(&self) {
        if self.running.is_pass() {
            self.bar.set_message(format!("{}{}", self.title, self.trial));
            return;
        }
        let blocks = self.expected_blocks.max(self.done_blocks + 1);
        let left = self.block * blocks.saturating_sub(self.done_blocks);
        let at_most = self.longest.saturating_sub(self.elapsed());
        let (left, at_most) = (seconds(left.min(at_most)), seconds(at_most));
        let (title, trial, looked) = (&self.title, &self.trial, &self.looked);
        self.bar
            .set_message(format!("{title}{trial} · about {left} left, at most {at_most}{looked}"));
    }

    fn block_ended(&mut self) {
        self.done_blocks += 1;
        self.block = self.elapsed() / self.done_blocks;
    }

    fn elapsed(&self) -> Duration {
        self.started.map_or(Duration::ZERO, |started| started.elapsed())
    }

    fn look(&mut self, look: &Look) {
        self.block_ended();
        let needed = look.arms.iter().filter_map(|arm| arm.blocks_needed).max();
        self.expected_blocks = needed.unwrap_or(self.done_blocks + 1).min(self.max_blocks);
        let intervals: Vec<String> = look
            .arms
            .iter()
            .filter_map(|arm| arm.tax.map(|tax| (arm, tax)))
            .map(|(ArmStanding { phase, of, verdict, .. }, tax)| {
                let phase = phase.as_ref().map_or_else(String::new, |phase| format!("{phase} "));
                let name = name::subject(of);
                let word = if verdict.is_signed() {
                    String::new()
                } else {
                    format!(" {}", name::verdict(*verdict))
                };
                format!(" · {phase}{name}{word}: {}", tax.in_words())
            })
            .collect();
        self.looked = intervals.concat();
    }
}

impl Observer for ProgressLine {
    fn on(&mut self, event: &Event<'_>) {
        match event {
            Event::TrialStarts { block, arm, phase, place, trials_in_block, unit } => {
                let (block, place) = (block + 1, place + 1);
                let phase = phase.map(|name| format!(": {name}")).unwrap_or_default();
                self.started.get_or_insert_with(Instant::now);
                self.trial = format!("block {block}, {place}/{trials_in_block} {arm}{phase}");
                self.running.trial_begins(unit);
            }
            Event::PassStarts { pass, passes, arm, bytes } => {
                let (pass, size) = (pass + 1, size(*bytes));
                self.trial = format!("pass {pass}/{passes} over {size} of {arm}");
                self.running.pass_begins(*bytes);
            }
            Event::StepStarts { purpose, takes } => {
                self.started.get_or_insert_with(Instant::now);
                let left = self.longest.saturating_sub(self.elapsed()).max(*takes);
                let what = iotax_wording::cap::purpose(*purpose);
                self.bar.set_message(format!("{what} · about {} left", seconds(left)));
                return;
            }
            Event::TrialEnded(_) => self.running.ends(),
            Event::RoundEnded => self.block_ended(),
            Event::Looked(look) => self.look(look),
        }
        self.show();
    }
}

/// The progress line, and the tables of each trial as soon as it is over, if they are wanted.
pub(crate) struct Shown<'a> {
    /// On stderr.
    pub line: &'a mut ProgressLine,
    pub experiment: &'a ExperimentHead,
    /// Whether to print tables on stdout.
    pub iostat: bool,
}

impl Observer for Shown<'_> {
    fn on(&mut self, event: &Event<'_>) {
        if let (Event::TrialEnded(trial), true) = (event, self.iostat) {
            let tables = iotax_report::iostat(self.experiment, trial);
            // A closed pipe is not an error (`say`). Another one ends the tables, not the
            // measurement; the results, printed at the end, meet it again and report it.
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
