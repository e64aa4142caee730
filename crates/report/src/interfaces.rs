//! Interfaces of a network path, and the queueing disciplines at them.

use iotax_analyze::{Analysis, InterfaceSummary, QdiscSummary};
use iotax_wording::format::{self, three_digits};
use iotax_wording::note;

use crate::document::{Item, Section, Table};
use crate::machine::measured;

/// What passed each interface of each arm, and what was dropped there.
pub(crate) fn sections(analysis: &Analysis) -> Vec<Section> {
    let all = || {
        measured(analysis).flat_map(|(arm, counters)| {
            counters.interfaces.iter().map(move |interface| (arm, interface))
        })
    };
    let rate = |bits_per_s: f64| format::bit_rate(bits_per_s);
    let interfaces = Table::of(all())
        .word("arm", |(arm, _)| &arm.name)
        .word("interface", |(_, of)| label(of))
        .figure("sent", |(_, of)| rate(of.figures.sent.bits_per_s))
        .figure("received", |(_, of)| rate(of.figures.received.bits_per_s))
        .figure("sent/s", |(_, of)| three_digits(of.figures.sent.packets_per_s))
        .figure("received/s", |(_, of)| three_digits(of.figures.received.packets_per_s))
        .figure("dropped/s", |(_, of)| {
            three_digits(of.figures.sent.dropped_per_s + of.figures.received.dropped_per_s)
        })
        .figure("errors/s", |(_, of)| {
            three_digits(of.figures.sent.errors_per_s + of.figures.received.errors_per_s)
        })
        .table;
    // Every interface has some, and most only let pass.
    let held = |qdisc: &&QdiscSummary| {
        let of = &qdisc.figures;
        of.drops_per_s + of.overlimits_per_s + of.requeues_per_s + of.backlog_bytes > 0.0
    };
    let queues = all().flat_map(|(arm, interface)| {
        interface.qdiscs.iter().filter(held).map(move |qdisc| (arm, interface, qdisc))
    });
    let queues = Table::of(queues)
        .word("arm", |(arm, ..)| &arm.name)
        .word("queue", |(_, of, qdisc)| format!("{} {} {}", label(of), qdisc.kind, qdisc.place))
        .figure("passed", |(.., qdisc)| rate(qdisc.figures.bits_per_s))
        .figure("packets/s", |(.., qdisc)| three_digits(qdisc.figures.packets_per_s))
        .figure("dropped/s", |(.., qdisc)| three_digits(qdisc.figures.drops_per_s))
        .figure("overlimits/s", |(.., qdisc)| three_digits(qdisc.figures.overlimits_per_s))
        .figure("requeued/s", |(.., qdisc)| three_digits(qdisc.figures.requeues_per_s))
        .figure("backlog", |(.., qdisc)| format::bytes(qdisc.figures.backlog_bytes))
        .table;
    [("Interfaces", interfaces, note::INTERFACES), ("Queues (qdisc)", queues, note::QUEUES)]
        .into_iter()
        .filter_map(|(title, table, below)| {
            let table = table.filled()?.without_names_of(analysis.arms.len());
            Some(Section::new(title, [Item::Table(table), Item::Note(below.to_owned())]))
        })
        .collect()
}

fn label(interface: &InterfaceSummary) -> String {
    interface.end.label(&interface.name)
}
