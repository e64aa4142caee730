//! `iotax check`: the first look at a disk, from two short experiments.

use std::fs;

use super::measure::run_to_end;
use crate::args::{CheckArgs, LoadArgs, OutputArgs};
use crate::exit::{Exit, Result};
use crate::publish::{Answer, Extent, Finished, Shown, publish, refuse_for_check};
use crate::resolve::Resolved;
use crate::resolve::check::{DiskCheck, check as resolve};
use crate::run::{Asked, Backend};
use crate::session::Destination;

/// Directories of the two records in that of the check.
pub(crate) const CAPS: &str = "limits";
pub(crate) const FITNESS: &str = "fitness";

/// `iotax check [DIR]`
pub(crate) fn check(args: &CheckArgs) -> Result<Exit> {
    let OutputArgs { out, format, color, quiet, verbose } = &args.output;
    refuse_for_check(*format)?;
    let load = LoadArgs { dir: args.path.clone().into(), ..LoadArgs::default() };
    let DiskCheck { caps, fitness } = resolve(args, &load)?;
    let destination = Destination::new("check", out.as_deref());
    destination.refuse_unusable()?;
    let place = destination.claim()?;
    let dir = place.shown().to_owned();
    let part = |name, resolved: &Resolved| {
        let output = OutputArgs { out: Some(dir.join(name)), ..args.output.clone() };
        let (documented, output) = (&args.documented, &output);
        let asked = Asked { command: "check", documented, output, iostat: false };
        run_to_end(resolved, &Backend::from(&load), &asked)
    };
    // Only a directory that is still empty is removed.
    let caps = part(CAPS, &caps).inspect_err(|_| drop(fs::remove_dir(&dir)))?;
    let (caps, ended) = caps.of_caps()?;
    let (fitness, ended) = match ended {
        Ok(Exit::Done) => match part(FITNESS, &fitness).and_then(Finished::of_phases) {
            Ok((fitness, ended)) => (fitness, ended),
            Err(error) => (Vec::new(), Err(error)),
        },
        ended => (Vec::new(), ended),
    };
    let answer = Answer::Check { caps, fitness };
    let shown = Shown { format: *format, color: *color, extent: Extent::of(*quiet, *verbose) };
    publish(Finished { answer, dir: Some(place), ended, hosts: None }, shown)
}
