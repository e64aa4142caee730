//! The request of the user: workloads, stacks, experiment files, units.
//!
//! There are two levels: the text as *written* ([`mod@file`]) and what it *means* ([`Draft`], then
//! [`Spec`]: typed, in bytes and nanoseconds). Nothing here accesses disk, clock or environment.
#![forbid(unsafe_code)]

mod build;
mod cloud;
pub mod documented;
mod engine;
mod explain;
pub mod file;
mod fit;
mod hold;
mod host_commands;
mod index;
mod job_options;
mod load_factors;
mod matrix;
mod order;
mod overrides;
mod pairs;
mod phases;
pub mod plan;
mod precondition;
mod presets;
mod recorded;
pub mod rule;
mod search;
mod several;
mod side_runs;
mod slices;
mod spec;
mod target;
mod tree;
mod turns;
mod validate;
mod workload;
mod writes;

pub use iotax_layers::blame::{Blame, Fault};
pub use iotax_layers::{
    self as layers, About, Base, Does, Error, FilePlace, Form, Layer, LayerInfo, Need, Parameter,
    Stack, Submitter, World, brief, units,
};

pub use build::Subsets;
pub use cloud::{CloudChoice, DiskRole};
pub use documented::KnownLimit;
pub use engine::{DrivenAt, Engine, EngineInfo, PageCache, Work};
pub use explain::rounded_ns;
pub use host_commands::{HostCommands, command_of_arm};
pub use index::IndexEnds;
pub use load_factors::{of_target_and_load, refuse_exclusions, varied};
pub use matrix::{Factor, Matrix, Setting};
pub use overrides::{Changes, is_size, override_options};
pub use pairs::pair_arms;
pub use rule::{Rule, Subject};
pub use search::{
    BurstWatch, Opened, OpenedTarget, Probe, ProbePurpose, Purpose, Region, Search, SearchDraft,
    SearchTarget, Traffic,
};
pub use side_runs::{Depth, SidePhase, SideRole, SideRuns};
pub use slices::{LEAST_SLICE_RAMP_NS, PART_COUNTS, WholeTrials};
pub use spec::{
    Arm, Design, Draft, Driver, Final, Fitted, NamedTarget, Source, Spec, Stop, StopMode, Target,
    Yields,
};

pub use target::{Elsewhere, parse_arms, parse_repeated_arms};
pub use tree::{Operation, OperationShare, Tree};
pub use turns::{Flow, IoPriority, Numa, NumaMemory, PriorityClass, PriorityShare};
pub use workload::{
    Arrivals, BlockSizes, Bound, Extent, Files, FioLogs, FioOption, IndexLoads, Job, LatencyTarget,
    Origin, Pace, Pattern, Phase, RecordedLoad, Requirement, RunLength, Share, Skew, Slices,
    Stretches, Think, Trims, Uncut, Workload, Zone,
};
pub use writes::Content;

/// A message with the list of all layers replaced by `ALL`, so that new layers do not change
/// snapshots.
#[cfg(test)]
fn abbreviated(message: impl std::fmt::Display) -> String {
    let names: Vec<_> = Layer::catalog().map(|layer| layer.name).collect();
    message.to_string().replace(&names.join(", "), "ALL")
}
