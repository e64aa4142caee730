//! Every layer and its parameters, declared once: name, unit, default, meaning, and how the typed
//! [`Layer`] is built from them and taken apart again.
//!
//! Stack text, its errors, its canonical form and the listing for users all read this table. A new
//! layer is one entry here and one variant of [`Layer`].

use crate::error::Error;
use crate::stack::{Fault, Layer, Throttle};
use crate::text::arguments::{Arguments, Value};
use crate::units::Unit;

/// Every parameter of a layer in the catalog's order; `None` where it is left out.
pub(super) type Values = Vec<(&'static str, Option<Value>)>;

/// One layer as users know it.
pub struct LayerInfo {
    /// The word in stack text.
    pub name: &'static str,
    /// One line for listings.
    pub about: &'static str,
    /// Text that parses.
    pub example: &'static str,
    /// What can stand between its brackets, in canonical order.
    pub parameters: &'static [Parameter],
    pub(super) build: fn(&Arguments<'_>) -> Result<Layer, Error>,
    pub(super) values: fn(&Layer) -> Values,
}

/// One parameter of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// The word before the `=`.
    pub name: &'static str,
    /// How its value is written.
    pub unit: Unit,
    /// Its value when left out, as text; `None`: absent, or required where the layer says so.
    pub default: Option<&'static str>,
    /// One line for listings.
    pub about: &'static str,
}

const fn parameter(
    name: &'static str,
    unit: Unit,
    default: Option<&'static str>,
    about: &'static str,
) -> Parameter {
    Parameter { name, unit, default, about }
}

/// Disks consist of whole sectors of this size, so that every encryption sector size fits.
const SECTOR_BYTES: u64 = 4096;

/// All layers, bases first.
pub(super) static CATALOG: [LayerInfo; 8] = [MEM, FILE, AES, QUEUE, DELAY, THROTTLE, CACHE, FAULT];

const MEM: LayerInfo = LayerInfo {
    name: "mem",
    about: "base: a disk in memory",
    example: "mem(size=64M)",
    parameters: &[parameter("size", Unit::Size, Some("256M"), "size of the disk")],
    build: |arguments| Ok(Layer::Mem { size_bytes: disk_size(arguments)? }),
    values: |layer| match layer {
        Layer::Mem { size_bytes } => vec![("size", Some((*size_bytes).into()))],
        _ => vec![],
    },
};

const FILE: LayerInfo = LayerInfo {
    name: "file",
    about: "base: a disk in a file",
    example: "file(size=2G)",
    parameters: &[
        parameter("path", Unit::Path, None, "the file; left out: a nameless one that vanishes"),
        parameter("size", Unit::Size, Some("1G"), "size of the disk"),
    ],
    build: |arguments| {
        Ok(Layer::File { path: arguments.path("path"), size_bytes: disk_size(arguments)? })
    },
    values: |layer| match layer {
        Layer::File { path, size_bytes } => vec![
            ("path", path.as_ref().map(|path| path.to_string_lossy().into_owned().into())),
            ("size", Some((*size_bytes).into())),
        ],
        _ => vec![],
    },
};

const AES: LayerInfo = LayerInfo {
    name: "aes",
    about: "AES-XTS encryption, as dm-crypt does it",
    example: "aes(sector=512)",
    parameters: &[
        parameter("key", Unit::Choice(&["256"]), Some("256"), "strength in bits (two such keys)"),
        parameter(
            "sector",
            Unit::Choice(&["512", "4096"]),
            Some("4096"),
            "bytes encrypted as one unit",
        ),
    ],
    build: |arguments| {
        let (key_bits, sector_bytes) = (arguments.small("key")?, arguments.small("sector")?);
        Ok(Layer::Aes { key_bits, sector_bytes })
    },
    values: |layer| match layer {
        Layer::Aes { key_bits, sector_bytes } => vec![
            ("key", Some(key_bits.to_string().into())),
            ("sector", Some(sector_bytes.to_string().into())),
        ],
        _ => vec![],
    },
};

const QUEUE: LayerInfo = LayerInfo {
    name: "queue",
    about: "a hop through a work queue, as kcryptd's",
    example: "queue(workers=4)",
    parameters: &[parameter("workers", Unit::Count, Some("2"), "worker threads")],
    build: |arguments| Ok(Layer::Queue { workers: arguments.small("workers")? }),
    values: |layer| match layer {
        Layer::Queue { workers } => vec![("workers", Some(u64::from(*workers).into()))],
        _ => vec![],
    },
};

const DELAY: LayerInfo = LayerInfo {
    name: "delay",
    about: "added latency; I/Os in flight wait side by side",
    example: "delay(latency=260us)",
    parameters: &[
        parameter("latency", Unit::Duration, None, "mean of the added latency"),
        parameter("jitter", Unit::Duration, Some("0"), "uniform spread, plus or minus"),
    ],
    build: |arguments| {
        let (latency_ns, jitter_ns) = (arguments.whole("latency")?, arguments.whole("jitter")?);
        if jitter_ns > latency_ns {
            let advice = "write a jitter of at most the latency";
            return Err(arguments.refuse("jitter", "would make latencies negative", advice));
        }
        Ok(Layer::Delay { latency_ns, jitter_ns })
    },
    values: |layer| match layer {
        Layer::Delay { latency_ns, jitter_ns } => {
            vec![("latency", Some((*latency_ns).into())), ("jitter", Some((*jitter_ns).into()))]
        }
        _ => vec![],
    },
};

const THROTTLE: LayerInfo = LayerInfo {
    name: "throttle",
    about: "token buckets, as cloud disks are limited by",
    example: "throttle(iops=4000, bw=32M)",
    parameters: &[
        parameter("iops", Unit::Iops, None, "sustained I/Os per second"),
        parameter("bw", Unit::Bandwidth, None, "sustained bytes per second"),
        parameter("burst_iops", Unit::Iops, None, "I/Os per second while credits last"),
        parameter("burst_bw", Unit::Bandwidth, None, "bytes per second while credits last"),
        parameter("credits", Unit::Duration, None, "how long a full bucket pays for full burst"),
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
            ("group", limits.group.clone().map(Value::from)),
        ],
        _ => vec![],
    },
};

const CACHE: LayerInfo = LayerInfo {
    name: "cache",
    about: "read cache in memory, write-through",
    example: "cache(size=64M)",
    parameters: &[parameter("size", Unit::Size, None, "capacity")],
    build: |arguments| {
        let size_bytes = arguments.whole("size")?;
        if size_bytes < SECTOR_BYTES {
            return Err(arguments.refuse("size", "holds no sector", "write at least 4k"));
        }
        Ok(Layer::Cache { size_bytes })
    },
    values: |layer| match layer {
        Layer::Cache { size_bytes } => vec![("size", Some((*size_bytes).into()))],
        _ => vec![],
    },
};

const FAULT: LayerInfo = LayerInfo {
    name: "fault",
    about: "deliberate faults, to see what a failing disk does",
    example: "fault(eio=1%, after=1000)",
    parameters: &[
        parameter("eio", Unit::Share, Some("0"), "share of I/Os that fail with EIO"),
        parameter("after", Unit::Count, Some("0"), "I/Os that succeed before the first fault"),
        parameter("short", Unit::Share, Some("0"), "share of reads that return fewer bytes"),
        parameter("stall", Unit::Share, Some("0"), "share of I/Os that stall"),
        parameter("stall_time", Unit::Duration, Some("0"), "length of a stall"),
    ],
    build: fault,
    values: |layer| match layer {
        Layer::Fault(faults) => vec![
            ("eio", Some(faults.eio.into())),
            ("after", Some(faults.after_ios.into())),
            ("short", Some(faults.short.into())),
            ("stall", Some(faults.stall.into())),
            ("stall_time", Some(faults.stall_ns.into())),
        ],
        _ => vec![],
    },
};

fn disk_size(arguments: &Arguments<'_>) -> Result<u64, Error> {
    let size_bytes = arguments.whole("size")?;
    if size_bytes == 0 || !size_bytes.is_multiple_of(SECTOR_BYTES) {
        let problem = format!("{size_bytes} bytes are not whole sectors of 4096");
        return Err(arguments.refuse("size", problem, "write a multiple of 4k above 0"));
    }
    Ok(size_bytes)
}

fn throttle(arguments: &Arguments<'_>) -> Result<Layer, Error> {
    let limits = Throttle {
        iops: arguments.rate("iops")?,
        bw_bytes: arguments.rate("bw")?,
        burst_iops: arguments.rate("burst_iops")?,
        burst_bw_bytes: arguments.rate("burst_bw")?,
        credits_ns: arguments.whole_if_given("credits"),
        group: arguments.text("group"),
    };
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

fn fault(arguments: &Arguments<'_>) -> Result<Layer, Error> {
    let faults = Fault {
        eio: arguments.share("eio"),
        after_ios: arguments.whole("after")?,
        short: arguments.share("short"),
        stall: arguments.share("stall"),
        stall_ns: arguments.whole("stall_time")?,
    };
    if faults.eio == 0.0 && faults.short == 0.0 && faults.stall == 0.0 {
        let advice = "write fault(eio=1%), fault(short=1%) or fault(stall=1%, stall_time=1s)";
        return Err(arguments.refuse("eio", "nothing here ever fails", advice));
    }
    if (faults.stall > 0.0) != (faults.stall_ns > 0) {
        let advice = "for example fault(stall=1%, stall_time=1s)";
        return Err(arguments.refuse("stall", "needs both stall and stall_time", advice));
    }
    Ok(Layer::Fault(faults))
}
