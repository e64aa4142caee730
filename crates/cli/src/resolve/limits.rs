//! Turns arguments into a search for caps.

use std::path::Path;

use iotax_experiment::units::{parse_bytes, parse_duration};
use iotax_experiment::{
    Arm, BurstWatch, CloudChoice, SearchDraft, SearchTarget, Yields, parse_arms,
};
use iotax_wording::doubt::fitted;

use super::{Resolved, documented, option, results, rules, same_storage, seed};
#[cfg(feature = "kubernetes")]
use crate::args::KubeLimitsArgs;
use crate::args::{LimitsArgs, SearchArgs};
use crate::exit::{Context as _, Result, usage};
#[cfg(feature = "kubernetes")]
use crate::in_cluster::{InCluster, usable_bytes};

/// Default size of a file in a directory.
const USUAL_BYTES: u64 = 1 << 30;

/// The search of `iotax limits`.
pub(crate) fn limits(args: &LimitsArgs) -> Result<Resolved> {
    let mut search = asked(args)?;
    rules::set_in_search(&mut search, &args.gate, args.output.format)?;
    let search = search.resolve()?;
    same_storage::refuse_in_search(&search)?;
    Ok(Resolved::of_caps(search))
}

/// The search, without rules.
fn asked(args: &LimitsArgs) -> Result<SearchDraft> {
    let arms = parse_arms(args.targets.iter().map(String::as_str))?;
    let size_bytes = option("--size", args.size.as_deref(), parse_bytes)?;
    let cloud = documented::choice(&args.documented, arms.len())?;
    let mut search = search(&args.search, args.write, cloud, placed(arms, size_bytes, &args.dir)?)?;
    if size_bytes.is_none() {
        fit(&mut search, &args.dir);
    }
    Ok(search)
}

/// The search of `iotax check`: reads, quick, without rules.
pub(super) fn quick(
    arm: Arm,
    cloud: CloudChoice,
    max_time_ns: u64,
    work_dir: &Path,
) -> Result<Resolved> {
    let targets = placed(vec![arm], None, work_dir)?;
    let mut search = SearchDraft {
        targets,
        writes: false,
        quick: true,
        max_time_ns: Some(max_time_ns),
        burst: None,
        cloud,
        fail_if: Vec::new(),
        undecided: None,
        seed: seed(None),
    };
    fit(&mut search, work_dir);
    Ok(Resolved::of_caps(search.resolve()?))
}

/// Targets of this machine, by absolute paths, and how much of each is read.
fn placed(
    mut arms: Vec<Arm>,
    size_bytes: Option<u64>,
    work_dir: &Path,
) -> Result<Vec<SearchTarget>> {
    let (directory, home) = (std::env::current_dir()?, std::env::home_dir());
    for arm in &mut arms {
        arm.target.resolve_paths(&directory, home.as_deref());
    }
    results::refuse_targets(arms.iter().map(|arm| &arm.target), work_dir)?;
    let targets = arms.into_iter().map(|arm| {
        let span_bytes = iotax_rig::span_bytes(&arm.target, size_bytes.unwrap_or(USUAL_BYTES));
        SearchTarget { arm, span_bytes }
    });
    Ok(targets.collect())
}

/// A search without rules.
fn search(
    args: &SearchArgs,
    writes: bool,
    cloud: CloudChoice,
    targets: Vec<SearchTarget>,
) -> Result<SearchDraft> {
    let (quick, burst, seed) = (args.quick, burst(args)?, seed(args.seed));
    let max_time_ns = option("--max-time", args.max_time.as_deref(), parse_duration)?;
    if max_time_ns == Some(0) {
        return Err(usage(
            "option --max-time: the time is 0; give a longer time, or remove the option",
        ));
    }
    let (fail_if, undecided) = (Vec::new(), None);
    let draft =
        SearchDraft { targets, writes, quick, max_time_ns, burst, cloud, fail_if, undecided, seed };
    Ok(draft)
}

/// How long to wait for the end of a burst, with `--burst`.
fn burst(args: &SearchArgs) -> Result<Option<BurstWatch>> {
    let Some(longest) = &args.burst else { return Ok(None) };
    let longest_ns = parse_duration(longest).context("option --burst")?;
    if longest_ns == 0 {
        return Err(usage(
            "option --burst: the time is 0; give a longer time, or leave the option out",
        ));
    }
    let pauses_ns = args.pauses.split(',').map(|pause| parse_duration(pause.trim()));
    let pauses_ns = pauses_ns.collect::<Result<_, _>>().context("option --pauses")?;
    Ok(Some(BurstWatch { longest_ns, pauses_ns }))
}

/// Shrinks the files in directories to the available space, and prints a note.
fn fit(search: &mut SearchDraft, work_dir: &Path) {
    let mut spec = search.draft();
    spec.phases[0].yields = Some(Yields::Spans);
    spec.fit(iotax_rig::space_for_files(&spec, Some(work_dir)));
    let Some(told) = fitted(&spec) else { return };
    eprintln!("note: {told}");
    let bytes = spec.bytes_of_files().min(USUAL_BYTES);
    for target in &mut search.targets {
        target.span_bytes = iotax_rig::span_bytes(&target.arm.target, bytes);
    }
}

/// The search of `iotax kube limits`.
#[cfg(feature = "kubernetes")]
pub(crate) fn kube_limits(args: &KubeLimitsArgs, volumes: &mut InCluster<'_>) -> Result<Resolved> {
    let mut search = in_cluster(args, volumes.options.size_bytes)?;
    rules::set_in_search(&mut search, &args.gate, args.output.format)?;
    refuse_small(&search)?;
    let placed = volumes.place(search.draft(), &args.pods)?;
    for (target, arm) in search.targets.iter_mut().zip(placed.arms) {
        target.arm = arm;
    }
    Ok(Resolved::of_caps(search.resolve()?))
}

#[cfg(feature = "kubernetes")]
fn in_cluster(args: &KubeLimitsArgs, size_bytes: u64) -> Result<SearchDraft> {
    let of_class = |class: &String| {
        let node = args.node.as_ref().map_or_else(String::new, |node| format!("@{node}"));
        let one = |number| format!("{class}-{number}=class:{class}{node}");
        (1..=args.claims).map(one).collect()
    };
    let targets: Vec<String> = args.class.as_ref().map_or_else(|| args.targets.clone(), of_class);
    let arms = parse_arms(targets.iter().map(String::as_str))?;
    let cloud = documented::choice(&args.documented, arms.len())?;
    let span_bytes = USUAL_BYTES.min(usable_bytes(size_bytes));
    let targets = arms.into_iter().map(|arm| SearchTarget { arm, span_bytes }).collect();
    search(&args.search, args.write, cloud, targets)
}

/// Refuses small targets: the same few blocks would be read again and again, from a cache.
pub(crate) fn refuse_small(search: &SearchDraft) -> Result<()> {
    const LEAST_BYTES: u64 = 64 << 20;
    match search.targets.iter().find(|target| target.span_bytes < LEAST_BYTES) {
        Some(target) => Err(usage(format!(
            "{}: too small for a cap search; use a target of at least {}",
            target.arm.name,
            iotax_quantity::size(LEAST_BYTES)
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: LimitsArgs,
    }

    fn span_mib(words: &[&str]) -> u64 {
        let line = [&["limits"], words].concat();
        let search = asked(&Line::try_parse_from(line).unwrap().args).unwrap();
        search.targets[0].span_bytes >> 20
    }

    #[test]
    fn a_file_takes_what_there_is_unless_its_size_was_asked_for() {
        let stack = "file(size=512M) + ext4";
        assert_eq!(span_mib(&[stack]), 384);
        assert_eq!(span_mib(&[stack, "--size", "500M"]), 500);
        assert_eq!(span_mib(&["file(size=4G) + ext4"]), 1024);
    }
}
