//! The rules, one file for each group of causes.

use iotax_catalog::DiskExpectation;
use iotax_record::machine::{self, GroupIoLimits, MountSeen};

use super::finding::Finding;
use super::snapshot::{Attached, Snapshot};
use super::{
    azure, confidential, device, drive, ebs, encryption, file_system, gcp, groups, guest,
    interface, limits, memory, network, nfs, packets, path, proxy, raid, smb, zfs,
};

/// From what was seen to what is found.
pub(super) struct Rule {
    /// The causes that it can name.
    pub causes: &'static [&'static str],
    finder: Finder,
}

type OfDevice = fn(&Snapshot<'_>, &machine::Device, &str) -> Option<Finding>;

/// What finds it, by what it is asked about; of what several paths lie on, with the first of them.
pub(super) enum Finder {
    /// All that was seen, once.
    All(fn(&Snapshot<'_>) -> Vec<Finding>),
    /// The same, of which there is one finding at most.
    Once(fn(&Snapshot<'_>) -> Option<Finding>),
    Device(OfDevice),
    /// Each device that lies on no other.
    Disk(OfDevice),
    /// Of these, each that a network serves.
    NetworkDisk(OfDevice),
    /// Each disk that documents say something of.
    Documented(fn(&Snapshot<'_>, &Attached<'_>, &DiskExpectation) -> Option<Finding>),
    Mount(fn(&Snapshot<'_>, &MountSeen, &str) -> Option<Finding>),
    /// Each network interface.
    Interface(fn(&Snapshot<'_>, &machine::Interface, &str) -> Option<Finding>),
    /// Each way to a peer.
    Route(fn(&Snapshot<'_>, &machine::Route, &str) -> Option<Finding>),
    /// Each limit that a control group sets on I/O.
    Group(fn(&Snapshot<'_>, &GroupIoLimits) -> Option<Finding>),
}

impl Rule {
    pub(super) fn find(&self, seen: &Snapshot<'_>) -> Vec<Finding> {
        let groups = &seen.machine.groups.io;
        match self.finder {
            Finder::All(find) => find(seen),
            Finder::Once(find) => find(seen).into_iter().collect(),
            Finder::Device(find) => {
                seen.devices().filter_map(|(of, path)| find(seen, of, path)).collect()
            }
            Finder::Disk(find) => {
                seen.bottom().filter_map(|(of, path)| find(seen, of, path)).collect()
            }
            Finder::NetworkDisk(find) => {
                seen.network_disks().filter_map(|(of, path)| find(seen, of, path)).collect()
            }
            Finder::Documented(find) => {
                seen.documented().filter_map(|(one, says)| find(seen, one, says)).collect()
            }
            Finder::Mount(find) => {
                seen.mounts().filter_map(|(of, path)| find(seen, of, path)).collect()
            }
            Finder::Interface(find) => {
                seen.interfaces().filter_map(|(of, path)| find(seen, of, path)).collect()
            }
            Finder::Route(find) => {
                seen.routes().filter_map(|(of, path)| find(seen, of, path)).collect()
            }
            Finder::Group(find) => groups.iter().filter_map(|limits| find(seen, limits)).collect(),
        }
    }
}

pub(super) const fn rule(causes: &'static [&'static str], finder: Finder) -> Rule {
    Rule { causes, finder }
}

/// All rules, family by family; of what is as sure, the first leads.
pub(super) fn all() -> impl Iterator<Item = &'static Rule> {
    let families = [
        azure::RULES,
        encryption::RULES,
        nfs::RULES,
        confidential::RULES,
        network::RULES,
        path::RULES,
        packets::RULES,
        interface::RULES,
        ebs::RULES,
        limits::RULES,
        groups::RULES,
        memory::RULES,
        file_system::RULES,
        device::RULES,
        raid::RULES,
        drive::RULES,
        smb::RULES,
        guest::RULES,
        zfs::RULES,
        proxy::RULES,
        gcp::RULES,
    ];
    families.into_iter().flatten()
}
