//! Differences between the machines on which saved results were made.

use iotax_diagnose::{Changed, ChangedArm, Surrounding};
use iotax_quantity::list;

use crate::name::printable;

/// `Possible cause: before and after differ in kernel (6.1.0 / 6.12.3).`
pub fn changed(arm: &ChangedArm) -> String {
    let ChangedArm { arm, baseline, changes } = arm;
    let changes: Vec<String> = changes.iter().map(change).collect();
    let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
    printable(&format!("Possible cause: {baseline} and {arm} differ in {}.", list(&changes)))
}

/// `scheduler (none / mq-deadline)`
fn change(change: &Changed) -> String {
    let Changed { what, baseline, arm } = change;
    let [baseline, arm] = [baseline, arm].map(|fact| if fact.is_empty() { "unset" } else { fact });
    format!("{} ({baseline} / {arm})", name(*what))
}

const fn name(what: Surrounding) -> &'static str {
    match what {
        Surrounding::Vm => "VM size",
        Surrounding::Kernel => "kernel",
        Surrounding::Cpu => "CPU",
        Surrounding::Cpus => "number of CPUs",
        Surrounding::FileSystem => "file system",
        Surrounding::MountOptions => "mount options",
        Surrounding::DeviceModel => "device",
        Surrounding::Driver => "driver",
        Surrounding::Scheduler => "I/O scheduler",
    }
}
