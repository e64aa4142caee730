//! NFS mounts: what was granted, how the connections share the calls, and the operations.

use iotax_analyze::{Analysis, ArmSummary, CounterSummary, NfsMountSummary, NfsTransportFigures};
use iotax_wording::bandwidth::MEASURED;
use iotax_wording::format::{self, ABSENT, or_absent, three_digits};
use iotax_wording::note;

use crate::document::{Item, Section, Table};
use crate::machine::measured;

fn mounts(analysis: &Analysis) -> impl Iterator<Item = (&ArmSummary, &NfsMountSummary)> {
    measured(analysis).flat_map(|(arm, counters)| counters.nfs_mounts.iter().map(move |m| (arm, m)))
}

/// What client and server of each arm agreed on.
pub(crate) fn granted(analysis: &Analysis) -> Option<Table> {
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
pub(crate) fn connections(analysis: &Analysis) -> Option<Section> {
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
        .figure("sent again/s", |(_, counters, mount)| three_digits(again(counters, mount)))
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
pub(crate) fn operations(analysis: &Analysis) -> Option<Table> {
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
