//! The tables of a search.

use iotax_caps::{Sharing, TargetCaps};

use super::quantity::{self, Quantity, plain};
use super::result::SearchResult;
use crate::bandwidth::Unit;
use crate::document::{Cell, Head, Table, Topic};
use crate::format::{self, ABSENT};

/// All that have rows.
pub(super) fn all(search: SearchResult<'_>) -> Vec<(Topic, &'static str, Table)> {
    let (targets, unit) = (&search.caps.targets, search.unit());
    let tables = [
        (Topic::Answer, "Caps, with 95 % intervals", caps(targets, unit)),
        (Topic::Answer, "Bursts", bursts(targets, unit)),
        (
            Topic::Answer,
            "Buckets, one at a time and together",
            sharing(&search.caps.sharing, targets.len(), unit),
        ),
        (Topic::Answer, "Limits that are known", documented(search, unit)),
        (Topic::Evidence, "Throughput and latency over queue depth, 4 KiB", ladder(targets)),
        (Topic::Evidence, "Throughput over block size", sizes(targets, unit)),
    ];
    let tables = tables.into_iter().filter(|(.., table)| !table.rows.is_empty());
    tables
        .map(|(topic, title, table)| (topic, title, table.without_names_of(targets.len())))
        .collect()
}

fn caps(targets: &[TargetCaps], unit: Unit) -> Table {
    let mut table = Table::new(&["target", "rate"], &["cap", "[95 % CI]"]);
    table.heads.extend([Head::word("set by"), Head::word("measured with")]);
    for target in targets {
        for (quantity, cap) in quantity::caps(target, unit) {
            let [cap_shown, lo, hi] = [cap.cap, cap.lo, cap.hi].map(|x| quantity.figure(x));
            table.rows.push(vec![
                Cell::new(&target.name),
                Cell::new(quantity.unit()),
                Cell::new(cap_shown),
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

fn bursts(targets: &[TargetCaps], unit: Unit) -> Table {
    let heads = ["burst", "refill", "lasted", "beyond the cap"];
    let mut table = Table::new(&["target", "rate"], &heads);
    for target in targets {
        for (quantity, cap) in quantity::caps(target, unit) {
            let Some(burst) = &cap.burst else { continue };
            let refill = burst.refill_per_s.map_or(ABSENT.to_owned(), |r| quantity.figure(r));
            table.rows.push(vec![
                Cell::new(&target.name),
                Cell::new(quantity.unit()),
                Cell::new(quantity.figure(burst.per_s)),
                Cell::new(refill),
                Cell::new(format!("{} s", plain(burst.lasted_s))),
                Cell::new(quantity.sum(burst.size)),
            ]);
        }
    }
    table
}

fn sharing(pairs: &[Sharing], targets: usize, unit: Unit) -> Table {
    let heads = ["one", "other", "together", "phi [95 % CI]"];
    let mut table = Table::new(&["targets", "rate"], &heads);
    table.heads.push(Head::word(""));
    for pair in pairs {
        let quantity = Quantity::new(pair.quantity == "bw_bytes", unit);
        table.rows.push(vec![
            Cell::new(format!("{}, {}", pair.a, pair.b)),
            Cell::new(quantity.unit()),
            Cell::new(quantity.figure(pair.a_alone)),
            Cell::new(quantity.figure(pair.b_alone)),
            Cell::new(quantity.figure(pair.together)),
            Cell::new(format!(
                "{} [{}, {}]",
                iotax_words::fixed(pair.phi, 2),
                iotax_words::fixed(pair.lo, 2),
                iotax_words::fixed(pair.hi, 2)
            )),
            Cell::new(pair.verdict.to_string()),
        ]);
    }
    // One pair needs no names.
    table.without_names_of(targets.saturating_sub(1))
}

fn documented(search: SearchResult<'_>, unit: Unit) -> Table {
    let mut table = Table::new(&["target", "limit", "rate"], &["sustained", "burst"]);
    table.heads.push(Head::word(""));
    for row in &search.caps.documented {
        let quantity = Quantity::new(row.is_bytes(), unit);
        for (at, limit) in row.limits.iter().enumerate() {
            let burst = limit.burst_per_s.map(|burst| quantity.figure(burst));
            table.rows.push(vec![
                Cell::new(&row.target),
                Cell::new(format!("{} {}", limit.scope, limit.of)),
                Cell::new(quantity.unit()),
                Cell::new(quantity.figure(limit.per_s)),
                Cell::new(burst.as_deref().unwrap_or(ABSENT)),
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
                Cell::new(&target.name),
                Cell::new(step.queue_depth.to_string()),
                Cell::new(plain(step.iops)),
                Cell::new(format::time(step.mean_latency_ns)),
            ]);
        }
    }
    table
}

fn sizes(targets: &[TargetCaps], unit: Unit) -> Table {
    let mut table = Table::new(&["target", "block size"], &["IOPS", unit.word()]);
    for target in targets {
        for (bytes, iops) in target.sizes.iter().flat_map(|sizes| &sizes.points) {
            table.rows.push(vec![
                Cell::new(&target.name),
                Cell::new(format::bytes(f64::from(*bytes))),
                Cell::new(plain(*iops)),
                Cell::new(Quantity::Bandwidth(unit).figure(iops * f64::from(*bytes))),
            ]);
        }
    }
    table
}
