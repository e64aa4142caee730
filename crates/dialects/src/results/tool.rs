//! What another tool has measured, as one result.

use std::path::Path;

use iotax_record::{LoadRecord, Outcome};

use super::file::{Measured, ResultFile, Run};
use super::job;
use crate::importers::{Imported, system};

/// The result in `file`.
pub(super) fn of(arm: usize, file: &Path, found: Imported) -> ResultFile {
    let Imported { tool, id, started, jobs, options, window_ns, far_end, warnings, .. } = found;
    let mut options = options.into_iter();
    let measured = jobs.into_iter().map(|record| {
        let options = options.next().unwrap_or_default();
        let job = job::of(&record, &options, file);
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
    let jobs = measured.collect();
    let file = file.to_owned();
    // Service time is what fio and DiskSpd know, and what `run --format json` calls clat.
    let counts_from_submission = true;
    ResultFile {
        arm,
        block: 0,
        file,
        tool,
        id,
        of: None,
        started,
        placed: None,
        warnings,
        counts_from_submission,
        jobs,
    }
}
