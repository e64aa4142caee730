use iotax_diagnose::Component;
use iotax_diagnose::why::device::DeviceWhy;
use iotax_quantity::{percent, set_time};

use super::super::names::names;
use super::since_boot;

pub(in super::super) fn why(why: &DeviceWhy, about: &[Component]) -> String {
    let names = names(about);
    match why {
        DeviceWhy::HardwareQueues { cpus } => {
            format!("{cpus} CPUs submit to {names} through one hardware queue.")
        }
        DeviceWhy::FirstTouch => format!(
            "Blocks of a disk that was made from a snapshot or image are fetched when they are \
             first read. The machine cannot see whether {names} {}.",
            if about.len() == 1 { "was" } else { "were" }
        ),
        DeviceWhy::Timeout { timeout_ms } => format!(
            "I/Os to {names} are given up after {}. AWS recommends no timeout for EBS \
             volumes: an outage of the network makes the file system read-only.",
            set_time(timeout_ms * 1_000_000)
        ),
        DeviceWhy::PowerStates { latency_us } => format!(
            "If {names} has states of sleep, the driver lets it use those that take up to {} to \
             leave: the first I/O after a pause waits for that.",
            set_time(latency_us * 1_000)
        ),
        DeviceWhy::Scheduler { scheduler } => {
            format!("{scheduler} holds back and sorts I/Os of {names}, which has no head to move.")
        }
        DeviceWhy::Interrupts { share, total, cpu, cpus, since } => format!(
            "{} of the {total} interrupts of {names} {} came to CPU {cpu}, of {cpus}.",
            percent(*share),
            since_boot(since)
        ),
        DeviceWhy::Merging => format!("Small adjacent I/Os to {names} stay small."),
        DeviceWhy::Loop { file } => format!(
            "{names} reads and writes {file} through the page cache, below the one of its own file \
             system."
        ),
        DeviceWhy::Snapshot => format!("{names} copies a chunk before it is first written."),
        DeviceWhy::Thin => format!("{names} allocates a block when it is first written."),
        DeviceWhy::Stripes { ios } => {
            format!("An I/O of 128 KiB to {names} is {ios} I/Os, each counted by its disk.")
        }
        DeviceWhy::HddSnapshot => {
            format!("While a snapshot of {names} is made, it may fall to its baseline.")
        }
        DeviceWhy::OsDisk { path } => format!(
            "{path} lies on the OS disk: images, logs and all pods without a volume share its \
             limits."
        ),
    }
}
