//! Charts of what the machine did: which there are, and their data for the page.

use iotax_analyze::{Analysis, CounterSeries, Quantity};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::{document, words};

#[derive(Debug, Serialize)]
pub(crate) struct Chart {
    /// Its element in the page.
    id: &'static str,
    /// What it shows, with the unit.
    #[serde(rename = "label")]
    title: &'static str,
    /// How to read it.
    #[serde(skip)]
    caption: &'static str,
    /// Names of the lines in the order in which they appear.
    names: Vec<String>,
    /// The lines of all trials, with the indices of their arm, their name in `names`, and their edges
    /// in the list of edges.
    lines: Vec<Value>,
}

/// What all charts have in common.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Machine {
    /// Per trial: where its intervals begin and end, in seconds since the start of the experiment.
    edges: Vec<Vec<Short>>,
    pub(crate) charts: Vec<Chart>,
}

/// A number with as many digits as a drawing can show.
#[derive(Debug, Clone, Copy)]
struct Short(f64);

impl Serialize for Short {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = format!("{:.4e}", self.0);
        serializer.serialize_f64(text.parse().unwrap_or(self.0))
    }
}

/// Charts in the order in which they are shown.
const CHARTS: [(Quantity, &str, &str, &str); 12] = [
    (
        Quantity::DeviceMibPerS,
        "device-mib",
        "Device throughput, MiB/s",
        "Reads, writes and discards together, of each device under the arm.",
    ),
    (
        Quantity::DeviceAwaitMs,
        "device-await",
        "Device await, ms",
        "Mean time of a request from being queued to being completed.",
    ),
    (
        Quantity::DeviceQueue,
        "device-queue",
        "Device queue size",
        "Mean number of requests queued or being served.",
    ),
    (
        Quantity::DeviceUtilPercent,
        "device-util",
        "Device utilisation, %",
        "Time with at least one request under way; a device that serves several at once may have \
         room at 100 %.",
    ),
    (Quantity::CpuPercent, "cpu", "CPU time by mode, %", "Of all CPUs of the machine."),
    (
        Quantity::PressurePercent,
        "pressure",
        "Pressure, %",
        "Time in which at least one task waited for a CPU, for I/O or for memory.",
    ),
    (
        Quantity::PageCacheMib,
        "page-cache",
        "Page cache to be written, MiB",
        "Dirty: waiting. Writeback: under way. Of the whole machine.",
    ),
    (Quantity::NfsPerS, "nfs-rate", "NFS operations per second", "The most used ones."),
    (
        Quantity::NfsExecuteMs,
        "nfs-time",
        "Time of NFS operations, ms",
        "From the request to its end, waiting to be sent included.",
    ),
    (
        Quantity::InterfaceMbitPerS,
        "interface-mbit",
        "Sent by interfaces, Mbit/s",
        "Headers included; what one end sends the other receives.",
    ),
    (
        Quantity::InterfaceDropsPerS,
        "interface-drops",
        "Dropped packets per second",
        "By an interface, either way, or by a queue at it.",
    ),
    (
        Quantity::QdiscBacklogKib,
        "qdisc-backlog",
        "Waiting in queues, KiB",
        "Of each queueing discipline that anything waited in.",
    ),
];

/// What there is to draw.
pub(super) fn machine(analysis: &Analysis) -> Machine {
    let arm = |name: &str| analysis.arms.iter().position(|arm| arm.name == name);
    let trials: Vec<_> = analysis
        .trials
        .iter()
        .filter_map(|trial| Some((arm(&trial.arm)?, trial, trial.counters.as_ref()?)))
        .collect();
    let edges = trials.iter().map(|(_, trial, series)| {
        let start = (trial.started_ns / 1_000_000) as f64 / 1e3;
        series.edges_s.iter().map(|edge| Short(start + edge)).collect()
    });
    let charts = CHARTS.into_iter().filter_map(|(quantity, id, title, caption)| {
        let mut chart = Chart { id, title, caption, names: Vec::new(), lines: Vec::new() };
        for (edges, (arm, trial, series)) in trials.iter().enumerate() {
            chart.add(quantity, (*arm, trial.used, edges), series);
        }
        (!chart.lines.is_empty()).then_some(chart)
    });
    Machine { edges: edges.collect(), charts: charts.collect() }
}

impl Chart {
    /// Where it is drawn.
    pub(crate) fn of_page(&self) -> document::Chart {
        document::Chart {
            id: self.id.into(),
            title: self.title.into(),
            caption: self.caption.to_owned(),
        }
    }

    fn add(
        &mut self,
        quantity: Quantity,
        (arm, used, edges): (usize, bool, usize),
        series: &CounterSeries,
    ) {
        for line in series.lines.iter().filter(|line| line.quantity == quantity) {
            let name = words::printable(&line.name);
            let known = self.names.iter().position(|other| *other == name);
            let name = known.unwrap_or_else(|| {
                self.names.push(name);
                self.names.len() - 1
            });
            let values = line.values.iter().map(|v| v.map(|v| Short(f64::from(v))));
            let values: Vec<Option<Short>> = values.collect();
            self.lines.push(json!({
                "arm": arm, "name": name, "used": used, "edges": edges, "values": values,
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_the_page_are_short() {
        let short = |value| serde_json::to_string(&Short(value)).unwrap();
        assert_eq!([0.0, 123.456_789, 1e9 / 3.0].map(short), ["0.0", "123.46", "333330000.0"]);
    }
}
