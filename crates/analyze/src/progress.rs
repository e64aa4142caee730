//! Looking at the data between blocks: which arms stay open, and whether to stop.

use iotax_experiment::{Design, Stop, Subject};
use iotax_record::{Besides, EndReason};
use iotax_stats::sample::count;
use iotax_stats::sequential::StopReason;
use iotax_stats::verdict::Verdict;

use crate::conclude::Conclusion;
use crate::effect::Effect;
use crate::lengths::Lengths;
use crate::metrics::Role;
use crate::stand_in;

/// What the data say so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// One per arm of the spec: whether it needs more trials. The baseline is open while any
    /// other arm is; in a peel all are, since every contrast needs several.
    pub open: Vec<bool>,
    /// Why to stop; none: go on.
    pub stop: Vec<EndReason>,
    /// One per arm but the baseline, per layer and the total, or per effect.
    pub arms: Vec<ArmStanding>,
    /// Blocks begun so far.
    pub blocks: u32,
    /// Whether slices show what longer trials would.
    pub lengths: Lengths,
}

/// What the data say about one arm, layer or effect so far, in the primary metric.
#[derive(Debug, Clone, PartialEq)]
pub struct ArmStanding {
    /// The phase, of several.
    pub phase: Option<String>,
    pub of: Subject,
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
    /// Most slices have it; all of them would take much longer.
    InMostSlices,
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
}

/// Forms the progress from the conclusions on each subject: `subjects[i]` holds those of one, by
/// metric, the primary one first.
pub(crate) fn progress(
    kind: Kind,
    stop: &Stop,
    arms: usize,
    blocks: u32,
    subjects: &[Vec<Conclusion>],
) -> Standing {
    let states: Vec<State> = subjects.iter().map(|metrics| state(metrics, stop)).collect();
    let may_stop = blocks >= stop.min_blocks.max(1);
    let reason = if blocks >= stop.max_blocks {
        Some(EndReason::AllRun)
    } else if may_stop && !states.is_empty() && !states.contains(&State::Open) {
        Some(resolved(&states, subjects))
    } else {
        None
    };
    Standing {
        open: open(kind, arms, &states, may_stop),
        stop: reason.into_iter().collect(),
        arms: subjects.iter().filter_map(|metrics| metrics.first()).map(arm_progress).collect(),
        blocks,
        lengths: Lengths::Alike,
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

/// The primary metric decides, and some others need a word, too, though not its precision. Where it
/// is out of reach, what stands in for it is enough.
fn state(metrics: &[Conclusion], stop: &Stop) -> State {
    let needs_word = |c: &&Conclusion| c.comparison.metric.role() == Role::NeedsWord;
    match primary_state(metrics) {
        State::Resolved if metrics.iter().filter(needs_word).any(may_get_a_word) => State::Open,
        State::Open if stand_in::has_the_last_word(metrics, stop) => State::InMostSlices,
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

fn arm_progress(conclusion: &Conclusion) -> ArmStanding {
    let c = &conclusion.comparison;
    ArmStanding {
        phase: None,
        of: c.subject.clone(),
        tax: c.tax.zip(c.lo).and_then(|_| c.effect()),
        verdict: c.verdict,
        blocks: c.blocks,
        blocks_needed: c.blocks_needed,
    }
}

fn resolved(states: &[State], subjects: &[Vec<Conclusion>]) -> EndReason {
    let all_are = |state| states.iter().all(|s| *s == state);
    if all_are(State::Overloaded) {
        return EndReason::NoneKeepsUp;
    }
    if all_are(State::Silent) {
        return EndReason::NoneCompletes;
    }
    if all_are(State::Changed) {
        return EndReason::AllChanged;
    }
    if states.contains(&State::Futile) {
        return out_of_reach(states, subjects);
    }
    if states.contains(&State::Spent) {
        let looked = subjects.iter().flatten().map(|c| c.decision.blocks).max().unwrap_or(0);
        return EndReason::LastLook { blocks: count(looked) };
    }
    let besides = [
        (State::Overloaded, Besides::Overloaded),
        (State::Silent, Besides::Silent),
        (State::Changed, Besides::Changed),
        (State::InMostSlices, Besides::InMostSlices),
    ];
    let besides = besides.into_iter().find(|(state, _)| states.contains(state));
    EndReason::Resolved { besides: besides.map(|(_, besides)| besides) }
}

fn out_of_reach(states: &[State], subjects: &[Vec<Conclusion>]) -> EndReason {
    let futile = || states.iter().zip(subjects).filter(|(state, _)| **state == State::Futile);
    let needed = futile().filter_map(|(_, metrics)| metrics.first()?.comparison.blocks_needed);
    let needed = needed.max();
    let futile = u32::try_from(futile().count()).ok().filter(|n| *n as usize != states.len());
    EndReason::OutOfReach { futile, needed }
}
