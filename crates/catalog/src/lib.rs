//! Documented limits of cloud VMs and disks, as data with sources.
//!
//! The tables are embedded; nothing else is read. Each figure has a source and a date. Undocumented
//! values are `None`, and contradicting sources are both reported. [`vm()`] and [`disk()`] look up
//! entries; [`expect()`] computes the limits of a VM with its disks.
#![forbid(unsafe_code)]

mod aws;
mod azure;
mod claims;
mod disk;
mod error;
mod expect;
mod gcp;
mod limit;
mod lookup;
mod note;
mod shingled;
mod table;
mod text;
mod units;
mod vm;

pub use claims::{Agreement, Checked, Claim, Claimed, check_claims, read_claims};
pub use disk::{Caching, Disk, HostCache};
pub use error::{DiskProblem, Error, TableProblem, near_names};
pub use expect::{
    Bound, Bucket, BurstBound, By, DiskExpectation, Effective, Expectation, Setup, expect,
    vm_variant,
};
pub use limit::{Burst, Cloud, Direction, Limit, Rate, Scope, Source};
pub use lookup::{
    DiskRange, attachable, attached_disk, azure_disk_of, disk, disk_names, near, vm, vm_names,
    vm_of, vms_like,
};
pub use note::{Fact, Note, Property};
pub use shingled::{Shingled, shingled};
pub use vm::{Conflict, LocalStorage, Vm};
