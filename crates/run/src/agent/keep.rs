//! Keeps a container up for agents that are started in it.

use std::fs;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{WaitOptions, wait};

/// Between two looks.
const LOOK: Duration = Duration::from_millis(250);

/// Waits until no other process has been in this PID namespace for as long as `limit`, or until
/// `stop`. Agents end with the connection of whoever started them, so that a container whose owner
/// is gone ends, too, and nothing has to tell it.
///
/// # Errors
/// If `/proc` cannot be read.
pub fn keep(limit: Duration, stop: &AtomicBool) -> io::Result<()> {
    let mut seen = Instant::now();
    while !stop.load(Ordering::Relaxed) && seen.elapsed() < limit {
        reap();
        if others()? {
            seen = Instant::now();
        }
        thread::sleep(LOOK);
    }
    Ok(())
}

/// The first process of a namespace inherits what others leave behind.
fn reap() {
    while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
}

fn others() -> io::Result<bool> {
    let own = std::process::id();
    for entry in fs::read_dir("/proc")? {
        let process = entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok());
        if process.is_some_and(|process| process != own) {
            return Ok(true);
        }
    }
    Ok(false)
}
