use iotax_stats::sample::count;

use crate::analysis::{Doubt, DoubtKind, SlicesOutcome};
use crate::evidence::Evidence;
use crate::lengths::{LengthEffect, Lengths};
use crate::metrics::Metric;

/// Arms that do not keep up what their short slices show, or do not show in them what they keep up.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let metric = Metric::additive(evidence.experiment.spec.workload());
    let doubt = |effect: &LengthEffect| {
        let outcome = match effect.lengths {
            Lengths::Alike | Lengths::NotHeld | Lengths::Unsure => return None,
            Lengths::Differ if evidence.left_out > 0 => SlicesOutcome::GivenUp,
            Lengths::Differ => SlicesOutcome::Ended,
            Lengths::NotKept => SlicesOutcome::Withheld,
            // Other trials tell since.
            Lengths::Suspected if evidence.left_out > 0 => return None,
            Lengths::Suspected => SlicesOutcome::Unsure,
        };
        let ratio = effect.log_ratio.exp();
        let (short_ns, long_ns) = (effect.short_ns, effect.long_ns);
        let kind = DoubtKind::ShortSlices { metric, ratio, short_ns, long_ns, outcome };
        let own = evidence.trials.iter().filter(|trial| trial.arm == Some(effect.arm));
        let usable = count(own.filter(|trial| trial.usable).count());
        Some(Doubt::about(evidence.subject(effect.arm), kind, usable))
    };
    evidence.lengths.iter().filter_map(doubt).collect()
}
