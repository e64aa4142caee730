//! The job file: the workload in fio's words, on exactly the files that iotax has laid out.

use std::path::Path;

use iotax_dialects::fio_write::{Section, Times, is_writable, sections, text, times};
use iotax_experiment::{Bound, Job};

use crate::driver::Request;
use crate::error::Error;
use crate::file_assignment::{FilePlace, Places};
use crate::parts::PlacedParts;
use crate::target::shown;

use super::logs::Logs;

/// Options that follow from target and trial; what a job file said of them does not count here.
const OURS: &str = "\
    allow_file_create bwavgtime create_on_open create_only directory disable_bw_measurement \
    fallocate file_append filename filename_format filesize fill_device fill_fs \
    group_reporting iopsavgtime log_alternate_epoch log_alternate_epoch_clock_id \
    log_avg_msec log_compression log_compression_cpus log_entries log_max_value log_offset \
    log_prio log_store_compressed log_unix_epoch log_window_value new_group numjobs opendir \
    overwrite per_job_logs ramp_time randseed runtime size stonewall thread timeout \
    unified_rw_reporting unique_filename unlink unlink_each_loop verify_state_save wait_for \
    write_bw_log write_iops_log";

/// The job file, and for each job the name under which fio reports it; `None` if nothing of it is
/// in the measured window. Those that are log what they do, where there is a place for it.
pub(super) fn of(
    request: &Request<'_>,
    parts: &PlacedParts<'_>,
    logs: Option<&Logs>,
) -> Result<(String, Vec<Option<String>>), Error> {
    let mut all = vec![global(request.seed)];
    let mut names = Vec::new();
    let jobs = request.workload.jobs.iter().zip(sections(request.workload));
    for (number, (job, section)) in jobs.enumerate() {
        let (_, places, own) = parts.of_job(number);
        let Some(times) = times(job, request.ramp_ns, request.time_ns) else {
            names.push(None);
            continue;
        };
        names.push(times.measured.then(|| section.name.clone()));
        let mut base = base(section, job, times);
        if let Some(logs) = logs.filter(|_| times.measured) {
            logs.ask(&mut base, number);
        }
        all.extend(of_threads(&base, job, own, places)?);
    }
    Ok((text(&all), names))
}

/// fio's defaults for what might touch files that are not ours.
fn global(seed: u64) -> Section {
    let options = [
        // fio multiplies it: 0 would be the same for all threads. It reads a signed number.
        ("randseed", (seed >> 1 | 1).to_string()),
        ("thread", "1".to_owned()),
        ("allow_file_create", "0".to_owned()),
        ("fallocate", "none".to_owned()),
        ("verify_state_save", "0".to_owned()),
        // Without it bins and percentiles of two kinds of latency would be missing.
        ("clat_percentiles", "1".to_owned()),
    ];
    let options = options.map(|(name, value)| (name.to_owned(), Some(value))).to_vec();
    Section { name: "global".to_owned(), options }
}

/// How long after the trial's window that of a job opens.
pub(super) fn into_window_ns(request: &Request<'_>, job: &Job) -> u64 {
    job.start_delay_ns.saturating_sub(request.ramp_ns)
}

fn base(mut section: Section, job: &Job, times: Times) -> Section {
    section.options.retain(|(name, _)| !OURS.split(' ').any(|ours| ours == name));
    let us = |ns: u64| format!("{}us", ns.div_ceil(1000));
    section.set("runtime", us(times.run_ns));
    if times.ramp_ns > 0 {
        section.set("ramp_time", us(times.ramp_ns));
    }
    section.set("group_reporting", "1");
    if job.bound == Bound::Time {
        section.set("time_based", "1");
    }
    section
}

/// One section for all threads if they share a place, else one for each.
fn of_threads(
    base: &Section,
    job: &Job,
    own: &[FilePlace],
    places: &Places,
) -> Result<Vec<Section>, Error> {
    let Some(first) = own.first() else { return Ok(Vec::new()) };
    if own.iter().all(|place| place == first) {
        let mut section = placed(base.clone(), job, first, places)?;
        section.set("new_group", "1");
        section.set("numjobs", own.len().to_string());
        return Ok(vec![section]);
    }
    if let Some(option) = job.fio.iter().find(|option| option.name == "offset_increment") {
        let what = format!(
            "option {} ({}) counts threads of one file, but each of them has its own here",
            option.name, option.place
        );
        return Err(Error::unsuitable(job, what));
    }
    (0..)
        .zip(own)
        .map(|(thread, place)| {
            let mut section = placed(base.clone(), job, place, places)?;
            if thread == 0 {
                // The others join its group, and are reported with it under its name.
                section.set("new_group", "1");
            } else {
                section.name = format!("{}.{thread}", base.name);
            }
            Ok(section)
        })
        .collect()
}

fn placed(
    mut section: Section,
    job: &Job,
    place: &FilePlace,
    places: &Places,
) -> Result<Section, Error> {
    let names = place.files.iter().map(|file| file_name(&places.files[*file].path, job));
    let names: Vec<String> = names.collect::<Result<_, _>>()?;
    section.set("filename", names.join(":"));
    // To fio it is that of all files together.
    section.set("size", (place.span.bytes * names.len() as u64).to_string());
    if place.span.start > 0 {
        section.set("offset", place.span.start.to_string());
    }
    if job.engine.does_nothing() {
        section.set("allow_file_create", "1");
    }
    Ok(section)
}

/// fio takes `:` for the end of a name, `$` for the start of a variable, and reads quotes and
/// backslashes its own way.
fn file_name(path: &Path, job: &Job) -> Result<String, Error> {
    let plain = |text: &&str| is_writable(text) && !text.contains(['$', '"', '\'', '\\', '`']);
    match path.to_str().filter(plain) {
        Some(text) => Ok(text.replace(':', "\\:")),
        None => Err(Error::unsuitable(
            job,
            format!(
                "fio cannot be told of {}: its name has a character that job files cannot hold",
                shown(path).display()
            ),
        )),
    }
}
