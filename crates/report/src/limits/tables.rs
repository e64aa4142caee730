//! The tables of a search.

use iotax_analyze::caps::{Cap, Sharing, TargetCaps};

use super::{Search, Titled, mb_per_s, name, plain};
use crate::format;
use crate::tables::{ABSENT, Cell, Head, Table};

/// All that have rows.
pub(super) fn all(search: Search<'_>) -> Vec<Titled> {
    let targets = &search.caps.targets;
    let tables = [
        ("Caps, with 95 % intervals", caps(targets)),
        ("Bursts", bursts(targets)),
        ("Buckets, one at a time and together", sharing(&search.caps.sharing, targets.len())),
        ("Limits that are known", documented(search)),
        ("Throughput and latency over queue depth, 4 KiB", ladder(targets)),
        ("Throughput over block size", sizes(targets)),
    ];
    let tables = tables.into_iter().filter(|(_, table)| !table.rows.is_empty());
    tables.map(|(title, table)| (title, without_names(table, targets.len()))).collect()
}

/// Whose rows they are need not be said where there is only one target.
fn without_names(table: Table, targets: usize) -> Table {
    if targets == 1 { without_first(table) } else { table }
}

fn without_first(mut table: Table) -> Table {
    table.heads.remove(0);
    for row in &mut table.rows {
        row.remove(0);
    }
    table
}

/// What a cap counts.
pub(super) fn quantities(target: &TargetCaps) -> Vec<(bool, &Cap)> {
    let caps = [(false, &target.iops), (true, &target.bw_bytes)];
    caps.into_iter().filter_map(|(is_bytes, cap)| Some((is_bytes, cap.as_ref()?))).collect()
}

pub(super) fn rate(is_bytes: bool, per_s: f64) -> String {
    if is_bytes { mb_per_s(per_s) } else { format!("{} IOPS", plain(per_s)) }
}

fn caps(targets: &[TargetCaps]) -> Table {
    let mut table = Table::new(&["target", "cap"], &["[95 % CI]"]);
    table.heads.extend([Head::word("set by"), Head::word("measured with")]);
    for target in targets {
        for (is_bytes, cap) in quantities(target) {
            let scale = if is_bytes { 1e6 } else { 1.0 };
            let [lo, hi] = [cap.lo, cap.hi].map(|end| plain(end / scale));
            table.rows.push(vec![
                Cell::new(name(&target.name)),
                Cell::new(rate(is_bytes, cap.cap)),
                Cell::new(format!("[{lo}, {hi}]")),
                Cell::new(cap.kind.to_string()),
                Cell::new(format!(
                    "{} x {}",
                    format::bytes(f64::from(cap.block_bytes)),
                    cap.queue_depth
                )),
            ]);
        }
    }
    table
}

fn bursts(targets: &[TargetCaps]) -> Table {
    let heads = ["beyond the cap", "lasted", "back per second"];
    let mut table = Table::new(&["target", "burst rate"], &heads);
    for target in targets {
        for (is_bytes, cap) in quantities(target) {
            let Some(burst) = &cap.burst else { continue };
            let size = if is_bytes {
                format!("{} MB", plain(burst.size / 1e6))
            } else {
                format!("{} I/Os", plain(burst.size))
            };
            let refill = burst.refill_per_s.map_or(ABSENT.to_owned(), |r| rate(is_bytes, r));
            table.rows.push(vec![
                Cell::new(name(&target.name)),
                Cell::new(rate(is_bytes, burst.per_s)),
                Cell::new(size),
                Cell::new(format!("{} s", plain(burst.lasted_s))),
                Cell::new(refill),
            ]);
        }
    }
    table
}

fn sharing(pairs: &[Sharing], targets: usize) -> Table {
    let mut table = Table::new(&["targets", "one"], &["other", "together", "phi [95 % CI]"]);
    table.heads.push(Head::word(""));
    for pair in pairs {
        let is_bytes = pair.quantity == "bw_bytes";
        table.rows.push(vec![
            Cell::new(format!("{}, {}", name(&pair.a), name(&pair.b))),
            Cell::new(rate(is_bytes, pair.a_alone)),
            Cell::new(rate(is_bytes, pair.b_alone)),
            Cell::new(rate(is_bytes, pair.together)),
            Cell::new(format!(
                "{} [{}, {}]",
                format::fixed(pair.phi, 2),
                format::fixed(pair.lo, 2),
                format::fixed(pair.hi, 2)
            )),
            Cell::new(pair.verdict.to_string()),
        ]);
    }
    // One pair needs no names.
    if targets == 2 { without_first(table) } else { table }
}

fn documented(search: Search<'_>) -> Table {
    let mut table = Table::new(&["target", "limit"], &["sustained", "burst"]);
    table.heads.push(Head::word(""));
    for row in &search.caps.documented {
        for (at, limit) in row.limits.iter().enumerate() {
            let burst = limit
                .burst_per_s
                .map_or_else(|| ABSENT.to_owned(), |burst| rate(row.is_bytes(), burst));
            table.rows.push(vec![
                Cell::new(name(&row.target)),
                Cell::new(format!("{} {}", limit.scope, limit.of)),
                Cell::new(rate(row.is_bytes(), limit.per_s)),
                Cell::new(burst),
                Cell::new(if row.binds == Some(at) { "binds" } else { "" }),
            ]);
        }
    }
    table
}

fn ladder(targets: &[TargetCaps]) -> Table {
    let mut table = Table::new(&["target", "depth"], &["IOPS", "mean latency"]);
    for target in targets {
        for step in &target.ladder {
            table.rows.push(vec![
                Cell::new(name(&target.name)),
                Cell::new(step.queue_depth.to_string()),
                Cell::new(plain(step.iops)),
                Cell::new(format::time(step.mean_latency_ns)),
            ]);
        }
    }
    table
}

fn sizes(targets: &[TargetCaps]) -> Table {
    let mut table = Table::new(&["target", "block size"], &["IOPS", "bandwidth"]);
    for target in targets {
        for (bytes, iops) in target.sizes.iter().flat_map(|sizes| &sizes.points) {
            table.rows.push(vec![
                Cell::new(name(&target.name)),
                Cell::new(format::bytes(f64::from(*bytes))),
                Cell::new(plain(*iops)),
                Cell::new(mb_per_s(iops * f64::from(*bytes))),
            ]);
        }
    }
    table
}
