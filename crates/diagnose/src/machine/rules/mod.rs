//! The rules, one file for each group of causes.

mod azure;
mod confidential;
mod device;
mod drive;
mod ebs;
mod encryption;
mod file_system;
mod gcp;
mod groups;
mod guest;
mod interface;
mod limits;
mod memory;
mod network;
mod nfs;
mod packets;
mod path;
mod proxy;
mod raid;
mod smb;
mod zfs;

use iotax_catalog::DiskExpectation;
use iotax_record::machine::{self, GroupIoLimits, MountSeen};

use self::Finder::{
    All, Device, Disk, Documented, Group, Interface, Mount, NetworkDisk, Once, Route,
};
use super::finding::Finding;
use super::snapshot::{Attached, Snapshot};

/// From what was seen to what is found.
pub(super) struct Rule {
    /// The causes that it can name.
    pub causes: &'static [&'static str],
    finder: Finder,
}

type OfDevice = fn(&Snapshot<'_>, &machine::Device, &str) -> Option<Finding>;

/// What finds it, by what it is asked about; of what several paths lie on, with the first of them.
enum Finder {
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
            All(find) => find(seen),
            Once(find) => find(seen).into_iter().collect(),
            Device(find) => seen.devices().filter_map(|(of, path)| find(seen, of, path)).collect(),
            Disk(find) => seen.bottom().filter_map(|(of, path)| find(seen, of, path)).collect(),
            NetworkDisk(find) => {
                seen.network_disks().filter_map(|(of, path)| find(seen, of, path)).collect()
            }
            Documented(find) => {
                seen.documented().filter_map(|(one, says)| find(seen, one, says)).collect()
            }
            Mount(find) => seen.mounts().filter_map(|(of, path)| find(seen, of, path)).collect(),
            Interface(find) => {
                seen.interfaces().filter_map(|(of, path)| find(seen, of, path)).collect()
            }
            Route(find) => seen.routes().filter_map(|(of, path)| find(seen, of, path)).collect(),
            Group(find) => groups.iter().filter_map(|limits| find(seen, limits)).collect(),
        }
    }
}

const fn rule(causes: &'static [&'static str], finder: Finder) -> Rule {
    Rule { causes, finder }
}

/// All rules, in the order of the catalogue's causes.
pub(super) const ALL: [Rule; 98] = [
    rule(&["double-encryption"], Disk(azure::double_encryption)),
    rule(&["azure-guest-encryption"], Disk(azure::guest_encryption)),
    rule(&["host-cache-outgrown"], NetworkDisk(azure::host_cache)),
    rule(&["ephemeral-os-partial-cache"], Disk(azure::ephemeral_os)),
    rule(&["scsi-controller"], All(azure::controller)),
    rule(&["dm-crypt-workqueues"], Device(encryption::work_queues)),
    rule(&["dm-crypt-workqueues"], Device(encryption::unread)),
    rule(&["software-cipher"], Device(encryption::software_cipher)),
    rule(&["dm-crypt-small-sectors"], Device(encryption::small_sectors)),
    rule(&["dm-crypt-large-io"], Device(encryption::large_writes)),
    rule(&["dm-crypt-split"], Device(encryption::split)),
    rule(&["integrity-journal"], Device(encryption::journal)),
    rule(&["io-max-ignored"], Group(encryption::unheld_limits)),
    rule(&["nfs-kerberos"], All(nfs::kerberos_cost)),
    rule(&["nfs-gss-window"], All(nfs::gss_window)),
    rule(&["nfs-retransmissions"], All(nfs::retransmissions)),
    rule(&["nfs-slots"], All(nfs::slots)),
    rule(&["nfs-attribute-cache"], All(nfs::attribute_cache)),
    rule(&["bounce-buffers"], Once(confidential::bounce_buffers)),
    rule(&["bounce-buffers-full"], All(confidential::full_pool)),
    rule(&["confidential-vm-limits"], Once(confidential::lower_limits)),
    rule(&["confidential-os-disk"], Device(confidential::os_disk)),
    rule(&["network-encryption"], Mount(network::encryption)),
    rule(&["tunnel-mtu"], Mount(network::mtu)),
    rule(&["storage-shares-network"], All(network::shared)),
    rule(&["bounce-buffers"], Interface(interface::bounced)),
    rule(&["network-encryption"], Interface(path::encryption)),
    rule(&["network-encryption"], Route(path::ipsec)),
    rule(&["network-encryption"], Once(packets::plugins)),
    rule(&["tunnel-mtu"], Interface(path::tunnel_small)),
    rule(&["mtu-black-hole"], Route(path::black_hole)),
    rule(&["path-mtu"], Route(path::path_mtu)),
    rule(&["tunnel-mtu-too-large"], Interface(path::tunnel_too_large)),
    rule(&["offloads-off"], Interface(interface::offloads)),
    rule(&["ring-drops"], Interface(interface::ring)),
    rule(&["softnet-drops"], Once(packets::backlog)),
    rule(&["single-receive-queue"], Interface(interface::queues)),
    rule(&["shaper-in-path"], Interface(interface::shaper)),
    rule(&["qdisc-drops"], Interface(interface::queue)),
    rule(&["conntrack-full"], Once(packets::connections)),
    rule(&["userspace-wireguard"], Interface(interface::userspace)),
    rule(&["tcp-buffers"], Route(path::buffers)),
    rule(&["ebs-volume-limit", "ebs-instance-limit"], All(ebs::counters)),
    rule(
        &[
            "azure-disk-limit",
            "azure-vm-limit",
            "ebs-volume-limit",
            "ebs-instance-limit",
            "gcp-disk-limit",
            "gcp-vm-limit",
        ],
        All(limits::binding),
    ),
    rule(&["azure-vm-limit", "ebs-instance-limit"], All(limits::shared_bucket)),
    rule(&["azure-burst", "ebs-volume-burst", "ebs-instance-burst"], All(limits::bursts)),
    rule(&["cgroup-io-max"], Group(groups::io_limits)),
    rule(&["azuredisk-read-ahead"], Disk(memory::profile)),
    rule(&["stacked-limits"], Documented(limits::stacked)),
    rule(&["read-ahead"], Documented(memory::read_ahead)),
    rule(&["nfs-read-ahead"], All(nfs::read_ahead)),
    rule(&["dirty-throttling"], Once(memory::dirty_throttling)),
    rule(&["cgroup-memory"], Once(groups::memory)),
    rule(&["page-cache-thrash"], Once(memory::thrash)),
    rule(&["fsync-network-disk"], All(file_system::fsync)),
    rule(&["data-journal"], Mount(file_system::data_journal)),
    rule(&["sync-mount"], Mount(file_system::sync)),
    rule(&["queue-too-short", "too-little-parallelism"], Documented(limits::depths)),
    rule(&["single-hardware-queue"], Disk(device::hardware_queues)),
    rule(&["first-touch"], All(device::first_touch)),
    rule(&["nvme-timeout"], NetworkDisk(device::timeout)),
    rule(&["nvme-power-states"], Disk(device::power_states)),
    rule(&["online-discard"], Mount(file_system::discard)),
    rule(&["io-scheduler"], Disk(device::scheduler)),
    rule(&["interrupts-on-one-cpu"], Disk(device::interrupts)),
    rule(&["merging-off"], Disk(device::merging)),
    rule(&["overlay-copy-up"], Mount(file_system::overlay)),
    rule(&["loop-double-caching"], Device(device::loops)),
    rule(&["swap-on-path"], All(memory::swap)),
    rule(&["lvm-snapshot", "thin-volume"], Device(device::volumes)),
    rule(&["copy-on-write-file-system"], Mount(file_system::copy_on_write)),
    rule(&["strict-atime"], Mount(file_system::strict_atime)),
    rule(&["fuse-file-system"], Mount(file_system::fuse)),
    rule(&["raid-stripe"], Device(device::stripes)),
    rule(&["hdd-volume-snapshot"], All(device::hdd_snapshots)),
    rule(&["shared-os-disk"], NetworkDisk(device::os_disk)),
    rule(&["cpu-quota"], Once(groups::cpu_quota)),
    rule(&["parity-raid"], Device(raid::parity)),
    rule(&["raid-bitmap"], Device(raid::bitmap)),
    rule(&["raid-rebuild"], Device(raid::rebuild)),
    rule(&["raid-unlike-members"], Device(raid::unlike)),
    rule(&["rotating-drive"], Disk(drive::rotating)),
    rule(&["shingled-drive"], Disk(drive::shingled_drive)),
    rule(&["smb-encryption"], Mount(smb::encryption)),
    rule(&["smb-single-channel"], Mount(smb::channels)),
    rule(&["smb-cache"], Mount(smb::cache)),
    rule(&["smb-small-requests"], Mount(smb::requests)),
    rule(&["9p-round-trips"], Mount(guest::ninep)),
    rule(&["shared-folder"], Mount(guest::shared_folder)),
    rule(&["ntfs-fuse"], Mount(file_system::ntfs)),
    rule(&["zfs-recordsize"], Mount(zfs::record_size)),
    rule(&["zfs-primarycache"], Mount(zfs::primary_cache)),
    rule(&["zfs-sync"], Mount(zfs::sync)),
    rule(&["zfs-ashift"], Mount(zfs::ashift)),
    rule(&["zfs-special-vdev"], Mount(zfs::special)),
    rule(&["zfs-raidz"], Mount(zfs::raidz)),
    rule(&["nfs-local-proxy"], Mount(proxy::local)),
    rule(&["gcp-unnamed-disk"], NetworkDisk(gcp::unnamed)),
];
