//! Results of trials whose connection was cut: kept by the agent that performed them, for the next.
//!
//! The file is held while its trial is under way, so that whoever waits for the result sees an agent
//! that has died. Like a message it has a length and a checksum.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::frame::{receive, send};
use crate::host::Measured;

const NAME: &str = "last-trial";
/// Between two looks.
const LOOK: Duration = Duration::from_millis(200);

#[derive(Serialize, Deserialize)]
struct Kept {
    /// Of the trial, as it was asked for.
    number: u64,
    measured: Measured,
}

/// The place for the result of a trial that is under way.
pub(super) struct Place {
    file: File,
    number: u64,
}

impl Place {
    /// For a trial that begins; what is there of another is removed.
    pub(super) fn for_trial(directory: &Path, number: u64) -> io::Result<Self> {
        fs::create_dir_all(directory)?;
        let file =
            File::options().create(true).write(true).truncate(false).open(path(directory))?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        file.set_len(0)?;
        Ok(Self { file, number })
    }

    /// Keeps what it came to.
    pub(super) fn keep(mut self, measured: &Measured) -> io::Result<()> {
        self.file.rewind()?;
        let kept = Kept { number: self.number, measured: measured.clone() };
        let mut out = BufWriter::new(self.file);
        send(&mut out, &kept)?;
        out.flush()
    }
}

/// Waits until no trial of an earlier agent is under way, or `stop` is set: another one beside it would
/// measure both.
pub(super) fn wait_for_end(directory: &Path, stop: &AtomicBool) -> io::Result<()> {
    held(directory, Duration::MAX, stop).map(drop)
}

/// What a trial of an earlier agent came to, once it is over; `None` if that is not known within
/// `patience`, or `stop` is set.
pub(super) fn fetch(
    directory: &Path,
    number: u64,
    patience: Duration,
    stop: &AtomicBool,
) -> io::Result<Option<Measured>> {
    let Some(file) = held(directory, patience, stop)? else { return Ok(None) };
    let kept: Option<Kept> = receive(&mut BufReader::new(file))?;
    Ok(kept.filter(|kept| kept.number == number).map(|kept| kept.measured))
}

/// The file, once nobody is to write to it any more; `None` if there is none, or nobody waits longer.
fn held(directory: &Path, patience: Duration, stop: &AtomicBool) -> io::Result<Option<File>> {
    let started = Instant::now();
    let file = match File::open(path(directory)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    loop {
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => return Ok(Some(file)),
            Err(Errno::WOULDBLOCK) => {}
            Err(error) => return Err(error.into()),
        }
        if started.elapsed() > patience || stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        thread::sleep(LOOK);
    }
}

fn path(directory: &Path) -> PathBuf {
    directory.join(NAME)
}
