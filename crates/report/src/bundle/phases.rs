//! Job files of each phase: one for a directory, one for a single file or device.

use std::collections::BTreeSet;

use iotax_dialects::fio::reach;
use iotax_dialects::fio_write::{self, Section};
use iotax_experiment::{Engine, Files, FioOption, Job, Spec, Workload};

use super::readme::word;
use super::{BundleFile, Recorded, replay};
use crate::words::printable;

/// Regions start at whole MiB, so that all block sizes are aligned.
const REGION_ALIGN_BYTES: u64 = 1 << 20;
const MICROSECOND_NS: u64 = 1000;

/// A phase for fio.
pub(super) struct Phase {
    /// `01`, `02`, ...
    pub(super) id: String,
    /// Folder of its results; `.` if it is the only phase.
    pub(super) folder: String,
    pub(super) name: String,
    /// Its jobs; empty if fio can run none of them.
    pub(super) sections: Vec<Section>,
    /// Names of its jobs and of their sections.
    pub(super) jobs: Vec<(String, String)>,
    /// Name of the section of the primary job.
    pub(super) primary: Option<String>,
    /// Whether a job writes.
    writes: bool,
    /// Bytes of all its files in a directory.
    bytes: u64,
    /// Regions of its jobs in a single file.
    spans: Vec<Span>,
    /// The recording that it replays.
    recorded: Option<Recorded>,
    /// What fio cannot repeat.
    pub(super) without: Vec<String>,
}

/// Regions of a job's threads in a single file, if there is room for all.
struct Span {
    size: u64,
    start: u64,
    increment: u64,
    threads: u32,
    offset: u64,
}

impl Phase {
    pub(super) const fn is_recorded(&self) -> bool {
        self.recorded.is_some()
    }
}

/// All phases of an experiment, also those that fio cannot run.
pub(super) fn phases(spec: &Spec, recorded: &[Recorded]) -> Vec<Phase> {
    let several = spec.phases().count() > 1;
    let number = |(n, workload): (usize, &Workload)| match recorded.iter().find(|r| r.phase == n) {
        Some(recorded) => replayed(n + 1, workload, recorded, several),
        None => phase(n + 1, workload, several),
    };
    spec.phases().enumerate().map(number).collect()
}

fn replayed(number: usize, workload: &Workload, recorded: &Recorded, several: bool) -> Phase {
    let phase = phase(number, workload, several);
    let sections = vec![replay::section(&phase.id, recorded.direct)];
    let jobs: Vec<&Job> = workload.jobs.iter().collect();
    Phase {
        jobs: jobs.iter().map(|job| (job.name.clone(), sections[0].name.clone())).collect(),
        primary: Some(sections[0].name.clone()),
        writes: workload.overwrites(),
        bytes: bytes(&jobs),
        sections,
        without: recorded.without.clone(),
        recorded: Some(recorded.clone()),
        ..phase
    }
}

fn phase(number: usize, workload: &Workload, several: bool) -> Phase {
    let id = format!("{number:02}");
    let (mut without, workload) = within_reach(workload);
    without.extend(fio_write::without(&workload));
    let jobs: Vec<&Job> = workload
        .jobs
        .iter()
        .filter(|job| !job.engine.has_tree() && !job.engine.replays())
        .collect();
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
        recorded: None,
        without,
    }
}

/// Removes fio options that may reach outside of the target, since a record may come from
/// elsewhere. Removes a job if it needs such an option.
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
        let what = if is_whole { "runs without" } else { "is left out because it needs" };
        dropped.extend(lost.iter().filter(|lost| is_whole || lost.beyond.is_some()).map(|lost| {
            format!(
                "job {} {what} option {}: bundles use only fio options that access nothing outside \
                 the target",
                printable(&job.name),
                printable(&lost.name)
            )
        }));
        is_whole
    });
    (dropped, workload)
}

/// Sets the times of a job. All jobs have the same measured window, although fio counts the ramp
/// from the start of each job.
fn times(section: &mut Section, workload: &Workload, job: &Job) {
    let times = fio_write::times(job, workload.ramp_ns, workload.time_ns);
    let (ramp_ns, run_ns) = times.map_or((0, 0), |times| (times.ramp_ns, times.run_ns));
    let microseconds = |ns: u64| format!("{}us", ns.div_ceil(MICROSECOND_NS));
    section.set("runtime", microseconds(run_ns.max(MICROSECOND_NS)));
    if ramp_ns > 0 {
        section.set("ramp_time", microseconds(ramp_ns));
    }
}

/// Total size of all files, each counted once.
fn bytes(jobs: &[&Job]) -> u64 {
    let mut shared = BTreeSet::new();
    let of_job = |job: &&Job| {
        let file = job.size_bytes.saturating_add(job.offset_bytes);
        match &job.files {
            _ if job.engine == Engine::Null => 0,
            Files::PerThread => file.saturating_mul(job.threads.into()),
            // If one file has several sizes, the sum is an upper bound, which is enough.
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

/// Places the jobs one after the other, as native engines do. Jobs that share a file share a
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
    if let Some(recorded) = &phase.recorded {
        return replay::files(&phase.id, &head, &phase.sections, recorded);
    }
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
