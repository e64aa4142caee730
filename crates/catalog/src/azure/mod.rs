//! Microsoft Azure.

pub(crate) mod disks;
pub(crate) mod vms;
