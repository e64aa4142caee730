//! Tables of a recording.

use iotax_quantity::{bytes, grouped, percent, time};
use iotax_trace::profile::{
    FileFigures, HotFile, Latency, LongOperation, Operation, Summary, WaitingPair,
};
use iotax_wording::format::or_absent;
use iotax_wording::recording::{self as words, page};

use crate::document::{Cell, Head, Section, Table};

/// Operations, those that took most of the time first; without latencies, the most frequent first.
pub(super) fn by_time(summary: &Summary) -> Vec<&Operation> {
    let mut operations: Vec<&Operation> = summary.operations.iter().collect();
    operations.sort_by(|a, b| time_of(b).total_cmp(&time_of(a)).then(b.count.cmp(&a.count)));
    operations
}

fn time_of(operation: &Operation) -> f64 {
    operation.latency.as_ref().map_or(0.0, |latency| latency.mean_ns * operation.count as f64)
}

/// One row per operation, for a terminal.
pub(super) fn operations(summary: &Summary, operations: &[&Operation]) -> Table {
    let length_ns = summary.length_ns;
    let latency = |of: fn(&Latency) -> String| {
        move |operation: &Operation| or_absent(operation.latency.as_ref().map(of))
    };
    let (median, tail) = (latency(words::median), latency(words::tail));
    Table::of(operations.iter().copied())
        .word("operation", |operation| operation.op.name())
        .figure("ops/s", |operation| words::rate(operation.count, length_ns))
        .figure("throughput", |operation| or_absent(words::byte_rate(operation.bytes, length_ns)))
        .figure("p50", median)
        .figure("p99", tail)
        .word("size", |operation| operation.sizes.as_ref().map_or_else(String::new, words::sizes))
        .word("pattern", |operation| {
            operation.order.as_ref().map_or_else(String::new, words::order)
        })
        .table
}

/// The same with all figures.
pub(super) fn all_operations(summary: &Summary) -> Table {
    let length_ns = summary.length_ns;
    let operations = by_time(summary);
    let all_ns: f64 = operations.iter().map(|operation| time_of(operation)).sum();
    let share =
        move |operation: &Operation| (all_ns > 0.0).then(|| percent(time_of(operation) / all_ns));
    let latency = |of: fn(&Latency) -> String| {
        move |operation: &Operation| operation.latency.as_ref().map(of)
    };
    let [median, tail, longest] =
        [words::median, words::tail, |latency: &Latency| time(latency.max_ns as f64)].map(latency);
    Table::of(operations)
        .word("operation", |operation| operation.op.name())
        .figure("calls", |operation| grouped(operation.count))
        .figure("per second", |operation| words::rate(operation.count, length_ns))
        .column(Head::figure("share of I/O time"), share)
        .column(Head::figure("throughput"), |operation| {
            words::byte_rate(operation.bytes, length_ns)
        })
        .column(Head::figure("p50"), median)
        .column(Head::figure("p99"), tail)
        .column(Head::figure("longest"), longest)
        .column(Head::word("size"), |operation| operation.sizes.as_ref().map(words::sizes))
        .column(Head::word("pattern"), |operation| operation.order.as_ref().map(words::order))
        .column(Head::figure("failed"), |operation| {
            (operation.errors > 0).then(|| grouped(operation.errors))
        })
        .table
}

pub(super) fn files(summary: &Summary) -> Option<Section> {
    let files = &summary.files;
    let by = if summary.depth.is_some() { &files.by_time } else { &files.by_bytes };
    let figures = |hot: &HotFile| files.named.iter().find(|figures| figures.file == hot.file);
    let rows = by.iter().filter_map(|hot| Some((hot, figures(hot)?)));
    let size = |figures: &FileFigures| figures.size_bytes.map(|size| bytes(size as f64));
    let table = Table::of(rows)
        .word("file", |(_, figures)| words::file(figures))
        .column(Head::word("class"), |(_, figures)| figures.class.clone())
        .figure("share", |(hot, _)| percent(hot.share))
        .figure("size at start", |(_, figures)| or_absent(size(figures)))
        .figure("read", |(_, figures)| bytes(figures.totals.read_bytes as f64))
        .figure("written", |(_, figures)| bytes(figures.totals.written_bytes as f64))
        .figure("syncs", |(_, figures)| grouped(figures.totals.syncs))
        .table;
    Section::of_table(words::files(summary), table.filled(), None)
}

/// How the busiest threads spent their time.
pub(super) fn threads(summary: &Summary) -> Option<Table> {
    let mut table = Table::new(
        &["thread"],
        &["I/O", "of which syncs", "waiting for threads", "CPU", "CPU wait", "idle"],
    );
    for thread in &summary.threads.busiest {
        let parts = words::thread_parts(summary, &thread.times);
        let [io, syncs, waiting, cpu, delay, idle] = parts.map(|part| Cell::new(or_absent(part)));
        table.push([Cell::new(thread.thread.to_string()), io, syncs, waiting, cpu, delay, idle]);
    }
    table.filled()
}

/// Pairs of threads that wait for each other.
pub(super) fn waits(summary: &Summary) -> Option<Table> {
    let pairs = &summary.threads.waits.as_ref()?.pairs;
    Table::of(pairs)
        .word(page::PAIR[0], |pair: &WaitingPair| page::thread(pair.waits))
        .word(page::PAIR[1], |pair| page::thread(pair.waits_for))
        .figure("number of waits", |pair| grouped(pair.totals.wakes))
        .figure("total time", |pair| time(pair.totals.waited_ns as f64))
        .figure(page::SHARE_OF_WAITS, |pair| percent(pair.share))
        .table
        .filled()
}

pub(super) fn longest(summary: &Summary) -> Option<Section> {
    let table = Table::of(&summary.longest)
        .word("operation", |long: &LongOperation| long.op.name())
        .figure("latency", |long| time(long.latency_ns as f64))
        .figure("start", page::started)
        .word("thread", |long| long.thread.to_string())
        .column(Head::word("file"), |long| long.file.map(|file| file.to_string()))
        .table;
    Section::of_table(page::LONGEST_OPERATIONS, table.filled(), None)
}
