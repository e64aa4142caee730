//! What another tool has measured, as one result.

use std::path::Path;

use iotax_experiment::{BlockSizes, Engine, FioOption, Job, Pace, Pattern, Trims};
use iotax_record::{JobRecord, LoadRecord, Outcome};

use super::file::{Measured, ResultFile, Run};
use crate::importers::options::bytes;
use crate::importers::{Imported, Options, system};

/// The result in `file`.
pub(super) fn of_tool(arm: usize, file: &Path, found: Imported) -> ResultFile {
    let Imported { tool, id, started, jobs, options, window_ns, far_end, warnings, .. } = found;
    let mut options = options.into_iter();
    let measured = jobs.into_iter().map(|record| {
        let options = options.next().unwrap_or_default();
        let job = job(&record, &options, file);
        let load = LoadRecord {
            driver: tool.clone(),
            window_ns,
            system: system(std::slice::from_ref(&record), far_end.as_ref()),
            far_end,
            jobs: vec![record],
            warnings: warnings.clone(),
            ..LoadRecord::default()
        };
        let (name, outcome) = (job.name.clone(), Outcome::Completed);
        let runs = vec![Run { started_ns: 0, outcome, load: Some(load) }];
        Measured { name, job, options, runs }
    });
    ResultFile {
        jobs: measured.collect(),
        arm,
        block: 0,
        file: file.to_owned(),
        tool,
        id,
        of: None,
        started,
        placed: None,
        warnings,
        // Service time is what fio and DiskSpd know, and what `run --format json` calls clat.
        counts_from_submission: true,
    }
}

/// The job as far as it is known. Nothing is driven by it: fields that say how are those of a
/// plain job, and what the result does say is in `fio`, as it says it.
fn job(record: &JobRecord, options: &Options, file: &Path) -> Job {
    let value = |name| options.value(name);
    let access = options.any(&["rw", "readwrite"]).unwrap_or_default();
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
        fio: options.0.iter().map(|(name, value)| option(name, value, file)).collect(),
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
