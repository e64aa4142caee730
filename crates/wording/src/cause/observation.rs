use iotax_catalog::Direction;
use iotax_diagnose::{Counted, Field, Names, Observation, QdiscSeen, Source, Value};
use iotax_quantity::{bit_rate, bytes, gib, grouped, percent, set_time, time, whole};
use serde::Serialize;

use super::limit::{disk_limits, figure, lowered, name, of_direction, rates};
use super::machine;
use super::names::listed;

/// An observation: where, in which field, and the value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SeenText {
    pub file: String,
    pub field: Option<String>,
    pub value: String,
}

pub fn observation(seen: &Observation) -> SeenText {
    let Observation { source: from, field: of, value: is } = seen;
    SeenText { file: source(from), field: of.as_ref().map(field), value: value(is) }
}

/// `/sys/block/sda/queue/scheduler: bfq`.
pub fn seen(one: &Observation) -> String {
    let SeenText { file, field, value } = observation(one);
    match field {
        Some(field) => format!("{file}, {field}: {value}"),
        None => format!("{file}: {value}"),
    }
}

fn source(source: &Source) -> String {
    let text = match source {
        Source::File(file) => file,
        Source::Object { kind, name } => return format!("{kind} {name}"),
        Source::Metadata => "instance metadata",
        Source::Told => "specified by you",
        Source::ToldOfPath => "specified by you for this path",
        Source::Documented => "documented limits",
        Source::KernelLog => "kernel log",
        Source::NvmeLogPage => "NVMe log page 0xD0",
        Source::Datagrams => "datagrams to the peer",
        Source::MtuAfterwards => "IP_MTU afterwards",
        Source::RoundTrip => "round trip",
        Source::TunnelHeaders => "the tunnel's headers",
    };
    text.to_owned()
}

fn field(field: &Field) -> String {
    match field {
        Field::Raw(text) => text.clone(),
        Field::Of { of, what } => format!("{of}: {what}"),
        Field::NfsOption { mount, option } => format!("{mount}: opts, {option}"),
        Field::NfsMostSlots(mount) => format!("{mount}: xprt, maximum slots"),
        Field::NfsTransmissions(mount) => format!("{mount}: operation transmissions"),
        Field::NfsMajorTimeouts(mount) => format!("{mount}: major timeouts"),
        Field::ContentsOfDevice(mount) => format!("{mount}: file system on the device"),
        Field::ListensOn(port) => format!("listens on port {port}"),
        Field::XtsDriver => "xts(aes) driver".to_owned(),
        Field::CpuFlag(flag) => format!("flag {flag}"),
        Field::KernelRelease => "release and version".to_owned(),
        Field::LargestArrived => "largest that arrived".to_owned(),
        Field::SmallestLost => "smallest that was lost".to_owned(),
        Field::HostCache => "host cache".to_owned(),
        Field::Limit { scope, of, direction } => match direction {
            Direction::Both => name(*scope, of),
            Direction::Read => format!("{}, read", name(*scope, of)),
            Direction::Write => format!("{}, write", name(*scope, of)),
        },
        Field::VmVariant { vm, variant } => format!("{vm} ({variant}), IOPS"),
        Field::Together { of, counted, direction } => {
            let counted = match counted {
                Counted::Iops => "IOPS",
                Counted::Bytes => "bytes",
            };
            let of = of.as_deref().unwrap_or("volumes");
            format!("{of}, {counted}{}", of_direction(*direction))
        }
        Field::DiskOf { disk, claims } if claims.first.is_empty() => {
            format!("{disk}, as an example")
        }
        Field::DiskOf { disk, claims } => format!("{disk} ({})", names_and_more(claims)),
        Field::DefaultAnnotation => "annotation is-default-class".to_owned(),
        Field::Condition(kind) => format!("condition {kind}"),
        Field::InstanceType => "label node.kubernetes.io/instance-type".to_owned(),
        Field::VmSize => "VM size".to_owned(),
        Field::Parameter(name) => format!("parameters, {name}"),
        Field::DriversChoice => "type, the driver's default".to_owned(),
        Field::Allocatable(driver) => format!("{driver}, allocatable"),
        Field::OfThisClass => "of this class".to_owned(),
    }
}

fn value(value: &Value) -> String {
    match value {
        Value::Raw(text) => text.clone(),
        Value::Bytes(count) => bytes(*count as f64),
        Value::WholeGib(count) => gib(*count as f64),
        Value::TimeNs(ns) => time(*ns as f64),
        Value::Percent(share) => percent(share / 100.0),
        Value::Count(count) => grouped(*count),
        Value::OfAll { part, all } => format!("{part} of {all}"),
        Value::Rate { counted, per_s } => figure(*counted, *per_s),
        Value::Peak(peak) => machine::confidential::peak(*peak),
        Value::Limit(limit) => rates(limit),
        Value::DiskLimits(disk) => disk_limits(disk),
        Value::Lowered { counted, direction, rate } => lowered(*counted, *direction, rate),
        Value::GroupRates(rates) => machine::groups::rates(*rates),
        Value::Qdisc(qdisc) => qdisc_seen(qdisc),
        Value::Member { bytes: size, kind } => {
            format!("{} ({})", bytes(*size as f64), machine::raid::member(kind))
        }
        Value::Vdevs(vdevs) => {
            let each = vdevs.iter().map(|(kind, disks)| format!("{kind} of {disks} disks"));
            each.collect::<Vec<_>>().join(", ")
        }
        Value::LogDevice(true) => "a log device".to_owned(),
        Value::LogDevice(false) => "no log device".to_owned(),
        Value::Names(names) => names_and_more(names),
        Value::All(names) => listed(names),
        Value::NoneOf(names) => format!("on none of {}", listed(names)),
        Value::DefaultSince(made) if made.is_empty() => "true".to_owned(),
        Value::DefaultSince(made) => format!("true, created {made}"),
        Value::PoliciesHold => "policies apply".to_owned(),
        Value::OneDirectory => "1 directory".to_owned(),
        Value::TemporaryDisk => "a temporary disk".to_owned(),
        Value::SystemDisk => "operating system disk".to_owned(),
        Value::NoMultichannel => "no multichannel".to_owned(),
    }
}

/// `a, b and 3 more`.
fn names_and_more(names: &Names) -> String {
    let more = if names.more > 0 { format!(" and {} more", names.more) } else { String::new() };
    format!("{}{more}", names.first.join(", "))
}

fn qdisc_seen(qdisc: &QdiscSeen) -> String {
    let parts = [
        qdisc.bits_per_s.map(|rate| format!("rate {}", bit_rate(rate))),
        qdisc.delay_ns.map(|ns| format!("delay {}", set_time(whole(ns)))),
        qdisc.loss.map(|share| format!("loss {}", percent(share))),
        (qdisc.dropped > 0).then(|| format!("dropped {}", grouped(qdisc.dropped))),
        (qdisc.overlimits > 0).then(|| format!("overlimits {}", grouped(qdisc.overlimits))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
