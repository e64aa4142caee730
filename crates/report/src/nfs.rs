//! NFS mounts: what was granted, how the connections share the calls, and the operations.

use iotax_analyze::{Analysis, ArmSummary, NfsMountSummary, NfsTransportFigures};

use crate::bandwidth::MEASURED;
use crate::document::{Cell, Head, Item, Section, Table};
use crate::format::{self, ABSENT};
use crate::machine::{measured, row};

fn mounts(analysis: &Analysis) -> impl Iterator<Item = (&ArmSummary, &NfsMountSummary)> {
    measured(analysis).flat_map(|(arm, counters)| counters.nfs_mounts.iter().map(move |m| (arm, m)))
}

/// What client and server of each arm agreed on.
pub(crate) fn granted(analysis: &Analysis) -> Option<Table> {
    let mut table = Table::new(&["arm", "vers", "sec"], &["rsize", "wsize", "connections"]);
    let has_tls = mounts(analysis).any(|(_, mount)| mount.granted.xprtsec.is_some());
    if has_tls {
        table.heads.push(Head::word("xprtsec"));
    }
    for (arm, mount) in mounts(analysis) {
        let granted = &mount.granted;
        let word = |word: &Option<String>| word.clone().unwrap_or_else(|| ABSENT.to_owned());
        let size = |size: Option<u64>| {
            size.map_or_else(|| ABSENT.to_owned(), |bytes| format::bytes(bytes as f64))
        };
        let mut cells = vec![
            arm.name.clone(),
            word(&granted.vers),
            word(&granted.sec),
            size(granted.rsize_bytes),
            size(granted.wsize_bytes),
            mount.transports.len().to_string(),
        ];
        cells.extend(has_tls.then(|| word(&granted.xprtsec)));
        table.rows.push(cells.iter().map(Cell::new).collect());
    }
    (!table.rows.is_empty()).then(|| table.without_names_of(analysis.arms.len()))
}

/// The calls of each arm's connections.
pub(crate) fn connections(analysis: &Analysis) -> Option<Section> {
    let heads = ["connections", "calls/s", "busiest", "in flight", "backlog", "sent again/s"];
    let mut table = Table::new(&["arm"], &heads);
    table.heads.extend(["reconnects", "refused"].map(Head::figure));
    for (arm, counters) in measured(analysis) {
        for mount in &counters.nfs_mounts {
            let sum = |of: fn(&NfsTransportFigures) -> f64| mount.transports.iter().map(of).sum();
            let calls_per_s: f64 = sum(|one| one.sends_per_s);
            let again = counters.nfs.iter().filter(|operation| operation.source == mount.source);
            let again: f64 = again.map(|operation| operation.figures.retransmissions_per_s).sum();
            let refused = counters.nfs_client.map(|client| client.credentials_again);
            let cells = [
                arm.name.clone(),
                mount.transports.len().to_string(),
                format::plain(calls_per_s),
                busiest(mount, calls_per_s),
                format::plain(sum(|one| one.in_flight)),
                format::plain(sum(|one| one.backlog)),
                format::plain(again),
                format::plain(sum(|one| one.reconnects)),
                refused.map_or_else(|| ABSENT.to_owned(), format::plain),
            ];
            table.rows.push(cells.iter().map(Cell::new).collect());
        }
    }
    let note = "Busiest: that connection's share of the calls. In flight, backlog: calls without a \
                reply, and without a free slot, when another was sent. Refused: credentials that the \
                server did not take in a trial, as when it has lost a context of Kerberos; of all NFS \
                mounts of the machine.";
    let is_empty = table.rows.is_empty();
    let table = Item::Table(table.without_names_of(analysis.arms.len()));
    (!is_empty).then(|| Section::new("NFS connections", [table, Item::Note(note.to_owned())]))
}

fn busiest(mount: &NfsMountSummary, calls_per_s: f64) -> String {
    let most = mount.transports.iter().map(|one| one.sends_per_s).fold(0.0, f64::max);
    if calls_per_s > 0.0 { format::percent(most / calls_per_s) } else { ABSENT.to_owned() }
}

/// NFS operations of each arm.
pub(crate) fn operations(analysis: &Analysis) -> Option<Table> {
    let heads = ["op/s", MEASURED.word(), "retrans/s", "queue ms", "rtt ms", "exe ms", "errors/s"];
    let mut table = Table::new(&["arm", "operation"], &heads);
    for (arm, counters) in measured(analysis) {
        for summary in &counters.nfs {
            let figures = &summary.figures;
            let figures = [
                figures.per_s,
                MEASURED.amount(1_024.0 * figures.kib_per_s),
                figures.retransmissions_per_s,
                figures.queue_ms,
                figures.rtt_ms,
                figures.execute_ms,
                figures.errors_per_s,
            ];
            table.rows.push(row([&arm.name, &summary.operation], figures));
        }
    }
    (!table.rows.is_empty()).then(|| table.without_names_of(analysis.arms.len()))
}
