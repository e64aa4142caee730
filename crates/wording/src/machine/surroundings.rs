//! The machine around a path, as names and values.

use iotax_quantity::count;
use iotax_record::machine::{
    ControlGroups, GroupIoLimits, GroupMemory, Machine, MemorySeen, NetworkSeen,
};

use crate::{bandwidth, format};

/// Facts that affect this process's I/O on any path.
pub fn facts(machine: &Machine) -> Vec<(&'static str, String)> {
    let environment = &machine.environment;
    let known = |texts: &[&Option<String>]| {
        let texts: Vec<&str> = texts.iter().filter_map(|text| text.as_deref()).collect();
        (!texts.is_empty()).then(|| texts.join(", "))
    };
    let facts = [
        ("machine", known(&[&environment.host, &environment.hypervisor])),
        ("system", known(&[&environment.os, &environment.kernel])),
        ("cloud", cloud(machine)),
        ("CPU", (environment.cpus > 0).then(|| cpu(machine))),
        ("memory", memory(machine)),
        ("waiting", waiting(machine)),
        ("group", groups(&machine.groups)),
        ("network", machine.network.as_ref().map(network)),
        ("confidential VM", machine.confidential.kind.clone()),
    ];
    let known = facts.into_iter().filter_map(|(name, value)| Some((name, value?)));
    known.filter(|(_, value)| !value.is_empty()).collect()
}

fn cloud(machine: &Machine) -> Option<String> {
    let cloud = machine.cloud.as_ref()?;
    let mut facts = vec![format!("{} {}", cloud.cloud, cloud.vm)];
    facts.extend(cloud.region.clone());
    if let Some(encrypts) = cloud.encryption_at_host {
        facts.push(format!("encryption at host {}", if encrypts { "on" } else { "off" }));
    }
    facts.extend(cloud.security_type.clone());
    Some(facts.join(", "))
}

fn cpu(machine: &Machine) -> String {
    let environment = &machine.environment;
    let mut facts = vec![count(environment.cpus, "CPU")];
    facts.extend(environment.cpu_model.clone());
    if environment.cpu_aes == Some(false) {
        facts.push("no AES instructions".to_owned());
    }
    facts.join(", ")
}

fn memory(machine: &Machine) -> Option<String> {
    let MemorySeen { available_bytes, dirty_bytes, dirty_threshold_bytes, .. } = &machine.memory;
    let bytes = iotax_quantity::size;
    let mut facts: Vec<String> = machine.environment.memory_bytes.map(bytes).into_iter().collect();
    facts.extend(available_bytes.map(|free| format!("{} available", bytes(free))));
    if let (Some(dirty), Some(most)) = (dirty_bytes, dirty_threshold_bytes) {
        facts.push(format!("{} dirty of {}", bytes(*dirty), bytes(*most)));
    }
    (!facts.is_empty()).then(|| facts.join(", "))
}

fn waiting(machine: &Machine) -> Option<String> {
    let io = machine.memory.io_pressure?;
    let share = format::percent(io.some_300s_percent / 100.0);
    Some(format!("at least one task waited for I/O during {share} of the last 5 minutes"))
}

fn groups(groups: &ControlGroups) -> Option<String> {
    let mut facts: Vec<String> = groups.io.iter().map(io_limits).collect();
    if let Some(cpu) = &groups.cpu
        && let Some(cpus) = cpu.cpus
    {
        facts.push(format!(
            "{} CPUs ({} of {} periods throttled)",
            iotax_quantity::exact(cpus),
            iotax_quantity::grouped(cpu.throttled_periods),
            iotax_quantity::grouped(cpu.periods)
        ));
    }
    facts.extend(groups.memory.as_ref().and_then(memory_limit));
    (!facts.is_empty()).then(|| facts.join(", "))
}

fn network(seen: &NetworkSeen) -> String {
    let NetworkSeen { namespace, encrypting, conntrack, tcp, .. } = seen;
    let mut facts: Vec<String> = namespace.clone().into_iter().collect();
    facts.extend(tcp.congestion_control.clone());
    let most = |name: &str, bytes: Option<u64>| {
        bytes.map(|bytes| format!("{name} buffers of up to {}", iotax_quantity::size(bytes)))
    };
    facts.extend(most("receive", tcp.most_receive_bytes));
    facts.extend(most("send", tcp.most_send_bytes));
    facts.extend(conntrack.map(|table| {
        let [count, max] = [table.count, table.max].map(iotax_quantity::grouped);
        format!("{count} of {max} connections tracked")
    }));
    if !encrypting.is_empty() {
        let encrypting: Vec<String> = encrypting.iter().map(ToString::to_string).collect();
        facts.push(format!("encrypting: {}", encrypting.join(" ")));
    }
    facts.join(", ")
}

fn io_limits(limits: &GroupIoLimits) -> String {
    let each = [
        (limits.read_iops, "read", iotax_quantity::iops_limit as fn(f64) -> String),
        (limits.write_iops, "write", iotax_quantity::iops_limit),
        (limits.read_bw_bytes, "read", bandwidth::limit_rate),
        (limits.write_bw_bytes, "write", bandwidth::limit_rate),
    ];
    let rates = each
        .into_iter()
        .filter_map(|(limit, name, words)| Some(format!("{name} {}", words(limit?))));
    format!("{} allows {}", limits.group, rates.collect::<Vec<_>>().join(", "))
}

fn memory_limit(memory: &GroupMemory) -> Option<String> {
    let most = [memory.max_bytes, memory.high_bytes].into_iter().flatten().min()?;
    let current =
        memory.current_bytes.map(|bytes| format!(", {} in use", iotax_quantity::size(bytes)));
    Some(format!("{} of memory{}", iotax_quantity::size(most), current.unwrap_or_default()))
}
