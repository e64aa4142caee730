//! Keeps a container alive for agents that are started in it.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, wait};

/// Time between two checks.
const LOOK: Duration = Duration::from_millis(250);
/// The same for processes that were ended.
const END_LOOK: Duration = Duration::from_millis(20);
/// How long they may take to end; the container runtime does not wait forever either.
const LAST_WAIT: Duration = Duration::from_secs(2);

/// Waits, as the main process of a container, until the container had no other process for `limit`,
/// or until `stop`. Agents end when the connection to their client ends, so a container without an
/// owner ends by itself. Then remaining agents are ended, and what they left on volumes
/// that outlive the container is removed, according to the journal in `state_dir`. Returns what
/// could not be removed.
///
/// # Errors
/// If `/proc` cannot be read.
pub fn keep(
    limit: Duration,
    stop: &AtomicBool,
    state_dir: Option<&Path>,
) -> io::Result<Vec<String>> {
    let mut seen = Instant::now();
    while !stop.load(Ordering::Relaxed) && seen.elapsed() < limit {
        reap();
        if !others()?.is_empty() {
            seen = Instant::now();
        }
        thread::sleep(LOOK);
    }
    // Elsewhere, the other processes belong to others.
    if !getpid().is_init() {
        return Ok(Vec::new());
    }
    end_others()?;
    Ok(undo(state_dir))
}

/// Removes what dead runs left, and returns what could not be removed.
pub(super) fn undo(state_dir: Option<&Path>) -> Vec<String> {
    let report = state_dir.map(iotax_rig::undo).unwrap_or_default();
    report.problems.iter().map(ToString::to_string).collect()
}

/// Ends all other processes in the namespace, without waiting for those blocked in the kernel.
fn end_others() -> io::Result<()> {
    let asked = Instant::now();
    loop {
        reap();
        let others = others()?;
        if others.is_empty() || asked.elapsed() > LAST_WAIT {
            return Ok(());
        }
        for process in others {
            // It may have ended meanwhile.
            let _ = kill_process(process, Signal::KILL);
        }
        thread::sleep(END_LOOK);
    }
}

/// The first process of a namespace inherits what others leave behind.
fn reap() {
    while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
}

fn others() -> io::Result<Vec<Pid>> {
    let own = getpid();
    let mut others = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let process = entry?.file_name().to_str().and_then(|name| name.parse().ok());
        let process = process.and_then(Pid::from_raw);
        others.extend(process.filter(|process| *process != own));
    }
    if !own.is_init() {
        // In the PID namespace of the node, only the control groups show what is in the container.
        let groups = fs::read_to_string("/proc/self/cgroup")?;
        others.retain(|process| is_in(*process, &groups));
    }
    Ok(others)
}

/// Whether a process is in exactly these control groups; not if it has ended.
fn is_in(process: Pid, groups: &str) -> bool {
    let path = format!("/proc/{}/cgroup", process.as_raw_nonzero());
    fs::read_to_string(path).is_ok_and(|text| text == groups)
}
