//! The rules, one file for each group of causes.

use std::ops::Deref;

use iotax_catalog::DiskExpectation;
use iotax_record::machine::{self, GroupIoLimits, MountSeen, NfsSeen};

use super::finding::{Certainty, Component, ComponentKind, Finding};
use super::snapshot::{Attached, Snapshot};
use super::why::Why;
use super::{
    azure, confidential, device, drive, ebs, encryption, file_system, gcp, groups, guest,
    interface, limits, memory, network, nfs, packets, path, proxy, raid, smb, zfs,
};

/// From what was seen to what is found.
pub(super) struct Rule {
    /// The causes that it can name; a finding has the first, unless the rule says otherwise.
    pub causes: &'static [&'static str],
    finder: Finder,
}

/// Something that a rule is asked about, with the first path above it.
pub(super) struct At<'s, 'a, T> {
    pub seen: &'s Snapshot<'a>,
    pub path: &'s str,
    thing: &'s T,
    cause: &'static str,
}

pub(super) type DeviceAt<'s, 'a> = At<'s, 'a, machine::Device>;
pub(super) type InterfaceAt<'s, 'a> = At<'s, 'a, machine::Interface>;
pub(super) type MountAt<'s, 'a> = At<'s, 'a, MountSeen>;

impl<T> Deref for At<'_, '_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.thing
    }
}

/// What a finding calls the thing that it is about.
pub(super) trait Named {
    fn component(&self, path: &str) -> Component;
}

impl Named for machine::Device {
    fn component(&self, path: &str) -> Component {
        Component::mapped(self).of(path)
    }
}

impl Named for MountSeen {
    fn component(&self, _: &str) -> Component {
        Component::mount(self).also(self.file_system.as_str())
    }
}

impl Named for machine::Interface {
    /// An interface on the way of a path, unless it was asked about itself.
    fn component(&self, path: &str) -> Component {
        let named = Component::network(self.name.as_str());
        if self.name == path { named } else { named.of(path) }
    }
}

impl Named for machine::Route {
    fn component(&self, path: &str) -> Component {
        Component::network(path)
    }
}

impl Named for GroupIoLimits {
    fn component(&self, _: &str) -> Component {
        Component::new(ComponentKind::Group, self.group.as_str())
    }
}

impl Named for Attached<'_> {
    /// `nvme1n1 (gp3:size=10G) of /data`.
    fn component(&self, path: &str) -> Component {
        Component::device(self.device).also(self.name.as_str()).of(path)
    }
}

impl<T: Named> At<'_, '_, T> {
    /// A finding about it, without observations and commands yet.
    pub(super) fn finding(&self, certainty: Certainty, why: impl Into<Why>) -> Finding {
        Finding::new(self.cause, self.thing.component(self.path), certainty, why)
    }
}

impl MountAt<'_, '_> {
    /// The same, about the server, share or dataset that is mounted as well.
    pub(super) fn finding_with_source(&self, certainty: Certainty, why: impl Into<Why>) -> Finding {
        let mount = Component::mount(self).also(self.source.as_str());
        self.finding(certainty, why).on(mount)
    }
}

type Find<T> = fn(&At<'_, '_, T>) -> Option<Finding>;

/// What finds it, by what it is asked about.
pub(super) enum Finder {
    /// All that was seen, once.
    All(fn(&Snapshot<'_>) -> Vec<Finding>),
    /// The same, of which there is one finding at most.
    Once(fn(&Snapshot<'_>) -> Option<Finding>),
    Device(Find<machine::Device>),
    /// Each device that lies on no other.
    Disk(Find<machine::Device>),
    /// Of these, each that a network serves.
    NetworkDisk(Find<machine::Device>),
    /// Each disk that documents say something of.
    Documented(fn(&At<'_, '_, Attached<'_>>, &DiskExpectation) -> Option<Finding>),
    Mount(Find<MountSeen>),
    Nfs(fn(&At<'_, '_, MountSeen>, &NfsSeen) -> Option<Finding>),
    Interface(Find<machine::Interface>),
    /// Each way to a peer.
    Route(Find<machine::Route>),
    /// Each limit that a control group sets on I/O.
    Group(Find<GroupIoLimits>),
}

impl Rule {
    pub(super) fn findings(&self, seen: &Snapshot<'_>) -> Vec<Finding> {
        match self.finder {
            Finder::All(find) => find(seen),
            Finder::Once(find) => find(seen).into_iter().collect(),
            Finder::Device(find) => self.each(seen, seen.devices(), find),
            Finder::Disk(find) => self.each(seen, seen.bottom(), find),
            Finder::NetworkDisk(find) => self.each(seen, seen.network_disks(), find),
            Finder::Documented(find) => {
                let known = seen.documented();
                known.filter_map(|(one, says)| find(&self.at(seen, one, one.path), says)).collect()
            }
            Finder::Mount(find) => self.each(seen, seen.mounts(), find),
            Finder::Nfs(find) => {
                self.each(seen, seen.mounts(), |mount| find(mount, mount.nfs.as_ref()?))
            }
            Finder::Interface(find) => self.each(seen, seen.interfaces(), find),
            Finder::Route(find) => self.each(seen, seen.routes(), find),
            Finder::Group(find) => {
                let groups = seen.machine.groups.io.iter();
                self.each(seen, groups.map(|limits| (limits, limits.path.as_str())), find)
            }
        }
    }

    fn each<'s, 'a, 'd: 's, T: 'd>(
        &self,
        seen: &'s Snapshot<'a>,
        things: impl Iterator<Item = (&'d T, &'d str)>,
        find: impl Fn(&At<'s, 'a, T>) -> Option<Finding>,
    ) -> Vec<Finding> {
        things.filter_map(|(thing, path)| find(&self.at(seen, thing, path))).collect()
    }

    fn at<'s, 'a, T>(&self, seen: &'s Snapshot<'a>, thing: &'s T, path: &'s str) -> At<'s, 'a, T> {
        At { seen, path, thing, cause: self.causes[0] }
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
