//! One file per subcommand; a group such as `kube` has a directory.

pub(crate) mod agent;
pub(crate) mod capture;
mod captured_for_client;
pub(crate) mod catalog;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod disk;
pub(crate) mod doctor;
#[cfg(feature = "kubernetes")]
pub(crate) mod kube;
pub(crate) mod layers;
pub(crate) mod measure;
pub(crate) mod peer;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod repro;
pub(crate) mod start;
pub(crate) mod undo;
pub(crate) mod workloads;
