//! Tables of system metrics: devices, CPUs, memory, network and NFS. The figures are from the
//! analysis.

use iotax_analyze::{
    Analysis, ArmSummary, CounterSummary, InterfaceSummary, NfsMountSummary, NfsTransportFigures,
    QdiscSummary, StallFigures,
};
use iotax_wording::bandwidth::MEASURED;
use iotax_wording::format::{self, ABSENT, bytes, or_absent, three_digits};
use iotax_wording::note;

use crate::document::{Item, Section, Table};

fn measured(analysis: &Analysis) -> impl Iterator<Item = (&ArmSummary, &CounterSummary)> {
    analysis.arms.iter().filter_map(|arm| Some((arm, arm.counters.as_ref()?)))
}

/// The devices under each arm, with the column names of iostat.
pub(crate) fn devices(analysis: &Analysis) -> Option<Table> {
    let devices = measured(analysis).flat_map(|(arm, counters)| {
        counters.devices.iter().map(move |device| (arm, device, &device.figures))
    });
    let table = Table::of(devices)
        .word("arm", |(arm, ..)| &arm.name)
        .word("device", |(_, device, _)| match device.targets.as_slice() {
            [] => device.name.clone(),
            targets => format!("{} ({})", device.name, targets.join(", ")),
        })
        .figure("r/s", |(.., of)| three_digits(of.read.per_s))
        .figure("w/s", |(.., of)| three_digits(of.write.per_s))
        .figure("rMiB/s", |(.., of)| three_digits(of.read.mib_per_s))
        .figure("wMiB/s", |(.., of)| three_digits(of.write.mib_per_s))
        .figure("r_await", |(.., of)| three_digits(of.read.await_ms))
        .figure("w_await", |(.., of)| three_digits(of.write.await_ms))
        .figure("aqu-sz", |(.., of)| three_digits(of.queue_size))
        .figure("%util", |(.., of)| three_digits(of.util_percent))
        .table;
    Some(table.filled()?.without_names_of(analysis.arms.len()))
}

/// CPUs, pressure and page cache of each arm.
pub(crate) fn system(analysis: &Analysis) -> Option<Table> {
    let percent =
        |value: Option<f64>| or_absent(value.map(|value| iotax_quantity::percent(value / 100.0)));
    let stall = |stall: Option<StallFigures>| percent(stall.map(|stall| stall.some_percent));
    // With a single arm, its name is the only name of the row.
    Table::of(measured(analysis))
        .word("arm", |(arm, _)| &arm.name)
        .figure("user", |(_, of)| percent(of.cpu.map(|cpu| cpu.user_percent + cpu.nice_percent)))
        .figure("system", |(_, of)| percent(of.cpu.map(|cpu| cpu.system_percent)))
        .figure("iowait", |(_, of)| percent(of.cpu.map(|cpu| cpu.iowait_percent)))
        .figure("steal", |(_, of)| percent(of.cpu.map(|cpu| cpu.steal_percent)))
        .figure("PSI cpu", |(_, of)| stall(of.pressure.cpu))
        .figure("PSI io", |(_, of)| stall(of.pressure.io))
        .figure("PSI memory", |(_, of)| stall(of.pressure.memory))
        .figure("major faults/s", |(_, of)| {
            or_absent(of.memory.map(|memory| three_digits(memory.major_faults_per_s)))
        })
        .figure("dirty", |(_, of)| or_absent(of.memory.map(|memory| bytes(memory.dirty_bytes))))
        .figure("writeback", |(_, of)| {
            or_absent(of.memory.map(|memory| bytes(memory.writeback_bytes)))
        })
        .table
        .without_absent_figures()
        .filled()
}

// Interfaces of a network path, and their queueing disciplines.

/// Traffic and drops at each interface of each arm.
pub(crate) fn interfaces(analysis: &Analysis) -> Vec<Section> {
    let all = || {
        measured(analysis).flat_map(|(arm, counters)| {
            counters.interfaces.iter().map(move |interface| (arm, interface))
        })
    };
    let rate = |bits_per_s: f64| format::bit_rate(bits_per_s);
    let interfaces = Table::of(all())
        .word("arm", |(arm, _)| &arm.name)
        .word("interface", |(_, of)| label(of))
        .figure("tx", |(_, of)| rate(of.figures.sent.bits_per_s))
        .figure("rx", |(_, of)| rate(of.figures.received.bits_per_s))
        .figure("tx pkt/s", |(_, of)| three_digits(of.figures.sent.packets_per_s))
        .figure("rx pkt/s", |(_, of)| three_digits(of.figures.received.packets_per_s))
        .figure("dropped/s", |(_, of)| {
            three_digits(of.figures.sent.dropped_per_s + of.figures.received.dropped_per_s)
        })
        .figure("errors/s", |(_, of)| {
            three_digits(of.figures.sent.errors_per_s + of.figures.received.errors_per_s)
        })
        .table;
    // Every interface has queueing disciplines, and most of them do not hold packets.
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
        .figure("sent", |(.., qdisc)| rate(qdisc.figures.bits_per_s))
        .figure("packets/s", |(.., qdisc)| three_digits(qdisc.figures.packets_per_s))
        .figure("dropped/s", |(.., qdisc)| three_digits(qdisc.figures.drops_per_s))
        .figure("overlimits/s", |(.., qdisc)| three_digits(qdisc.figures.overlimits_per_s))
        .figure("requeued/s", |(.., qdisc)| three_digits(qdisc.figures.requeues_per_s))
        .figure("backlog", |(.., qdisc)| bytes(qdisc.figures.backlog_bytes))
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

// NFS mounts: negotiated options, calls per connection, and operations.

fn mounts(analysis: &Analysis) -> impl Iterator<Item = (&ArmSummary, &NfsMountSummary)> {
    measured(analysis).flat_map(|(arm, counters)| counters.nfs_mounts.iter().map(move |m| (arm, m)))
}

/// The options that client and server of each arm negotiated.
pub(crate) fn nfs_granted(analysis: &Analysis) -> Option<Table> {
    let size = |size: Option<u64>| or_absent(size.map(iotax_quantity::size));
    let mut rows = Table::of(mounts(analysis))
        .word("arm", |(arm, _)| &arm.name)
        .word("vers", |(_, mount)| or_absent(mount.granted.vers.clone()))
        .word("sec", |(_, mount)| or_absent(mount.granted.sec.clone()))
        .figure("rsize", |(_, mount)| size(mount.granted.rsize_bytes))
        .figure("wsize", |(_, mount)| size(mount.granted.wsize_bytes))
        .figure("connections", |(_, mount)| mount.transports.len().to_string());
    if mounts(analysis).any(|(_, mount)| mount.granted.xprtsec.is_some()) {
        rows = rows.word("xprtsec", |(_, mount)| or_absent(mount.granted.xprtsec.clone()));
    }
    Some(rows.table.filled()?.without_names_of(analysis.arms.len()))
}

/// The calls of each arm's connections.
pub(crate) fn nfs_connections(analysis: &Analysis) -> Option<Section> {
    let all = measured(analysis).flat_map(|(arm, counters)| {
        counters.nfs_mounts.iter().map(move |mount| (arm, counters, mount))
    });
    let sum = |mount: &NfsMountSummary, of: fn(&NfsTransportFigures) -> f64| -> f64 {
        mount.transports.iter().map(of).sum()
    };
    let again = |counters: &CounterSummary, mount: &NfsMountSummary| -> f64 {
        let operations = counters.nfs.iter().filter(|operation| operation.source == mount.source);
        operations.map(|operation| operation.figures.retransmissions_per_s).sum()
    };
    let table = Table::of(all)
        .word("arm", |(arm, ..)| &arm.name)
        .figure("connections", |(.., mount)| mount.transports.len().to_string())
        .figure("calls/s", |(.., mount)| three_digits(sum(mount, |one| one.sends_per_s)))
        .figure("busiest", |(.., mount)| busiest(mount, sum(mount, |one| one.sends_per_s)))
        .figure("in flight", |(.., mount)| three_digits(sum(mount, |one| one.in_flight)))
        .figure("backlog", |(.., mount)| three_digits(sum(mount, |one| one.backlog)))
        .figure("retrans/s", |(_, counters, mount)| three_digits(again(counters, mount)))
        .figure("reconnects", |(.., mount)| three_digits(sum(mount, |one| one.reconnects)))
        .figure("refused", |(_, counters, _)| {
            or_absent(counters.nfs_client.map(|client| three_digits(client.credentials_again)))
        })
        .table;
    let table = Item::Table(table.filled()?.without_names_of(analysis.arms.len()));
    Some(Section::new("NFS connections", [table, Item::Note(note::NFS_CONNECTIONS.to_owned())]))
}

fn busiest(mount: &NfsMountSummary, calls_per_s: f64) -> String {
    let most = mount.transports.iter().map(|one| one.sends_per_s).fold(0.0, f64::max);
    if calls_per_s > 0.0 { format::percent(most / calls_per_s) } else { ABSENT.to_owned() }
}

/// NFS operations of each arm.
pub(crate) fn nfs_operations(analysis: &Analysis) -> Option<Table> {
    let operations = measured(analysis).flat_map(|(arm, counters)| {
        counters.nfs.iter().map(move |summary| (arm, &summary.operation, &summary.figures))
    });
    let table = Table::of(operations)
        .word("arm", |(arm, ..)| &arm.name)
        .word("operation", |(_, operation, _)| operation)
        .figure("op/s", |(.., of)| three_digits(of.per_s))
        .figure(MEASURED.word(), |(.., of)| three_digits(MEASURED.amount(1_024.0 * of.kib_per_s)))
        .figure("retrans/s", |(.., of)| three_digits(of.retransmissions_per_s))
        .figure("queue ms", |(.., of)| three_digits(of.queue_ms))
        .figure("rtt ms", |(.., of)| three_digits(of.rtt_ms))
        .figure("exe ms", |(.., of)| three_digits(of.execute_ms))
        .figure("errors/s", |(.., of)| three_digits(of.errors_per_s))
        .table;
    Some(table.filled()?.without_names_of(analysis.arms.len()))
}
