//! Texts about a search for caps.

use iotax_caps::{
    BlockEnd, BusySign, CapDoubt, CapKind, CapNote, CapReason, CapSign, Ended, Obstacle,
    PathQuantity, Shared, Undecided,
};
use iotax_experiment::documented::LimitBy;
use iotax_experiment::{ProbePurpose, Purpose};
use iotax_quantity::{exact, fixed, percent, size};

use crate::limit;

/// What sets a cap.
pub const fn kind(kind: CapKind) -> &'static str {
    match kind {
        CapKind::Throttle => "throttle",
        CapKind::SaturatedDevice => "saturated device",
        CapKind::ThisMachine => "this machine",
        CapKind::External => "external cap",
    }
}

/// Whether two targets share a bucket.
pub const fn shared(verdict: Shared) -> &'static str {
    match verdict {
        Shared::Separate => "separate",
        Shared::Shared => "shared",
        Shared::Partial => "partly shared",
        Shared::Undecided => "undecided",
    }
}

/// The quantity, of one flow or of all: `bandwidth to the peer`, `packets per flow to the peer`.
pub const fn path_quantity(of: PathQuantity, is_per_flow: bool) -> &'static str {
    match (of, is_per_flow) {
        (PathQuantity::BytesTo, false) => "bandwidth to the peer",
        (PathQuantity::BytesFrom, false) => "bandwidth from the peer",
        (PathQuantity::PacketsTo, false) => "packets to the peer",
        (PathQuantity::Requests, false) => "packets in both directions",
        (PathQuantity::BytesTo, true) => "bandwidth per flow to the peer",
        (PathQuantity::BytesFrom, true) => "bandwidth per flow from the peer",
        (PathQuantity::PacketsTo, true) => "packets per flow to the peer",
        (PathQuantity::Requests, true) => "packets per flow in both directions",
    }
}

/// Why a cap is of its kind, without a final period.
pub fn reason(reason: &CapReason) -> String {
    let doubts = reason.doubts.iter().map(doubt);
    sign(&reason.sign) + &doubts.collect::<String>()
}

fn sign(sign: &CapSign) -> String {
    match sign {
        CapSign::SizesUnmeasured => "throughput at other block sizes was not measured".to_owned(),
        CapSign::NoPlateau { slope } => format!(
            "no plateau: throughput still changes with depth (slope {}), so this is the rate \
             reached, not a cap",
            fixed(*slope, 2)
        ),
        CapSign::NoPlateauOfFlows => "no plateau: throughput still changes with the number of \
                                      flows, so this is the rate reached, not a cap"
            .to_owned(),
        CapSign::SizesComputed => "at this block size, this machine's CPUs were busy; at other \
                                   sizes, something else was the limit"
            .to_owned(),
        CapSign::Kink { off, curve_off } => format!(
            "across block sizes, throughput follows a limiter's curve (IOPS cap, then bandwidth \
             cap) to within {}, and a device's curve to within {}",
            percent(*off),
            percent(*curve_off)
        ),
        CapSign::Curve { off, kink_off } => format!(
            "across block sizes, throughput follows a device's curve (time per I/O plus time per \
             byte) to within {}, and a limiter's curve to within {}",
            percent(*off),
            percent(*kink_off)
        ),
        CapSign::Neither { kink_off, curve_off } => format!(
            "across block sizes, throughput follows neither a limiter's curve (off by {}) nor a \
             device's curve (off by {})",
            percent(*kink_off),
            percent(*curve_off)
        ),
        CapSign::OneLine { is_bytes, slope, only, are_larger_several } => {
            let what = if *is_bytes { "bytes" } else { "I/Os" };
            let only = only.map_or_else(String::new, |sizes| {
                let [from, to] = sizes.map(|bytes| size(bytes.into()));
                format!(" from {from} to {to}; at other sizes, this machine's CPUs were busy")
            });
            let several =
                if *are_larger_several { "; larger I/Os seem to count as several" } else { "" };
            format!(
                "{what} per second do not depend on the block size (slope {}){only}{several}",
                fixed(*slope, 2)
            )
        }
        CapSign::Refill => {
            "burst credits refill during pauses, at the capped rate, as in a token bucket"
                .to_owned()
        }
        CapSign::Limit { by, of } => {
            let is_documented = matches!(by, LimitBy::Documented(_));
            let documented = if is_documented { "documented " } else { "" };
            format!("the rate equals the {documented}{by} limit of {of}")
        }
        CapSign::Busy(sign) => busy(sign),
        CapSign::OneFlowHeld => "one flow always reaches the same rate, and several flows reach \
                                 more: the cause is a per-flow limit or a connection's window size"
            .to_owned(),
        CapSign::FlowsHeld => {
            "the rate is always the same, more flows do not raise it, and CPUs are idle: the cause \
             is a limiter or the link's capacity"
                .to_owned()
        }
        CapSign::NotTwice { spread } => {
            let spread = percent(*spread);
            format!("two measurements differ by {spread}, but a limiter's rate is constant")
        }
        CapSign::Said(text) => text.clone(),
    }
}

fn doubt(doubt: &CapDoubt) -> String {
    match doubt {
        CapDoubt::Spread(share) => {
            format!(
                "; however, a limiter's rate is constant, and this cap's interval spans {}",
                percent(*share)
            )
        }
        CapDoubt::SlopeLeft(slope) => {
            format!("; throughput still changes with depth (slope {})", fixed(*slope, 2))
        }
        CapDoubt::Busy(sign) => format!("; {}", busy(sign)),
        CapDoubt::Scatters => {
            "; however, the other measurements in this search scatter around this rate".to_owned()
        }
    }
}

/// Whose CPUs were busy, and how to see the next limit.
pub fn busy(sign: &BusySign) -> String {
    const ADVICE: &str = "use fewer, larger I/Os or more CPUs to see the next limit";
    match sign {
        BusySign::Thread { share } => {
            format!("the load's thread used {} of a CPU: {ADVICE}", percent(*share))
        }
        BusySign::InTurn { share } => format!(
            "the load's thread and the kernel threads that work for it used {} of one CPU: \
             {ADVICE}",
            percent(*share)
        ),
        BusySign::AllCpus { share, ours } => format!(
            "all CPUs on this machine were busy for {} of the time, and this load used {} of that \
             time: {ADVICE}",
            percent(*share),
            percent(*ours)
        ),
        BusySign::Allowed { share, cpus } => format!(
            "this load used {} of the {} CPUs that it is allowed to use: {ADVICE}",
            percent(*share),
            exact(*cpus)
        ),
        BusySign::Peer { share } => {
            format!("the peer's thread used {} of a CPU", percent(*share))
        }
        BusySign::Waited { share } => {
            format!("the load's threads waited for a CPU for {} of the time", percent(*share))
        }
        BusySign::Taken { share } => {
            format!("all CPUs were busy for {} of the time", percent(*share))
        }
        BusySign::OtherWork { share } => format!(
            "all CPUs were busy with other work for {} of the time: measure again when that work \
             is finished",
            percent(*share)
        ),
        BusySign::Said(text) => text.clone(),
    }
}

/// Why a cap was not reached with I/Os of this size.
pub fn obstacle(obstacle: &Obstacle, block_bytes: u32) -> String {
    let size = size(block_bytes.into());
    match obstacle {
        Obstacle::OtherCap(BlockEnd::Largest) => {
            format!("at the largest block size ({size}), the IOPS cap applies first")
        }
        Obstacle::OtherCap(BlockEnd::Smallest) => {
            format!("at the smallest block size ({size}), the bandwidth cap applies first")
        }
        Obstacle::OtherCap(BlockEnd::Small) => {
            format!("with {size} blocks, the bandwidth cap applies first")
        }
        Obstacle::ThisMachine(sign) => busy(sign),
        Obstacle::Time => {
            "the search ended at its time limit, before its results agreed with each other"
                .to_owned()
        }
    }
}

/// The same, for a cell of a table.
pub(crate) const fn obstacle_in_short(obstacle: &Obstacle) -> &'static str {
    match obstacle {
        Obstacle::OtherCap(_) => "the other cap applies first",
        Obstacle::ThisMachine(_) => "not reached: CPUs busy",
        Obstacle::Time => "not measured: time limit",
    }
}

/// Why a rule is not decided.
pub fn undecided(why: &Undecided) -> String {
    match why {
        Undecided::NothingDocumented => {
            "no documented limits are known for this target: specify the VM and disk with --vm and \
             --disk"
                .to_owned()
        }
        Undecided::WithinInterval => "the limit is within the confidence interval".to_owned(),
        Undecided::MayGiveMore(why) => format!("a higher rate may be possible: {}", reason(why)),
        Undecided::NotReached(what, block_bytes) => {
            format!("the cap was not reached: {}", obstacle(what, *block_bytes))
        }
        Undecided::Unsteady => "the rate is unsteady".to_owned(),
        Undecided::NoCap => "no cap was found".to_owned(),
        Undecided::Said(text) => text.clone(),
    }
}

/// A note about a search.
pub fn note(note: &CapNote) -> String {
    match note {
        CapNote::SharingUntested { a, b, unsteady } => {
            format!(
                "iotax did not test whether {a} and {b} share a bucket, because {unsteady} is \
                 unsteady."
            )
        }
        CapNote::Role(role) => limit::role(role),
        CapNote::TimeLimit => {
            "The search ended at its time limit. `iotax limits` without --max-time \
             gives narrower intervals and can tell whether the rate is steady."
                .to_owned()
        }
        CapNote::ConcludedBy { version } => format!(
            "These conclusions come from iotax {version}, which made the measurement. Either the \
             current version would have run different probes, or the record was edited afterwards."
        ),
        CapNote::Said(text) => text.clone(),
    }
}

/// Why a search ended early.
pub fn ended(ended: &Ended) -> String {
    match ended {
        Ended::Interrupted => "interrupted".to_owned(),
        Ended::Silent { target } => format!("{target}: no I/O completed"),
        Ended::Failed(why) => why.clone(),
    }
}

/// The purpose of a measured level.
pub fn level(of: &ProbePurpose) -> String {
    match of {
        ProbePurpose::Known(of) => purpose(*of),
        ProbePurpose::Said(text) => text.clone(),
    }
}

/// The purpose of a measurement or a pause.
pub fn purpose(of: Purpose) -> String {
    let at_once = |what: &str, flows: u32| format!("{what}, {flows} at once");
    let plain = match of {
        Purpose::StreamsTo(flows) => return at_once("streams to the peer", flows),
        Purpose::StreamsFrom(flows) => return at_once("streams from the peer", flows),
        Purpose::DatagramsTo(flows) => return at_once("small datagrams to the peer", flows),
        Purpose::Requests(flows) => return at_once("small requests and responses", flows),
        Purpose::Saturate => "apply full load to see whether a burst runs out",
        Purpose::SpendCredits => "spend the refilled credits",
        Purpose::Rest => "pause so that credits can refill",
        Purpose::AfterPause => "check whether credits refilled during a pause",
        Purpose::OverDepth => "throughput over queue depth",
        Purpose::OverSize => "throughput over block size",
        Purpose::CapAgain => "measure the cap again",
        Purpose::Steadiness => "check whether the rate is steady",
        Purpose::OneAlone => "one alone",
        Purpose::OtherAlone => "the other alone",
        Purpose::BothAtOnce => "both at once",
        Purpose::ReadNew => "read new data",
        Purpose::ReadOnce => "read a span once",
        Purpose::ReadAgain => "read the same span again",
    };
    plain.to_owned()
}

#[cfg(test)]
mod tests;
