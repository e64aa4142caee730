//! The CPUs of this machine, divided between two ends that are both on it.

use std::fs;

use iotax_layers::Cpus;
use rustix::thread::{CpuSet, sched_getaffinity};

use crate::build_context::BuildContext;

/// The requested CPUs of the near and the far end, which it also notes for the record. Empty means
/// any.
pub(crate) fn of_ends(asked: Cpus, context: &mut BuildContext<'_>) -> [Vec<u32>; 2] {
    let ends = match asked {
        Cpus::Apart => halves(available()),
        Cpus::Any => None,
    };
    let ends = ends.unwrap_or_default();
    context.note(match &ends {
        [near, far] if !near.is_empty() => format!(
            "both ends are on this machine: the near end on CPU {}, the far end on CPU {}",
            listed(near),
            listed(far)
        ),
        _ => "both ends are on this machine and share its CPUs".to_owned(),
    });
    ends
}

/// The CPUs that this process may run on, with hardware threads of one core next to each other.
fn available() -> Vec<u32> {
    let Ok(allowed) = sched_getaffinity(None) else { return Vec::new() };
    let mut cpus: Vec<u32> =
        (0..).take(CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu as usize)).collect();
    cpus.sort_by_key(|cpu| core(*cpu));
    cpus
}

/// The core that a CPU is a hardware thread of.
fn core(cpu: u32) -> [u32; 2] {
    ["physical_package_id", "core_id"].map(|name| {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/{name}");
        fs::read_to_string(path).ok().and_then(|id| id.trim().parse().ok()).unwrap_or(0)
    })
}

/// `None` if there is only one.
fn halves(mut cpus: Vec<u32>) -> Option<[Vec<u32>; 2]> {
    let far = cpus.split_off(cpus.len() / 2);
    (!cpus.is_empty()).then_some([cpus, far])
}

/// `0, 1`.
fn listed(cpus: &[u32]) -> String {
    cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cpu_is_of_both_ends() {
        assert_eq!(halves(vec![0, 2, 1]), Some([vec![0], vec![2, 1]]));
        assert_eq!(halves(vec![0, 1]), Some([vec![0], vec![1]]));
        assert_eq!(halves(vec![3]), None);
        assert_eq!(halves(Vec::new()), None);
    }

    #[test]
    fn what_there_is_is_found() {
        assert_eq!(available().len(), sched_getaffinity(None).unwrap().count() as usize);
    }
}
