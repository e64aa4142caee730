//! What charts draw: figures from sample to sample.

use iotax_record::Counters;
use serde::Serialize;

use super::figures::{CpuFigures, DeviceFigures, MemoryFigures, PressureFigures, StallFigures};
use super::interfaces::{InterfaceFigures, QdiscFigures};
use super::samples::{Stretch, bounds, stretches};

/// Intervals kept over all trials of an experiment, the earliest first: enough for 25 minutes, and
/// small enough for a page. The means have all trials.
pub(crate) const MOST_INTERVALS: usize = 1_500;
/// Operations drawn of an NFS mount, the most used first.
const MOST_OPERATIONS: usize = 6;
const KIB: f64 = 1_024.0;
const MIB: f64 = KIB * KIB;
const MBIT: f64 = 1e6;

/// One trial from sample to sample.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct CounterSeries {
    /// Where intervals begin and end, in seconds since the start of the trial: one more than there
    /// are intervals.
    pub edges_s: Vec<f64>,
    /// What is drawn.
    pub lines: Vec<CounterLine>,
}

impl CounterSeries {
    /// Number of intervals.
    pub(crate) fn intervals(&self) -> usize {
        self.edges_s.len().saturating_sub(1)
    }
}

/// What is left of [`MOST_INTERVALS`]. No trial takes the room of an earlier one, so none is let in
/// after the first that does not fit.
#[derive(Debug)]
pub(crate) struct IntervalBudget(Option<usize>);

impl Default for IntervalBudget {
    fn default() -> Self {
        Self(Some(MOST_INTERVALS))
    }
}

impl IntervalBudget {
    /// Whether a trial with so many intervals fits; if so it is let in.
    pub(crate) fn takes(&mut self, intervals: usize) -> bool {
        self.0 = self.0.and_then(|left| left.checked_sub(intervals));
        self.0.is_some()
    }
}

/// One quantity of one thing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CounterLine {
    pub quantity: Quantity,
    /// Of what: a device, a mode, a resource, an operation.
    pub name: String,
    /// One value per interval; `None` where it was not there.
    pub values: Vec<Option<f32>>,
}

/// What a line shows, with its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Throughput of a device, all directions, in MiB per second.
    DeviceMibPerS,
    /// Mean time of a device's requests, in milliseconds.
    DeviceAwaitMs,
    /// Mean number of requests queued or being served.
    DeviceQueue,
    /// Share of time in which a device had requests under way, in percent.
    DeviceUtilPercent,
    /// CPU time by mode, in percent of all CPUs.
    CpuPercent,
    /// Time in which some task waited for a resource, in percent.
    PressurePercent,
    /// Bytes of the page cache that must be written, in MiB.
    PageCacheMib,
    /// NFS operations per second.
    NfsPerS,
    /// Mean time of NFS operations, in milliseconds.
    NfsExecuteMs,
    /// What an interface of a network path sent, in Mbit per second.
    InterfaceMbitPerS,
    /// Packets that an interface, or a queueing discipline at it, dropped, per second.
    InterfaceDropsPerS,
    /// Bytes that wait in a queueing discipline, in KiB.
    QdiscBacklogKib,
}

/// The lines of one trial; `None` if it has no interval.
pub(crate) fn series(counters: &Counters) -> Option<CounterSeries> {
    let bounds = bounds(counters);
    let stretches = stretches(counters, &bounds);
    if stretches.is_empty() {
        return None;
    }
    let mut lines = Vec::new();
    devices(counters, &stretches, &mut lines);
    machine(&stretches, &mut lines);
    nfs(counters, &stretches, &mut lines);
    interfaces(counters, &stretches, &mut lines);
    lines.retain(|line| line.values.iter().any(Option::is_some));
    lines.sort_by_key(|line| line.quantity);
    let edges_s = bounds.iter().map(|i| counters.at_ns[*i] as f64 / 1e9).collect();
    Some(CounterSeries { edges_s, lines })
}

fn line<T: Copy>(
    quantity: Quantity,
    name: &str,
    figures: &[Option<T>],
    value: impl Fn(&T) -> f64,
) -> CounterLine {
    #[expect(clippy::cast_possible_truncation, reason = "a chart shows fewer than seven digits")]
    let values = figures.iter().map(|figures| figures.as_ref().map(|f| value(f) as f32)).collect();
    CounterLine { quantity, name: name.to_owned(), values }
}

fn devices(counters: &Counters, stretches: &[Stretch<'_>], lines: &mut Vec<CounterLine>) {
    for device in &counters.devices {
        let figures: Vec<_> = stretches.iter().map(|s| s.device(device)).collect();
        let of = |quantity, value: fn(&DeviceFigures) -> f64| {
            line(quantity, &device.name, &figures, value)
        };
        lines.extend([
            of(Quantity::DeviceMibPerS, DeviceFigures::mib_per_s),
            of(Quantity::DeviceAwaitMs, |figures| figures.await_ms),
            of(Quantity::DeviceQueue, |figures| figures.queue_size),
            of(Quantity::DeviceUtilPercent, |figures| figures.util_percent),
        ]);
    }
}

fn machine(stretches: &[Stretch<'_>], lines: &mut Vec<CounterLine>) {
    let cpu: Vec<_> = stretches.iter().map(|stretch| stretch.cpu()).collect();
    let of = |name, value: fn(&CpuFigures) -> f64| line(Quantity::CpuPercent, name, &cpu, value);
    lines.extend([
        of("user", |cpu| cpu.user_percent + cpu.nice_percent),
        of("system", |cpu| cpu.system_percent - cpu.interrupt_percent),
        of("interrupts", |cpu| cpu.interrupt_percent),
        of("steal", |cpu| cpu.steal_percent),
        of("iowait", |cpu| cpu.iowait_percent),
    ]);
    let pressure: Vec<_> = stretches.iter().map(|stretch| stretch.pressure()).collect();
    let of = |name, value: fn(&PressureFigures) -> Option<StallFigures>| {
        let figures: Vec<_> = pressure.iter().map(value).collect();
        line(Quantity::PressurePercent, name, &figures, |stall| stall.some_percent)
    };
    lines.extend([of("cpu", |p| p.cpu), of("io", |p| p.io), of("memory", |p| p.memory)]);
    let memory: Vec<_> = stretches.iter().map(|stretch| stretch.memory()).collect();
    let of =
        |name, value: fn(&MemoryFigures) -> f64| line(Quantity::PageCacheMib, name, &memory, value);
    lines.extend([
        of("dirty", |memory| memory.dirty_bytes / MIB),
        of("writeback", |memory| memory.writeback_bytes / MIB),
    ]);
}

fn nfs(counters: &Counters, stretches: &[Stretch<'_>], lines: &mut Vec<CounterLine>) {
    let operations = counters.nfs.iter().flat_map(|mount| &mount.operations);
    let mut used: Vec<_> = operations
        .map(|operation| {
            let figures: Vec<_> = stretches.iter().map(|s| s.nfs(operation)).collect();
            let total: f64 = figures.iter().flatten().map(|figures| figures.per_s).sum();
            (total, &operation.name, figures)
        })
        .filter(|(total, ..)| *total > 0.0)
        .collect();
    used.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (_, name, figures) in used.iter().take(MOST_OPERATIONS) {
        lines.push(line(Quantity::NfsPerS, name, figures, |figures| figures.per_s));
        // No operation, no time.
        let timed: Vec<_> = figures.iter().map(|f| f.filter(|f| f.per_s > 0.0)).collect();
        lines.push(line(Quantity::NfsExecuteMs, name, &timed, |figures| figures.execute_ms));
    }
}

fn interfaces(counters: &Counters, stretches: &[Stretch<'_>], lines: &mut Vec<CounterLine>) {
    for interface in &counters.interfaces {
        let name = interface.end.label(&interface.name);
        let figures: Vec<_> = stretches.iter().map(|s| s.interface(interface)).collect();
        let of =
            |quantity, value: fn(&InterfaceFigures) -> f64| line(quantity, &name, &figures, value);
        lines.push(of(Quantity::InterfaceMbitPerS, |f| f.sent.bits_per_s / MBIT));
        // Most drop nothing, and most queues are empty.
        let mut told = vec![of(Quantity::InterfaceDropsPerS, |f| {
            f.received.dropped_per_s + f.sent.dropped_per_s
        })];
        for qdisc in &interface.qdiscs {
            let figures: Vec<_> = stretches.iter().map(|s| s.qdisc(qdisc)).collect();
            let name = format!("{name} {} {}", qdisc.kind, qdisc.place);
            let of =
                |quantity, value: fn(&QdiscFigures) -> f64| line(quantity, &name, &figures, value);
            told.extend([
                of(Quantity::InterfaceDropsPerS, |f| f.drops_per_s),
                of(Quantity::QdiscBacklogKib, |f| f.backlog_bytes / KIB),
            ]);
        }
        let is_told = |line: &CounterLine| line.values.iter().flatten().any(|value| *value > 0.0);
        lines.extend(told.into_iter().filter(is_told));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_let_in_after_what_did_not_fit() {
        let mut budget = IntervalBudget::default();
        assert!(budget.takes(MOST_INTERVALS - 5) && budget.takes(5) && budget.takes(0));
        assert!(!budget.takes(1) && !budget.takes(0));
    }
}
