//! The calling thread's priority, NUMA nodes and memory, as its job asks for them.

use std::io;

use iotax_experiment::{IoPriority, Job, Numa, NumaMemory};

use super::affinity;
use crate::error::Error;

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
                "the kernel refuses I/O priority {class}:{level} ({error}); run as root, or leave \
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
    affinity::bind_to(&cpus, job)
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
            "the kernel refuses memory on NUMA nodes {nodes:?} ({error}); name nodes of \
             /sys/devices/system/node with `numa`"
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
        "" => "this kernel names none".to_owned(),
        nodes => format!("online are {nodes}"),
    };
    Error::unsuitable(job, format!("NUMA node {node} is not there; {there}"))
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
        assert!(error.contains("NUMA node 999 is not there"), "{error}");
        job.numa = Some(Numa { cpu_nodes: vec![], memory: Some(NumaMemory::Bind(vec![5000])) });
        let error = settle(&job).unwrap_err().to_string();
        assert!(error.contains("NUMA node 5000 is not there"), "{error}");
    }
}
