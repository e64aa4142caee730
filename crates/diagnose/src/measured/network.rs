//! What was lost on a network path, and what was held back.

use iotax_analyze::{InterfaceSummary, QdiscSummary};
use serde::Serialize;

use super::{Rule, rule};
use crate::measured::case::Case;
use crate::measured::suspect::{Confidence, Evidence, Suspect};

pub(super) const RULES: &[Rule] =
    &[rule(&["packets-lost"], lost), rule(&["shaper-in-path"], shaped)];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkEvidence {
    Lost { share: f64 },
    // Segments for each GiB, and their share at a size.
    SentAgain { per_gib: f64, share: f64, segment_bytes: f64 },
    NoCpuLeft { cpus: u32 },
    // By whom, each second.
    Dropped(Vec<Dropped>),
    Shaped { queue: QueueOf, overlimits_per_s: f64, bits_per_s: f64, backlog_bytes: f64 },
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Dropped {
    pub per_s: f64,
    pub by: DroppedBy,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DroppedBy {
    Received(String),
    Sent(String),
    Queue(QueueOf),
}

/// `queue tbf 1: of near eth0`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueueOf {
    pub kind: String,
    pub place: String,
    pub interface: String,
}

/// Share of packets lost that holds a flow up.
const MANY: f64 = 0.01;
/// Bytes of a segment on a path with an MTU of 1500.
const SEGMENT_BYTES: f64 = 1448.0;
/// Times a second over its limit from which on a queue holds load back, and not a single burst.
const OFTEN: f64 = 10.0;
const GIB: f64 = 1_073_741_824.0;

/// Segments that were sent again, or datagrams that did not arrive.
fn lost(case: &Case<'_>) -> Option<Suspect> {
    let network = case.summary.network.as_ref()?;
    let evidence = match (network.lost, network.retransmits_per_gib) {
        (Some(lost), _) if lost >= MANY => NetworkEvidence::Lost { share: lost },
        (None, Some(per_gib)) if per_gib * SEGMENT_BYTES / GIB >= MANY => {
            let share = per_gib * SEGMENT_BYTES / GIB;
            NetworkEvidence::SentAgain { per_gib, share, segment_bytes: SEGMENT_BYTES }
        }
        _ => return None,
    };
    // A receiver without a CPU loses packets on any path.
    let cpus = case.host().environment.cpus;
    let busy = case.has_no_cpu_left().then_some(NetworkEvidence::NoCpuLeft { cpus });
    let confidence = if busy.is_some() { Confidence::Possible } else { Confidence::Likely };
    let mut suspect = Suspect::new("packets-lost", confidence, evidence).but(busy);
    let interfaces = case.counters.map_or(&[][..], |counters| &counters.interfaces);
    suspect.evidence.extend(dropped(interfaces).map(Evidence::from));
    Some(suspect)
}

/// A queue that let packets out only at a rate.
fn shaped(case: &Case<'_>) -> Option<Suspect> {
    let (interface, qdisc) = shaper(&case.counters?.interfaces)?;
    let evidence = NetworkEvidence::Shaped {
        queue: queue(interface, qdisc),
        overlimits_per_s: qdisc.figures.overlimits_per_s,
        bits_per_s: qdisc.figures.bits_per_s,
        backlog_bytes: qdisc.figures.backlog_bytes,
    };
    let waits = qdisc.figures.backlog_bytes > 0.0;
    let confidence = if waits { Confidence::Likely } else { Confidence::Possible };
    Some(Suspect::new("shaper-in-path", confidence, evidence))
}

/// The queue in which most waits, of those that were often over their limit. How many packets each
/// time held back is not counted: it may be one, or 64 KiB of segments.
fn shaper(interfaces: &[InterfaceSummary]) -> Option<(&InterfaceSummary, &QdiscSummary)> {
    let all = interfaces.iter().flat_map(|one| one.qdiscs.iter().map(move |qdisc| (one, qdisc)));
    let holding = all.filter(|(_, qdisc)| qdisc.figures.overlimits_per_s >= OFTEN);
    let waiting = |(_, qdisc): &(_, &QdiscSummary)| qdisc.figures.backlog_bytes;
    holding.max_by(|a, b| waiting(a).total_cmp(&waiting(b)))
}

/// Who dropped packets.
fn dropped(interfaces: &[InterfaceSummary]) -> Option<NetworkEvidence> {
    let mut who = Vec::new();
    for interface in interfaces {
        let of = &interface.figures;
        let name = || interface.end.label(&interface.name);
        let ways = [
            (of.received.dropped_per_s, DroppedBy::Received(name())),
            (of.sent.dropped_per_s, DroppedBy::Sent(name())),
        ];
        let ways = ways.into_iter().filter(|(per_s, _)| *per_s > 0.0);
        who.extend(ways.map(|(per_s, by)| Dropped { per_s, by }));
        for qdisc in interface.qdiscs.iter().filter(|qdisc| qdisc.figures.drops_per_s > 0.0) {
            let by = DroppedBy::Queue(queue(interface, qdisc));
            who.push(Dropped { per_s: qdisc.figures.drops_per_s, by });
        }
    }
    (!who.is_empty()).then_some(NetworkEvidence::Dropped(who))
}

fn queue(interface: &InterfaceSummary, qdisc: &QdiscSummary) -> QueueOf {
    let interface = interface.end.label(&interface.name);
    QueueOf { kind: qdisc.kind.clone(), place: qdisc.place.clone(), interface }
}

#[cfg(test)]
mod tests {
    use iotax_analyze::{InterfaceFigures, QdiscFigures};
    use iotax_record::PathEnd;

    use super::*;

    fn interface(end: PathEnd, dropped_per_s: f64, figures: QdiscFigures) -> InterfaceSummary {
        let mut own = InterfaceFigures::default();
        own.received.dropped_per_s = dropped_per_s;
        InterfaceSummary {
            end,
            name: "eth0".to_owned(),
            figures: own,
            qdiscs: vec![QdiscSummary { kind: "tbf".into(), place: "1:".into(), figures }],
        }
    }

    #[test]
    fn whoever_dropped_packets_is_named() {
        let dropping = QdiscFigures { drops_per_s: 1234.4, ..QdiscFigures::default() };
        let path = [
            interface(PathEnd::Near, 0.0, dropping),
            interface(PathEnd::Far, 0.2, QdiscFigures::default()),
        ];
        let (kind, place) = ("tbf".to_owned(), "1:".to_owned());
        let queue = QueueOf { kind, place, interface: "near eth0".to_owned() };
        let who = vec![
            Dropped { per_s: 1234.4, by: DroppedBy::Queue(queue) },
            Dropped { per_s: 0.2, by: DroppedBy::Received("far eth0".to_owned()) },
        ];
        assert_eq!(dropped(&path), Some(NetworkEvidence::Dropped(who)));
        assert_eq!(dropped(&path[..0]), None);
        let quiet = interface(PathEnd::Near, 0.0, QdiscFigures::default());
        assert_eq!(dropped(&[quiet]), None);
    }

    #[test]
    fn a_queue_that_is_often_over_its_limit_holds_back() {
        let figures = |overlimits_per_s, backlog_bytes| QdiscFigures {
            packets_per_s: 1000.0,
            overlimits_per_s,
            backlog_bytes,
            ..QdiscFigures::default()
        };
        let path =
            |near, far| [interface(PathEnd::Near, 0.0, near), interface(PathEnd::Far, 0.0, far)];
        let end = |path: &[InterfaceSummary]| shaper(path).map(|(interface, _)| interface.end);
        assert_eq!(end(&path(figures(300.0, 700.0), figures(300.0, 7000.0))), Some(PathEnd::Far));
        assert_eq!(end(&path(figures(300.0, 0.0), figures(1.0, 7000.0))), Some(PathEnd::Near));
        assert_eq!(end(&path(figures(1.0, 700.0), figures(0.0, 700.0))), None);
    }
}
