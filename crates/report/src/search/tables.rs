//! The tables of a search.

use iotax_caps::{Cap, Caps, Sharing, TargetCaps};
use iotax_wording::bandwidth::Unit;
use iotax_wording::format::{self, or_absent};
use iotax_wording::search::SearchResult;
use iotax_wording::search::quantity::{self, Quantity, lasted, plain};
use iotax_wording::{cap, limit};

use crate::csv::{cell, table};
use crate::document::{Table, Topic};

/// All tables that have rows.
pub(super) fn all(search: SearchResult<'_>) -> Vec<(Topic, &'static str, Table)> {
    let (targets, unit) = (&search.caps.targets, search.unit());
    let tables = [
        (Topic::Answer, "Caps with 95 % confidence intervals", caps(targets, unit)),
        (Topic::Answer, "Bursts", bursts(targets, unit)),
        (Topic::Answer, "Targets alone and together", sharing(search, unit)),
        (Topic::Answer, "Known limits", documented(search, unit)),
        (Topic::Evidence, "Throughput and latency by queue depth, 4 KiB", ladder(targets)),
        (Topic::Evidence, "Throughput by block size", sizes(targets, unit)),
        (Topic::Answer, "Rate on the wire", wire(targets)),
        (Topic::Evidence, "Throughput by number of flows", flows(targets)),
    ];
    let tables = tables.into_iter().filter(|(.., table)| !table.rows.is_empty());
    tables
        .map(|(topic, title, table)| (topic, title, table.without_names_of(targets.len())))
        .collect()
}

/// The caps of all targets.
fn each_cap(
    targets: &[TargetCaps],
    unit: Unit,
) -> impl Iterator<Item = (&TargetCaps, Quantity, &Cap)> {
    targets.iter().flat_map(move |target| {
        let caps = quantity::caps(target, unit).into_iter();
        caps.map(move |(quantity, cap)| (target, quantity, cap))
    })
}

fn caps(targets: &[TargetCaps], unit: Unit) -> Table {
    Table::of(each_cap(targets, unit))
        .word("target", |(target, ..)| &target.name)
        .word("rate", |(_, quantity, _)| quantity.head())
        .figure("cap", |(_, quantity, cap)| quantity.figure(cap.cap))
        .figure("[95 % CI]", |(_, quantity, cap)| {
            format!("[{}, {}]", quantity.figure(cap.lo), quantity.figure(cap.hi))
        })
        .word("set by", |(.., cap)| cap::kind(cap.kind))
        .word("measured with", |(_, quantity, cap)| quantity.load(cap))
        .table
}

fn bursts(targets: &[TargetCaps], unit: Unit) -> Table {
    let bursts = each_cap(targets, unit);
    Table::of(bursts.filter_map(|(target, of, cap)| Some((target, of, cap.burst.as_ref()?))))
        .word("target", |(target, ..)| &target.name)
        .word("rate", |(_, quantity, _)| quantity.head())
        .figure("burst rate", |(_, quantity, burst)| quantity.figure(burst.per_s))
        .figure("refill", |(_, quantity, burst)| {
            or_absent(burst.refill_per_s.map(|refill| quantity.figure(refill)))
        })
        .figure("duration", |(.., burst)| lasted(burst.lasted_s))
        .figure("burst size", |(_, quantity, burst)| quantity.sum(burst.size))
        .table
}

fn sharing(search: SearchResult<'_>, unit: Unit) -> Table {
    let Caps { sharing: pairs, targets, .. } = search.caps;
    let quantity = |pair: &Sharing| quantity::named(&pair.quantity, unit);
    let fixed = |value: f64| iotax_quantity::fixed(value, 2);
    Table::of(pairs)
        .word("targets", |pair| format!("{}, {}", pair.a, pair.b))
        .word("rate", |pair| quantity(pair).head())
        .figure("first alone", |pair| quantity(pair).figure(pair.a_alone))
        .figure("second alone", |pair| quantity(pair).figure(pair.b_alone))
        .figure("together", |pair| quantity(pair).figure(pair.together))
        .figure("phi [95 % CI]", |pair| {
            format!("{} [{}, {}]", fixed(pair.phi), fixed(pair.lo), fixed(pair.hi))
        })
        .word("verdict", |pair| cap::shared(pair.verdict))
        .table
        // One pair needs no names.
        .without_names_of(targets.len().saturating_sub(1))
}

fn documented(search: SearchResult<'_>, unit: Unit) -> Table {
    let limits = search.caps.documented.iter().flat_map(|row| {
        let quantity = quantity::named(&row.quantity, unit);
        let binding = row.binding();
        let binds = move |limit| binding.is_some_and(|binding| std::ptr::eq(binding, limit));
        row.limits.iter().map(move |limit| (row, quantity, limit, binds(limit)))
    });
    Table::of(limits)
        .word("target", |(row, ..)| limit::targets(row))
        .word("limit", |(_, _, limit, _)| format!("{} {}", limit.by, limit.of))
        .word("rate", |(_, quantity, ..)| quantity.head())
        .figure("sustained", |(_, quantity, limit, _)| quantity.figure(limit.per_s))
        .figure("burst", |(_, quantity, limit, _)| {
            or_absent(limit.burst_per_s.map(|burst| quantity.figure(burst)))
        })
        .word("", |(.., binds)| if binds { "binds" } else { "" })
        .table
}

fn ladder(targets: &[TargetCaps]) -> Table {
    Table::of(targets.iter().flat_map(|target| target.ladder.iter().map(move |s| (target, s))))
        .word("target", |(target, _)| &target.name)
        .word("depth", |(_, step)| step.queue_depth.to_string())
        .figure("IOPS", |(_, step)| plain(step.iops))
        .figure("mean latency", |(_, step)| format::time(step.mean_latency_ns))
        .table
}

/// The rates on the wire.
fn wire(targets: &[TargetCaps]) -> Table {
    let caps = targets.iter().flat_map(|target| target.path.iter().map(move |cap| (target, cap)));
    let wires =
        caps.filter_map(|(target, cap)| Some((target, quantity::of_path(cap), cap, cap.wire?)));
    Table::of(wires)
        .word("target", |(target, ..)| &target.name)
        .word("rate", |(_, quantity, ..)| quantity.head())
        .figure("data", |(_, quantity, cap, _)| quantity.figure(cap.cap.cap))
        .figure("frames", |(_, quantity, _, wire)| quantity.figure(wire.per_s))
        .figure("MTU", |(.., wire)| wire.mtu_bytes.to_string())
        .figure("data per frame", |(.., wire)| {
            format!("{} of {} bytes", wire.data_bytes, wire.frame_bytes)
        })
        .table
}

fn flows(targets: &[TargetCaps]) -> Table {
    let caps = targets.iter().flat_map(|target| target.path.iter().map(move |cap| (target, cap)));
    let steps = caps.flat_map(|(target, cap)| {
        cap.flows.iter().map(move |step| (target, quantity::of_path(cap), step))
    });
    Table::of(steps)
        .word("target", |(target, ..)| &target.name)
        .word("rate", |(_, quantity, _)| quantity.head())
        .figure("flows", |(.., step)| step.flows.to_string())
        .figure("total", |(_, quantity, step)| quantity.figure(step.per_s))
        .table
}

fn sizes(targets: &[TargetCaps], unit: Unit) -> Table {
    let points = targets.iter().flat_map(|target| {
        let points = target.sizes.iter().flat_map(|sizes| &sizes.points);
        points.map(move |(bytes, iops)| (target, f64::from(*bytes), *iops))
    });
    Table::of(points)
        .word("target", |(target, ..)| &target.name)
        .word("block size", |(_, bytes, _)| format::bytes(bytes))
        .figure("IOPS", |(.., iops)| plain(iops))
        .figure(unit.word(), |(_, bytes, iops)| Quantity::Bandwidth(unit).figure(iops * bytes))
        .table
}

// CSV: one line per measured level.

/// The columns, in order; rates are per second, times in nanoseconds.
const COLUMNS: [&str; 7] =
    ["target", "purpose", "block_bytes", "queue_depth", "iops", "bw_bytes", "mean_latency_ns"];

/// One line per level (RFC 4180, but with `\n`).
pub fn search_csv(search: SearchResult<'_>) -> String {
    let rows = search.caps.levels.iter().map(|level| {
        let target = search.caps.targets.get(level.target).map_or("", |target| &target.name);
        [
            cell(target),
            cell(&cap::level(&level.purpose)),
            level.block_bytes.to_string(),
            level.queue_depth.to_string(),
            format!("{:.3}", level.iops),
            format!("{:.0}", level.bw_bytes),
            format!("{:.0}", level.mean_latency_ns),
        ]
    });
    table(COLUMNS, rows)
}
