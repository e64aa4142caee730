//! Control groups: limits on I/O, memory and CPU time.

use iotax_record::machine::{GroupIoLimits, PressureAverages};
use serde::Serialize;

use super::Certainty::{Likely, ToBeTested};
use super::{
    At, Certainty, Component, ComponentKind, Detail, Finder, Finding, GroupRates, Observation,
    Rule, Snapshot, Value, rule,
};

pub(super) const RULES: &[Rule] = &[
    rule(&["cgroup-io-max"], Finder::Group(io_limits)),
    rule(&["cgroup-memory"], Finder::Once(memory)),
    rule(&["cpu-quota"], Finder::Once(cpu_quota)),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupsWhy {
    Io { path: String, rates: GroupRates },
    Memory { used_bytes: u64, limit_bytes: u64, refaults: u64 },
    // Share of the periods in which it was used up, and how long the CPUs stood still each time.
    CpuQuota { share: f64, cpus: Option<f64>, each_ms: f64 },
}

/// Share of periods without CPU time that hurts.
const THROTTLED: f64 = 0.05;
/// Periods that a share says something of.
const ENOUGH_PERIODS: u64 = 100;
/// Share of a memory limit from which on pages are thrown out.
const NEAR: f64 = 0.9;
/// Share of time in which all work waited that is more than noise.
const WAITED_PERCENT: f64 = 1.0;

/// Limits on I/O.
fn io_limits(limits: &At<'_, '_, GroupIoLimits>) -> Option<Finding> {
    let pressure = limits.seen.machine.groups.io_pressure;
    let rates = GroupRates {
        read_iops: limits.read_iops,
        read_bw_bytes: limits.read_bw_bytes,
        write_iops: limits.write_iops,
        write_bw_bytes: limits.write_bw_bytes,
    };
    let about = Component::new(ComponentKind::Group, limits.group.as_str());
    limits
        .finding(Certainty::Snapshot, GroupsWhy::Io { path: limits.path.to_owned(), rates })
        .on(about.with(Detail::On(limits.path.to_owned())))
        .observed(Observation::file(limits.file.as_str(), Value::GroupRates(rates)))
        .observed_all(pressure.map(|pressure| full("io.pressure", pressure)))
        .limits("", limits.path)
        .when(rates != GroupRates::default())
}

/// Memory of a group that its page cache fills.
fn memory(seen: &Snapshot<'_>) -> Option<Finding> {
    let memory = seen.machine.groups.memory.as_ref()?;
    let is_v1 = seen.machine.groups.version.as_deref() == Some("v1");
    let (most, used) = if is_v1 {
        ("memory.limit_in_bytes", "memory.usage_in_bytes")
    } else {
        ("memory.max", "memory.current")
    };
    let limits = [("memory.high", memory.high_bytes), (most, memory.max_bytes)];
    let (file, limit_bytes) = limits
        .into_iter()
        .filter_map(|(file, limit)| Some((file, limit.filter(|limit| *limit > 0)?)))
        .min_by_key(|(_, limit)| *limit)?;
    let (used_bytes, refaults) = (memory.current_bytes?, memory.file_refaults.unwrap_or(0));
    // A cache that fills its group is as it should be, unless somebody waits.
    let certainty = match memory.pressure {
        Some(pressure) if pressure.full_300s_percent >= WAITED_PERCENT => Certainty::Snapshot,
        Some(pressure) if pressure.some_300s_percent >= WAITED_PERCENT => Likely,
        Some(_) => return None,
        None => ToBeTested,
    };
    let of_group = |file: &str| format!("{}/{file}", memory.directory);
    let again = Observation::field(of_group("memory.stat"), "workingset_refault_file", refaults);
    let about = Component::new(ComponentKind::Group, memory.group.as_str());
    let why = GroupsWhy::Memory { used_bytes, limit_bytes, refaults };
    Finding::new("cgroup-memory", about, certainty, why)
        .observed(Observation::file(of_group(file), limit_bytes))
        .observed(Observation::file(of_group(used), used_bytes))
        .observed(again)
        .observed_all(memory.pressure.map(|pressure| full(&of_group("memory.pressure"), pressure)))
        .run("driver-searcher", &seen.first_place()?.path, "--scale 0.05")
        .when(used_bytes as f64 >= NEAR * limit_bytes as f64 && refaults > 0)
}

fn full(file: &str, pressure: PressureAverages) -> Observation {
    Observation::field(file, "full avg300", Value::Percent(pressure.full_300s_percent))
}

/// A quota of CPU time that was used up.
fn cpu_quota(seen: &Snapshot<'_>) -> Option<Finding> {
    let cpu = seen.machine.groups.cpu.as_ref().filter(|cpu| cpu.throttled_periods > 0)?;
    let share = cpu.throttled_periods as f64 / cpu.periods as f64;
    let each_ms = cpu.throttled_us as f64 / 1e3 / cpu.throttled_periods as f64;
    let field = |name: &str, value: u64| Observation::field(cpu.file.as_str(), name, value);
    let about = Component::new(ComponentKind::Group, cpu.group.as_str());
    let why = GroupsWhy::CpuQuota { share, cpus: cpu.cpus, each_ms };
    Finding::new("cpu-quota", about, Likely, why)
        .observed(field("nr_periods", cpu.periods))
        .observed(field("nr_throttled", cpu.throttled_periods))
        .observed(field("throttled_usec", cpu.throttled_us))
        .run("randread-4k", &seen.first_place()?.path, "")
        .when(cpu.periods >= ENOUGH_PERIODS && share >= THROTTLED)
}
