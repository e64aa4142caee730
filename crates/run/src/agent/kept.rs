//! Results of trials whose connection was cut: the agent keeps them for the next agent.
//!
//! An agent that still finishes its trial may exist when the next one starts in the same place.
//! Only one of them may have arms; a lock ensures that, which the kernel releases with the process.

use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::frame::{Limit, receive, send};
use super::message::Reply;

const RESULT: &str = "last-trial";
const UNFINISHED_RESULT: &str = "last-trial.new";
const LOCK: &str = "agent.lock";
/// Time between two checks.
const LOOK: Duration = Duration::from_millis(200);

#[derive(Serialize, Deserialize)]
struct Kept<R> {
    /// Number of the trial in the request.
    number: u64,
    reply: R,
}

/// Keeps the result of a trial, in place of the previous one. Like a message, it has a length and a
/// checksum.
pub(super) fn keep(directory: &Path, number: u64, reply: &Reply) -> io::Result<()> {
    let unfinished = directory.join(UNFINISHED_RESULT);
    send(&mut File::create(&unfinished)?, &Kept { number, reply })?;
    fs::rename(unfinished, directory.join(RESULT))
}

/// The result of a trial of an earlier agent. `None` if that agent has ended without it, if it does
/// not appear within `patience`, or if `stop` is set.
pub(super) fn fetch(
    directory: &Path,
    number: u64,
    patience: Duration,
    stop: &AtomicBool,
) -> io::Result<Option<Reply>> {
    let started = Instant::now();
    loop {
        // Checked first: an agent that has ended has kept everything that it will.
        let has_ended = Alone::try_be(directory)?.is_some();
        if let Some(kept) = read(directory)?.filter(|kept| kept.number == number) {
            return Ok(Some(kept.reply));
        }
        if has_ended || started.elapsed() > patience || stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        thread::sleep(LOOK);
    }
}

fn read(directory: &Path) -> io::Result<Option<Kept<Reply>>> {
    match File::open(directory.join(RESULT)) {
        Ok(file) => receive(&mut BufReader::new(file), || Limit::KEPT),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The right to have arms, until it is dropped.
pub(super) struct Alone {
    _lock: File,
}

impl Alone {
    /// Waits for an earlier agent to end; `None` if it does not within `patience`, or `stop` is
    /// set.
    pub(super) fn be(
        directory: &Path,
        patience: Duration,
        stop: &AtomicBool,
    ) -> io::Result<Option<Self>> {
        let started = Instant::now();
        loop {
            if let Some(alone) = Self::try_be(directory)? {
                return Ok(Some(alone));
            }
            if started.elapsed() > patience || stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            thread::sleep(LOOK);
        }
    }

    fn try_be(directory: &Path) -> io::Result<Option<Self>> {
        fs::create_dir_all(directory)?;
        let path = directory.join(LOCK);
        let lock = File::options().create(true).append(true).open(path)?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self { _lock: lock })),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use iotax_experiment::Fault;

    #[test]
    fn another_trials_result_and_that_of_an_agent_that_died_are_not_taken() {
        let (directory, stop) = (TempDir::new().unwrap(), AtomicBool::new(false));
        let directory = directory.path();
        let fetched = |number| fetch(directory, number, Duration::ZERO, &stop).unwrap();
        assert!(fetched(1).is_none());
        let reply = Reply::Failed { error: "no".to_owned(), fault: Fault::Environment };
        let agent = Alone::be(directory, Duration::ZERO, &stop).unwrap().unwrap();
        keep(directory, 1, &reply).unwrap();
        // While it removes what it had made, its result is there.
        assert!(matches!(fetched(1), Some(Reply::Failed { error, .. }) if error == "no"));
        assert!(fetched(2).is_none());
        drop(agent);
        assert!(fetched(1).is_some());
        let torn = fs::read(directory.join(RESULT)).unwrap();
        fs::write(directory.join(RESULT), &torn[..torn.len() - 1]).unwrap();
        assert!(fetch(directory, 1, Duration::ZERO, &stop).is_err());
    }

    #[test]
    fn one_alone_has_arms_until_it_ends() {
        let (directory, stop) = (TempDir::new().unwrap(), AtomicBool::new(false));
        let be = |patience| Alone::be(directory.path(), patience, &stop).unwrap();
        let first = be(Duration::ZERO);
        assert!(first.is_some());
        assert!(be(Duration::ZERO).is_none());
        drop(first);
        // A program that another test starts has a copy of the lock for a moment.
        assert!(be(Duration::MAX).is_some());
    }
}
