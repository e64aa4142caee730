//! The files of a record: a directory, written as the experiment goes, read back trial by trial.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::path::Path;
use std::sync::mpsc;
use std::thread;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::experiment::{Experiment, FORMAT};
use crate::gap::{Gap, gap};
use crate::location::Location;
use crate::trial::Trial;

const HEAD: &str = "experiment.json";
const TRIALS: &str = "trials.jsonl";
const END: &str = "end.json";

/// How an experiment ended; written last. A record without it was cut off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// In words, e.g. `every arm has a verdict`.
    pub reason: String,
    /// Wall time of the experiment in nanoseconds.
    pub wall_ns: u64,
    /// Whether the user interrupted it.
    pub interrupted: bool,
    /// Whether it was given up because an arm kept failing.
    #[serde(default)]
    pub gave_up: bool,
    /// Trials that were run; `None` in records that do not say.
    #[serde(default)]
    pub trials: Option<u32>,
}

/// Writes a record. Each trial is on disk when [`Writer::append`] returns.
#[derive(Debug)]
pub struct Writer {
    dir: Location,
    trials: File,
}

impl Writer {
    /// Starts a record in `dir`, which is created and must not hold one already.
    pub fn create(dir: impl Into<Location>, experiment: &Experiment) -> Result<Self, Error> {
        let dir = dir.into();
        Self::refuse_occupied(&dir)?;
        write_head(&dir.join(HEAD), experiment)?;
        let trials = appended(&dir.join(TRIALS))?;
        Ok(Self { dir, trials })
    }

    /// Whether a record could be started in `dir`, without starting one.
    ///
    /// # Errors
    /// [`Error::Exists`] if a file, or a link to nowhere, has the name of one of a record's files.
    pub fn refuse_occupied(dir: impl Into<Location>) -> Result<(), Error> {
        let dir = dir.into();
        let taken = |name: &&str| fs::symlink_metadata(dir.join(name).at()).is_ok();
        match [HEAD, TRIALS, END].into_iter().find(taken) {
            Some(name) => Err(Error::Exists { dir: dir.shown().to_owned(), name }),
            None => Ok(()),
        }
    }

    /// Adds one trial.
    pub fn append(&mut self, trial: &Trial) -> Result<(), Error> {
        let mut line = serde_json::to_vec(trial).expect("a trial is always JSON");
        line.push(b'\n');
        self.trials
            .write_all(&line)
            .and_then(|()| self.trials.sync_data())
            .map_err(|source| Error::write(self.dir.join(TRIALS).shown(), source))
    }

    /// Marks the record as complete.
    pub fn finish(&self, end: &End) -> Result<(), Error> {
        write_json(&self.dir.join(END), end)
    }
}

/// A record opened for reading.
#[derive(Debug)]
pub struct Reader {
    /// What was run.
    pub experiment: Experiment,
    /// How it ended; `None` if it was cut off (killed, power loss).
    pub end: Option<End>,
    trials: Location,
}

impl Reader {
    /// Opens the record in `dir`.
    pub fn open(dir: impl Into<Location>) -> Result<Self, Error> {
        let dir = dir.into();
        let head = dir.join(HEAD);
        if !head.at().exists() {
            return Err(Error::NotARecord { dir: dir.shown().to_owned() });
        }
        let version: Version = read_json(&head)?;
        if version.format > FORMAT {
            let (path, format) = (head.shown().to_owned(), version.format);
            return Err(Error::Newer { path, format, known: FORMAT });
        }
        let end = read_json_if_there(&dir.join(END))?;
        Ok(Self { experiment: read_json(&head)?, end, trials: dir.join(TRIALS) })
    }

    /// What it lacks of what was run.
    ///
    /// # Errors
    /// If its trials cannot be read.
    pub fn gap(&self) -> Result<Option<Gap>, Error> {
        gap(&self.trials, self.end.as_ref(), "trial")
    }

    /// The trials in the order in which they ran, one at a time: a record may be larger than
    /// memory. A thread of its own decodes a few ahead, which halves the time of a large record. A
    /// last line without its end, left by a crash, is passed over.
    pub fn trials(&self) -> Result<impl Iterator<Item = Result<Trial, Error>> + use<>, Error> {
        let decoded = read_lines(&self.trials)?;
        let (ahead, trials) = mpsc::sync_channel(DECODED_AHEAD);
        thread::spawn(move || {
            for trial in decoded {
                if ahead.send(trial).is_err() {
                    break; // The receiver wants no more.
                }
            }
        });
        Ok(trials.into_iter())
    }
}

/// Trials decoded ahead of their use: enough to keep both sides busy, few enough that their
/// histograms (up to some MB each trial) do not count.
const DECODED_AHEAD: usize = 8;

/// The values of a file with one on each line. A last line without its end, left by a crash, is
/// passed over.
pub(crate) fn read_lines<T: DeserializeOwned>(
    file: &Location,
) -> Result<impl Iterator<Item = Result<T, Error>> + use<T>, Error> {
    let path = file.shown().to_owned();
    let file = open_file(file.at()).map_err(|source| Error::read(&path, source))?;
    let mut lines = Lines { reader: BufReader::new(file), number: 0, line: Vec::new() };
    Ok(std::iter::from_fn(move || lines.next(&path)))
}

struct Lines<R> {
    reader: R,
    number: usize,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    fn next<T: DeserializeOwned>(&mut self, path: &Path) -> Option<Result<T, Error>> {
        self.line.clear();
        self.number += 1;
        match self.reader.read_until(b'\n', &mut self.line) {
            Err(source) => Some(Err(Error::read(path, source))),
            Ok(_) if self.line.last() != Some(&b'\n') => None,
            Ok(_) => Some(serde_json::from_slice(&self.line).map_err(|source| Error::Broken {
                path: path.to_owned(),
                line: self.number,
                source,
            })),
        }
    }
}

#[derive(Deserialize)]
struct Version {
    format: u32,
}

/// Writes the first file of a record, in a directory that is made if it is not there.
pub(crate) fn write_head<T: Serialize>(file: &Location, head: &T) -> Result<(), Error> {
    let parent = |path: &Path| path.parent().unwrap_or(path).to_owned();
    fs::create_dir_all(parent(file.at()))
        .map_err(|source| Error::write(&parent(file.shown()), source))?;
    write_json(file, head)
}

/// A new file to which lines are added.
pub(crate) fn appended(file: &Location) -> Result<File, Error> {
    let mut options = File::options();
    let opened = options.create_new(true).append(true).open(file.at());
    opened.map_err(|source| Error::write(file.shown(), source))
}

pub(crate) fn write_json<T: Serialize>(file: &Location, value: &T) -> Result<(), Error> {
    let mut text = serde_json::to_vec_pretty(value).expect("record types are always JSON");
    text.push(b'\n');
    File::create_new(file.at())
        .and_then(|mut created| created.write_all(&text).and_then(|()| created.sync_all()))
        .map_err(|source| Error::write(file.shown(), source))
}

pub(crate) fn read_json_if_there<T: DeserializeOwned>(file: &Location) -> Result<Option<T>, Error> {
    if file.at().exists() { read_json(file).map(Some) } else { Ok(None) }
}

pub(crate) fn read_json<T: DeserializeOwned>(file: &Location) -> Result<T, Error> {
    let path = file.shown();
    let text = open_file(file.at()).and_then(io::read_to_string).map_err(|source| match source
        .kind()
    {
        ErrorKind::NotFound => Error::NotARecord { dir: path.parent().unwrap_or(path).to_owned() },
        _ => Error::read(path, source),
    })?;
    serde_json::from_str(&text).map_err(|source| Error::Broken {
        path: path.to_owned(),
        line: source.line(),
        source,
    })
}

/// Opens a regular file: a pipe in its place would be waited for for ever.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    if fs::metadata(path)?.is_file() {
        File::open(path)
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}
