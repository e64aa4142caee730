//! Descriptions of what puts figures in doubt.

use iotax_analyze::{
    Against, CacheWay, ColdCache, Doubt, DoubtKind, Effect, EffectChange, Estimate, GrantedOption,
    GrantedOtherwise, InFlight, Metric, Noise, OneCore, OrderMatters, Outlook, PlaceEffect,
    SlicesOutcome,
};
use iotax_experiment::{Design, Subject};
use iotax_quantity::{
    a, bytes, count, exact, fixed, grouped, iops, mib_per_s, per_second, percent, set_time, time,
    two_digits, whole,
};
use iotax_record::{BusyOne, ExperimentHead, NamedSite, PathEnd, Site};
use iotax_stats::steady::{MOST_EXCURSION, MOST_RANGE};

use super::often;
use crate::effect::{EffectWords as _, fell_or_rose};
use crate::{name, question};

#[expect(clippy::too_many_lines, reason = "one sentence after the other")]
pub(super) fn seen(doubt: &Doubt, experiment: &ExperimentHead) -> String {
    let spec = &experiment.spec;
    let workload = spec.workload();
    let often = || often(doubt).unwrap_or_default();
    let Doubt { of, trials, .. } = doubt;
    let subject = || of.as_ref().map(name::subject).unwrap_or_default();
    match &doubt.kind {
        DoubtKind::Mismatch { blocks } => format!(
            "in one trial, {} differed from what had been written; mismatches occurred {}",
            count(*blocks, "block"),
            often()
        ),
        DoubtKind::IoErrors { errors, short, ios, first } => {
            let unit = workload.unit();
            let first = first.as_ref().map(|error| format!("; the first error: {error}"));
            let first = first.unwrap_or_default();
            if errors + short == 0 {
                return format!("something other than the counted {unit}s failed{first}");
            }
            format!(
                "{} failed and {short} transferred too few bytes, out of {ios}{first}",
                count(*errors, unit)
            )
        }
        DoubtKind::Failed { first } => format!(
            "{trials} of {} failed: {}",
            count(doubt.of_trials.unwrap_or(*trials), "trial"),
            first.as_deref().unwrap_or("no I/O of the primary job completed")
        ),
        DoubtKind::ReplayLate { mean_ns, p99_ns, recorded_ns } => format!(
            "the replay could not keep up: I/Os started {} late on average ({} at p99). In the \
             recording, an I/O takes {} on average, including the think time before it",
            time(*mean_ns),
            time(*p99_ns as f64),
            time(*recorded_ns as f64)
        ),
        DoubtKind::Paused { longest_ns } => {
            let use_of = if Some(*trials) == doubt.of_trials {
                "all trials are affected: their rate and mean latency are shown, but are not used \
                 for any conclusion"
            } else {
                "these trials are left out of all figures"
            };
            format!(
                "the load generator itself was paused {}, for up to {}: {use_of}",
                often(),
                time(*longest_ns as f64)
            )
        }
        DoubtKind::StalledTrials { below_per_s } => format!(
            "job {} completed no {} in a window of {}, so its rate is below {}",
            workload.primary,
            workload.unit(),
            set_time(whole(1e9 / below_per_s)),
            slow_rate(*below_per_s, workload.unit())
        ),
        DoubtKind::LittlesLaw { job, by_latency, against } => {
            let against = match against {
                InFlight::Allowed(bound) => {
                    format!("its threads and depth allow only {}", grouped(whole(*bound)))
                }
                InFlight::Counted(counted) => format!(
                    "{} were counted (a difference of {})",
                    two_digits(*counted),
                    percent((by_latency / counted - 1.0).abs())
                ),
            };
            format!(
                "job {job}: throughput times latency gives {} {}s in flight, but {against}",
                two_digits(*by_latency),
                unit(job, experiment)
            )
        }
        DoubtKind::ImpossibleSpeed { job, bytes_per_s, cpus, copy_bytes_per_s } => {
            let copy = mib_per_s(copy_bytes_per_s * f64::from(*cpus));
            let cpus = if *cpus == 1 { "one CPU".to_owned() } else { format!("{cpus} CPUs") };
            format!(
                "job {job} read at {}, faster than {cpus} can copy in memory ({copy}; {})",
                mib_per_s(*bytes_per_s),
                often()
            )
        }
        DoubtKind::WrongSign { metric, tax } => {
            let how = tax.map_or_else(
                || "faster".to_owned(),
                |tax| Effect::sized(metric.on(), tax).in_short(),
            );
            let metric = name::metric(*metric);
            match of {
                Some(Subject::Layer(layer)) => format!(
                    "layer {layer} only adds work, but with it, the stack is {how} in {metric}"
                ),
                _ => format!("arm {} only adds work, but is {how} in {metric}", subject()),
            }
        }
        DoubtKind::NotBypassed => {
            "the page cache could not be bypassed: reads may come from memory".to_owned()
        }
        DoubtKind::CacheAnswered { way, asked_bytes, moved_bytes } => {
            let how = match way {
                CacheWay::DirectRead => "was read with direct I/O, but",
                CacheWay::DirectWrite => "was written with direct I/O, but",
                CacheWay::NeverSynced => "was written to the page cache and never synced;",
            };
            format!(
                "{} {how} devices transferred only {} ({})",
                bytes(*asked_bytes),
                bytes(*moved_bytes),
                percent(moved_bytes / asked_bytes)
            )
        }
        DoubtKind::InMemory { file_system } => {
            format!("the target is on {file_system}, which is in memory: no disk was measured")
        }
        DoubtKind::LayerCache { cache } => format!("{}: {cache}", subject()),
        DoubtKind::ColdCache { found } => cold_cache(found),
        DoubtKind::DifferentStorage => {
            let lies_on = |arm: &str| site(experiment, arm).map(place).unwrap_or_default();
            let (base, name) = (&spec.arms[0].name, subject());
            format!(
                "{base} is on {}, and {name} is on {}: a difference may come from the storage \
                 instead of the settings",
                lies_on(base),
                lies_on(&name)
            )
        }
        DoubtKind::SharedStorage { targets: [a, b] } => {
            let targets = site(experiment, &subject()).map(|site| site.targets.as_slice());
            let mut targets = targets.unwrap_or_default().iter();
            let place = targets.find(|target| target.name == *a);
            let place = place.map(|NamedSite { site, .. }| self::place(site)).unwrap_or_default();
            format!("{a} and {b} are both on {place}")
        }
        DoubtKind::NotGranted { options } => name::all(options.iter().map(granted)),
        DoubtKind::RateNotReached { job, achieved } => format!(
            "job {job} completed only {} of the offered {}s",
            percent(*achieved),
            unit(job, experiment)
        ),
        DoubtKind::Late { job, slip_ns, p99_ns } => format!(
            "job {job}: {} started {} after its intended time; the p99 latency is {}",
            a(unit(job, experiment)),
            time(*slip_ns as f64),
            time(*p99_ns as f64)
        ),
        DoubtKind::GeneratorShare { job, own_ns, per_io_ns } => format!(
            "job {job}: a thread spends {} on {}, including {} ({}) to generate it",
            time(*per_io_ns),
            a(unit(job, experiment)),
            time(*own_ns),
            percent(own_ns / per_io_ns)
        ),
        DoubtKind::CpusBusy { busy, cpus } => {
            format!("{} busy for {} of the time", all_cpus(*cpus), percent(*busy))
        }
        DoubtKind::OneCore(OneCore { end, one, share, interrupts, left }) => {
            let place = match end {
                Some(PathEnd::Near) => " at the near end",
                Some(PathEnd::Far) => " at the far end",
                Some(PathEnd::Both) | None => "",
            };
            let (share, left) = (percent(*share), percent(*left));
            match one {
                BusyOne::Thread { name } => format!(
                    "flow limited by one core{place}: thread `{name}` used {share} of a CPU while \
                     {left} of the machine's CPU time was idle"
                ),
                BusyOne::Cpu { number, .. } => format!(
                    "flow limited by one core{place}: CPU {number} was busy for {share} of the \
                     time, {} of it with interrupts, while {left} of the machine's CPU time was \
                     idle",
                    percent(*interrupts)
                ),
            }
        }
        DoubtKind::EffectChanged { metric, change, is_decided } => {
            effect_changed(*metric, change, *is_decided)
        }
        DoubtKind::LevelChanged { metric, after, ratio } => {
            let (metric, changed) = (name::metric(*metric), fell_or_rose(*ratio));
            if spec.design == Design::Single {
                format!(
                    "{metric} {changed} after trial {after}; the summary averages over both levels"
                )
            } else {
                format!(
                    "{metric} {changed} in all arms after block {after}; comparisons are made \
                     within blocks and remain valid"
                )
            }
        }
        DoubtKind::LevelSince { arms } => {
            let each = arms.iter().map(|shift| {
                let [before, since] = shift.iops.map(iops);
                format!("{} at {since} instead of {before}", shift.arm)
            });
            format!(
                "the depth check that followed found a different level at the same depth: {}",
                name::all(each)
            )
        }
        DoubtKind::ShortSlices { metric, ratio, short_ns, long_ns, outcome } => {
            let side = if *ratio < 1.0 { "lower" } else { "higher" };
            let [short, long] = [*short_ns, *long_ns].map(|ns| time(ns as f64));
            let instead = match outcome {
                SlicesOutcome::GivenUp => {
                    "; the conclusions use only the later trials, which have the usual length"
                }
                SlicesOutcome::Withheld => {
                    "; no verdict uses the short slices, and trials of the usual length would be \
                     affected in the same way"
                }
                SlicesOutcome::Ended => "; the run ended before longer trials could replace them",
                SlicesOutcome::Unsure => "; the run ended before this was certain",
            };
            format!(
                "{} is {} {side} in {long} slices than in {short} slices{instead}",
                name::metric(*metric),
                percent((ratio - 1.0).abs())
            )
        }
        DoubtKind::NotSteady { rounds, window } => {
            let rounds = count(*rounds, "round");
            match window {
                Some(window) => format!(
                    "NOT steady after {rounds} of preconditioning: the last five rounds span {} of \
                     their mean (limit: {}); their trend is {} of the mean (limit: {} in either \
                     direction)",
                    percent(window.range),
                    percent(MOST_RANGE),
                    percent(window.slope),
                    percent(MOST_EXCURSION)
                ),
                None => format!(
                    "NOT known to be steady after {rounds} of preconditioning: at least five \
                     rounds are needed"
                ),
            }
        }
        DoubtKind::Trend { metric, ratio, over, .. } => {
            let (step, what) = if spec.design == Design::Single {
                ("trial", "the summary averages over the whole change")
            } else {
                ("block", "comparisons within blocks remain valid, but single figures do not")
            };
            format!(
                "writes did not reach a steady state: {} {} gradually over {}; {what}",
                name::metric(*metric),
                fell_or_rose(*ratio),
                count(*over, step)
            )
        }
        DoubtKind::OrderMatters(OrderMatters { metric, place, base }) => {
            order(&subject(), *metric, place, base.as_ref())
        }
        DoubtKind::Dependence { metric, autocorrelation, bound } => format!(
            "successive blocks are correlated in {}: the autocorrelation is {}, but for \
             {trials} independent blocks it would stay below {}",
            name::metric(*metric),
            fixed(*autocorrelation, 2),
            fixed(*bound, 2)
        ),
        DoubtKind::Steal { share } => {
            format!(
                "the hypervisor took {} of the CPU time for other virtual machines",
                percent(*share)
            )
        }
        DoubtKind::OtherPrograms { share } => {
            format!(
                "other programs and kernel threads used {} of this machine's CPU time",
                percent(*share)
            )
        }
        DoubtKind::StalledSecond { least } => format!(
            "stalls: the slowest second reached only {} of its trial's mean throughput (seconds \
             below half the mean occurred {})",
            percent(*least),
            often()
        ),
        DoubtKind::TailSamples { metric, has, needed, .. } => format!(
            "a trial has {has} {} on average; a p99 needs {needed}, so that 100 of them exceed the \
             p99",
            name::samples(*metric, workload)
        ),
        DoubtKind::DepthNotKept { job, asked, kept } => format!(
            "job {job}: the requested depth was {}, but only {} were in flight",
            count(*asked, "I/O"),
            two_digits(*kept)
        ),
        DoubtKind::Noise(Noise { of, spread, outlook, .. }) => format!(
            "the {} for {} varied by {} from block to block over {trials} blocks{}",
            if of.len() == 1 { "difference" } else { "differences" },
            name::subjects(of),
            question::span_of(spread.map(percent)),
            match outlook {
                None => "; more blocks would not lead to a verdict".to_owned(),
                // How many would is told with the open question.
                Some(Outlook::Blocks(_) | Outlook::OutOfReach) => String::new(),
                Some(Outlook::Withheld(why)) => format!("; {}", question::why_withheld(*why)),
            }
        ),
        DoubtKind::Narrow { of, spread } => format!(
            "the {trials} blocks for {} agree to within {}: an interval this narrow shows how well \
             these few blocks agree, not what more blocks would show",
            name::subjects(of),
            percent(*spread)
        ),
        DoubtKind::UnlikeResults { said } => said.clone(),
        DoubtKind::OtherEngines => {
            "some results were measured with libaio (because a sandbox blocked io_uring) and \
             others with another engine: the engines may cause the difference"
                .to_owned()
        }
        DoubtKind::NotInterleaved => {
            "the results do not show that the runs were interleaved in random order: the \
             difference includes whatever changed between them (neighbors, credits, temperature, \
             data on the volume); no interval covers these changes"
                .to_owned()
        }
    }
}

/// The unit of work of the job with this name.
fn unit(job: &str, experiment: &ExperimentHead) -> &'static str {
    let jobs = experiment.spec.workload().jobs.iter();
    jobs.clone().find(|own| own.name == job).map_or("I/O", |job| job.engine.unit())
}

/// A rate that may be far below 1: `0.03 IOPS`, `2 requests/s`.
fn slow_rate(per_s: f64, unit: &str) -> String {
    match unit {
        "I/O" => iops(per_s),
        unit => per_second(per_s, &format!("{unit}s/s")),
    }
}

fn cold_cache(found: &ColdCache) -> String {
    match found {
        ColdCache::NoDevice { file_system } => format!(
            "a cold cache was requested, but this arm is on {}, not on a device",
            file_system.as_deref().unwrap_or("memory")
        ),
        ColdCache::Unknown => {
            "a cold cache was requested, but this system does not show how much data devices \
             delivered"
                .to_owned()
        }
        ColdCache::Short { read_bytes, delivered_bytes } => format!(
            "a cold cache was requested, but devices delivered only {} of the {} read ({})",
            bytes(*delivered_bytes),
            bytes(*read_bytes),
            percent(delivered_bytes / read_bytes)
        ),
        ColdCache::Excess { read_bytes, delivered_bytes } => format!(
            "devices delivered {}, which is {} times the {} that the job read",
            bytes(*delivered_bytes),
            two_digits(delivered_bytes / read_bytes),
            bytes(*read_bytes)
        ),
    }
}

fn site<'a>(experiment: &'a ExperimentHead, arm: &str) -> Option<&'a Site> {
    let place = experiment.spec.arms.iter().position(|own| own.name == arm)?;
    experiment.sites.get(place)
}

fn place(site: &Site) -> String {
    let device = site.device.as_deref();
    match (device, site.file_system.as_deref()) {
        (Some(device), Some(system)) => format!("{device} ({system})"),
        (Some(device), None) => device.to_owned(),
        (None, Some(system)) => format!("{} ({system})", site.target),
        (None, None) if site.kind == "vdisk" => "memory".to_owned(),
        (None, None) => site.target.clone(),
    }
}

/// `rsize: requested 1048576 bytes, granted 65536`
fn granted(of: &GrantedOtherwise) -> String {
    let GrantedOtherwise { option, asked, granted } = of;
    match option {
        GrantedOption::ReadSize => format!("rsize: requested {asked} bytes, granted {granted}"),
        GrantedOption::WriteSize => format!("wsize: requested {asked} bytes, granted {granted}"),
        GrantedOption::Connections => {
            format!("connections: requested {asked}, established {granted}")
        }
    }
}

fn all_cpus(cpus: f64) -> String {
    if cpus.fract() != 0.0 {
        format!("the {} CPUs that this container may use were", exact(cpus))
    } else if cpus <= 1.0 {
        "the CPU was".to_owned()
    } else {
        format!("all {} CPUs were", exact(cpus))
    }
}

fn effect_changed(metric: Metric, change: &EffectChange, is_decided: bool) -> String {
    let part = |part: Option<Estimate>| {
        let size = part.map(|part| Effect::sized(metric.on(), part.value).in_words());
        size.unwrap_or_else(|| "an effect of unknown size".to_owned())
    };
    let (before, since) = (part(change.before), part(change.since));
    let [blocks_before, blocks_since] = change.blocks.map(|blocks| count(blocks, "block"));
    let name = name::metric(metric);
    if change.in_depth_check {
        return format!(
            "the depth check, at the same depth, disagrees with the comparison: the effect on \
             {name} was {before} in the comparison ({blocks_before}), and {since} in the check \
             ({blocks_since})"
        );
    }
    let rests = if is_decided {
        "the verdict uses only the later blocks"
    } else {
        "there are too few later blocks for a verdict"
    };
    format!(
        "the effect on {name} changed after block {}: {before} in the {blocks_before} before the \
         change, {since} in the {blocks_since} after it; {rests}",
        change.after_block
    )
}

fn order(arm: &str, metric: Metric, place: &PlaceEffect, base: Option<&Against>) -> String {
    let base = base.map_or_else(|| "the baseline".to_owned(), name::against);
    let [base_first, arm_first] = place.blocks.map(|blocks| count(blocks, "block"));
    let rests = if place.taken_out {
        "the interval is for the mean of both orders, so the order has no effect on it"
    } else {
        "there are too few blocks to separate the effect of the order from the effect of the arm"
    };
    let size = |tax: f64| Effect::sized(metric.on(), tax).in_short();
    format!(
        "{} depends on which trial comes first: {arm} is {} in the {base_first} in which {base} \
         came first, and {} in the {arm_first} in which {arm} did; {rests}",
        name::metric(metric),
        size(place.base_first),
        size(place.arm_first),
    )
}
