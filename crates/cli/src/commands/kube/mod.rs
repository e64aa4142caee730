//! `iotax kube`: a module for each of its commands.

mod compare;
mod fleet;
mod image;
mod run;
mod undo;

use anyhow::Result;

pub(super) use self::undo::undo;
use crate::args::KubeCommand;
use crate::exit::Exit;
use crate::output::say;

/// `iotax kube`
pub(crate) fn kube(command: KubeCommand) -> Result<Exit> {
    match command {
        KubeCommand::Compare(args) => compare::compare(&args),
        KubeCommand::Fleet(args) => fleet::fleet(*args),
        KubeCommand::Run(args) => run::run(*args),
        KubeCommand::Image(args) => image::image(&args),
        KubeCommand::Manifest(args) => {
            say(&iotax_cluster::manifest(&args.namespace))?;
            Ok(Exit::Done)
        }
    }
}
