//! What a search for caps is asked for.

use anyhow::{Context as _, Result};
use indicatif::HumanBytes;
use iotax_spec::units::{parse_bytes, parse_duration};
use iotax_spec::{BurstWatch, Search, SearchTarget, parse_arms};

use super::known;
use crate::args::LimitsArgs;
use crate::exit::Usage;
use crate::{documented, resolve};

/// What the arguments ask for.
pub(super) fn asked(args: &LimitsArgs) -> Result<Search> {
    let arms = parse_arms(args.targets.iter().map(String::as_str))?;
    let size = parse_bytes(&args.size).context("option --size")?;
    let cloud = documented::choice(&args.documented, arms.len())?;
    let burst = match &args.burst {
        Some(longest) => Some(BurstWatch {
            longest_ns: parse_duration(longest).context("option --burst").and_then(|ns| {
                let none = || Usage("option --burst: no time at all; leave it out".to_owned());
                (ns > 0).then_some(ns).ok_or_else(|| none().into())
            })?,
            pauses_ns: args
                .pauses
                .split(',')
                .map(|pause| parse_duration(pause.trim()))
                .collect::<Result<_, _>>()
                .context("option --pauses")?,
        }),
        None => None,
    };
    let (directory, home) = (std::env::current_dir()?, std::env::home_dir());
    let targets = arms.into_iter().map(|mut arm| {
        arm.target.resolve_paths(&directory, home.as_deref());
        let span_bytes = iotax_rig::span_bytes(&arm.target, size);
        let known = known::cgroups(&arm.target, args.write);
        SearchTarget { arm, span_bytes, known }
    });
    Ok(Search {
        targets: targets.collect(),
        writes: args.write,
        quick: args.quick,
        burst,
        cloud,
        seed: resolve::seed(args.seed),
    })
}

/// A few blocks would be read again and again, from whatever remembers them.
pub(super) fn refuse_small(search: &Search) -> Result<()> {
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
