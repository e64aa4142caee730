//! The median operation, or most slices, where they differ from the primary metric.

use iotax_analyze::{Analysis, Comparison, Metric, Verdict};
use iotax_experiment::Workload;
use iotax_experiment::rule::TimeKind;

use super::against::against;
use super::comparison::{known, subject};
use crate::effect::EffectWords as _;
use crate::name;

/// One typical operation of the primary job: `read`, `write`, `sync`, `request` or `operation`.
fn noun(workload: &Workload) -> &'static str {
    match workload.primary_job().map(|job| (job.leading_kind(), job.engine.is_network())) {
        Some((TimeKind::Sync, _)) => "sync",
        Some((TimeKind::Read, _)) => "read",
        Some((TimeKind::Write, _)) => "write",
        Some((TimeKind::Trim, _)) => "trim",
        Some((_, true)) => workload.unit(),
        _ => "operation",
    }
}

/// The comparison of the same arm or layer in the median or in most slices: whichever shows a
/// difference, the median first.
pub(super) fn of<'a>(
    primary: &Comparison,
    all: impl Iterator<Item = &'a Comparison>,
) -> Option<&'a Comparison> {
    let order = |c: &Comparison| match known(c) {
        Some(_) if c.verdict.is_signed() => 0,
        Some(_) if c.verdict.is_decided() => 1,
        _ => 2,
    };
    let is_same = |c: &&Comparison| c.subject == primary.subject && c.metric.is_typical();
    all.filter(is_same).min_by_key(|c| (order(c), c.metric != Metric::P50))
}

/// The sentence on an arm in its primary metric, with the median where that differs.
pub(super) fn sentence(
    primary: &Comparison,
    typical: Option<&Comparison>,
    baseline: &str,
    analysis: &Analysis,
    workload: &Workload,
) -> String {
    let name = subject(primary);
    let on = [format!(" on {name} than on {baseline}"), format!(" on {name} as on {baseline}")];
    let text = against(primary, baseline, analysis);
    with(primary, typical, workload, on).in_place_of(text)
}

/// What the median adds.
pub(super) enum Beside {
    /// Nothing, or the same as the primary metric.
    Nothing,
    /// A sentence in place of that on the primary metric, which is undecided.
    Instead(String),
    /// A clause that follows the sentence on the primary metric.
    After(String),
}

impl Beside {
    /// `text`: the sentence on the primary metric.
    pub(super) fn in_place_of(self, text: String) -> String {
        match self {
            Self::Nothing => text,
            Self::Instead(sentence) => sentence,
            Self::After(clause) => format!("{}, {clause}.", text.trim_end_matches('.')),
        }
    }
}

/// `than` follows a difference, `same_as` follows that there is none.
pub(super) fn with(
    primary: &Comparison,
    typical: Option<&Comparison>,
    workload: &Workload,
    [than, same_as]: [String; 2],
) -> Beside {
    let Some((typical, effect)) = typical.and_then(|c| Some((c, known(c)?))) else {
        return Beside::Nothing;
    };
    let (is, like) = if typical.metric == Metric::P50 {
        let noun = noun(workload);
        let takes = format!("the typical {noun} takes {}", effect.in_time());
        (takes, format!("the typical {noun} takes as long{same_as} ({})", effect.in_time()))
    } else {
        let words = effect.in_words();
        (format!("most slices are {words}"), format!("most slices are as fast{same_as} ({words})"))
    };
    let noisy = noisy(primary);
    match (primary.verdict, typical.verdict) {
        (Verdict::Undecided, _) if !is_noisy(primary) => Beside::Nothing,
        (Verdict::Undecided, Verdict::Slower | Verdict::Faster) => {
            Beside::Instead(format!("{}{than}; {noisy}.", iotax_quantity::capital(&is)))
        }
        (Verdict::Undecided, Verdict::Equivalent) => {
            Beside::Instead(format!("{}; {noisy}.", iotax_quantity::capital(&like)))
        }
        (Verdict::Slower, Verdict::Faster) | (Verdict::Faster, Verdict::Slower) => {
            let rare =
                if typical.metric == Metric::P50 { "slow operations" } else { "a few slices" };
            Beside::After(format!("though {is}: {rare} cause the difference"))
        }
        (Verdict::Equivalent, Verdict::Slower | Verdict::Faster) => {
            Beside::After(format!("though {is}"))
        }
        (Verdict::Slower | Verdict::Faster, _) if typical.metric == Metric::TrimmedThroughput => {
            Beside::After(format!("though {is}: a few slices cause the rest of the difference"))
        }
        _ => Beside::Nothing,
    }
}

/// Whether it is undecided because its interval is wide.
fn is_noisy(primary: &Comparison) -> bool {
    let is_lost = primary.missing.is_some_and(|missing| missing.decides);
    // If it does not hold 0, something other than its width withholds the verdict.
    let holds_none = primary.lo.zip(primary.hi).is_some_and(|(lo, hi)| lo <= 0.0 && 0.0 <= hi);
    primary.stalls.is_none() && !is_lost && holds_none && known(primary).is_some()
}

/// `throughput is too noisy for a verdict`
fn noisy(primary: &Comparison) -> String {
    format!("{} is too noisy for a verdict", name::metric(primary.metric))
}
