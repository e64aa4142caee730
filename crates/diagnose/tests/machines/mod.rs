//! Machines that were built from documented formats, as files of `iotax doctor --machine`.

use std::path::Path;

pub(crate) const ALL: [&str; 46] = [
    "aws-c5-large-io2",
    "aws-m5-large-gp2",
    "aws-m5-large-st1",
    "aws-m7g-xlarge-gp3",
    "aws-r6i-4xlarge-gp3",
    "azure-dc8as-v5-sev-snp",
    "azure-e16d-v5-encryption-at-host",
    "azure-e16s-v3-encryption-at-host",
    "azure-e8bs-v5-scsi",
    "bare-metal-nvme",
    "drives",
    "efs-local-proxy",
    "gcp-n2-standard-32-pd-ssd",
    "gcp-n2-standard-8-pd-ssd",
    "laptop-luks2",
    "luks2-defaults",
    "luks2-inline",
    "lvm-raid6",
    "network-faults",
    "network-healthy",
    "nfs-krb5p-nconnect",
    "ntfs-kernel-healthy",
    "pod-with-limits",
    "raid-faults",
    "raid0-unlike-members",
    "raid10-healthy",
    "raid6-dsync",
    "report-ec2-gp2-burst",
    "report-gke-standard-boot",
    "report-gluster-listing",
    "report-gocryptfs-cifs",
    "report-lvmcache-smr",
    "report-ntfs3g-usb",
    "report-nvme-raid0-clickhouse",
    "report-raid5-clickhouse",
    "report-smr-resilver",
    "report-virtiofs-over-nfs",
    "report-zfs-no-log",
    "report-zfs-primarycache",
    "smb-faults",
    "smb-healthy",
    "unknown-layers",
    "workshop",
    "wsl-9p",
    "zfs-faults",
    "zfs-healthy",
];

/// The text of a file.
pub(crate) fn text(name: &str) -> String {
    let file = format!("tests/machines/{name}.json");
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}
