//! What the user asked for: workloads, stacks, experiment files, units.
//!
//! Two levels, as in a good argument parser: what was *written* ([`mod@file`], text) and what it
//! *means* ([`Spec`], typed, in bytes and nanoseconds). Nothing here touches disk, clock or
//! environment.
#![forbid(unsafe_code)]

mod build;
mod error;
mod explain;
pub mod file;
mod keys;
mod overrides;
mod presets;
mod spec;
mod stack;
mod target;
mod text;
pub mod units;
mod validate;
mod workload;

pub use build::Subsets;
pub use error::{Error, FilePlace, Subject};
pub use overrides::{Changes, override_keys};
pub use spec::{Arm, Design, Spec, Stop, StopMode};
pub use stack::{
    CgroupIo, Dmcrypt, Fault, FileSystem, FileSystemKind, Layer, Nfs, Stack, Target, Throttle,
};
pub use target::parse_arms;
pub use text::{Form, LayerInfo, Parameter, World};
pub use workload::{
    BlockSizes, Bound, Engine, Files, IndexLoads, Job, Pace, Pattern, Share, Workload,
};
