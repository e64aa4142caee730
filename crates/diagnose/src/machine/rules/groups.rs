//! Control groups: limits on I/O, memory and CPU time.

use iotax_quantity::{bytes, mb_per_s, percent};
use iotax_record::machine::{GroupIoLimits, PressureAverages};

use crate::machine::finding::{Certainty, Finding, Observation};
use crate::machine::snapshot::Snapshot;

/// Share of periods without CPU time that hurts.
const THROTTLED: f64 = 0.05;
/// Periods that a share says something of.
const ENOUGH_PERIODS: u64 = 100;
/// Share of a memory limit from which on pages are thrown out.
const NEAR: f64 = 0.9;
/// Share of time in which all work waited that is more than noise.
const WAITED_PERCENT: f64 = 1.0;

/// Limits on I/O.
pub(super) fn io_limits(seen: &Snapshot<'_>, limits: &GroupIoLimits) -> Option<Finding> {
    let pressure = seen.machine.groups.io_pressure.map(|pressure| {
        Observation::field(
            "io.pressure",
            "full avg300",
            format!("{:.1} %", pressure.full_300s_percent),
        )
    });
    let rates = [
        ("reads", limits.read_iops, limits.read_bw_bytes),
        ("writes", limits.write_iops, limits.write_bw_bytes),
    ];
    let says: Vec<_> = rates
        .into_iter()
        .flat_map(|(what, iops, bw)| {
            let iops = iops.map(|iops| format!("{what} {iops:.0} IOPS"));
            let bw = bw.map(|bw| format!("{what} {}", mb_per_s(bw)));
            iops.into_iter().chain(bw)
        })
        .collect();
    let value = says.join(", ");
    let why = format!(
        "All processes of {} together get no more than this on the disk under {}: {value}.",
        limits.group, limits.path
    );
    let about = format!("{} on {}", limits.group, limits.path);
    let finding = Finding::new("cgroup-io-max", about, Certainty::Snapshot, why)
        .observed(Observation::file(limits.file.as_str(), value))
        .observed_if(pressure.clone())
        .limits("", &limits.path);
    (!says.is_empty()).then_some(finding)
}

/// Memory of a group that its page cache fills.
pub(super) fn memory(seen: &Snapshot<'_>) -> Option<Finding> {
    let memory = seen.machine.groups.memory.as_ref()?;
    let is_v1 = seen.machine.groups.version.as_deref() == Some("v1");
    let (most, used) = if is_v1 {
        ("memory.limit_in_bytes", "memory.usage_in_bytes")
    } else {
        ("memory.max", "memory.current")
    };
    let limits = [("memory.high", memory.high_bytes), (most, memory.max_bytes)];
    let (file, limit) = limits
        .into_iter()
        .filter_map(|(file, limit)| Some((file, limit.filter(|limit| *limit > 0)?)))
        .min_by_key(|(_, limit)| *limit)?;
    let (current, refaults) = (memory.current_bytes?, memory.file_refaults.unwrap_or(0));
    // A cache that fills its group is as it should be, unless somebody waits.
    let certainty = match memory.pressure {
        Some(pressure) if pressure.full_300s_percent >= WAITED_PERCENT => Certainty::Snapshot,
        Some(pressure) if pressure.some_300s_percent >= WAITED_PERCENT => Certainty::Likely,
        Some(_) => return None,
        None => Certainty::ToBeTested,
    };
    let why = format!(
        "{} uses {} of {}. Its page cache was thrown out and read again {refaults} times: reads \
         that memory could answer go to the disk.",
        memory.group,
        bytes(current as f64),
        bytes(limit as f64)
    );
    let of_group = |file: &str| format!("{}/{file}", memory.directory);
    let path = seen.first_place()?;
    let finding = Finding::new("cgroup-memory", memory.group.as_str(), certainty, why)
        .observed(Observation::file(of_group(file), limit.to_string()))
        .observed(Observation::file(of_group(used), current.to_string()))
        .observed(Observation::field(
            of_group("memory.stat"),
            "workingset_refault_file",
            refaults.to_string(),
        ))
        .observed_if(memory.pressure.map(|pressure| full(&of_group("memory.pressure"), pressure)))
        .run("driver-searcher", &path.path, "--scale 0.05");
    (current as f64 >= NEAR * limit as f64 && refaults > 0).then_some(finding)
}

fn full(file: &str, pressure: PressureAverages) -> Observation {
    Observation::field(file, "full avg300", format!("{:.1} %", pressure.full_300s_percent))
}

/// A quota of CPU time that was used up.
pub(super) fn cpu_quota(seen: &Snapshot<'_>) -> Option<Finding> {
    let cpu = seen.machine.groups.cpu.as_ref()?;
    if cpu.periods < ENOUGH_PERIODS || cpu.throttled_periods == 0 {
        return None;
    }
    let share = cpu.throttled_periods as f64 / cpu.periods as f64;
    let why = format!(
        "In {} of its periods since it was made {} had used up its quota{}; its CPUs together \
         stood still for {:.0} ms each time, those whose I/O was done among them.",
        percent(share),
        cpu.group,
        cpu.cpus.map_or(String::new(), |cpus| format!(" of {cpus:.1} CPUs")),
        cpu.throttled_us as f64 / 1e3 / cpu.throttled_periods as f64
    );
    let path = &seen.first_place()?.path;
    let field =
        |name: &str, value: u64| Observation::field(cpu.file.as_str(), name, value.to_string());
    let finding = Finding::new("cpu-quota", cpu.group.as_str(), Certainty::Likely, why)
        .observed(field("nr_periods", cpu.periods))
        .observed(field("nr_throttled", cpu.throttled_periods))
        .observed(field("throttled_usec", cpu.throttled_us))
        .run("randread-4k", path, "");
    (share >= THROTTLED).then_some(finding)
}
