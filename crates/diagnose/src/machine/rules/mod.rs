//! The rules, one file for each group of causes.

mod azure;
mod confidential;
mod device;
mod ebs;
mod encryption;
mod file_system;
mod groups;
mod limits;
mod memory;
mod network;
mod nfs;

use super::finding::Finding;
use super::snapshot::Snapshot;

/// From what was seen to what is found.
pub(super) struct Rule {
    /// The causes that it can name.
    pub causes: &'static [&'static str],
    /// What it finds.
    pub find: fn(&Snapshot<'_>) -> Vec<Finding>,
}

const fn rule(causes: &'static [&'static str], find: fn(&Snapshot<'_>) -> Vec<Finding>) -> Rule {
    Rule { causes, find }
}

/// All rules, in the order of the catalogue's causes.
pub(super) const ALL: [Rule; 59] = [
    rule(&["double-encryption"], azure::double_encryption),
    rule(&["azure-guest-encryption"], azure::guest_encryption),
    rule(&["host-cache-outgrown"], azure::host_cache),
    rule(&["ephemeral-os-partial-cache"], azure::ephemeral_os),
    rule(&["scsi-controller"], azure::controller),
    rule(&["dm-crypt-workqueues"], encryption::work_queues),
    rule(&["software-cipher"], encryption::software_cipher),
    rule(&["dm-crypt-small-sectors"], encryption::small_sectors),
    rule(&["dm-crypt-large-io"], encryption::large_writes),
    rule(&["dm-crypt-split"], encryption::split),
    rule(&["integrity-journal"], encryption::journal),
    rule(&["io-max-ignored"], encryption::unheld_limits),
    rule(&["nfs-kerberos"], nfs::kerberos_cost),
    rule(&["nfs-gss-window"], nfs::gss_window),
    rule(&["nfs-retransmissions"], nfs::retransmissions),
    rule(&["nfs-slots"], nfs::slots),
    rule(&["nfs-attribute-cache"], nfs::attribute_cache),
    rule(&["bounce-buffers"], confidential::bounce_buffers),
    rule(&["bounce-buffers-full"], confidential::full_pool),
    rule(&["confidential-vm-limits"], confidential::lower_limits),
    rule(&["confidential-os-disk"], confidential::os_disk),
    rule(&["network-encryption"], network::encryption),
    rule(&["tunnel-mtu"], network::mtu),
    rule(&["storage-shares-network"], network::shared),
    rule(&["ebs-volume-limit", "ebs-instance-limit"], ebs::counters),
    rule(
        &[
            "azure-disk-limit",
            "azure-vm-limit",
            "ebs-volume-limit",
            "ebs-instance-limit",
            "gcp-disk-limit",
            "gcp-vm-limit",
        ],
        limits::binding,
    ),
    rule(&["azure-vm-limit", "ebs-instance-limit"], limits::shared_bucket),
    rule(&["azure-burst", "ebs-volume-burst", "ebs-instance-burst"], limits::bursts),
    rule(&["cgroup-io-max"], groups::io_limits),
    rule(&["azuredisk-read-ahead"], memory::profile),
    rule(&["stacked-limits"], limits::stacked),
    rule(&["read-ahead"], memory::read_ahead),
    rule(&["nfs-read-ahead"], nfs::read_ahead),
    rule(&["dirty-throttling"], memory::dirty_throttling),
    rule(&["cgroup-memory"], groups::memory),
    rule(&["page-cache-thrash"], memory::thrash),
    rule(&["fsync-network-disk"], file_system::fsync),
    rule(&["data-journal"], file_system::data_journal),
    rule(&["sync-mount"], file_system::sync),
    rule(&["queue-too-short", "too-little-parallelism"], limits::depths),
    rule(&["single-hardware-queue"], device::hardware_queues),
    rule(&["first-touch"], device::first_touch),
    rule(&["nvme-timeout"], device::timeout),
    rule(&["nvme-power-states"], device::power_states),
    rule(&["online-discard"], file_system::discard),
    rule(&["io-scheduler"], device::scheduler),
    rule(&["interrupts-on-one-cpu"], device::interrupts),
    rule(&["merging-off"], device::merging),
    rule(&["overlay-copy-up"], file_system::overlay),
    rule(&["loop-double-caching"], device::loops),
    rule(&["swap-on-path"], memory::swap),
    rule(&["lvm-snapshot", "thin-volume"], device::volumes),
    rule(&["copy-on-write-file-system"], file_system::copy_on_write),
    rule(&["strict-atime"], file_system::strict_atime),
    rule(&["fuse-file-system"], file_system::fuse),
    rule(&["raid-stripe"], device::stripes),
    rule(&["hdd-volume-snapshot"], device::hdd_snapshots),
    rule(&["shared-os-disk"], device::os_disk),
    rule(&["cpu-quota"], groups::cpu_quota),
];
