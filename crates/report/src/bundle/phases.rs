//! The phases of a bundle as job files: one for a directory, one for a single file or device.

use std::collections::BTreeSet;

use iotax_dialects::fio::reach;
use iotax_dialects::fio_write::{self, Section};
use iotax_experiment::{Engine, Files, FioOption, Job, Spec, Workload};

use super::BundleFile;
use super::readme::word;
use crate::words::printable;

/// Starts of regions are whole MiB, so that any block size stays aligned.
const REGION_ALIGN_BYTES: u64 = 1 << 20;
const MICROSECOND_NS: u64 = 1000;

/// A phase as fio does it.
pub(super) struct Phase {
    /// `01`, `02`, ...
    pub(super) id: String,
    /// Where its results go within those of the bundle; `.` if it is the only one.
    pub(super) folder: String,
    pub(super) name: String,
    /// Its jobs; none if fio can do none of them.
    pub(super) sections: Vec<Section>,
    /// Names of its jobs, and of their sections.
    pub(super) jobs: Vec<(String, String)>,
    /// Name of the section of the primary job.
    pub(super) primary: Option<String>,
    /// Whether a job writes.
    writes: bool,
    /// Bytes of all its files in a directory.
    bytes: u64,
    /// Where its jobs lie in a single file.
    spans: Vec<Span>,
    /// What fio cannot do of it.
    pub(super) without: Vec<String>,
}

/// Where the threads of a job lie in a single file, if there is room for all.
struct Span {
    size: u64,
    start: u64,
    increment: u64,
    threads: u32,
    offset: u64,
}

/// The phases of an experiment, also those that fio cannot do.
pub(super) fn phases(spec: &Spec) -> Vec<Phase> {
    let several = spec.phases().count() > 1;
    let number = |(n, workload): (usize, &Workload)| phase(n + 1, workload, several);
    spec.phases().enumerate().map(number).collect()
}

fn phase(number: usize, workload: &Workload, several: bool) -> Phase {
    let id = format!("{number:02}");
    let (mut without, workload) = within_reach(workload);
    without.extend(fio_write::without(&workload));
    let jobs: Vec<&Job> =
        workload.jobs.iter().filter(|job| job.engine != Engine::Metadata).collect();
    let mut sections = fio_write::sections(&workload);
    for (section, job) in sections.iter_mut().zip(&jobs) {
        times(section, &workload, job);
    }
    let primary = jobs.iter().position(|job| job.name == workload.primary);
    let folder = if several { format!("{id}-{}", word(&workload.name)) } else { ".".into() };
    Phase {
        folder: folder.trim_end_matches('-').to_owned(),
        jobs: jobs
            .iter()
            .zip(&sections)
            .map(|(job, section)| (job.name.clone(), section.name.clone()))
            .collect(),
        primary: primary.map(|n| sections[n].name.clone()),
        name: workload.name.clone(),
        writes: jobs.iter().any(|job| job.writes()),
        bytes: bytes(&jobs),
        spans: spans(&jobs),
        id,
        sections,
        without,
    }
}

/// The workload as far as its options of fio are known to stay inside the target, since a record
/// may come from elsewhere. Where an option that makes the job what it is would be missing, the job
/// is.
fn within_reach(workload: &Workload) -> (Vec<String>, Workload) {
    let mut workload = workload.clone();
    let mut dropped = Vec::new();
    workload.jobs.retain_mut(|job| {
        let stays = |option: &FioOption| {
            reach::stays_in_target(&option.name, option.value.as_deref().unwrap_or_default())
        };
        let (kept, lost): (Vec<_>, Vec<_>) = job.fio.drain(..).partition(stays);
        job.fio = kept;
        let is_whole = lost.iter().all(|option| option.beyond.is_none());
        let what = if is_whole { "goes without" } else { "is left out, for it needs" };
        dropped.extend(lost.iter().filter(|lost| is_whole || lost.beyond.is_some()).map(|lost| {
            format!(
                "job {} {what} option {}: a bundle gives fio only options that it knows to stay \
                 inside the target",
                printable(&job.name),
                printable(&lost.name)
            )
        }));
        is_whole
    });
    (dropped, workload)
}

/// The measured window is the same for all jobs, although fio counts a job's ramp from its start.
fn times(section: &mut Section, workload: &Workload, job: &Job) {
    let times = fio_write::times(job, workload.ramp_ns, workload.time_ns);
    let (ramp_ns, run_ns) = times.map_or((0, 0), |times| (times.ramp_ns, times.run_ns));
    let microseconds = |ns: u64| format!("{}us", ns.div_ceil(MICROSECOND_NS));
    section.set("runtime", microseconds(run_ns.max(MICROSECOND_NS)));
    if ramp_ns > 0 {
        section.set("ramp_time", microseconds(ramp_ns));
    }
}

/// Bytes of all files, each counted once.
fn bytes(jobs: &[&Job]) -> u64 {
    let mut shared = BTreeSet::new();
    let of_job = |job: &&Job| {
        let file = job.size_bytes.saturating_add(job.offset_bytes);
        match &job.files {
            _ if job.engine == Engine::Null => 0,
            Files::PerThread => file.saturating_mul(job.threads.into()),
            // Of several sizes of one file the sum is an upper bound, which is what is asked.
            Files::Shared(name) => {
                if shared.insert((name.clone(), file)) {
                    file
                } else {
                    0
                }
            }
        }
    };
    jobs.iter().map(of_job).fold(0, u64::saturating_add)
}

/// One region after the other, as native jobs lie in a single file; jobs that share a file share a
/// region.
fn spans(jobs: &[&Job]) -> Vec<Span> {
    let mut next = 0_u64;
    let mut shared: Vec<(&str, u64)> = Vec::new();
    let mut spans = Vec::new();
    for job in jobs {
        let region = job.size_bytes.saturating_add(job.offset_bytes);
        let region = region.checked_next_multiple_of(REGION_ALIGN_BYTES).unwrap_or(region);
        let (start, increment, threads) = match &job.files {
            Files::PerThread => (next, region, job.threads),
            Files::Shared(name) => {
                let known = shared.iter().find(|(known, _)| known == name);
                let start = known.map_or(next, |(_, start)| *start);
                shared.push((name, start));
                (start, 0, job.threads)
            }
        };
        let taken = region.saturating_mul(if increment == 0 { 1 } else { threads.into() });
        next = next.max(start.saturating_add(taken));
        spans.push(Span {
            size: job.size_bytes,
            start,
            increment,
            threads,
            offset: job.offset_bytes,
        });
    }
    spans
}

/// The lines of `phases.txt`.
pub(super) fn table(phases: &[Phase]) -> String {
    let line = |phase: &Phase| {
        let writes = if phase.writes { "yes" } else { "no" };
        let name = printable(&phase.name);
        format!("{}\t{writes}\t{}\t{}\t{name}\n", phase.id, phase.bytes, phase.folder)
    };
    phases.iter().filter(|phase| !phase.sections.is_empty()).map(line).collect()
}

pub(super) fn files(phase: &Phase) -> Vec<BundleFile> {
    if phase.sections.is_empty() {
        return Vec::new();
    }
    let head = format!("# {}\n", printable(&phase.name));
    let file = |name: &str, text: String| BundleFile {
        path: format!("jobs/{}{name}", phase.id),
        text,
        executable: false,
    };
    let mut in_file = phase.sections.clone();
    for (n, section) in (1..).zip(&mut in_file) {
        section.options.retain(|(option, _)| option != "nrfiles");
        section.set("filename", "target");
        section.set("size", format!("${{SIZE_{n}}}"));
        section.set("offset", format!("${{OFFSET_{n}}}"));
        section.set("offset_increment", format!("${{INCREMENT_{n}}}"));
    }
    let span = |(n, span): (usize, &Span)| {
        let Span { size, start, increment, threads, offset } = span;
        format!("{n} {size} {start} {increment} {threads} {offset}\n")
    };
    vec![
        file("-directory.fio", format!("{head}{}", fio_write::text(&phase.sections))),
        file("-file.fio", format!("{head}{}", fio_write::text(&in_file))),
        file(".spans", (1..).zip(&phase.spans).map(span).collect()),
    ]
}
