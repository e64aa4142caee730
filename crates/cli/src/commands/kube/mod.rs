//! `iotax kube`: a module for each of its commands.

mod compare;
mod doctor;
mod fleet;
mod image;
mod limits;
mod manifest;
mod net;
mod run;
mod undo;

pub(super) use self::undo::undo;
use crate::args::KubeCommand;
use crate::exit::{Exit, Result};

/// `iotax kube`
pub(crate) fn kube(command: KubeCommand) -> Result<Exit> {
    match command {
        KubeCommand::Compare(args) => compare::compare(&args),
        KubeCommand::Fleet(args) => fleet::fleet(*args),
        KubeCommand::Run(args) => run::run(*args),
        KubeCommand::Doctor(args) => doctor::doctor(&args),
        KubeCommand::Limits(args) => limits::limits(&args),
        KubeCommand::Net(args) => net::net(*args),
        KubeCommand::Image(args) => image::image(&args),
        KubeCommand::Manifest(args) => manifest::manifest(args),
    }
}
