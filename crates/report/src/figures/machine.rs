//! Charts of system metrics, and their data for the page.

use iotax_analyze::{CounterSeries, Quantity};
use iotax_wording::chart::of_quantity;
use serde::Serialize;

use super::data::{Trace, start_s};
use super::steps::{Figures, Interval, Number, Steps};
use crate::{document, words};

#[derive(Debug, Serialize)]
pub(crate) struct MachineChart {
    /// ID of its element in the page.
    id: &'static str,
    /// Quantity and unit.
    #[serde(rename = "label")]
    title: &'static str,
    /// Caption.
    #[serde(skip)]
    caption: &'static str,
    /// Names of the lines, in order of appearance.
    names: Vec<String>,
    lines: Vec<Line>,
}

#[derive(Debug, Serialize)]
struct Line {
    /// Index in the spans of all charts.
    span: usize,
    /// Index in the chart's names.
    name: usize,
    #[serde(flatten)]
    figures: Figures,
}

/// The time of a measurement of an arm.
#[derive(Debug, Serialize)]
struct Span {
    arm: usize,
    used: bool,
    #[serde(flatten)]
    steps: Steps,
}

/// Data that all charts share.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Machine {
    spans: Vec<Span>,
    pub(crate) charts: Vec<MachineChart>,
}

/// Charts in display order.
const CHARTS: [(Quantity, &str, &str); 12] = [
    (Quantity::DeviceMibPerS, "device-mib", "Device throughput, MiB/s"),
    (Quantity::DeviceAwaitMs, "device-await", "Device await, ms"),
    (Quantity::DeviceQueue, "device-queue", "Device queue size"),
    (Quantity::DeviceUtilPercent, "device-util", "Device utilization, %"),
    (Quantity::CpuPercent, "cpu", "CPU time by mode, %"),
    (Quantity::PressurePercent, "pressure", "Pressure, %"),
    (Quantity::PageCacheMib, "page-cache", "Dirty page cache, MiB"),
    (Quantity::NfsPerS, "nfs-rate", "NFS operations per second"),
    (Quantity::NfsExecuteMs, "nfs-time", "NFS operation time, ms"),
    (Quantity::InterfaceMbitPerS, "interface-mbit", "Interface transmit rate, Mbit/s"),
    (Quantity::InterfaceDropsPerS, "interface-drops", "Dropped packets per second"),
    (Quantity::QdiscBacklogKib, "qdisc-backlog", "Qdisc backlog, KiB"),
];

/// The charts with data, in steps of `seconds` if that is more than one.
pub(super) fn machine(traces: &[Trace<'_>], seconds: u32) -> Machine {
    let mut machine = Machine::default();
    let mut charts = CHARTS.map(|(quantity, id, title)| {
        let caption = of_quantity(quantity);
        (quantity, MachineChart { id, title, caption, names: Vec::new(), lines: Vec::new() })
    });
    for trace in traces {
        let trials = trace.trials.iter();
        let trials: Vec<(f64, &CounterSeries)> =
            trials.filter_map(|trial| Some((start_s(trial), trial.counters.as_ref()?))).collect();
        let intervals = trials.iter().flat_map(|(start, series)| {
            let edges = &series.edges_s;
            edges.windows(2).map(move |edge| (start + edge[0], start + edge[1]))
        });
        let intervals: Vec<Interval> = intervals.collect();
        if intervals.is_empty() {
            continue;
        }
        let steps = Steps::new(&intervals, seconds);
        for (quantity, chart) in &mut charts {
            chart.add(*quantity, machine.spans.len(), &steps, &trials);
        }
        machine.spans.push(Span { arm: trace.arm, used: trace.used, steps });
    }
    let charts = charts.into_iter().map(|(_, chart)| chart);
    machine.charts = charts.filter(|chart| !chart.lines.is_empty()).collect();
    machine
}

impl MachineChart {
    /// Where it is drawn.
    pub(crate) fn of_page(&self) -> document::ChartFrame {
        document::ChartFrame {
            id: self.id.into(),
            title: self.title.into(),
            caption: self.caption.to_owned(),
        }
    }

    /// Adds a line for each object with this quantity in these trials.
    fn add(
        &mut self,
        quantity: Quantity,
        span: usize,
        steps: &Steps,
        trials: &[(f64, &CounterSeries)],
    ) {
        let mut names: Vec<&str> = Vec::new();
        for line in trials.iter().flat_map(|(_, series)| &series.lines) {
            if line.quantity == quantity && !names.contains(&line.name.as_str()) {
                names.push(&line.name);
            }
        }
        for name in names {
            let values = trials.iter().flat_map(|(_, series)| {
                let line = series.lines.iter().find(|l| l.quantity == quantity && l.name == name);
                let missing = vec![None; series.edges_s.len().saturating_sub(1)];
                line.map_or(missing, |line| line.values.clone())
            });
            let values: Vec<Option<f64>> = values.map(|value| value.map(f64::from)).collect();
            let figures = steps.figures(&values, Number::short);
            let name = words::printable(name);
            let known = self.names.iter().position(|other| *other == name);
            let name = known.unwrap_or_else(|| {
                self.names.push(name);
                self.names.len() - 1
            });
            self.lines.push(Line { span, name, figures });
        }
    }
}
