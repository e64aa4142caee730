//! The tables of a report, for all formats.

use iotax_analyze::{
    Analysis, ArmSummary, Attribution, Comparison, Doubt, Estimate, Interaction, JobSummary,
    LayerCost, NetworkSummary, OperationSummary, QuantilePoint, SyncSummary, latency_at,
};
use iotax_experiment::{Design, Engine, Subject, Workload};
use iotax_record::Slow;
use iotax_wording::bandwidth::{self, MEASURED};
use iotax_wording::doubt::title;
use iotax_wording::format::{self, ABSENT, or_absent};
use iotax_wording::name::subject as named;
use iotax_wording::replay::{RECORDED_CYCLE, TIMES_OF, times};
use iotax_wording::verdict::comparison::{effect, row_name, verdict_and_regime};
use iotax_wording::{name, note, units};

use crate::document::{Cell, Head, Table};
use crate::network;
use crate::words::{self, Tone};

/// Quantiles with a column; those that the analysis lacks are left out.
const SHOWN_QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// Arms (or layers) against the baseline: the effect of each, and its verdict.
pub(crate) fn comparisons(analysis: &Analysis, design: &Design) -> Option<Table> {
    let compared = if matches!(design, Design::Peel { .. }) { "layer" } else { "arm" };
    effects(compared, &analysis.comparisons, analysis.alpha)
}

/// The effect and verdict of each comparison. `compared` is the name of the first column.
pub(crate) fn effects<'a>(
    compared: &str,
    comparisons: impl IntoIterator<Item = &'a Comparison>,
    alpha: f64,
) -> Option<Table> {
    let comparisons: Vec<&Comparison> = comparisons.into_iter().collect();
    if comparisons.is_empty() {
        return None;
    }
    let confidence = if comparisons.iter().any(|c| c.lo.is_some()) {
        format!("effect [{} CI]", format::percent(1.0 - alpha))
    } else {
        "effect".to_owned()
    };
    let table = Table::of(comparisons)
        .word(compared, row_name)
        .word("metric", |comparison| name::metric(comparison.metric))
        .figure(&confidence, effect)
        .figure("n", |comparison| comparison.blocks.to_string())
        .word("verdict", verdict);
    Some(table.table)
}

fn verdict(comparison: &Comparison) -> Cell {
    Cell::toned(verdict_and_regime(comparison), words::verdict_tone(comparison.verdict))
}

/// Time per I/O of each layer, interaction and the total. Each column has one unit, which is in its
/// head. Columns without figures are left out.
pub(crate) fn attribution(attribution: &Attribution) -> Table {
    type Costs = [Option<Option<Estimate>>; 4];
    let layer = |cost: &LayerCost| {
        let costs = [cost.first_in_ns, cost.shapley_ns, cost.last_in_ns, cost.delta_p99_ns];
        (cost.layer.clone(), costs.map(Some))
    };
    let pair = |pair: &Interaction| -> (String, Costs) {
        (named(&Subject::Interaction(pair.layers.clone())), [Some(pair.cost_ns), None, None, None])
    };
    let total = (named(&Subject::Total), [None, Some(attribution.total_ns), None, None]);
    let rows: Vec<(String, Costs)> = attribution.layers.iter().map(layer).collect();
    let rows = rows.into_iter().chain(attribution.interactions.iter().map(pair)).chain([total]);
    let rows: Vec<_> = rows.collect();
    let mut table = Table::of(&rows).word("layer", |(name, _)| name);
    for (at, head) in ["added first", "Shapley", "added last", "Δ p99"].into_iter().enumerate() {
        let known: Vec<f64> =
            rows.iter().filter_map(|(_, costs)| Some(costs[at]??.value.abs())).collect();
        if known.is_empty() {
            continue;
        }
        let (unit, scale) = format::time_unit(known.into_iter().fold(0.0, f64::max));
        table = table.figure(&format!("{head} ({unit})"), |(_, costs)| match costs[at] {
            Some(Some(e)) => iotax_quantity::interval(e.value, e.lo, e.hi, scale),
            Some(None) => ABSENT.to_owned(),
            None => String::new(),
        });
    }
    table.table
}

/// An estimate of a time, or a dash.
pub(crate) fn estimate(value: Option<Estimate>) -> Cell {
    or_absent(value.map(format::time_interval)).into()
}

/// The bandwidth without its unit, which is in the column head.
fn bandwidth_cell(arm: &ArmSummary) -> String {
    or_absent(units::bandwidth(arm).map(bandwidth::measured))
}

/// File tree operations of the primary job, and operations outside of jobs.
pub(crate) fn operations(analysis: &Analysis) -> Option<Table> {
    let all = analysis.arms.iter().flat_map(|arm| arm.operations.iter().map(move |o| (arm, o)));
    let mut rows =
        Table::of(all).word("arm", |(arm, _)| &arm.name).word("operation", |(_, done)| &done.name);
    for (head, cell) in OPERATION {
        rows = rows.column(Head::figure(head), |(_, done)| cell(done));
    }
    rows.table.filled()
}

/// A note on two of its columns, if they are present.
pub(crate) fn operations_note(analysis: &Analysis) -> Option<String> {
    let mut all = analysis.arms.iter().flat_map(|arm| &arm.operations);
    all.any(|done| done.slow.is_some() || done.waited.is_some())
        .then(|| note::OPERATIONS.to_owned())
}

type OperationCell = fn(&OperationSummary) -> Option<Cell>;

/// The columns of an operation. Columns without values are left out.
const OPERATION: [(&str, OperationCell); 8] = [
    ("count", |done| Some(Cell::new(iotax_quantity::grouped(done.count)))),
    ("share", |done| Some(Cell::new(format::percent(done.share?)))),
    ("mean", |done| Some(Cell::new(known_time(done.mean_ns)))),
    ("p99", |done| Some(Cell::new(known_time(done.p99_ns as f64)))),
    ("max", |done| Some(Cell::new(known_time(done.max_ns as f64)))),
    ("slow", |done| {
        let Slow { above_ns, count } = done.slow?;
        let tone = if count > 0 { Tone::Worse } else { Tone::Plain };
        let text =
            format!("{} > {}", iotax_quantity::grouped(count), iotax_quantity::set_time(above_ns));
        Some(Cell::toned(text, tone))
    }),
    ("waited", |done| Some(Cell::new(iotax_quantity::grouped(done.waited?)))),
    ("failed", |done| {
        (done.errors > 0).then(|| Cell::toned(iotax_quantity::grouped(done.errors), Tone::Worse))
    }),
];

/// Rates, latency, CPU and spread of each arm, with sync times first if syncs lead.
pub(crate) fn arms(analysis: &Analysis) -> Table {
    let unit = MEASURED.word();
    let is_led = units::is_led_by_syncs(analysis);
    let mut table = Table::new(&["arm"], &[]);
    let mut heads = vec!["rate", unit, "mean", "CPU/IO", "spread", "trials"];
    if is_led {
        // The time of a write into the page cache is with the percentiles.
        heads.splice(2..3, []);
        heads.splice(0..0, ["sync mean", "sync p99"]);
    }
    match analysis.arms.iter().find_map(|arm| arm.network.as_ref()) {
        Some(figures) => {
            table.heads.extend(network::heads(figures));
            table.heads.extend(["spread", "trials"].map(Head::figure));
        }
        None => table.heads.extend(heads.into_iter().map(Head::figure)),
    }
    for arm in &analysis.arms {
        let mut trials = arm.trials.to_string();
        if arm.stalled_trials > 0 {
            trials = format!("{trials}, {} stalled", arm.stalled_trials);
        }
        if arm.failed_trials > 0 {
            trials = format!("{trials} + {} failed", arm.failed_trials);
        }
        let is_well = arm.failed_trials + arm.stalled_trials == 0;
        let tone = if is_well { Tone::Plain } else { Tone::Worse };
        let from = |least: u32, text: String| {
            Cell::new(if arm.trials < least { ABSENT.to_owned() } else { text })
        };
        let measured = |text: String| from(1, text);
        let spread = format::percent(arm.throughput_cv);
        let mut row = vec![Cell::new(&arm.name)];
        if is_led {
            let sync = arm.leading_sync();
            row.push(measured(known_time(sync.map_or(0.0, |sync| sync.mean_ns))));
            row.push(quantile(sync.map_or(&[], |sync| &sync.latency), 0.99));
        }
        if let Some(figures) = &arm.network {
            row.extend(network::cells(arm, figures));
        } else {
            row.extend([measured(units::rate(arm)), measured(bandwidth_cell(arm))]);
            row.extend((!is_led).then(|| measured(known_time(arm.mean_latency_ns))));
            row.push(measured(known_time(arm.cpu_ns_per_io)));
        }
        // A single trial has no spread.
        row.extend([from(2, spread), Cell::toned(trials, tone)]);
        table.rows.push(row);
    }
    table.without_absent_figures()
}

/// The column names of [`rates`] and of all jobs.
pub(crate) const RATES: [&str; 5] = ["rate", MEASURED.word(), "mean", "p99", "p99.9"];

/// Figures of the primary job of an arm: rate, bandwidth, mean, p99 and p99.9 of its latency, or of
/// its syncs if they lead.
pub(crate) fn rates(arm: &ArmSummary) -> [Cell; 5] {
    let measured = |text: String| Cell::new(if arm.trials == 0 { ABSENT.to_owned() } else { text });
    let (mean_ns, curve) = leading_times(arm);
    [
        measured(units::rate(arm)),
        measured(bandwidth_cell(arm)),
        measured(known_time(mean_ns)),
        quantile(curve, 0.99),
        quantile(curve, 0.999),
    ]
}

/// The median of the latency in [`rates`].
pub(crate) fn median(arm: &ArmSummary) -> Cell {
    quantile(leading_times(arm).1, 0.5)
}

/// Mean and percentiles of the leading operation of the primary job.
fn leading_times(arm: &ArmSummary) -> (f64, &[QuantilePoint]) {
    match arm.leading_sync() {
        Some(sync) => (sync.mean_ns, &sync.latency),
        None if units::moves_bytes(arm) => (0.0, &[]),
        None => (arm.mean_latency_ns, &arm.latency),
    }
}

/// Adds a last column with the operation that latencies refer to, if some refer to syncs.
pub(crate) fn add_what_lasts<'a>(
    table: &mut Table,
    leading: impl Iterator<Item = Option<&'a SyncSummary>>,
) {
    let leads: Vec<bool> = leading.map(|sync| sync.is_some()).collect();
    if leads.contains(&true) {
        table.heads.push(Head::word("latency of"));
        for (row, is_sync) in table.rows.iter_mut().zip(leads) {
            row.push(Cell::new(if is_sync { "syncs" } else { "I/Os" }));
        }
    }
}

/// Latency percentiles of each arm, pooled over its trials.
pub(crate) fn latency(analysis: &Analysis) -> Option<Table> {
    let arms = analysis.arms.iter().filter(|arm| !units::moves_bytes(arm));
    let curves = arms.map(|arm| (&*arm.name, &*arm.latency, arm.latency_ios));
    percentiles(&curves.collect::<Vec<_>>(), &format!("{}s", units::unit_of_load(analysis)))
}

/// The same of the syncs of the primary job.
pub(crate) fn syncs(analysis: &Analysis) -> Option<Table> {
    let of_arm = |arm: &ArmSummary| arm.sync.clone().unwrap_or_default();
    let syncs: Vec<SyncSummary> = analysis.arms.iter().map(of_arm).collect();
    let curves = analysis.arms.iter().zip(&syncs);
    let curves = curves.map(|(arm, sync)| (&*arm.name, &*sync.latency, sync.count));
    percentiles(&curves.collect::<Vec<_>>(), "syncs")
}

/// Percentiles of each arm, and the number of operations.
fn percentiles(arms: &[(&str, &[QuantilePoint], u64)], what: &str) -> Option<Table> {
    let quantiles: Vec<f64> = SHOWN_QUANTILES
        .into_iter()
        .filter(|q| arms.iter().any(|(_, curve, _)| latency_at(curve, *q).is_some()))
        .collect();
    if quantiles.is_empty() {
        return None;
    }
    let mut rows = Table::of(arms).word("arm", |(name, ..)| name);
    for q in quantiles {
        rows = rows.figure(&format::quantile_name(q), |(_, curve, _)| quantile(curve, q));
    }
    Some(rows.figure(what, |(.., count)| iotax_quantity::grouped(*count)).table)
}

/// How late the replays of a recording were.
pub(crate) fn replays(analysis: &Analysis) -> Option<Table> {
    let replays = analysis.arms.iter().filter_map(|arm| Some((arm, arm.replay?)));
    let some = |number: u64| (number > 0).then(|| iotax_quantity::grouped(number));
    Table::of(replays)
        .word("arm", |(arm, _)| &arm.name)
        .figure("mean delay", |(_, replay)| format::time(replay.late_mean_ns))
        .figure("p50", |(_, replay)| format::time(replay.late_p50_ns as f64))
        .figure("p99", |(_, replay)| format::time(replay.late_p99_ns as f64))
        .figure(RECORDED_CYCLE, |(_, replay)| format::time(replay.recorded_cycle_ns as f64))
        .column(Head::figure("not reached"), |(_, replay)| some(replay.left_over))
        .column(Head::figure("shared syncs"), |(_, replay)| some(replay.shared_syncs))
        .column(Head::figure("added syncs"), |(_, replay)| some(replay.added_syncs))
        .table
        .filled()
}

/// What the threads of the replays of a recording spent their time on.
pub(crate) fn replay_times(analysis: &Analysis) -> Option<Table> {
    let mut table = Table::new(&["arm"], &TIMES_OF);
    for arm in &analysis.arms {
        let shares = arm.replay.and_then(|replay| times(&replay.times));
        if let Some([io, threads, timers, cpu, think]) = shares.map(|shares| shares.map(Cell::new))
        {
            table.push([Cell::new(&*arm.name), io, threads, timers, cpu, think]);
        }
    }
    table.filled()
}

/// The other jobs of the arms, if any. Bidirectional flows are in the table of arms.
pub(crate) fn other_jobs(workload: &Workload, analysis: &Analysis) -> Option<Table> {
    let goes_both_ways = |network: &NetworkSummary| network.each_way.is_some();
    let arms = || analysis.arms.iter().filter(|a| !a.network.as_ref().is_some_and(goes_both_ways));
    let jobs = || arms().flat_map(|arm| arm.other_jobs.iter().map(move |job| (arm, job)));
    let mut rows = Table::of(jobs())
        .word("arm", |(arm, _)| &arm.name)
        .word("job", |(_, job)| match &job.target {
            Some(target) => format!("{} (on {target})", job.name),
            None => job.name.clone(),
        })
        .figure(RATES[0], |(_, job)| match engine(workload, job) {
            Some(engine) => format::rate_of(engine, job.iops, job.bytes_per_s),
            None => format::iops(job.iops),
        })
        .figure(RATES[1], |(_, job)| match engine(workload, job) {
            Some(engine) if engine.is_network() => ABSENT.to_owned(),
            _ => bandwidth::measured(job.bytes_per_s),
        });
    for (at, head) in RATES[2..].iter().enumerate() {
        rows = rows.figure(head, |(_, job)| match engine(workload, job) {
            Some(engine) if engine.is_stream() || engine.is_datagrams() => ABSENT.to_owned(),
            _ => known_time(latencies(job)[at]),
        });
    }
    let mut table = rows.table.without_absent_figures();
    add_what_lasts(&mut table, jobs().map(|(_, job)| job.leading_sync()));
    table.filled()
}

fn engine(workload: &Workload, job: &JobSummary) -> Option<Engine> {
    workload.jobs.iter().find(|one| one.name == job.name).map(|one| one.engine)
}

/// Mean, p99 and p99.9 of a job's leading operation.
fn latencies(job: &JobSummary) -> [f64; 3] {
    match job.leading_sync() {
        Some(sync) => {
            let at = |q: f64| sync.quantile_ns(q).unwrap_or(0) as f64;
            [sync.mean_ns, at(0.99), at(0.999)]
        }
        None => [job.mean_latency_ns, job.p99_latency_ns as f64, job.p999_latency_ns as f64],
    }
}

/// A percentile, or a dash if there are too few samples beyond it.
pub(crate) fn quantile(curve: &[QuantilePoint], q: f64) -> Cell {
    or_absent(latency_at(curve, q).map(|ns| format::time(ns as f64))).into()
}

/// A time, or a dash if it is 0 (not in the results of another tool).
pub(crate) fn known_time(ns: f64) -> String {
    or_absent((ns > 0.0).then(|| format::time(ns)))
}

/// Severe warnings about this arm or layer.
fn doubts(analysis: &Analysis, of: &Subject) -> Vec<&'static str> {
    let is_its = |doubt: &&Doubt| doubt.of.as_ref().is_none_or(|own| own == of);
    let severe = analysis.warnings.iter().filter(is_its).filter(|doubt| doubt.is_severe());
    let mut texts: Vec<&str> = severe.map(|doubt| title(doubt.check())).collect();
    texts.dedup();
    texts
}

pub(crate) fn is_doubtful(analysis: &Analysis, of: &Subject) -> bool {
    !doubts(analysis, of).is_empty()
}

/// Adds severe warnings about this arm or layer to a cell.
pub(crate) fn marked(cell: Cell, analysis: &Analysis, of: &Subject) -> Cell {
    let texts = doubts(analysis, of);
    if texts.is_empty() {
        return cell;
    }
    let doubts = texts.join(", ");
    let text = if cell.text.is_empty() { doubts } else { format!("{}; {doubts}", cell.text) };
    Cell { text, ..cell }
}
