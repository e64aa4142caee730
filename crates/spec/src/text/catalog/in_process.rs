//! Layers that live in this process.

use super::info::{Form, LayerInfo, SECTOR_BYTES, World, parameter};
use crate::error::Error;
use crate::stack::{Fault, Layer};
use crate::text::arguments::Arguments;
use crate::units::Unit;

pub(super) const AES: LayerInfo = LayerInfo {
    name: "aes",
    about: "AES-XTS encryption, as dm-crypt does it",
    world: World::InProcess,
    takes: &[Form::File],
    gives: None,
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

pub(super) const QUEUE: LayerInfo = LayerInfo {
    name: "queue",
    about: "a hop through a work queue, as kcryptd's",
    world: World::InProcess,
    takes: &[Form::File],
    gives: None,
    example: "queue(workers=4)",
    parameters: &[parameter("workers", Unit::Count, Some("2"), "worker threads")],
    build: |arguments| Ok(Layer::Queue { workers: arguments.small("workers")? }),
    values: |layer| match layer {
        Layer::Queue { workers } => vec![("workers", Some(u64::from(*workers).into()))],
        _ => vec![],
    },
};

pub(super) const DELAY: LayerInfo = LayerInfo {
    name: "delay",
    about: "added latency; I/Os in flight wait side by side",
    world: World::InProcess,
    takes: &[Form::File],
    gives: None,
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

pub(super) const CACHE: LayerInfo = LayerInfo {
    name: "cache",
    about: "read cache in memory, write-through",
    world: World::InProcess,
    takes: &[Form::File],
    gives: None,
    example: "cache(size=64M)",
    parameters: &[parameter("size", Unit::Size, None, "capacity")],
    build: |arguments| Ok(Layer::Cache { size_bytes: cache_size(arguments)? }),
    values: |layer| match layer {
        Layer::Cache { size_bytes } => vec![("size", Some((*size_bytes).into()))],
        _ => vec![],
    },
};

pub(super) const TIER: LayerInfo = LayerInfo {
    name: "tier",
    about: "read cache of any size, simulated: what is below is free for its hits",
    world: World::InProcess,
    takes: &[Form::File],
    gives: None,
    example: "tier(size=43G)",
    parameters: &[parameter("size", Unit::Size, None, "capacity")],
    build: |arguments| Ok(Layer::Tier { size_bytes: cache_size(arguments)? }),
    values: |layer| match layer {
        Layer::Tier { size_bytes } => vec![("size", Some((*size_bytes).into()))],
        _ => vec![],
    },
};

pub(super) const FAULT: LayerInfo = LayerInfo {
    name: "fault",
    about: "deliberate faults, to see what a failing disk does",
    world: World::InProcess,
    takes: &[Form::File],
    gives: None,
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

fn cache_size(arguments: &Arguments<'_>) -> Result<u64, Error> {
    let size_bytes = arguments.whole("size")?;
    if size_bytes < SECTOR_BYTES {
        return Err(arguments.refuse("size", "holds no sector", "write at least 4k"));
    }
    Ok(size_bytes)
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
