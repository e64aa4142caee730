use iotax_diagnose::why::azure::{AtHost, AzureWhy, Encrypted};
use iotax_quantity::{bytes, iops_limit, times};

pub(in super::super) fn why(why: &AzureWhy, disk: &str) -> String {
    match why {
        AzureWhy::DoubleEncryption { vm, encrypted, at_host, is_local } => {
            let by_hardware = match encrypted {
                Encrypted::Always => format!("Hardware encrypts the local disks of {vm} already"),
                Encrypted::SinceAllocated => format!(
                    "Local disks of {vm} are encrypted by hardware if it was allocated in 2023 or \
                     later"
                ),
            };
            let is_on = match at_host {
                AtHost::Seen | AtHost::Told => true,
                AtHost::Unknown | AtHost::Off => false,
            };
            let again = if is_on { "encrypts them again" } else { "would encrypt them again" };
            let then = match (is_local, is_on) {
                (true, true) => format!(": every I/O of {disk} is encrypted twice."),
                (true, false) => ". Nothing here tells whether it is on: say --fact \
                                  encryption-at-host=yes, or no."
                    .to_owned(),
                (false, _) => format!(
                    ". Nothing here tells whether {disk} is one of them{}.",
                    if *at_host == AtHost::Unknown { ", nor whether it is on" } else { "" }
                ),
            };
            format!("{by_hardware}, and Encryption at Host {again}{then}")
        }
        AzureWhy::GuestEncryption => format!(
            "Azure encrypts {disk} at rest anyway; Azure Disk Encryption does it once more, with \
             this VM's CPUs."
        ),
        AzureWhy::HostCache { cache_bytes, disk_bytes } => format!(
            "The host caches {} for all cached disks, and {disk} holds {}: reads of more than the \
             cache holds count against the VM's cached and uncached limits and the disk's.",
            bytes(*cache_bytes as f64),
            bytes(*disk_bytes as f64)
        ),
        AzureWhy::EphemeralOs => "Unless full caching is on, blocks of the image that nothing has \
                                  written since boot are read from a remote disk, which may be a \
                                  Standard HDD. Metadata does not tell."
            .to_owned(),
        AzureWhy::Scsi { scsi_iops, nvme_iops } => format!(
            "{disk} documents {} for its uncached disks by SCSI and {} by NVMe, {} as many.",
            iops_limit(*scsi_iops),
            iops_limit(*nvme_iops),
            times(nvme_iops / scsi_iops)
        ),
    }
}
