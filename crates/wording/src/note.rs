//! Notes below a table, or in place of one.

use iotax_analyze::{Analysis, FactorEffects, Outliers};
use iotax_quantity::{count, percent};
use iotax_record::ExperimentHead;

use crate::format;
use crate::name::{self, printable};
use crate::verdict::comparison::{primary_effects, primary_of_each};
use crate::verdict::outliers::Member;

pub const DEVICES: &str = "Means over the measured windows, computed as in iostat -mx, where MB \
                           means MiB. Await times are in milliseconds. Devices are listed above \
                           the ones they are stacked on.";
pub const INTERFACES: &str = "Means over the measured windows; bytes include headers. near: the \
                              end that drives the load. One interface packet can carry up to 64 \
                              KiB of a TCP stream.";
pub const QUEUES: &str = "Queues that held packets back. Overlimits: how often packets waited \
                          because of the queue's limit. Backlog: bytes waiting in the queue.";
pub const NFS_CONNECTIONS: &str = "Busiest: the busiest connection's share of the calls. In \
                                   flight: calls still waiting for a reply when another call was \
                                   sent. Backlog: calls waiting for a free slot at that time. \
                                   Refused: credentials that the server rejected during a trial, \
                                   for example after it lost a Kerberos context. This column \
                                   covers all NFS mounts on the machine.";
pub const OPERATIONS: &str = "Slow: operations that took longer than the given time. Waited: \
                              operations that started while another was still in progress.";
pub const PHASES: &str = "Means over the trials used; percentiles are pooled over the same trials \
                          and are only descriptive.";
/// Legend of the signs for each phase and arm.
pub const SIGNS: &str = "Cost in each phase's primary metric; a negative value, or a factor such \
                         as 1/2x, is a gain. =: equivalent. ?16: undecided, but 16 blocks in total \
                         would probably be enough; ?: undecided, and the number of blocks is \
                         unknown. !: a warning, or no verdict; see the phase.";
pub const NOTHING_OPEN: &str = "No questions are open.";

/// The number of failed trials that are not listed.
pub fn more(count: usize) -> String {
    format!("And {count} more.")
}

/// Refers from the chapter of one phase to the open questions of all.
pub fn open_above(phase: &str) -> String {
    format!("The open questions above apply to all {phase}s.")
}

/// The program and seed of an experiment, to reproduce it.
pub fn made_by(experiment: &ExperimentHead) -> String {
    let ExperimentHead { iotax_version: version, spec, .. } = experiment;
    let seed = if spec.is_of_results() { String::new() } else { format!(", seed {}", spec.seed) };
    let workload = spec.workload();
    let about = match workload.about.as_str() {
        "" => String::new(),
        about => format!(" {}: {about}", workload.name),
    };
    format!("iotax {version}{seed}.{about}")
}

/// A note below jobs of saved results side by side.
pub fn side_by_side(has_bandwidth: bool) -> String {
    let bandwidth =
        if has_bandwidth { " For I/Os of 64 KiB or more, the figure is bandwidth." } else { "" };
    format!(
        "Each cell shows the arm's figure, the baseline's figure and, in parentheses, the \
         difference, followed by a verdict if there is one.{bandwidth}"
    )
}

/// A note below rules and their intervals.
pub fn rules(analysis: &Analysis) -> String {
    format!(
        "Each end of an interval is a separate bound and is wrong in at most {} of runs, no matter \
         when a run stops.",
        percent(analysis.alpha)
    )
}

/// A note below many arms compared with the median.
pub fn outliers(analysis: &Analysis, found: &Outliers) -> String {
    let member = Member::of(analysis).name();
    format!(
        "Each {member} is compared with the median of {}: {} ({}). Healthy {member}s vary by {} \
         (one standard deviation). On average, at most {} of flagged {member}s are false alarms.",
        count(found.arms, member),
        format::figure(found.metric.unit(), found.median),
        name::metric(found.metric),
        percent(found.spread),
        percent(found.rate),
    )
}

/// A note below the effects of a matrix.
pub fn effects(matrix: &FactorEffects, analysis: &Analysis) -> String {
    let has_intervals = matrix.effects.iter().any(|effect| effect.comparison.lo.is_some());
    let intervals = if has_intervals {
        let confidence = percent(1.0 - analysis.alpha);
        format!("All intervals for a metric are jointly valid, with {confidence} confidence.")
    } else {
        "No intervals.".to_owned()
    };
    format!(
        "Each level is compared with the first level of its factor. Each effect is the mean over \
         all pairs of arms that differ only in this factor ({}). {intervals}",
        pairs(matrix)
    )
}

/// `sec=krb5p: 2 pairs; nconnect=4: 4 pairs`, or `4 pairs each`.
fn pairs(matrix: &FactorEffects) -> String {
    let all = primary_effects(matrix);
    match all.as_slice() {
        [first, rest @ ..] if rest.iter().all(|effect| effect.pairs == first.pairs) => {
            format!("{} each", count(first.pairs, "pair"))
        }
        _ => {
            let own = all.iter().map(|effect| {
                format!("{}: {}", name::setting(&effect.setting), count(effect.pairs, "pair"))
            });
            printable(&own.collect::<Vec<_>>().join("; "))
        }
    }
}

/// A note below the arms of a matrix.
pub fn by_factor(analysis: &Analysis) -> String {
    let first = primary_of_each(analysis).into_iter().next();
    let metric = first.map_or("figure", |comparison| name::metric(comparison.metric));
    format!("Each cell shows the {metric} and, in parentheses, the difference from the first arm.")
}

/// A note below the changes by each level of a matrix.
pub fn changes(has_intervals: bool, has_latency: bool) -> String {
    let how = if has_intervals {
        "In each phase, all intervals in a column are jointly valid. The verdict is on the primary \
         metric. Undecided (16): 16 blocks in total would probably be enough. If no number is \
         shown, the number of blocks is unknown, because blocks are correlated or the verdict is \
         withheld."
    } else {
        "Descriptive only, no intervals."
    };
    let closed_loop = if has_latency {
        " In a closed loop, latency is the number of I/Os in flight divided by the rate."
    } else {
        ""
    };
    format!(
        "Each level is compared with the first level of its factor. Each change is the mean over \
         the arms that differ only in this factor. {how}{closed_loop}"
    )
}
