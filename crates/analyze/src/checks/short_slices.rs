use iotax_stats::sample::count;

use crate::analysis::{Doubt, DoubtKind};
use crate::evidence::Evidence;
use crate::lengths::{LengthEffect, Lengths};
use crate::metrics::Metric;

/// Arms that do not keep up what their short slices show, or do not show in them what they keep up.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let metric = Metric::additive(evidence.experiment.spec.workload());
    let given_up = evidence.left_out > 0;
    let differ = evidence.lengths.iter().filter(|effect| effect.lengths == Lengths::Differ);
    let doubt = |effect: &LengthEffect| {
        let ratio = effect.log_ratio.exp();
        let (short_ns, long_ns) = (effect.short_ns, effect.long_ns);
        let kind = DoubtKind::ShortSlices { metric, ratio, short_ns, long_ns, given_up };
        let own = evidence.trials.iter().filter(|trial| trial.arm == Some(effect.arm));
        Doubt::about(evidence.subject(effect.arm), kind, count(own.filter(|t| t.usable).count()))
    };
    differ.map(doubt).collect()
}
