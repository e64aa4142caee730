//! Looking at the data between blocks: which arms stay open, and whether to stop.

use iotax_experiment::{Design, Stop, StopMode};
use iotax_quantity::Effect;
use iotax_stats::sequential::StopReason;
use iotax_stats::verdict::Verdict;

use crate::conclude::Conclusion;
use crate::metrics::Role;

/// What the data say so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// One per arm of the spec: whether it needs more trials. The baseline is open while any
    /// other arm is; in a peel all are, since every contrast needs several.
    pub open: Vec<bool>,
    /// Why to stop, in words; `None`: go on.
    pub stop: Option<String>,
    /// One per arm but the baseline, per layer and the total, or per effect.
    pub arms: Vec<ArmProgress>,
    /// Blocks begun so far.
    pub blocks: u32,
}

/// What the data say about one arm, layer or effect so far, in the primary metric.
#[derive(Debug, Clone, PartialEq)]
pub struct ArmProgress {
    /// Name of the arm or layer.
    pub name: String,
    /// The tax; `None` before the first look.
    pub tax: Option<Effect>,
    /// The word so far.
    pub verdict: Verdict,
    /// Complete blocks looked at.
    pub blocks: u32,
    /// Blocks that a decision would probably take in all.
    pub blocks_needed: Option<u32>,
}

/// Where one comparison stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// It has what the mode asks for.
    Resolved,
    /// No mode's goal is within reach.
    Futile,
    /// The design has no further look at the data.
    Spent,
    /// Neither the arm nor its baseline completes anything.
    Silent,
    /// The effect changed so late that the blocks since cannot bear a verdict.
    Changed,
    /// More blocks cannot help: the arm does not keep up with the offered rate.
    Overloaded,
}

/// What is concluded on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing: trials are described.
    Trials,
    /// Each arm but the baseline.
    Arms,
    /// Each node of a fleet.
    Nodes,
    /// Layers of a peel.
    Layers,
    /// Levels of a matrix's factors.
    Effects,
}

impl Kind {
    /// Of arms that make up no matrix.
    pub(crate) const fn of(design: &Design) -> Self {
        match design {
            Design::Single => Self::Trials,
            Design::Compare => Self::Arms,
            Design::Fleet => Self::Nodes,
            Design::Peel { .. } => Self::Layers,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Trials | Self::Arms => "arm",
            Self::Nodes => "node",
            Self::Layers => "layer",
            Self::Effects => "effect",
        }
    }
}

/// Forms the progress from the conclusions on each subject: `subjects[i]` holds those of one, by
/// metric, the primary one first.
pub(crate) fn progress(
    kind: Kind,
    stop: &Stop,
    arms: usize,
    blocks: u32,
    subjects: &[Vec<Conclusion>],
) -> Progress {
    let states: Vec<State> = subjects.iter().map(|metrics| state(metrics)).collect();
    let may_stop = blocks >= stop.min_blocks.max(1);
    let reason = if blocks >= stop.max_blocks {
        Some(all_blocks_run(kind, stop))
    } else if may_stop && !states.is_empty() && !states.contains(&State::Open) {
        Some(resolved(kind, stop, &states, subjects))
    } else {
        None
    };
    Progress {
        open: open(kind, arms, &states, may_stop),
        stop: reason,
        arms: subjects.iter().filter_map(|metrics| metrics.first()).map(arm_progress).collect(),
        blocks,
    }
}

/// Layers and effects need the trials of all arms, or of many.
fn open(kind: Kind, arms: usize, states: &[State], may_close: bool) -> Vec<bool> {
    let mut open = vec![true; arms];
    if kind == Kind::Arms && may_close {
        for (arm, state) in states.iter().enumerate() {
            open[arm + 1] = *state == State::Open;
        }
        if let [baseline, others @ ..] = open.as_mut_slice() {
            *baseline = others.contains(&true);
        }
    }
    open
}

/// The primary metric decides, and some others need a word, too, though not its precision.
fn state(metrics: &[Conclusion]) -> State {
    let needs_word = |c: &&Conclusion| c.comparison.metric.role() == Role::NeedsWord;
    match primary_state(metrics) {
        State::Resolved if metrics.iter().filter(needs_word).any(may_get_a_word) => State::Open,
        state => state,
    }
}

/// Whether more blocks may bring a verdict that it does not have. Without a single block, nothing
/// says that they will.
fn may_get_a_word(conclusion: &Conclusion) -> bool {
    let Conclusion { comparison, decision, blocks, .. } = conclusion;
    !blocks.is_empty() && !comparison.verdict.is_decided() && decision.stop.is_none()
}

/// The primary metric decides. A tail with too few I/Os per trial cannot be decided by more
/// trials; the mean at the offered rate, next in line, decides in its place.
fn primary_state(metrics: &[Conclusion]) -> State {
    let deciding = metrics
        .iter()
        .filter(|c| c.comparison.metric.role() == Role::Decides)
        .find(|c| c.comparison.verdict != Verdict::InsufficientTailSamples)
        .or(metrics.first());
    let Some(Conclusion { comparison, decision, .. }) = deciding else { return State::Open };
    if decision.blocks == 0 {
        return State::Open;
    }
    if comparison.verdict == Verdict::Overloaded {
        return State::Overloaded;
    }
    match decision.stop {
        None => State::Open,
        Some(StopReason::Futile) if comparison.verdict == Verdict::EffectChanged => State::Changed,
        Some(StopReason::Futile) if comparison.verdict == Verdict::NoInformation => State::Silent,
        Some(StopReason::GoalReached) => State::Resolved,
        Some(StopReason::Futile) => State::Futile,
        Some(StopReason::LastLook) => State::Spent,
    }
}

fn arm_progress(conclusion: &Conclusion) -> ArmProgress {
    let c = &conclusion.comparison;
    ArmProgress {
        name: crate::analysis::named(&c.subject),
        tax: c.tax.zip(c.lo).and_then(|_| c.effect()),
        verdict: c.verdict,
        blocks: c.blocks,
        blocks_needed: c.blocks_needed,
    }
}

fn all_blocks_run(kind: Kind, stop: &Stop) -> String {
    let max = stop.max_blocks;
    match kind {
        Kind::Trials if max == 1 => "its one trial was run".to_owned(),
        Kind::Trials => format!("all {max} trials were run"),
        _ if stop.min_blocks >= max => format!("all {max} blocks were run"),
        _ => format!("the limit of {max} blocks was reached"),
    }
}

fn resolved(kind: Kind, stop: &Stop, states: &[State], subjects: &[Vec<Conclusion>]) -> String {
    let what = kind.word();
    let count = |state| states.iter().filter(|s| **s == state).count();
    let (futile, overloaded) = (count(State::Futile), count(State::Overloaded));
    if overloaded == states.len() {
        return format!("no {what} keeps up with the offered rate");
    }
    if count(State::Silent) == states.len() {
        return "no arm completes anything within its window".to_owned();
    }
    if count(State::Changed) == states.len() {
        return format!(
            "the effect of every {what} changed, and a verdict on the blocks since is out of reach"
        );
    }
    if futile > 0 {
        return out_of_reach(what, futile, stop, states, subjects);
    }
    if states.contains(&State::Spent) {
        let last = subjects.iter().flatten().map(|c| c.decision.blocks).max().unwrap_or(0);
        return format!("the last planned look at the data, after {last} blocks, was taken");
    }
    if overloaded > 0 {
        return format!("every {what} has a verdict, or does not keep up with the offered rate");
    }
    if states.contains(&State::Silent) {
        return format!("every {what} has a verdict, or completes nothing, as its baseline");
    }
    if states.contains(&State::Changed) {
        return format!("every {what} has a verdict, or an effect that changed during the run");
    }
    match stop.mode {
        StopMode::Quick => format!("every {what} has a verdict"),
        StopMode::Default => format!(
            "every {what} has a verdict, and its size to within 2 points or a quarter of the effect"
        ),
        StopMode::Tight => {
            format!("the size for every {what} is known to within 1 point or a tenth of the effect")
        }
    }
}

fn out_of_reach(
    what: &str,
    futile: usize,
    stop: &Stop,
    states: &[State],
    subjects: &[Vec<Conclusion>],
) -> String {
    let needed = states
        .iter()
        .zip(subjects)
        .filter(|(state, _)| **state == State::Futile)
        .filter_map(|(_, metrics)| metrics.first()?.comparison.blocks_needed)
        .max();
    let rest =
        if futile == states.len() { String::new() } else { format!(" for {futile} of them") };
    let price = needed.map_or_else(
        || "at this noise no number of blocks would do".to_owned(),
        |n| format!("at this noise it takes about {n} blocks, of at most {}", stop.max_blocks),
    );
    format!("a verdict on every {what} is out of reach{rest}: {price}")
}
