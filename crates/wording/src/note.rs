//! What stands below a table, or in the place of one.

use iotax_analyze::{Analysis, FactorEffects, Outliers};
use iotax_quantity::{capital, count, percent};
use iotax_record::ExperimentHead;

use crate::format;
use crate::name::{self, printable};
use crate::verdict::comparison::{primary_effects, primary_of_each};
use crate::verdict::outliers::Member;

pub const DEVICES: &str = "Means over the measured windows, as iostat -mx computes them, whose MB \
    are MiB; awaits are milliseconds. A device stands above those it lies on.";
pub const INTERFACES: &str = "Means over the measured windows, headers included; near: the end \
    that drives load. A packet is what crosses the interface: up to 64 KiB of a TCP stream.";
pub const QUEUES: &str = "Those that let not everything pass at once. Overlimits: how often \
    something had to wait because the limit was reached. Backlog: what waits in the queue.";
pub const NFS_CONNECTIONS: &str = "Busiest: that connection's share of the calls. In flight, \
    backlog: calls without a reply, and without a free slot, when another was sent. Refused: \
    credentials that the server did not take in a trial, as when it has lost a context of \
    Kerberos; of all NFS mounts of the machine.";
pub const OPERATIONS: &str = "Slow: those that took longer than the time named; waited: those that \
    came while another was under way.";
pub const PHASES: &str = "Means over the trials used; percentiles pooled over them: descriptive.";
/// A verdict on each phase and arm, as a sign.
pub const SIGNS: &str = "Cost in the primary metric of each phase; less than 0, or 1/2x, is a \
    gain. =: equivalent; ?16: undecided, which 16 blocks in all would probably change, and without \
    a figure nobody can tell; !: a warning or no verdict, see the phase.";
pub const NOTHING_OPEN: &str = "Nothing that was asked was left open.";

/// Trials with trouble that are not listed.
pub fn more(count: usize) -> String {
    format!("And {count} more.")
}

/// Open questions of all phases, in the chapter of one.
pub fn open_above(phase: &str) -> String {
    format!("What is said above of all {phase}s.")
}

/// What made an experiment: to be reproduced.
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

/// Jobs of saved results side by side.
pub fn side_by_side(has_bandwidth: bool) -> String {
    let bandwidth = if has_bandwidth { " Bandwidth where I/Os are of 64 KiB or more." } else { "" };
    format!(
        "The arm's figure, the baseline's, and in brackets the difference; a verdict beside it, \
         if there is one.{bandwidth}"
    )
}

/// Rules and their intervals.
pub fn rules(analysis: &Analysis) -> String {
    format!(
        "Each end of an interval is a bound of its own, wrong in at most {} of such runs at \
         whichever look one stops.",
        percent(analysis.alpha)
    )
}

/// Many arms against the median.
pub fn outliers(analysis: &Analysis, found: &Outliers) -> String {
    let member = Member::of(analysis).name();
    format!(
        "Against the median of {}: {} ({}). Healthy {member}s differ by {} (one standard deviation); of \
         those named, {} at most are false, on average.",
        count(found.arms, member),
        format::figure(found.metric.unit(), found.median),
        name::metric(found.metric),
        percent(found.spread),
        percent(found.rate),
    )
}

/// The effects of a matrix.
pub fn effects(matrix: &FactorEffects, analysis: &Analysis) -> String {
    let has_intervals = matrix.effects.iter().any(|effect| effect.comparison.lo.is_some());
    let intervals = if has_intervals {
        let confidence = percent(1.0 - analysis.alpha);
        format!("The intervals of a metric hold all at once with {confidence}.")
    } else {
        "Without an interval.".to_owned()
    };
    format!(
        "A level against the first of its factor, the mean over all pairs of arms that differ in \
         nothing else ({}). {intervals}",
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

/// The arms of a matrix, by its axes.
pub fn by_factor(analysis: &Analysis) -> String {
    let first = primary_of_each(analysis).into_iter().next();
    let metric = first.map_or("figure", |comparison| name::metric(comparison.metric));
    format!("{}, and its difference from the first arm.", capital(metric))
}

/// What each level of a matrix changed.
pub fn changes(has_intervals: bool, has_latency: bool) -> String {
    let how = if has_intervals {
        "The intervals of a column hold all at once in each phase. Verdict: on the primary \
         metric; undecided (16): 16 blocks in all would probably decide, and without a figure \
         nobody can tell how many, because blocks depend on each other, or the verdict is \
         withheld."
    } else {
        "Descriptive, no interval."
    };
    let closed_loop = if has_latency {
        " In a closed loop latency is what is in flight over the rate."
    } else {
        ""
    };
    format!(
        "Each level against the first of its factor, the mean over the arms that differ in \
         nothing else. {how}{closed_loop}"
    )
}
