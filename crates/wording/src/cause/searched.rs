//! Evidence for causes from a search for caps.

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
            format!(
                "more than {depth} I/Os in flight did not raise throughput, and every I/O took \
                 longer"
            )
        }
        // Without a unit of bandwidth: reports use one unit throughout.
        SearchEvidence::Burst { counted, times: factor, lasted_s } => {
            let what = match counted {
                Counted::Iops => "IOPS",
                Counted::Bytes => "bytes per second",
            };
            format!("{} the sustained {what} for {}", times(*factor), lasted(*lasted_s))
        }
        SearchEvidence::PathBurst { way, times: factor, lasted_s } => format!(
            "{}: {} the sustained rate for {}",
            words(*way),
            times(*factor),
            lasted(*lasted_s)
        ),
        SearchEvidence::ReadAgain { times: factor, bytes_per_s, latency_ns } => format!(
            "a second read of the same data was {} as fast, at {} and {} per I/O",
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
            "{}: the search used {bytes}-byte packets, and larger packets carry more bytes per \
             second",
            words(*way)
        ),
        SearchEvidence::Together { a, b, share, overlap: [phi, lo, hi] } => format!(
            "together, {a} and {b} reach {} of the sum of their separate rates: overlap {} [{}, \
             {}]",
            percent(*share),
            fixed(*phi, 2),
            fixed(*lo, 2),
            fixed(*hi, 2)
        ),
        SearchEvidence::TakesFromSame { other } => format!("{other} shares the same limit"),
        SearchEvidence::Computed { target, why } => format!("{target}: {}", cap::reason(why)),
    }
}

fn lasted(seconds: f64) -> String {
    span(whole(seconds))
}

const fn words(way: PathWay) -> &'static str {
    cap::path_quantity(way.quantity, way.is_per_flow)
}
