//! What was lost on a network path, and what was held back.

use iotax_analyze::{InterfaceSummary, QdiscSummary};
use iotax_quantity::{bit_rate, bytes, count, grouped, list, percent, whole};

use crate::measured::case::Case;
use crate::suspect::{Confidence, Suspect};

/// Share of packets lost that holds a flow up.
const MANY: f64 = 0.01;
/// Bytes of a segment on a path with an MTU of 1500.
const SEGMENT_BYTES: f64 = 1448.0;
/// Times a second over its limit from which on a queue holds load back, and not a single burst.
const OFTEN: f64 = 10.0;
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
    let mut suspect = Suspect::new("packets-lost", confidence, evidence).but(busy);
    let interfaces = case.counters.map_or(&[][..], |counters| &counters.interfaces);
    suspect.evidence.extend(dropped(interfaces));
    Some(suspect)
}

/// A queue that let packets out only at a rate.
pub(super) fn shaped(case: &Case<'_>) -> Option<Suspect> {
    let (interface, qdisc) = shaper(&case.counters?.interfaces)?;
    let evidence = format!(
        "{} was over its limit {} times a second and let {} pass, with {} waiting",
        name(interface, qdisc),
        rounded(qdisc.figures.overlimits_per_s),
        bit_rate(qdisc.figures.bits_per_s),
        bytes(qdisc.figures.backlog_bytes)
    );
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
fn dropped(interfaces: &[InterfaceSummary]) -> Option<String> {
    let mut who = Vec::new();
    for interface in interfaces {
        let of = &interface.figures;
        let ways = [("arrived at", of.received), ("left by", of.sent)];
        for (way, figures) in ways.iter().filter(|(_, way)| way.dropped_per_s > 0.0) {
            who.push(format!(
                "{} that {way} {}",
                rounded(figures.dropped_per_s),
                interface.end.label(&interface.name)
            ));
        }
        for qdisc in interface.qdiscs.iter().filter(|qdisc| qdisc.figures.drops_per_s > 0.0) {
            let count = rounded(qdisc.figures.drops_per_s);
            who.push(format!("{count} by {}", name(interface, qdisc)));
        }
    }
    let who: Vec<&str> = who.iter().map(String::as_str).collect();
    (!who.is_empty()).then(|| format!("packets were dropped, each second {}", list(&who)))
}

/// `queue tbf 1: of near eth0`.
fn name(interface: &InterfaceSummary, qdisc: &QdiscSummary) -> String {
    let interface = interface.end.label(&interface.name);
    format!("queue {} {} of {interface}", qdisc.kind, qdisc.place)
}

fn rounded(per_s: f64) -> String {
    match whole(per_s) {
        0 => "less than 1".to_owned(),
        per_s => grouped(per_s),
    }
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
        insta::assert_snapshot!(dropped(&path).unwrap(), @"packets were dropped, each second 1,234 by queue tbf 1: of near eth0 and less than 1 that arrived at far eth0");
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
