//! Tables of what the machine did: devices, CPUs and memory. The figures are the analysis's.

use iotax_analyze::{Analysis, ArmSummary, CounterSummary, StallFigures};

use crate::document::{Cell, Table};
use crate::format::{self, ABSENT};

/// What the figures are, for people.
pub(crate) const NOTE: &str = "Means over the measured windows, as iostat -mx computes them, whose MB \
                               are MiB; awaits are milliseconds. A device stands above those it \
                               lies on.";

pub(crate) fn measured(
    analysis: &Analysis,
) -> impl Iterator<Item = (&ArmSummary, &CounterSummary)> {
    analysis.arms.iter().filter_map(|arm| Some((arm, arm.counters.as_ref()?)))
}

/// A row of words and figures.
pub(crate) fn row<const N: usize>(words: [&str; 2], figures: [f64; N]) -> Vec<Cell> {
    let figures = figures.map(format::plain).into_iter().map(Cell::new);
    words.into_iter().map(Cell::new).chain(figures).collect()
}

/// The devices under each arm, under iostat's heads.
pub(crate) fn devices(analysis: &Analysis) -> Option<Table> {
    let heads = ["r/s", "w/s", "rMiB/s", "wMiB/s", "r_await", "w_await", "aqu-sz", "%util"];
    let mut table = Table::new(&["arm", "device"], &heads);
    for (arm, counters) in measured(analysis) {
        for device in &counters.devices {
            let figures = &device.figures;
            let figures = [
                figures.read.per_s,
                figures.write.per_s,
                figures.read.mib_per_s,
                figures.write.mib_per_s,
                figures.read.await_ms,
                figures.write.await_ms,
                figures.queue_size,
                figures.util_percent,
            ];
            let name = match device.targets.as_slice() {
                [] => device.name.clone(),
                targets => format!("{} ({})", device.name, targets.join(", ")),
            };
            table.rows.push(row([&arm.name, &name], figures));
        }
    }
    (!table.rows.is_empty()).then(|| table.without_names_of(analysis.arms.len()))
}

/// CPUs, pressure and page cache of each arm.
pub(crate) fn system(analysis: &Analysis) -> Option<Table> {
    let heads = [
        "user",
        "system",
        "iowait",
        "steal",
        "PSI cpu",
        "PSI io",
        "PSI memory",
        "major faults/s",
        "dirty",
        "writeback",
    ];
    // With one arm its name is all that names the row.
    let mut table = Table::new(&["arm"], &heads);
    for (arm, counters) in measured(analysis) {
        let absent = || ABSENT.to_owned();
        let percent = |value: Option<f64>| {
            value.map_or_else(absent, |value| format!("{} %", iotax_words::fixed(value, 1)))
        };
        let cpu = counters.cpu;
        let stall = |stall: Option<StallFigures>| percent(stall.map(|stall| stall.some_percent));
        let memory = counters.memory;
        let bytes = |value: Option<f64>| value.map_or_else(absent, format::bytes);
        let cells = [
            arm.name.clone(),
            percent(cpu.map(|cpu| cpu.user_percent + cpu.nice_percent)),
            percent(cpu.map(|cpu| cpu.system_percent)),
            percent(cpu.map(|cpu| cpu.iowait_percent)),
            percent(cpu.map(|cpu| cpu.steal_percent)),
            stall(counters.pressure.cpu),
            stall(counters.pressure.io),
            stall(counters.pressure.memory),
            memory.map_or_else(absent, |memory| format::plain(memory.major_faults_per_s)),
            bytes(memory.map(|memory| memory.dirty_bytes)),
            bytes(memory.map(|memory| memory.writeback_bytes)),
        ];
        table.rows.push(cells.iter().map(Cell::new).collect());
    }
    (!table.rows.is_empty()).then_some(table)
}
