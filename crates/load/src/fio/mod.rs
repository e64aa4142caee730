//! The program fio as a load driver: the same files and workload, but fio's engines.
//!
//! iotax lays out the test files, so that both drivers read the same data; fio may neither create
//! nor extend files. The job file is passed through standard input and the result comes from
//! standard output. Both are anonymous memory, and so are the logs for the series of every second.
//! So a killed run leaves nothing behind, and fio dies with it.

mod record;
mod refusal;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use iotax_dialects::fio::options::Version;
use iotax_dialects::fio_write::{Section, Times, is_writable, sections, text, times};
use iotax_dialects::importers::fio as result;
use iotax_experiment::units::format_duration;
use iotax_experiment::{Bound, Job, Target, Workload};
use iotax_record::LoadRecord;

use crate::child::{Child, Ending};
use crate::counters::Watch;
use crate::driver::{LayoutProgress, LoadDriver, Request};
use crate::error::Error;
use crate::file_assignment::{FilePlace, Places};
use crate::layout::{PlacedParts, TargetPart, parts};
use crate::target::{IoTarget, shown};
use crate::{child, layout};
use record::Logs;

pub use refusal::refuse_with_fio;

const NAME: &str = "fio";
/// Beyond ramp and time: fio's own start, its last I/Os, and its report.
const GRACE: Duration = Duration::from_secs(30);
/// How long `fio --version` may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Drives I/O with the program fio.
#[derive(Debug, Clone)]
pub struct Fio {
    program: PathBuf,
    /// Its version, if it could be parsed.
    version: Option<Version>,
    grace: Duration,
}

impl Fio {
    /// Whether this fio can do a workload on a target, before anything is made.
    ///
    /// # Errors
    /// If fio cannot do it there, or only a newer version can.
    pub fn check(&self, workload: &Workload, target: &Target) -> Result<(), Error> {
        refuse_with_fio(workload, target)?;
        refusal::check_versions(workload, self.version)
    }

    /// The fio that a shell would run.
    ///
    /// # Errors
    /// [`Error::NoProgram`] if there is none, [`Error::Program`] if it does not print its version.
    pub fn find() -> Result<Self, Error> {
        Self::at(&child::find_program(NAME)?)
    }

    /// The fio at this path.
    ///
    /// # Errors
    /// As [`Fio::find`].
    pub fn at(program: &Path) -> Result<Self, Error> {
        let never = AtomicBool::new(false);
        let said = Child::new(NAME, program, ["--version"]).run(PATIENCE, &never, &mut |_| ())?;
        said.succeeded("print its version", &format_duration(nanos(PATIENCE)))?;
        if said.out.starts_with("fio") {
            let version = Version::parse(&said.out);
            Ok(Self { program: program.to_owned(), version, grace: GRACE })
        } else {
            Err(said.failed("did not print a version; check that it is fio"))
        }
    }

    /// Sets how long to wait for fio to end after ramp and time; the default is 30 seconds.
    #[must_use]
    pub fn with_grace(self, grace: Duration) -> Self {
        Self { grace, ..self }
    }

    /// Refuses what fio cannot do on some target, or must not.
    fn refuse<'a>(
        &self,
        workload: &'a Workload,
        target: IoTarget<'a>,
    ) -> Result<Vec<TargetPart<'a>>, Error> {
        let parts = parts(workload, target)?;
        for part in &parts {
            refusal::refuse_at(&part.workload, part.target, self.version)?;
        }
        Ok(parts)
    }

    fn grace_text(&self) -> String {
        format_duration(nanos(self.grace))
    }
}

impl LoadDriver for Fio {
    fn prepare(
        &self,
        workload: &Workload,
        target: IoTarget<'_>,
        progress: &LayoutProgress<'_>,
        stop: &AtomicBool,
    ) -> Result<(), Error> {
        let parts = self.refuse(workload, target)?;
        parts
            .iter()
            .try_for_each(|part| layout::prepare(&part.workload, part.target, progress, stop))
    }

    fn run(&self, request: &Request<'_>) -> Result<LoadRecord, Error> {
        let Request { workload, target, stop, .. } = *request;
        self.refuse(workload, target)?;
        let parts = PlacedParts::resolve(workload, target)?;
        parts.refuse_foreign_files()?;
        let logs = Logs::new();
        let (text, names) = job_file(request, &parts, logs.as_ref())?;
        parts.make_ready(request.stop)?;
        let child = Child {
            input: &text,
            // If fio writes an unexpected file: into the target, or nowhere.
            directory: parts.directory().unwrap_or(Path::new("/proc/self")),
            ..Child::new(NAME, &self.program, arguments(workload))
        };
        let mut watch = Watch::new(request.ramp_ns, request.time_ns);
        let own_ns = request.ramp_ns.saturating_add(request.time_ns);
        let limit = Duration::from_nanos(own_ns).saturating_add(self.grace);
        let said = child.run(limit, stop, &mut |pid| watch.glance(pid));
        // In any case: iotax itself may use these files in the next trial.
        parts.mark_again()?;
        let said = said?;
        if said.ending != Ending::Stopped {
            let own = format_duration(own_ns);
            let within =
                format!("{own} (ramp and time) plus a grace period of {}", self.grace_text());
            said.succeeded("end", &within)?;
        }
        let found = result::read_fio(&said.out)
            .map_err(|error| said.failed(&format!("produced no usable result: {error}")))?;
        let mut load = record::of(request, &names, found, &said.err, watch);
        if let Some(logs) = logs {
            record::add_series(request, &logs, &mut load);
        }
        Ok(load)
    }
}

fn arguments(workload: &Workload) -> Vec<&'static str> {
    let mut arguments = vec!["--output-format=json+", "--eta=never"];
    if !workload.jobs.iter().any(Job::writes) {
        // fio's own guard, whatever options were handed on to it.
        arguments.push("--readonly");
    }
    arguments.push("-");
    arguments
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

// The job file: the workload in fio's syntax, on exactly the files that iotax has laid out.

/// Options that follow from target and trial; their values in a job file are ignored here.
const OURS: &str = "\
    allow_file_create bwavgtime create_on_open create_only directory disable_bw_measurement \
    fallocate file_append filename filename_format filesize fill_device fill_fs \
    group_reporting iopsavgtime log_alternate_epoch log_alternate_epoch_clock_id \
    log_avg_msec log_compression log_compression_cpus log_entries log_max_value log_offset \
    log_prio log_store_compressed log_unix_epoch log_window_value new_group numjobs opendir \
    overwrite per_job_logs ramp_time randseed runtime size stonewall thread timeout \
    unified_rw_reporting unique_filename unlink unlink_each_loop verify_state_save wait_for \
    write_bw_log write_iops_log";

/// The job file, and for each job the name under which fio reports it; `None` if no part of it is
/// in the measured window. Jobs in the window write logs, if there is a place for these.
fn job_file(
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

/// Global options that keep fio from touching files that are not ours.
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
fn into_window_ns(request: &Request<'_>, job: &Job) -> u64 {
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
            "option {} ({}) requires all threads to share one file, but each has its own file here",
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

/// fio treats `:` as the end of a name and `$` as the start of a variable, and has its own rules
/// for quotes and backslashes.
fn file_name(path: &Path, job: &Job) -> Result<String, Error> {
    let plain = |text: &&str| is_writable(text) && !text.contains(['$', '"', '\'', '\\', '`']);
    match path.to_str().filter(plain) {
        Some(text) => Ok(text.replace(':', "\\:")),
        None => Err(Error::unsuitable(
            job,
            format!(
                "fio cannot use {}: its name has a character that job files cannot contain",
                shown(path).display()
            ),
        )),
    }
}
