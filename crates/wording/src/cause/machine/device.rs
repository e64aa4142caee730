use iotax_diagnose::Component;
use iotax_diagnose::why::device::DeviceWhy;
use iotax_quantity::{percent, set_time};

use super::super::names::names;
use super::since_boot;

pub(in super::super) fn why(why: &DeviceWhy, about: &[Component]) -> String {
    let names = names(about);
    match why {
        DeviceWhy::HardwareQueues { cpus } => {
            format!("{cpus} CPUs submit I/Os to {names} through one hardware queue.")
        }
        DeviceWhy::FirstTouch => format!(
            "A disk made from a snapshot or image fetches each block on the first read. iotax \
             cannot see whether {names} {} made from a snapshot or image.",
            if about.len() == 1 { "was" } else { "were" }
        ),
        DeviceWhy::Timeout { timeout_ms } => format!(
            "I/Os to {names} time out after {}. AWS recommends disabling this timeout for EBS \
             volumes, because a timeout during a network outage can make the file system \
             read-only.",
            set_time(timeout_ms.saturating_mul(1_000_000))
        ),
        DeviceWhy::PowerStates { latency_us } => format!(
            "If {names} has sleep states, the driver allows those with a wake-up time of up to {}. \
             The first I/O after a pause waits for the wake-up.",
            set_time(latency_us.saturating_mul(1_000))
        ),
        DeviceWhy::Scheduler { scheduler } => {
            format!(
                "{scheduler} delays and sorts I/Os to {names}, although there are no moving heads."
            )
        }
        DeviceWhy::Interrupts { share, total, cpu, cpus, since } => format!(
            "{} of the {total} interrupts from {names} {} went to CPU {cpu} (of {cpus} CPUs).",
            percent(*share),
            since_boot(since)
        ),
        DeviceWhy::Merging => format!("Small adjacent I/Os to {names} are not merged."),
        DeviceWhy::Loop { file } => format!(
            "{names} reads and writes {file} through the page cache, so data is cached twice: for \
             {file} and for the file system on {names}."
        ),
        DeviceWhy::Snapshot => {
            format!("{names} copies each chunk before the first write to that chunk.")
        }
        DeviceWhy::Thin => {
            format!("{names} allocates each block on the first write to that block.")
        }
        DeviceWhy::Stripes { ios } => format!(
            "A 128 KiB I/O to {names} becomes {ios} I/Os, each of which counts against the limit \
             of the disk that serves it."
        ),
        DeviceWhy::HddSnapshot => {
            format!(
                "While a snapshot of {names} is in progress, the I/O rate can drop to the baseline."
            )
        }
        DeviceWhy::OsDisk { path } => format!(
            "{path} is on the OS disk: container images, logs and all pods without a volume share \
             its limits."
        ),
    }
}
