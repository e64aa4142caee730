//! Keeps a thread on the CPUs that its job names, or that the near end of its path has.

use iotax_experiment::Job;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::error::Error;
use crate::target::IoTarget;

/// Binds the calling thread to the CPUs of `job`, or to those of its target's near end.
pub(super) fn bind(job: &Job, target: &IoTarget<'_>) -> Result<(), Error> {
    match target {
        IoTarget::Peer(peer) if job.cpus.is_empty() => bind_to(&peer.cpus, job),
        _ => bind_to(&job.cpus, job),
    }
}

/// Binds the calling thread to all CPUs alike, as fio does by default
/// (`cpus_allowed_policy=shared`). The kernel passes over CPUs that it does not have or that a
/// container may not use; here they are an error, since another machine would be measured.
pub(super) fn bind_to(cpus: &[u32], job: &Job) -> Result<(), Error> {
    if cpus.is_empty() {
        return Ok(());
    }
    let refuse = |what: String| Err(Error::unsuitable(job, what));
    let mut wanted = CpuSet::new();
    for &cpu in cpus {
        let Some(cpu) = usize::try_from(cpu).ok().filter(|cpu| *cpu < CpuSet::MAX_CPU) else {
            return refuse(format!("there is no CPU {cpu}; {}", available()));
        };
        wanted.set(cpu);
    }
    let set = sched_setaffinity(None, &wanted);
    let got = sched_getaffinity(None);
    let missing =
        cpus.iter().find(|cpu| !got.is_ok_and(|got| got.is_set(**cpu as usize)) || set.is_err());
    match missing {
        None => Ok(()),
        Some(cpu) => refuse(format!("CPU {cpu} is not there for this process; {}", available())),
    }
}

fn available() -> String {
    let online = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    match online.trim() {
        "" => "name others with `cpus`".to_owned(),
        online => format!("online are {online}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::job;

    #[test]
    fn a_thread_stays_where_it_is_told_to() {
        std::thread::spawn(|| {
            let all = sched_getaffinity(None).unwrap();
            let last = (0..CpuSet::MAX_CPU).rev().find(|cpu| all.is_set(*cpu)).unwrap();
            bind_to(&[u32::try_from(last).unwrap()], &job()).unwrap();
            let bound = sched_getaffinity(None).unwrap();
            assert!(bound.count() == 1 && bound.is_set(last));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn cpus_that_are_not_there_are_named() {
        let refusal = |cpus: Vec<u32>| {
            let error = std::thread::spawn(move || bind_to(&cpus, &job()).unwrap_err());
            let text = error.join().unwrap().to_string();
            text.split_once(';').unwrap().0.to_owned()
        };
        insta::assert_snapshot!(refusal(vec![1023]), @"job `job`: CPU 1023 is not there for this process");
        insta::assert_snapshot!(refusal(vec![70_000]), @"job `job`: there is no CPU 70000");
    }
}
