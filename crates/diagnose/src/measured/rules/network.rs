//! What was lost on a network path.

use iotax_words::{count, percent};

use crate::measured::case::Case;
use crate::suspect::{Confidence, Suspect};

/// Share of packets lost that holds a flow up.
const MANY: f64 = 0.01;
/// Bytes of a segment on a path with an MTU of 1500.
const SEGMENT_BYTES: f64 = 1448.0;
const GIB: f64 = 1_073_741_824.0;

/// Segments that were sent again, or datagrams that did not arrive.
pub(super) fn lost(case: &Case<'_>) -> Option<Suspect> {
    let network = case.summary.network.as_ref()?;
    let evidence = match (network.lost, network.retransmits_per_gib) {
        (Some(lost), _) if lost >= MANY => {
            format!("{} of the datagrams did not arrive", percent(lost))
        }
        (None, Some(per_gib)) if per_gib * SEGMENT_BYTES / GIB >= MANY => format!(
            "{:.0} segments were sent again for each GiB, {} of what it takes at {SEGMENT_BYTES:.0} \
             bytes each",
            per_gib,
            percent(per_gib * SEGMENT_BYTES / GIB)
        ),
        _ => return None,
    };
    // A receiver without a CPU loses packets on any path.
    let busy = case.has_no_cpu_left().then(|| {
        let cpus = count(case.host().environment.cpus.into(), "CPU");
        format!("nothing was left of this machine's {cpus}, so that it may be the receiver itself")
    });
    let confidence = if busy.is_some() { Confidence::Possible } else { Confidence::Likely };
    Some(Suspect::new("packets-lost", confidence, evidence).but(busy))
}
