//! Tables of the measurement setup: machine, targets, jobs, and trials with problems.

use iotax_analyze::Analysis;
use iotax_experiment::{FioOption, Job, Spec};
use iotax_record::{Environment, ExperimentHead, HostRecord, HostRole};
use iotax_wording::trial::why;
use iotax_wording::{bandwidth, format, job, provenance, replay};

use crate::document::{Head, Item, Table};

/// Maximum number of listed trials; the rest is only counted.
const MAX_LISTED_TRIALS: usize = 30;

/// Time and hosts: `2026-01-02 03:04 UTC on bench-1`. Text that is not a time is kept unchanged.
pub(crate) fn origin(rfc3339: &str, hosts: &[HostRecord]) -> String {
    let instant = rfc3339.parse::<jiff::Timestamp>();
    let instant = instant.map(|instant| instant.strftime("%Y-%m-%d %H:%M UTC").to_string());
    let instant = instant.unwrap_or_else(|_| rfc3339.to_owned());
    let names = hosts.iter().filter_map(|host| host.environment.host.as_deref());
    let mut names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    names.dedup();
    if names.is_empty() || instant.is_empty() {
        return instant;
    }
    format!("{instant} on {}", names.join(" and "))
}

/// Duration of the measurement; empty for results of other tools.
pub(crate) fn took(spec: &Spec, wall_ns: u64) -> String {
    if spec.is_of_results() { String::new() } else { format::span(wall_ns) }
}

/// The command line, quoted for a shell.
pub(crate) fn command(command: &[String]) -> String {
    let quoter = shlex::Quoter::new().allow_nul(true);
    let shown = |word: &String| quoter.quote(word).expect("NUL is allowed").into_owned();
    command.iter().map(shown).collect::<Vec<_>>().join(" ")
}

/// Facts on a machine and its load generator. If there are several machines, also its arms.
pub(crate) fn host(experiment: &ExperimentHead, place: usize) -> Item {
    let host = &experiment.hosts[place];
    let arms = experiment.spec.arms.iter().zip(&experiment.sites);
    let arms: Vec<&str> = arms
        .filter(|(_, site)| site.host == place && experiment.hosts.len() > 1)
        .map(|(arm, _)| arm.name.as_str())
        .collect();
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
    let HostRecord { role, generator_ns_per_io, io_uring, .. } = host;
    let unit = experiment.spec.workload().unit();
    let generator =
        generator_ns_per_io.map(|ns| format!("{} of CPU time per {unit}", format::time(ns)));
    let facts = [
        ("arms", (!arms.is_empty()).then(|| arms.join(", "))),
        ("host", name.clone()),
        ("measured by", (*role == HostRole::Agent).then(|| "an agent".to_owned())),
        ("operating system", os.clone()),
        ("kernel", kernel.clone()),
        ("CPU", cpu_model.clone()),
        ("io_uring", (*io_uring == Some(false)).then(|| "blocked".to_owned())),
        ("CPUs online", Some(cpus.to_string())),
        ("CPU limit (cgroup)", cgroup_cpus.map(iotax_quantity::exact)),
        ("AES instructions", cpu_aes.map(|yes| if yes { "yes" } else { "no" }.to_owned())),
        ("CPU frequency governor", cpu_governor.clone()),
        ("memory", memory_bytes.map(iotax_quantity::size)),
        ("memory copy rate, one CPU", memory_copy_bytes_per_s.map(bandwidth::measured_rate)),
        ("virtualization", hypervisor.clone()),
        ("load average at the start", load_average.map(|n| iotax_quantity::fixed(n, 2))),
        ("load generator overhead", generator),
    ];
    Item::facts(facts.into_iter().filter_map(|(name, value)| Some((name, value?))))
}

/// The resolved target of each arm.
pub(crate) fn sites(experiment: &ExperimentHead) -> Table {
    let is_network = experiment.spec.workload().is_network();
    Table::of(experiment.spec.arms.iter().zip(&experiment.sites))
        .word("arm", |(arm, _)| &arm.name)
        .word("target", |(_, site)| &site.target)
        .word("kind", |(_, site)| &site.kind)
        .column(Head::word("storage"), |(_, site)| {
            let place = [&site.file_system, &site.device, &site.device_model];
            let place: Vec<&str> = place.into_iter().flatten().map(String::as_str).collect();
            (!place.is_empty()).then(|| place.join(", "))
        })
        .column(Head::word("page cache"), |(_, site)| {
            let cache = match site.direct {
                Some(true) => "bypassed",
                Some(false) => "used",
                None => "none",
            };
            (!is_network).then_some(cache)
        })
        .column(Head::word("notes"), |(arm, site)| {
            let commands = arm.host_commands.iter().map(job::host_commands);
            let notes: Vec<String> = site.notes.iter().cloned().chain(commands).collect();
            let place = if site.placed.is_some() { "in Kubernetes: " } else { "" };
            (!notes.is_empty()).then(|| format!("{place}{}", notes.join("; ")))
        })
        .table
}

/// The result files of each arm, and the tools that created them.
pub(crate) fn results(experiment: &ExperimentHead) -> Table {
    Table::of(experiment.spec.arms.iter().zip(&experiment.sites))
        .word("arm", |(arm, _)| &arm.name)
        .word("files", |(_, site)| &site.target)
        .word("created by", |(_, site)| provenance::made_by(site))
        .table
}

/// The jobs of saved results, with their options in the first result.
pub(crate) fn given_jobs(experiment: &ExperimentHead) -> Table {
    let option = |option: &FioOption| match &option.value {
        Some(value) => format!("{}={value}", option.name),
        None => option.name.clone(),
    };
    Table::of(&experiment.spec.workload().jobs)
        .word("job", |job| &job.name)
        .word("options (from the first result)", |job| {
            job.fio.iter().map(option).collect::<Vec<_>>().join(" ")
        })
        .table
}

/// The jobs of the workload, or the recording that it replays.
pub(crate) fn workload(experiment: &ExperimentHead, analysis: &Analysis) -> Item {
    match experiment.spec.workload().recording() {
        Some(recorded) => Item::facts(replay::facts(recorded, analysis)),
        None => Item::Table(jobs(experiment)),
    }
}

fn jobs(experiment: &ExperimentHead) -> Table {
    let workload = experiment.spec.workload();
    let is_first = |job: &Job| job.name == workload.primary && workload.jobs.len() > 1;
    Table::of(&workload.jobs)
        .word("job", |job| format!("{}{}", job.name, if is_first(job) { " (primary)" } else { "" }))
        .word("access", job::access)
        .word("block size", job::block_sizes)
        .word("threads × depth", |job| format!("{} × {}", job.threads, job.queue_depth))
        .column(Head::word("size"), |job| {
            (!job.engine.is_network()).then(|| iotax_quantity::size(job.size_bytes))
        })
        .word("pacing", job::pace)
        .word("options", job::options)
        .table
}

/// Trials that were not used or had problems, numbered from 1, and the number of further ones.
pub(crate) fn troubles(analysis: &Analysis) -> (Table, usize) {
    let troubled = || analysis.trials.iter().filter(|t| !t.used || why(t).is_some());
    let table = Table::of(troubled().take(MAX_LISTED_TRIALS))
        .word("trial", |trial| (trial.slot + 1).to_string())
        .word("block", |trial| (trial.block + 1).to_string())
        .word("arm", |trial| &trial.arm)
        .word("outcome", |trial| trial.outcome.id())
        .word("used", |trial| if trial.used { "yes" } else { "no" })
        .word("reason", |trial| why(trial).unwrap_or_default())
        .table;
    (table, troubled().count().saturating_sub(MAX_LISTED_TRIALS))
}
