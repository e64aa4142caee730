//! One file per subcommand.

mod agent;
mod catalog;
mod completions;
mod disk;
mod doctor;
#[cfg(feature = "kubernetes")]
mod kube;
mod layers;
mod measure;
mod peer;
mod plan;
mod report;
mod repro;
mod undo;
mod workloads;

pub(crate) use agent::agent;
pub(crate) use catalog::catalog;
#[cfg(feature = "kubernetes")]
pub(crate) use completions::complete_plugin;
pub(crate) use completions::{completions, man};
pub(crate) use disk::disk;
pub(crate) use doctor::doctor;
#[cfg(feature = "kubernetes")]
pub(crate) use kube::kube;
pub(crate) use layers::layers;
pub(crate) use measure::{compare, limits, net, peel, run};
pub(crate) use peer::peer;
pub(crate) use plan::plan;
pub(crate) use report::report;
pub(crate) use repro::repro;
pub(crate) use undo::undo;
pub(crate) use workloads::workloads;
