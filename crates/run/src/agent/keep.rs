//! Keeps a container up for agents that are started in it.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, wait};

/// Between two looks.
const LOOK: Duration = Duration::from_millis(250);
/// The same, at processes that were ended.
const END_LOOK: Duration = Duration::from_millis(20);
/// So long may they take: whoever ends a container does not wait for ever either.
const LAST_WAIT: Duration = Duration::from_secs(2);

/// Waits, as the first process of a container, until no other has been in its PID namespace for as
/// long as `limit`, or until `stop`. Agents end with the connection of whoever started them, so that
/// a container whose owner is gone ends, too, and nothing has to tell it. Then agents that are left
/// are ended, and what they left on volumes that outlive the container is removed, by the journal in
/// `state_dir`. What could not be removed is returned.
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
    // Elsewhere the others are everybody's.
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

/// Ends what else is in the namespace; what the kernel holds is not waited for.
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
    Ok(others)
}
