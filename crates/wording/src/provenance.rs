//! Where the figures come from: trials that iotax ran, or saved results.

use indexmap::IndexSet;
use iotax_analyze::Analysis;
use iotax_experiment::{CloudChoice, Origin};
use iotax_quantity::{count, set_time};
use iotax_record::{CloudInstance, ExperimentHead, FioLatency, Site};

use crate::verdict::against::results;
use crate::{ending as wording, format};

/// `10 blocks, 20 trials in 2 min 30 s`, `4 results from fio 3.33`, and the VM if the cloud's
/// metadata names it.
pub fn counts(experiment: &ExperimentHead, analysis: &Analysis) -> String {
    let ending = &analysis.ending;
    if !experiment.spec.is_of_results() {
        return format!(
            "{}, {} in {}{}",
            count(ending.blocks, "block"),
            count(ending.trials, "trial"),
            format::span(ending.wall_ns),
            vm(experiment.host(0).instance.as_ref(), &experiment.cloud),
        );
    }
    let results: usize = experiment.spec.arms.iter().map(|arm| results(analysis, &arm.name)).sum();
    let trials = match u64::from(ending.trials) {
        trials if trials > results as u64 => format!(", {}", count(trials, "trial")),
        _ => String::new(),
    };
    format!("{}{}{trials}", count(results as u64, "result"), tools(experiment))
}

/// ` from fio 3.33`
pub fn tools(experiment: &ExperimentHead) -> String {
    match &experiment.spec.workload().origin {
        Some(Origin::Results { tools, .. }) => format!(" from {}", tools.join(" and ")),
        Some(Origin::Text(_)) | None => String::new(),
    }
}

/// Why the run stopped, or that saved results were read.
pub fn ending(experiment: &ExperimentHead, analysis: &Analysis) -> String {
    if experiment.spec.is_of_results() {
        let latency = latency(experiment).map(|note| format!(" {note}.")).unwrap_or_default();
        return format!("No measurements were made; the figures are from the files.{latency}");
    }
    let switching = if analysis.arms.len() > 1 { switching(analysis) } else { String::new() };
    let held = longest_load(experiment, analysis);
    format!("Stopped: {}.{switching}{held}", reason(experiment, analysis))
}

/// The longest time of continuous load on one arm, if trials are slices. Slower effects stay hidden.
fn longest_load(experiment: &ExperimentHead, analysis: &Analysis) -> String {
    let spec = &experiment.spec;
    let hold = spec.hold_ns.map(set_time);
    let Some(longest_ns) = analysis.ending.longest_load_ns else {
        return hold.map_or_else(String::new, |hold| {
            format!(
                " No arm was held under load for {hold}, because the trials were not short slices."
            )
        });
    };
    let rest = match hold {
        None => "; iotax would not notice burst credits that last longer (use --hold)".to_owned(),
        Some(hold) if !spec.is_held_in(longest_ns) => {
            format!(", less than the {hold} that --hold requested")
        }
        Some(_) => String::new(),
    };
    format!(" Longest continuous load on one arm: {}{rest}.", set_time(longest_ns))
}

/// The time for switching between arms.
fn switching(analysis: &Analysis) -> String {
    let switch_ns = analysis.ending.switch_ns;
    let share = switch_ns as f64 / analysis.ending.wall_ns.max(1) as f64;
    let (span, share) = (format::span(switch_ns), format::percent(share));
    format!(" Switching between arms took {span} ({share}).")
}

/// Which latency fio's mean is of, if it is the same in all results.
fn latency(experiment: &ExperimentHead) -> Option<String> {
    let mut of_arms = experiment.sites.iter().map(|site| site.mean_latency);
    let first = of_arms.next()??;
    of_arms
        .all(|other| other == Some(first))
        .then(|| format!("Mean latency is what fio calls {}", latency_of_fio(first)))
}

const fn latency_of_fio(latency: FioLatency) -> &'static str {
    match latency {
        FioLatency::Clat => "clat, from submission to completion",
        FioLatency::Lat => "lat, which includes the submission time",
    }
}

/// The tools that made the results of an arm, and notes about them.
pub fn made_by(site: &Site) -> String {
    let (tools, others) = site.notes.split_at(site.notes.len().min(1));
    let latency = site.mean_latency.map(latency_of_fio);
    let latency = latency.map(|what| format!("mean latency is what fio calls {what}"));
    let all = tools.iter().chain(&latency).chain(others);
    all.map(String::as_str).collect::<Vec<_>>().join("; ")
}

/// Why the run stopped, and what its record lacks, without a final period.
pub fn reason(experiment: &ExperimentHead, analysis: &Analysis) -> String {
    let ending = &analysis.ending;
    let gaps = ending.gaps.iter().map(|gap| format!(". Warning: {gap}"));
    wording::ending(&experiment.spec, analysis) + &gaps.collect::<String>()
}

/// What the intervals in a table of comparisons mean, and which differences count as equal.
pub fn intervals(experiment: &ExperimentHead, analysis: &Analysis) -> String {
    let confidence = format::percent(1.0 - analysis.alpha);
    let margin = format::percent(analysis.margin);
    if !experiment.spec.is_of_results() {
        return format!(
            "{confidence} confidence intervals, each valid individually, no matter when the run \
             stopped; n: number of blocks; results that differ by less than {margin} count as \
             equal."
        );
    }
    let n = "n: number of results of the arm with fewer results";
    if analysis.comparisons.iter().any(|c| c.lo.is_some()) {
        format!(
            "{confidence} confidence intervals, each valid individually if the results are \
             independent; {n}; results that differ by less than {margin} count as equal."
        )
    } else {
        format!("No intervals; {n}.")
    }
}

/// A note about the latencies in a table; `what` begins it, such as `Latency`.
pub fn latencies(experiment: &ExperimentHead, what: &str) -> String {
    if experiment.spec.is_of_results() {
        format!("{what}, pooled over all results of an arm (descriptive)")
    } else {
        format!("{what}, pooled over trials (descriptive)")
    }
}

/// `; on Standard_DS1_v2 with P10 (from Azure's metadata service)`: the VM and its disks, if the
/// cloud's metadata names them. Those that the user named are in the command.
pub fn vm(instance: Option<&CloudInstance>, compared: &CloudChoice) -> String {
    let Some(instance) = instance else { return String::new() };
    let CloudInstance { cloud, vm, .. } = instance;
    let unknown = match compared.vm {
        Some(_) => "",
        None => "; not compared with documented limits: --vm shows why",
    };
    let disks = match disks_from(Some(instance), compared) {
        Some(METADATA) => format!(" with {}", kinds(&compared.disks).join(", ")),
        _ => String::new(),
    };
    format!("; on {vm}{disks} (from {cloud}'s metadata service{unknown})")
}

/// Each kind of disk once, without its options.
fn kinds(disks: &[String]) -> Vec<&str> {
    let kinds = disks.iter().map(|disk| disk.split(':').next().unwrap_or_default());
    kinds.collect::<IndexSet<_>>().into_iter().collect()
}

const METADATA: &str = "metadata";
const OPTION: &str = "option";

/// Where the name of the VM comes from: `metadata` or `option`.
pub fn vm_from(instance: Option<&CloudInstance>, compared: &CloudChoice) -> Option<&'static str> {
    compared.vm.as_ref()?;
    Some(if instance.is_some() { METADATA } else { OPTION })
}

/// Where the names of the disks come from: `metadata` or `option`.
pub fn disks_from(
    instance: Option<&CloudInstance>,
    compared: &CloudChoice,
) -> Option<&'static str> {
    let mut told = instance.into_iter().flat_map(|instance| &instance.disks);
    // Metadata is only read if the user named no disk.
    let is_told = told.any(|disk| !disk.targets.is_empty());
    (!compared.disks.is_empty()).then_some(if is_told { METADATA } else { OPTION })
}
