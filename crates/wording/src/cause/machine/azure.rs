use iotax_diagnose::why::azure::{AtHost, AzureWhy, Encrypted};
use iotax_quantity::{bytes, iops_limit, times};

pub(in super::super) fn why(why: &AzureWhy, disk: &str) -> String {
    match why {
        AzureWhy::DoubleEncryption { vm, encrypted, at_host, is_local } => {
            let by_hardware = match encrypted {
                Encrypted::Always => format!("Hardware already encrypts the local disks of {vm}"),
                Encrypted::SinceAllocated => format!(
                    "Hardware encrypts the local disks of {vm} if the VM was allocated in 2023 or \
                     later"
                ),
            };
            let is_on = match at_host {
                AtHost::Seen | AtHost::Told => true,
                AtHost::Unknown | AtHost::Off => false,
            };
            let again = if is_on { "encrypts them again" } else { "would encrypt them again" };
            let then = match (is_local, is_on) {
                (true, true) => format!(": every I/O on {disk} is encrypted twice."),
                (true, false) => ". iotax cannot see whether Encryption at Host is on; set --fact \
                                  encryption-at-host=yes or =no."
                    .to_owned(),
                (false, _) => format!(
                    ". iotax cannot see whether {disk} is a local disk{}.",
                    if *at_host == AtHost::Unknown {
                        ", or whether Encryption at Host is on"
                    } else {
                        ""
                    }
                ),
            };
            format!("{by_hardware}, and Encryption at Host {again}{then}")
        }
        AzureWhy::GuestEncryption => format!(
            "Azure already encrypts {disk} at rest. Azure Disk Encryption encrypts it again, on \
             this VM's CPUs."
        ),
        AzureWhy::HostCache { cache_bytes, disk_bytes } => format!(
            "All cached disks share a host cache of {}, but the size of {disk} alone is {}. Reads \
             that miss the cache count against the VM's cached and uncached limits, and against \
             the disk's limit.",
            bytes(*cache_bytes as f64),
            bytes(*disk_bytes as f64)
        ),
        AzureWhy::EphemeralOs => "Unless full caching is on, image blocks not written since boot \
                                  are read from a remote disk, which can be a Standard HDD. The \
                                  metadata does not show whether full caching is on."
            .to_owned(),
        AzureWhy::Scsi { scsi_iops, nvme_iops } => format!(
            "The documented limit of {disk} for uncached disks is {} over SCSI, but {} over NVMe \
             ({} the limit over SCSI).",
            iops_limit(*scsi_iops),
            iops_limit(*nvme_iops),
            times(nvme_iops / scsi_iops)
        ),
    }
}
