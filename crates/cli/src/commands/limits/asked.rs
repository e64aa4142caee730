//! What a search for caps is asked for.

use std::path::Path;

use anyhow::{Context as _, Result};
use indicatif::HumanBytes;
use iotax_experiment::units::{parse_bytes, parse_duration};
use iotax_experiment::{BurstWatch, Search, SearchTarget, Yields, parse_arms};

use crate::args::LimitsArgs;
use crate::exit::Usage;
use crate::{documented, resolve, saved};

/// Size of a file in a directory, if there is room for it.
const USUAL_BYTES: u64 = 1 << 30;

/// What the arguments ask for.
pub(super) fn asked(args: &LimitsArgs) -> Result<Search> {
    let mut arms = parse_arms(args.targets.iter().map(String::as_str))?;
    let size = resolve::option("--size", args.size.as_deref(), parse_bytes)?;
    let cloud = documented::choice(&args.documented, arms.len())?;
    let burst = burst(args.search.burst.as_deref(), &args.search.pauses)?;
    let (directory, home) = (std::env::current_dir()?, std::env::home_dir());
    for arm in &mut arms {
        arm.target.resolve_paths(&directory, home.as_deref());
    }
    saved::refuse_targets(arms.iter().map(|arm| &arm.target), &args.dir)?;
    let targets = arms.into_iter().map(|arm| {
        let span_bytes = iotax_rig::span_bytes(&arm.target, size.unwrap_or(USUAL_BYTES));
        SearchTarget { arm, span_bytes }
    });
    let mut search = Search {
        targets: targets.collect(),
        writes: args.write,
        quick: args.search.quick,
        burst,
        cloud,
        fail_if: Vec::new(),
        seed: resolve::seed(args.search.seed),
    };
    if size.is_none() {
        fit(&mut search, &args.dir);
    }
    Ok(search)
}

/// How long to wait for the end of a burst, if that was asked for.
pub(in crate::commands) fn burst(
    longest: Option<&str>,
    pauses: &str,
) -> Result<Option<BurstWatch>> {
    let Some(longest) = longest else { return Ok(None) };
    let longest_ns = parse_duration(longest).context("option --burst")?;
    if longest_ns == 0 {
        return Err(Usage("option --burst: no time at all; leave it out".to_owned()).into());
    }
    let pauses_ns = pauses.split(',').map(|pause| parse_duration(pause.trim()));
    let pauses_ns = pauses_ns.collect::<Result<_, _>>().context("option --pauses")?;
    Ok(Some(BurstWatch { longest_ns, pauses_ns }))
}

/// Makes the files in directories no larger than they have room for, and says so.
fn fit(search: &mut Search, work_dir: &Path) {
    let mut spec = search.spec();
    spec.phases[0].yields = Some(Yields::Spans);
    spec.fit(iotax_rig::space_for_files(&spec, Some(work_dir)));
    let Some(told) = spec.told_fit() else { return };
    eprintln!("note: {told}");
    let bytes = spec.bytes_of_files().min(USUAL_BYTES);
    for target in &mut search.targets {
        target.span_bytes = iotax_rig::span_bytes(&target.arm.target, bytes);
    }
}

/// A few blocks would be read again and again, from whatever remembers them.
pub(in crate::commands) fn refuse_small(search: &Search) -> Result<()> {
    const LEAST_BYTES: u64 = 64 << 20;
    match search.targets.iter().find(|target| target.span_bytes < LEAST_BYTES) {
        Some(target) => Err(Usage(format!(
            "{}: too small to find caps in; use a target of {} at least",
            target.arm.name,
            HumanBytes(LEAST_BYTES)
        ))
        .into()),
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
