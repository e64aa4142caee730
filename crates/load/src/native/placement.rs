//! Sets the calling thread's priority, NUMA nodes and memory policy for its job.

use std::io;

use iotax_experiment::{IoPriority, Job, Numa, NumaMemory};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::error::Error;
use crate::target::IoTarget;

/// `IOPRIO_WHO_PROCESS`, which is a thread.
const OF_A_THREAD: libc::c_int = 1;
/// More nodes than kernels are built for.
const MOST_NODES: usize = 1024;

/// Before the thread takes its memory.
pub(super) fn settle(job: &Job) -> Result<(), Error> {
    if let Some(numa) = &job.numa {
        run_on(job, numa)?;
        take_memory(job, numa)?;
    }
    job.priority.map_or(Ok(()), |priority| {
        set_priority(priority).map_err(|error| {
            let (class, level) = (priority.class.name(), priority.level);
            let what = format!(
                "the kernel rejects I/O priority {class}:{level} ({error}); run as root, or leave \
                 out `priority`"
            );
            Error::unsuitable(job, what)
        })
    })
}

fn set_priority(priority: IoPriority) -> io::Result<()> {
    let value = libc::c_int::from(priority.value());
    // SAFETY: three numbers; it concerns the calling thread alone.
    succeeded(unsafe { libc::syscall(libc::SYS_ioprio_set, OF_A_THREAD, 0, value) })
}

fn run_on(job: &Job, numa: &Numa) -> Result<(), Error> {
    let mut cpus = Vec::new();
    for node in &numa.cpu_nodes {
        cpus.extend(cpus_of(job, *node)?);
    }
    bind_to(&cpus, job)
}

fn take_memory(job: &Job, numa: &Numa) -> Result<(), Error> {
    let Some(memory) = &numa.memory else { return Ok(()) };
    // `MPOL_LOCAL`, `MPOL_PREFERRED`, `MPOL_BIND` and `MPOL_INTERLEAVE`.
    let (mode, nodes): (libc::c_int, &[u32]) = match memory {
        NumaMemory::Local => (4, &[]),
        NumaMemory::Prefer(node) => (1, std::slice::from_ref(node)),
        NumaMemory::Bind(nodes) => (2, nodes),
        NumaMemory::Interleave(nodes) => (3, nodes),
    };
    let mut mask = [0_u64; MOST_NODES / 64];
    for node in nodes {
        let at = *node as usize;
        if at >= MOST_NODES {
            return Err(no_node(job, *node));
        }
        mask[at / 64] |= 1 << (at % 64);
    }
    set_memory_policy(mode, &mask, nodes.is_empty()).map_err(|error| {
        let what = format!(
            "the kernel does not allow memory allocation on NUMA nodes {nodes:?} ({error}); set \
             `numa` to nodes listed in /sys/devices/system/node"
        );
        Error::unsuitable(job, what)
    })
}

fn set_memory_policy(mode: libc::c_int, mask: &[u64], is_empty: bool) -> io::Result<()> {
    let (pointer, bits) = if is_empty {
        (std::ptr::null(), 0)
    } else {
        // The kernel looks at one bit less than it is told.
        (mask.as_ptr(), mask.len() * 64 + 1)
    };
    // SAFETY: the kernel reads a mask of so many bits, of which the last is not looked at; it
    // concerns the calling thread alone.
    succeeded(unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, pointer, bits) })
}

fn no_node(job: &Job, node: u32) -> Error {
    let there = std::fs::read_to_string("/sys/devices/system/node/online").unwrap_or_default();
    let there = match there.trim() {
        "" => "this kernel lists no NUMA nodes".to_owned(),
        nodes => format!("the online nodes are {nodes}"),
    };
    Error::unsuitable(job, format!("NUMA node {node} does not exist; {there}"))
}

fn cpus_of(job: &Job, node: u32) -> Result<Vec<u32>, Error> {
    let list = std::fs::read_to_string(format!("/sys/devices/system/node/node{node}/cpulist"));
    let list = list.map_err(|_| no_node(job, node))?;
    let range = |part: &str| {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        Some(low.trim().parse::<u32>().ok()?..=high.trim().parse::<u32>().ok()?)
    };
    Ok(list.trim().split(',').filter_map(range).flatten().collect())
}

fn succeeded(result: libc::c_long) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

// Keeps a thread on the CPUs that its job names, or that the near end of its path has.

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
fn bind_to(cpus: &[u32], job: &Job) -> Result<(), Error> {
    if cpus.is_empty() {
        return Ok(());
    }
    let refuse = |what: String| Err(Error::unsuitable(job, what));
    let mut wanted = CpuSet::new();
    for &cpu in cpus {
        let Some(cpu) = usize::try_from(cpu).ok().filter(|cpu| *cpu < CpuSet::MAX_CPU) else {
            return refuse(format!("CPU {cpu} does not exist; {}", available()));
        };
        wanted.set(cpu);
    }
    let set = sched_setaffinity(None, &wanted);
    let got = sched_getaffinity(None);
    let missing =
        cpus.iter().find(|cpu| !got.is_ok_and(|got| got.is_set(**cpu as usize)) || set.is_err());
    match missing {
        None => Ok(()),
        Some(cpu) => refuse(format!("CPU {cpu} is not available to this process; {}", available())),
    }
}

fn available() -> String {
    let online = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    match online.trim() {
        "" => "choose other CPUs with `cpus`".to_owned(),
        online => format!("the online CPUs are {online}"),
    }
}

#[cfg(test)]
mod tests {
    use iotax_experiment::PriorityClass;

    use super::*;
    use crate::engine::testing::job;

    #[test]
    fn a_thread_gets_its_priority_from_the_kernel() {
        let of_the_thread = std::thread::spawn(|| {
            let mut job = job();
            job.priority = Some(IoPriority { class: PriorityClass::Idle, level: 3 });
            settle(&job).unwrap();
            // SAFETY: two numbers.
            unsafe { libc::syscall(libc::SYS_ioprio_get, OF_A_THREAD, 0) }
        });
        assert_eq!(of_the_thread.join().unwrap(), 3 << 13 | 3);
    }

    #[test]
    fn a_node_that_is_not_there_is_named() {
        let mut job = job();
        job.numa = Some(Numa { cpu_nodes: vec![999], memory: None });
        let error = settle(&job).unwrap_err().to_string();
        assert!(error.contains("NUMA node 999 does not exist"), "{error}");
        job.numa = Some(Numa { cpu_nodes: vec![], memory: Some(NumaMemory::Bind(vec![5000])) });
        let error = settle(&job).unwrap_err().to_string();
        assert!(error.contains("NUMA node 5000 does not exist"), "{error}");
    }
}

#[cfg(test)]
mod tests_of_affinity {
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
        insta::assert_snapshot!(refusal(vec![1023]), @"job `job`: CPU 1023 is not available to this process");
        insta::assert_snapshot!(refusal(vec![70_000]), @"job `job`: CPU 70000 does not exist");
    }
}
