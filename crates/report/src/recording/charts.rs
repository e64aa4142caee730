//! The charts of a recording, and their data for the page.

use iotax_trace::Op;
use iotax_trace::profile::{Bin, Bucket, Operation, Summary, ThreadFigures};
use iotax_wording::recording::page;
use iotax_wording::recording::{sees_cpu_time, sees_latencies};
use serde::Serialize;

use super::tables;
use crate::document::{ChartFrame, Charts, Drawing, Item};
use crate::figures::Number;

/// Operations in a chart.
const STRIPS: usize = 6;
const MIB: f64 = 1024.0 * 1024.0;

/// Colours of reads, writes, syncs, page faults and metadata operations.
const READ: usize = 0;
const WRITE: usize = 1;
const SYNC: usize = 2;
const FAULT: usize = 3;
const METADATA: usize = 4;
const OTHER: usize = 6;

/// The data of all charts. What has no data is empty.
#[derive(Debug, Serialize)]
struct Drawn {
    length_s: f64,
    /// Steps of the same length in seconds, as `Steps` has them: from, to, count.
    runs: Vec<(f64, f64, usize)>,
    /// Names and colours of lines that share a strip.
    kinds: Vec<(&'static str, usize)>,
    strips: Vec<Strip>,
    latency: Vec<Histogram>,
    sizes: Vec<Histogram>,
    order: Shares,
    depth: Shares,
    threads: Shares,
    waits: Option<Waits>,
}

/// Lines over time with an axis of their own.
#[derive(Debug, Serialize)]
struct Strip {
    name: &'static str,
    /// Whether values are nanoseconds, on a logarithmic axis.
    is_time: bool,
    lines: Vec<Line>,
}

#[derive(Debug, Serialize)]
struct Line {
    name: &'static str,
    colour: usize,
    /// One per step.
    values: Vec<Option<Number>>,
}

/// Shares of calls in percent, by a power of two.
#[derive(Debug, Serialize)]
struct Histogram {
    name: String,
    colour: usize,
    bars: Vec<(u64, Number)>,
}

/// Rows whose parts add up to a whole.
#[derive(Debug, Default, Serialize)]
struct Shares {
    /// Names of the parts, and their colours; the rest has none.
    parts: Vec<(String, Option<usize>)>,
    /// In percent.
    rows: Vec<(String, Vec<Number>)>,
}

#[derive(Debug, Serialize)]
struct Waits {
    /// Above the threads that wait, and above those that are waited for.
    heads: [&'static str; 2],
    pairs: Vec<Pair>,
}

#[derive(Debug, Serialize)]
struct Pair {
    waits: String,
    waits_for: String,
    /// Of all waits, in percent.
    share: Number,
    told: String,
}

pub(super) fn charts(summary: &Summary) -> Charts {
    Charts::new("recording", &drawn(summary))
}

/// A chart without a title of its own.
pub(super) fn frame(id: &'static str, caption: impl Into<String>) -> Item {
    Item::Drawing(Drawing::Charts(vec![ChartFrame {
        id: id.into(),
        title: "".into(),
        caption: caption.into(),
    }]))
}

fn drawn(summary: &Summary) -> Drawn {
    let operations = tables::by_time(summary);
    let steps = Steps::of(summary);
    Drawn {
        length_s: summary.length_ns as f64 / 1e9,
        runs: steps.runs(),
        kinds: page::KINDS.into_iter().zip([READ, WRITE, SYNC]).collect(),
        strips: strips(summary, &steps),
        latency: operations.iter().filter_map(|of| latency(of)).take(STRIPS).collect(),
        sizes: operations.iter().filter_map(|of| sizes(of)).take(STRIPS).collect(),
        order: order(&operations),
        depth: depth(summary),
        threads: threads(summary),
        waits: waits(summary),
    }
}

/// The bins of a recording, with a last one that is not too short for a rate.
struct Steps {
    bins: Vec<Bin>,
    /// Seconds.
    length_s: f64,
    last_s: f64,
}

impl Steps {
    fn of(summary: &Summary) -> Self {
        let series = &summary.series;
        let length_s = series.bin_ns as f64 / 1e9;
        let mut bins = series.bins.clone();
        let before = bins.len().saturating_sub(1);
        let mut last_s = summary.length_ns as f64 / 1e9 - before as f64 * length_s;
        if let [.., _, _] = bins.as_slice()
            && last_s < length_s / 2.0
        {
            let sum = bins[before - 1..].iter().sum();
            bins.truncate(before - 1);
            bins.push(sum);
            last_s += length_s;
        }
        Self { bins, length_s, last_s: last_s.max(f64::MIN_POSITIVE) }
    }

    /// All have the same length, except the last.
    fn runs(&self) -> Vec<(f64, f64, usize)> {
        let before = self.bins.len().saturating_sub(1);
        let last_s = before as f64 * self.length_s;
        let runs = [(0.0, last_s, before), (last_s, last_s + self.last_s, 1)];
        runs.into_iter().filter(|(_, _, count)| *count > 0).collect()
    }

    fn is_last(&self, at: usize) -> bool {
        at + 1 == self.bins.len()
    }

    /// A value for each bin, which may use the length of the bin in seconds. `None` if all are 0.
    fn line(
        &self,
        name: &'static str,
        colour: usize,
        of: impl Fn(&Bin, f64) -> f64,
    ) -> Option<Line> {
        let length_s = |at| if self.is_last(at) { self.last_s } else { self.length_s };
        let bins = self.bins.iter().enumerate();
        let values: Vec<f64> = bins.map(|(at, bin)| of(bin, length_s(at))).collect();
        let is_there = values.iter().any(|value| *value > 0.0);
        let values = || values.iter().map(|value| Some(Number::short(*value))).collect();
        is_there.then(|| Line { name, colour, values: values() })
    }
}

fn strips(summary: &Summary, steps: &Steps) -> Vec<Strip> {
    let per_s = |name, colour, of: fn(&Bin) -> u64| (name, colour, of, 1.0);
    let mib = |name, colour, of: fn(&Bin) -> u64| (name, colour, of, MIB);
    let rates = [
        (page::READS, vec![per_s(page::READS, READ, |bin| bin.reads)]),
        (page::WRITES, vec![per_s(page::WRITES, WRITE, |bin| bin.writes)]),
        (page::SYNCS, vec![per_s(page::SYNCS, SYNC, |bin| bin.syncs)]),
        (page::FAULTS, vec![per_s(page::FAULTS, FAULT, |bin| bin.faults)]),
        (page::METADATA, vec![per_s(page::METADATA, METADATA, |bin| bin.metadata)]),
        (
            page::THROUGHPUT,
            vec![
                mib(page::BYTES_READ, READ, |bin| bin.read_bytes),
                mib(page::BYTES_WRITTEN, WRITE, |bin| bin.written_bytes),
            ],
        ),
    ];
    let rates = rates.into_iter().map(|(name, lines)| {
        let lines = lines.into_iter().map(|(name, colour, of, unit)| {
            steps.line(name, colour, |bin, length_s| of(bin) as f64 / unit / length_s)
        });
        Strip { name, is_time: false, lines: lines.flatten().collect() }
    });
    let timed = sees_latencies(summary).then(|| [in_flight(steps), longest(steps)]);
    let strips = rates.chain(timed.into_iter().flatten());
    strips.filter(|strip| !strip.lines.is_empty()).collect()
}

fn in_flight(steps: &Steps) -> Strip {
    let name = page::IN_FLIGHT;
    let mean = |bin: &Bin, length_s: f64| bin.in_flight_ns as f64 / 1e9 / length_s;
    let line = steps.line(name, OTHER, mean);
    Strip { name, is_time: false, lines: line.into_iter().collect() }
}

fn longest(steps: &Steps) -> Strip {
    let lines = [
        steps.line(page::LONGEST_READ, READ, |bin, _| bin.longest_read_ns as f64),
        steps.line(page::LONGEST_WRITE, WRITE, |bin, _| bin.longest_write_ns as f64),
        steps.line(page::LONGEST_SYNC, SYNC, |bin, _| bin.longest_sync_ns as f64),
    ];
    let mut lines: Vec<Line> = lines.into_iter().flatten().collect();
    // No operation took no time: none of the kind ended then.
    for value in lines.iter_mut().flat_map(|line| &mut line.values) {
        value.take_if(|value| value.is_zero());
    }
    Strip { name: page::LONGEST, is_time: true, lines }
}

fn latency(operation: &Operation) -> Option<Histogram> {
    let latency = operation.latency.as_ref()?;
    let name = page::with_latency(operation.op.name(), latency);
    Some(Histogram { name, colour: colour(operation.op), bars: bars(&latency.histogram) })
}

fn sizes(operation: &Operation) -> Option<Histogram> {
    let sizes = operation.sizes.as_ref()?;
    let name = page::with_size(operation.op.name(), sizes.median_bytes);
    Some(Histogram { name, colour: colour(operation.op), bars: bars(&sizes.histogram) })
}

fn bars(buckets: &[Bucket]) -> Vec<(u64, Number)> {
    let all: u64 = buckets.iter().map(|bucket| bucket.count).sum();
    let share = |bucket: &Bucket| 100.0 * bucket.count as f64 / all.max(1) as f64;
    let some = buckets.iter().filter(|bucket| bucket.count > 0);
    some.map(|bucket| (bucket.from, Number::short(share(bucket)))).collect()
}

const fn colour(op: Op) -> usize {
    match op {
        Op::Read | Op::SendFile | Op::CopyRange => READ,
        Op::Write => WRITE,
        Op::Fault => FAULT,
        _ if op.is_sync() => SYNC,
        _ => METADATA,
    }
}

fn order(operations: &[&Operation]) -> Shares {
    let rows = operations.iter().filter_map(|operation| {
        let order = operation.order.filter(|order| order.compared > 0)?;
        let interleaved = (order.in_streams_share - order.sequential_share).max(0.0);
        let left = 1.0 - order.in_streams_share;
        let same = order.same_offset_share.min(left);
        let parts = [order.sequential_share, interleaved, same, left - same];
        Some((operation.op.name().to_owned(), percents(&parts)))
    });
    let colours = [Some(2), Some(0), Some(6), Some(1)];
    Shares { parts: named(&page::ORDERS, &colours), rows: rows.collect() }
}

fn depth(summary: &Summary) -> Shares {
    let Some(depth) = summary.depth.as_ref().filter(|depth| depth.highest > 0) else {
        return Shares::default();
    };
    let colours = (0..).map(|level: usize| level.checked_sub(1));
    let levels = depth.levels.iter().zip(colours);
    let parts = levels.map(|(level, colour)| (page::level(level.from), colour)).collect();
    let shares: Vec<f64> = depth.levels.iter().map(|level| level.share).collect();
    Shares { parts, rows: vec![(page::DEPTH_ROW.to_owned(), percents(&shares))] }
}

fn threads(summary: &Summary) -> Shares {
    let sees_all = sees_cpu_time(summary) && summary.threads.waits.is_some();
    let lived = |thread: &&ThreadFigures| thread.times.life_ns > 0;
    let rows = summary.threads.busiest.iter().filter(lived).map(|thread| {
        let times = thread.times;
        let parts = [
            times.sync_ns,
            times.io_ns.saturating_sub(times.sync_ns),
            times.waiting_ns,
            times.cpu_ns,
            times.run_delay_ns,
            times.asynchronous_io_ns,
            times.idle_ns,
        ];
        let shares = parts.map(|ns| ns as f64 / times.life_ns as f64);
        (page::thread(thread.thread), percents(&shares))
    });
    let rows = if sees_latencies(summary) { rows.collect() } else { Vec::new() };
    let colours = [Some(SYNC), Some(READ), Some(3), Some(4), Some(1), Some(5), None];
    Shares { parts: named(&page::parts(sees_all), &colours), rows }
}

fn waits(summary: &Summary) -> Option<Waits> {
    let pairs = &summary.threads.waits.as_ref()?.pairs;
    let pairs = pairs.iter().filter(|pair| pair.totals.waited_ns > 0).map(|pair| Pair {
        waits: page::thread(pair.waits),
        waits_for: page::thread(pair.waits_for),
        share: Number::short(100.0 * pair.share),
        told: page::waited(pair.totals.waited_ns, pair.share),
    });
    let pairs: Vec<Pair> = pairs.collect();
    (!pairs.is_empty()).then_some(Waits { heads: [page::WAITER, page::WAITED_FOR], pairs })
}

fn percents(shares: &[f64]) -> Vec<Number> {
    shares.iter().map(|share| Number::short(100.0 * share)).collect()
}

fn named(names: &[&str], colours: &[Option<usize>]) -> Vec<(String, Option<usize>)> {
    names.iter().map(|name| (*name).to_owned()).zip(colours.iter().copied()).collect()
}
