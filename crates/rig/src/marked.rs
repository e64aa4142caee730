//! Ends processes that are marked in their environment, whoever started them.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Variable with the name of the run's journal.
pub(crate) const RUN: &str = "IOTAX_RUN";
/// Variable with a daemon's token.
pub(crate) const DAEMON: &str = "IOTAX_DAEMON";
/// How long a process may take to end before it is killed, and then to be gone.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time from the start of a process until its environment is visible. If there is none after this
/// time, the process was started without one.
const JUST_STARTED: Duration = Duration::from_millis(300);

/// Kills the programs that a dead run left, and waits until they are gone.
pub(crate) fn kill_run(run: &str) {
    end(RUN, run, Signal::KILL);
}

/// Ends the daemon with this token; true if there was one.
pub(crate) fn end_daemon(token: &str) -> bool {
    end(DAEMON, token, Signal::TERM)
}

/// Signals every process with `variable=value` in its environment until none is left; after a while
/// with SIGKILL.
fn end(variable: &str, value: &str, first: Signal) -> bool {
    let mark = format!("{variable}={value}");
    let started = Instant::now();
    let mut signal = first;
    let mut found = false;
    let mut pause = Duration::from_millis(1);
    let mut signalled: Vec<Pid> = Vec::new();
    loop {
        let (pids, starting) = marked(&mark);
        if pids.is_empty() && starting && started.elapsed() < JUST_STARTED {
            sleep(pause);
            continue;
        }
        if pids.is_empty() || started.elapsed() > 2 * PATIENCE {
            return found;
        }
        found = true;
        if started.elapsed() > PATIENCE && signal != Signal::KILL {
            signal = Signal::KILL;
            signalled.clear();
        }
        for pid in pids {
            if !signalled.contains(&pid) {
                let _ = kill_process(pid, signal);
                signalled.push(pid);
            }
        }
        sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

/// Processes with this mark in their environment (processes that ended have none), and whether a
/// process is just starting, so that its environment is not visible yet.
fn marked(mark: &str) -> (Vec<Pid>, bool) {
    let own = rustix::process::getpid();
    let mut starting = false;
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let number = entry.file_name().to_str().and_then(|name| name.parse().ok());
        let Some(pid) = number.and_then(Pid::from_raw).filter(|pid| *pid != own) else { continue };
        let Ok(environment) = fs::read(entry.path().join("environ")) else { continue };
        let mut variables = environment.split(|byte| *byte == 0);
        if variables.any(|variable| variable == mark.as_bytes()) {
            found.push(pid);
        }
        starting |= environment.is_empty() && is_starting(&entry.path());
    }
    (found, starting)
}

/// Whether a process without an environment is a new one. Kernel threads and zombies, which have
/// none either, have no memory.
fn is_starting(process: &Path) -> bool {
    let read = |name| fs::read_to_string(process.join(name)).unwrap_or_default();
    let has_memory =
        read("statm").split(' ').next().is_some_and(|pages| !matches!(pages, "" | "0"));
    // Field 22 of the line is the start in ticks since boot; the name, field 2, may hold blanks.
    let stat = read("stat");
    let started =
        stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(19)?.parse().ok());
    let ticks_per_second = rustix::param::clock_ticks_per_second();
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime).tv_sec.unsigned_abs();
    let is_new = started.is_some_and(|ticks: u64| ticks / ticks_per_second + 2 >= now);
    has_memory && is_new
}
