//! Layers that hold I/O back.

use super::info::{Form, LayerInfo, World, parameter};
use crate::error::Error;
use crate::stack::{CgroupIo, Counts, Flash, Layer, Throttle};
use crate::text::arguments::{Arguments, Value};
use crate::units::Unit;

pub(super) const THROTTLE: LayerInfo = LayerInfo {
    name: "throttle",
    about: "token buckets, as cloud disks are limited by",
    world: World::Both,
    takes: &[Form::File],
    gives: Some(Form::File),
    example: "throttle(iops=4000, bw=32M)",
    parameters: &[
        parameter("iops", Unit::Iops, None, "sustained I/Os per second"),
        parameter("bw", Unit::Bandwidth, None, "sustained bytes per second"),
        parameter("burst_iops", Unit::Iops, None, "I/Os per second while credits last"),
        parameter("burst_bw", Unit::Bandwidth, None, "bytes per second while credits last"),
        parameter("credits", Unit::Duration, None, "how long a full bucket pays for full burst"),
        parameter("unit", Unit::Size, None, "an I/O counts once for each of these it begins"),
        parameter(
            "counts",
            Unit::Choice(&["both", "reads", "writes"]),
            Some("both"),
            "what is limited; the rest passes",
        ),
        parameter("group", Unit::Name, None, "throttles of one group share their buckets"),
    ],
    build: throttle,
    values: |layer| match layer {
        Layer::Throttle(limits) => vec![
            ("iops", limits.iops.map(Value::from)),
            ("bw", limits.bw_bytes.map(Value::from)),
            ("burst_iops", limits.burst_iops.map(Value::from)),
            ("burst_bw", limits.burst_bw_bytes.map(Value::from)),
            ("credits", limits.credits_ns.map(Value::from)),
            ("unit", limits.io_unit_bytes.map(Value::from)),
            ("counts", Some(limits.counts.name().to_owned().into())),
            ("group", limits.group.clone().map(Value::from)),
        ],
        _ => vec![],
    },
};

pub(super) const FLASH: LayerInfo = LayerInfo {
    name: "flash",
    about: "a device that saturates: channels with a service time each",
    world: World::InProcess,
    takes: &[Form::File],
    gives: None,
    example: "flash(channels=8, latency=80us, bw=500M)",
    parameters: &[
        parameter("channels", Unit::Count, Some("8"), "I/Os served side by side"),
        parameter("latency", Unit::Duration, Some("80us"), "mean service time without bytes"),
        parameter("bw", Unit::Bandwidth, Some("500M"), "bytes per second of one channel"),
        parameter("jitter", Unit::Duration, Some("0"), "uniform spread, plus or minus"),
    ],
    build: flash,
    values: |layer| match layer {
        Layer::Flash(flash) => vec![
            ("channels", Some(u64::from(flash.channels).into())),
            ("latency", Some(flash.latency_ns.into())),
            ("bw", Some(flash.bw_bytes.into())),
            ("jitter", Some(flash.jitter_ns.into())),
        ],
        _ => vec![],
    },
};

pub(super) const CGROUP_IO: LayerInfo = LayerInfo {
    name: "cgroup-io",
    about: "the kernel's I/O limits for a group of processes, on the device below",
    example: "cgroup-io(read_iops=1000)",
    world: World::System,
    takes: &[Form::Block, Form::Directory],
    gives: None,
    parameters: &[
        parameter("read_iops", Unit::Count, None, "reads per second"),
        parameter("write_iops", Unit::Count, None, "writes per second"),
        parameter("read_bw", Unit::Size, None, "bytes read per second"),
        parameter("write_bw", Unit::Size, None, "bytes written per second"),
    ],
    build: cgroup_io,
    values: |layer| match layer {
        Layer::CgroupIo(limits) => vec![
            ("read_iops", limits.read_iops.map(Value::from)),
            ("write_iops", limits.write_iops.map(Value::from)),
            ("read_bw", limits.read_bw_bytes.map(Value::from)),
            ("write_bw", limits.write_bw_bytes.map(Value::from)),
        ],
        _ => vec![],
    },
};

fn throttle(arguments: &Arguments<'_>) -> Result<Layer, Error> {
    let limits = Throttle {
        iops: arguments.rate("iops")?,
        bw_bytes: arguments.rate("bw")?,
        burst_iops: arguments.rate("burst_iops")?,
        burst_bw_bytes: arguments.rate("burst_bw")?,
        credits_ns: arguments.whole_if_given("credits"),
        io_unit_bytes: arguments.whole_if_given("unit"),
        counts: arguments.text("counts").and_then(|text| Counts::named(&text)).unwrap_or_default(),
        group: arguments.text("group"),
    };
    if limits.io_unit_bytes.is_some_and(|unit| unit == 0 || limits.iops.is_none()) {
        let problem = "must be above 0, and have a limit on I/Os to count for";
        return Err(arguments.refuse("unit", problem, "for example iops=500, unit=256k"));
    }
    if limits.iops.is_none() && limits.bw_bytes.is_none() {
        let advice = "write throttle(iops=4000), throttle(bw=32M) or both";
        return Err(arguments.refuse("iops", "without iops or bw nothing is limited", advice));
    }
    for (name, burst, base) in [
        ("burst_iops", limits.burst_iops, limits.iops),
        ("burst_bw", limits.burst_bw_bytes, limits.bw_bytes),
    ] {
        if burst.is_some_and(|burst| base.is_none_or(|base| burst <= base)) {
            let problem = "must be above the sustained rate, which must be given too";
            return Err(arguments.refuse(name, problem, "for example iops=500, burst_iops=3500"));
        }
    }
    let bursts = limits.burst_iops.is_some() || limits.burst_bw_bytes.is_some();
    match (bursts, limits.credits_ns) {
        (true, None | Some(0)) => Err(arguments.refuse(
            "credits",
            "a burst needs to know how long a full bucket pays for it",
            "for example credits=30m, as Azure's disks have",
        )),
        (false, Some(_)) => Err(arguments.refuse(
            "credits",
            "credits without a burst rate buy nothing",
            "add burst_iops or burst_bw",
        )),
        _ => Ok(Layer::Throttle(limits)),
    }
}

fn flash(arguments: &Arguments<'_>) -> Result<Layer, Error> {
    let (latency_ns, jitter_ns) = (arguments.whole("latency")?, arguments.whole("jitter")?);
    if jitter_ns > latency_ns {
        let advice = "write a jitter of at most the latency";
        return Err(arguments.refuse("jitter", "would make service times negative", advice));
    }
    let bw_bytes = arguments.required_rate("bw")?;
    let channels = arguments.small("channels")?;
    Ok(Layer::Flash(Flash { channels, latency_ns, bw_bytes, jitter_ns }))
}

fn cgroup_io(arguments: &Arguments<'_>) -> Result<Layer, Error> {
    let limits = CgroupIo {
        read_iops: arguments.whole_if_given("read_iops"),
        write_iops: arguments.whole_if_given("write_iops"),
        read_bw_bytes: arguments.whole_if_given("read_bw"),
        write_bw_bytes: arguments.whole_if_given("write_bw"),
    };
    let all = [
        ("read_iops", limits.read_iops),
        ("write_iops", limits.write_iops),
        ("read_bw", limits.read_bw_bytes),
        ("write_bw", limits.write_bw_bytes),
    ];
    if let Some((name, _)) = all.iter().find(|(_, limit)| *limit == Some(0)) {
        return Err(arguments.refuse(name, "a limit of 0 would never let an I/O pass", ""));
    }
    if all.iter().all(|(_, limit)| limit.is_none()) {
        let advice = "write cgroup-io(read_iops=1000), cgroup-io(read_bw=32M) or more of them";
        return Err(arguments.refuse("read_iops", "nothing is limited", advice));
    }
    Ok(Layer::CgroupIo(limits))
}
