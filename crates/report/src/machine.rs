//! Tables of what the machine did: devices, CPUs and memory. The figures are the analysis's.

use iotax_analyze::{Analysis, ArmSummary, CounterSummary, StallFigures};

use crate::document::Table;
use iotax_wording::format::{bytes, or_absent, three_digits};

pub(crate) fn measured(
    analysis: &Analysis,
) -> impl Iterator<Item = (&ArmSummary, &CounterSummary)> {
    analysis.arms.iter().filter_map(|arm| Some((arm, arm.counters.as_ref()?)))
}

/// The devices under each arm, under iostat's heads.
pub(crate) fn devices(analysis: &Analysis) -> Option<Table> {
    let devices = measured(analysis).flat_map(|(arm, counters)| {
        counters.devices.iter().map(move |device| (arm, device, &device.figures))
    });
    let table = Table::of(devices)
        .word("arm", |(arm, ..)| &arm.name)
        .word("device", |(_, device, _)| match device.targets.as_slice() {
            [] => device.name.clone(),
            targets => format!("{} ({})", device.name, targets.join(", ")),
        })
        .figure("r/s", |(.., of)| three_digits(of.read.per_s))
        .figure("w/s", |(.., of)| three_digits(of.write.per_s))
        .figure("rMiB/s", |(.., of)| three_digits(of.read.mib_per_s))
        .figure("wMiB/s", |(.., of)| three_digits(of.write.mib_per_s))
        .figure("r_await", |(.., of)| three_digits(of.read.await_ms))
        .figure("w_await", |(.., of)| three_digits(of.write.await_ms))
        .figure("aqu-sz", |(.., of)| three_digits(of.queue_size))
        .figure("%util", |(.., of)| three_digits(of.util_percent))
        .table;
    Some(table.filled()?.without_names_of(analysis.arms.len()))
}

/// CPUs, pressure and page cache of each arm.
pub(crate) fn system(analysis: &Analysis) -> Option<Table> {
    let percent =
        |value: Option<f64>| or_absent(value.map(|value| iotax_quantity::percent(value / 100.0)));
    let stall = |stall: Option<StallFigures>| percent(stall.map(|stall| stall.some_percent));
    // With one arm its name is all that names the row.
    Table::of(measured(analysis))
        .word("arm", |(arm, _)| &arm.name)
        .figure("user", |(_, of)| percent(of.cpu.map(|cpu| cpu.user_percent + cpu.nice_percent)))
        .figure("system", |(_, of)| percent(of.cpu.map(|cpu| cpu.system_percent)))
        .figure("iowait", |(_, of)| percent(of.cpu.map(|cpu| cpu.iowait_percent)))
        .figure("steal", |(_, of)| percent(of.cpu.map(|cpu| cpu.steal_percent)))
        .figure("PSI cpu", |(_, of)| stall(of.pressure.cpu))
        .figure("PSI io", |(_, of)| stall(of.pressure.io))
        .figure("PSI memory", |(_, of)| stall(of.pressure.memory))
        .figure("major faults/s", |(_, of)| {
            or_absent(of.memory.map(|memory| three_digits(memory.major_faults_per_s)))
        })
        .figure("dirty", |(_, of)| or_absent(of.memory.map(|memory| bytes(memory.dirty_bytes))))
        .figure("writeback", |(_, of)| {
            or_absent(of.memory.map(|memory| bytes(memory.writeback_bytes)))
        })
        .table
        .without_absent_figures()
        .filled()
}
