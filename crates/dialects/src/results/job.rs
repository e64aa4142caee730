//! What a result tells of the load it was made with.

use std::path::Path;

use iotax_experiment::{BlockSizes, Engine, FioOption, Job, Pace, Pattern, Trims};
use iotax_record::JobRecord;

use super::sameness::bytes;

/// The job as far as it is known. Nothing is driven by it: fields that say how are those of a
/// plain job, and what the result does say is in `fio`, as it says it.
pub(super) fn of(record: &JobRecord, options: &[(String, String)], file: &Path) -> Job {
    let value = |name: &str| {
        options.iter().rev().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    };
    let access = value("rw").or_else(|| value("readwrite")).unwrap_or_default();
    let (reads, writes) = (record.read.ios, record.write.ios);
    let read_percent = (reads * 100).checked_div(record.ios()).unwrap_or(100);
    let trims = if writes == 0 { Trims::Only } else { Trims::First };
    let block = value("bs").and_then(bytes).and_then(|bytes| u32::try_from(bytes).ok());
    let syncs = ["fdatasync", "fsync"].into_iter().filter_map(|name| value(name)?.parse().ok());
    let syncs = syncs.filter(|every| *every > 0).min();
    // Whatever the options are, it did.
    let seen = record.sync.count().max(record.sync_summary.as_ref().map_or(0, |(count, _)| *count));
    let seen = (seen > 0).then(|| u32::try_from(writes / seen).unwrap_or(u32::MAX).max(1));
    let is_it = |engine: &&Engine| engine.is_network() && engine.name() == record.engine;
    let engine = Engine::ALL.iter().find(is_it);
    let offered = record.offered_ios.filter(|_| engine.is_some() && record.active_ns > 0);
    let iops = offered.map(|ios| ios as f64 * 1e9 / record.active_ns as f64);
    let plain = Job::new(record.name.clone());
    Job {
        engine: engine.copied().unwrap_or(plain.engine),
        pace: iops.map_or(Pace::Closed, |iops| Pace::Even { iops }),
        threads: record.threads.max(1),
        queue_depth: record.queue_depth.max(1),
        read_percent: u8::try_from(read_percent).unwrap_or(100),
        trims: record.trim.is_some().then_some(trims),
        pattern: if access.starts_with("rand") { Pattern::Random } else { Pattern::Sequential },
        block_sizes: block.map_or(plain.block_sizes.clone(), BlockSizes::Fixed),
        size_bytes: value("size").and_then(bytes).unwrap_or(0),
        direct: false,
        fsync_every: syncs.or(seen),
        fio: options.iter().map(|(name, value)| option(name, value, file)).collect(),
        ..plain
    }
}

fn option(name: &str, value: &str, file: &Path) -> FioOption {
    FioOption {
        name: name.to_owned(),
        value: (!value.is_empty()).then(|| value.to_owned()),
        place: file.display().to_string(),
        beyond: None,
    }
}
