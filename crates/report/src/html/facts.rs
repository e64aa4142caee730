//! Tables of circumstances: the machine, the places, the jobs, the trials that were not used.

use iotax_analyze::Analysis;
use iotax_record::{Environment, Experiment, HostRecord, HostRole};
use iotax_spec::{BlockSizes, Bound, Job, Pace};

use crate::{bandwidth, format, words};

/// Trials listed by name; beyond that a count is enough.
const MAX_LISTED_TRIALS: usize = 30;

/// A name and what it is.
pub(super) type Fact = (&'static str, String);

/// A time as people write it, `2026-01-02 03:04 UTC`; text that is no time stays as it is.
pub(crate) fn instant(rfc3339: &str) -> String {
    rfc3339.parse::<jiff::Timestamp>().map_or_else(
        |_| words::printable(rfc3339),
        |instant| instant.strftime("%Y-%m-%d %H:%M UTC").to_string(),
    )
}

/// The names of the machines that took part.
pub(crate) fn host_names(hosts: &[HostRecord]) -> String {
    let mut names: Vec<&str> =
        hosts.iter().filter_map(|host| host.environment.host.as_deref()).collect();
    names.dedup();
    words::printable(&names.join(", "))
}

/// What is known of a machine.
pub(super) fn host(host: &HostRecord) -> Vec<Fact> {
    let Environment {
        host: name,
        os,
        kernel,
        cpu_model,
        cpus,
        cpu_aes,
        cpu_governor,
        memory_bytes,
        memory_copy_bytes_per_s,
        hypervisor,
        load_average,
        cgroup_cpus,
    } = &host.environment;
    let HostRecord { role, generator_ns_per_io, .. } = host;
    let generator = generator_ns_per_io.map(|ns| format!("{} of CPU per I/O", format::time(ns)));
    let facts = [
        ("host", name.clone()),
        ("measured by", (*role == HostRole::Agent).then(|| "an agent".to_owned())),
        ("operating system", os.clone()),
        ("kernel", kernel.clone()),
        ("CPU", cpu_model.clone()),
        ("CPUs online", Some(cpus.to_string())),
        ("CPUs allowed (cgroup)", cgroup_cpus.map(|n| format::fixed(n, 2))),
        ("AES instructions", cpu_aes.map(|yes| if yes { "yes" } else { "no" }.to_owned())),
        ("frequency governor", cpu_governor.clone()),
        ("memory", memory_bytes.map(|n| format::bytes(n as f64))),
        ("memory copy, one CPU", memory_copy_bytes_per_s.map(bandwidth::measured_rate)),
        ("virtualisation", hypervisor.clone()),
        ("load average at the start", load_average.map(|n| format::fixed(n, 2))),
        ("load generator alone", generator),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name, words::printable(&value?)))).collect()
}

/// What one arm's target turned out to be: rows of text under [`SITE_HEADS`].
pub(super) fn sites(experiment: &Experiment) -> Vec<Vec<String>> {
    let arms = experiment.spec.arms.iter().zip(&experiment.sites);
    arms.map(|(arm, site)| {
        let place = [&site.file_system, &site.device, &site.device_model];
        let place: Vec<_> = place.into_iter().flatten().map(String::as_str).collect();
        let direct = match site.direct {
            Some(true) => "bypassed",
            Some(false) => "used",
            None => "none",
        };
        [&arm.name, &site.target, &site.kind, &place.join(", "), direct, &site.notes.join("; ")]
            .map(words::printable)
            .into()
    })
    .collect()
}

/// Heads of [`sites`].
pub(super) const SITE_HEADS: [&str; 6] =
    ["arm", "target", "kind", "lies on", "page cache", "notes"];

/// The files of each arm and what made them: rows of text under [`RESULT_HEADS`].
pub(super) fn results(experiment: &Experiment) -> Vec<Vec<String>> {
    let arms = experiment.spec.arms.iter().zip(&experiment.sites);
    arms.map(|(arm, site)| {
        [&arm.name, &site.target, &site.notes.join("; ")].map(|text| words::printable(text)).into()
    })
    .collect()
}

/// Heads of [`results`].
pub(super) const RESULT_HEADS: [&str; 3] = ["arm", "files", "made by"];

/// Jobs of results, with the options that the first result says they were run with: rows of text
/// under [`GIVEN_JOB_HEADS`].
pub(super) fn given_jobs(experiment: &Experiment) -> Vec<Vec<String>> {
    let jobs = experiment.spec.workload.jobs.iter();
    jobs.map(|job| {
        let options = job.fio.iter().map(|option| match &option.value {
            Some(value) => format!("{}={value}", option.name),
            None => option.name.clone(),
        });
        let options = options.collect::<Vec<_>>().join(" ");
        [job.name.as_str(), &options].map(words::printable).into()
    })
    .collect()
}

/// Heads of [`given_jobs`].
pub(super) const GIVEN_JOB_HEADS: [&str; 2] = ["job", "options, as the first result has them"];

/// The jobs of the workload: rows of text under [`JOB_HEADS`].
pub(super) fn jobs(experiment: &Experiment) -> Vec<Vec<String>> {
    let workload = &experiment.spec.workload;
    workload
        .jobs
        .iter()
        .map(|job| {
            let name = if job.name == workload.primary && workload.jobs.len() > 1 {
                format!("{} (primary)", job.name)
            } else {
                job.name.clone()
            };
            [
                words::printable(&name),
                access(job),
                sizes(&job.block_sizes),
                format!("{} × {}", job.threads, job.queue_depth),
                format::bytes(job.size_bytes as f64),
                pace(job),
                options(job),
            ]
            .into()
        })
        .collect()
}

/// Heads of [`jobs`].
pub(super) const JOB_HEADS: [&str; 7] =
    ["job", "access", "block size", "threads × depth", "span", "pace", "options"];

fn access(job: &Job) -> String {
    let order = job.pattern.name();
    match job.read_percent {
        100 => format!("{order} read"),
        0 => format!("{order} write"),
        reads => format!("{order}, {reads} % read"),
    }
}

fn sizes(sizes: &BlockSizes) -> String {
    let bytes = |n: u32| format::bytes(f64::from(n));
    match sizes {
        BlockSizes::Fixed(size) => bytes(*size),
        BlockSizes::Range { min, max } => format!("{} to {}", bytes(*min), bytes(*max)),
        BlockSizes::Split(shares) => {
            let shares = shares.iter().map(|s| format!("{} {} %", bytes(s.bytes), s.percent));
            shares.collect::<Vec<_>>().join(", ")
        }
    }
}

fn pace(job: &Job) -> String {
    match job.pace {
        Pace::Closed => "closed loop".to_owned(),
        Pace::Even { iops } => format!("{}, even", format::iops(iops)),
        Pace::Poisson { iops } => format!("{}, Poisson", format::iops(iops)),
    }
}

fn options(job: &Job) -> String {
    let mut words = vec![job.engine.name().to_owned()];
    let flags = [
        (job.direct, "direct"),
        (job.invalidate, "cold cache"),
        (job.end_fsync, "fsync at end"),
        (job.verify, "verify"),
        (job.sqpoll, "sqpoll"),
        (!job.advise, "no advice"),
    ];
    words.extend(flags.iter().filter(|(set, _)| *set).map(|(_, word)| (*word).to_owned()));
    words.extend(job.fsync_every.map(|n| format!("fdatasync every {n}")));
    if let Bound::Bytes(bytes) = job.bound {
        words.push(format!("ends after {}", format::bytes(bytes as f64)));
    }
    if job.start_delay_ns > 0 {
        words.push(format!("starts after {}", format::time(job.start_delay_ns as f64)));
    }
    if let Some(end_ns) = job.end_after_ns {
        words.push(format!("ends {} into the trial", format::time(end_ns as f64)));
    }
    words.join(", ")
}

/// Trials that were not used or went wrong, counted from 1 as people do: rows of text under [`TROUBLE_HEADS`], and how many
/// more there are.
pub(super) fn troubles(analysis: &Analysis) -> (Vec<Vec<String>>, usize) {
    let troubled = || analysis.trials.iter().filter(|t| !t.used || t.why.is_some());
    let rows = troubled().take(MAX_LISTED_TRIALS).map(|t| {
        let used = if t.used { "yes" } else { "no" };
        let why = t.why.as_deref().unwrap_or("");
        [&(t.slot + 1).to_string(), &(t.block + 1).to_string(), &t.arm, &t.outcome, used, why]
            .map(words::printable)
            .into()
    });
    (rows.collect(), troubled().count().saturating_sub(MAX_LISTED_TRIALS))
}

/// Heads of [`troubles`].
pub(super) const TROUBLE_HEADS: [&str; 6] = ["trial", "block", "arm", "outcome", "used", "why"];
