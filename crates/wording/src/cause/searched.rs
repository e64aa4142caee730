//! What a search for caps says of causes.

use iotax_diagnose::{Counted, PathWay, SearchEvidence};
use iotax_quantity::{bit_rate, fixed, mib_per_s, percent, span, time, times, whole};

use crate::{cap, limit};

pub(super) fn evidence(evidence: &SearchEvidence) -> String {
    match evidence {
        SearchEvidence::Cap(reason) => cap::reason(reason),
        SearchEvidence::Beside(row) => limit::standing(row),
        SearchEvidence::Busy(sign) => cap::busy(sign),
        SearchEvidence::Source { of, source } => {
            let source = source.as_ref().map_or(limit::READ_HERE, |source| &source.text);
            format!("{of}: {source}")
        }
        SearchEvidence::DeeperBroughtNoMore { depth } => {
            format!("more than {depth} in flight brought no more, and every I/O took longer")
        }
        // Without a unit of bandwidth, of which a report has one.
        SearchEvidence::Burst { counted, times: factor, lasted_s } => {
            let what = match counted {
                Counted::Iops => "IOPS",
                Counted::Bytes => "bytes per second",
            };
            format!("{} the {what} for {} of those that last", times(*factor), lasted(*lasted_s))
        }
        SearchEvidence::PathBurst { way, times: factor, lasted_s } => {
            format!("{}: {} what lasts, for {}", words(*way), times(*factor), lasted(*lasted_s))
        }
        SearchEvidence::ReadAgain { times: factor, bytes_per_s, latency_ns } => format!(
            "what had been read once was read again {} as fast, at {} and {} each",
            times(*factor),
            mib_per_s(*bytes_per_s),
            time(*latency_ns)
        ),
        SearchEvidence::OnTheWire { way, carried_bits_per_s, allowed_bits_per_s, is_here } => {
            format!(
                "{}: {} on the wire, {} {}",
                words(*way),
                bit_rate(*carried_bits_per_s),
                bit_rate(*allowed_bits_per_s),
                if *is_here { "set" } else { "documented" }
            )
        }
        SearchEvidence::SmallPackets { way, bytes } => format!(
            "{}: the packets are of {bytes} bytes, and larger ones carry more bytes than these do",
            words(*way)
        ),
        SearchEvidence::Together { a, b, share, overlap: [phi, lo, hi] } => format!(
            "{a} and {b} at once reach {} of what each alone adds up to: overlap {} [{}, {}]",
            percent(*share),
            fixed(*phi, 2),
            fixed(*lo, 2),
            fixed(*hi, 2)
        ),
        SearchEvidence::TakesFromSame { other } => format!("{other} takes from the same limit"),
        SearchEvidence::Computed { target, why } => format!("{target}: {}", cap::reason(why)),
    }
}

fn lasted(seconds: f64) -> String {
    span(whole(seconds))
}

const fn words(way: PathWay) -> &'static str {
    cap::path_quantity(way.quantity, way.is_per_flow)
}
