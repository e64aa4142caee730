//! The files of a record: a directory, written during the experiment and read back trial by trial.

use std::fs::{self, File};
use std::io::Write as _;
use std::marker::PhantomData;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::earlier;
use crate::end::End;
use crate::error::Error;
use crate::gap::{Gap, gap};
use crate::json_file::{
    appended, read_json, read_json_if_there, read_lines, write_head, write_json,
};
use crate::location::Location;
use crate::stored::{Stored, Version};

const END: &str = "end.json";

/// A kind of record, by its head: what was requested, and where. A line for each measurement
/// follows.
pub trait Record: Stored {
    /// One measurement.
    type Line: Stored + Send + 'static;
    /// Name of the head's file.
    const HEAD: &'static str;
    /// Name of the file of lines.
    const LINES: &'static str;
    /// What a line contains, for users.
    const LINE: &'static str;
    /// Version of the format that this program writes.
    const FORMAT: u32;
}

/// Minimum time between two syncs of the lines: a sync for each of many short measurements would
/// disturb them.
const BETWEEN_SYNCS: Duration = Duration::from_secs(1);

/// Writes a record. A line survives a crash of this process once [`Writer::append`] returns, and a
/// crash of the machine once it is synced: by the first append a second after the last sync, and by
/// [`Writer::finish`].
#[derive(Debug)]
pub struct Writer<R> {
    dir: Location,
    lines: File,
    /// When the lines were last synced.
    synced: Instant,
    of: PhantomData<R>,
}

impl<R: Record> Writer<R> {
    /// Starts a record in `dir`, which is created and must not hold one already.
    pub fn create(dir: impl Into<Location>, head: &R) -> Result<Self, Error> {
        let dir = dir.into();
        Self::refuse_occupied(&dir)?;
        write_head(&dir.join(R::HEAD), head.encode_pretty())?;
        let lines = appended(&dir.join(R::LINES))?;
        Ok(Self { dir, lines, synced: Instant::now(), of: PhantomData })
    }

    /// Whether a record can be created in `dir`, without creating one.
    ///
    /// # Errors
    /// [`Error::Exists`] if a file, or a link to nowhere, has the name of one of a record's files.
    pub fn refuse_occupied(dir: impl Into<Location>) -> Result<(), Error> {
        let dir = dir.into();
        let taken = |name: &&str| fs::symlink_metadata(dir.join(name).at()).is_ok();
        match [R::HEAD, R::LINES, END].into_iter().find(taken) {
            Some(name) => Err(Error::Exists { dir: dir.shown().to_owned(), name }),
            None => Ok(()),
        }
    }

    /// Adds one measurement.
    pub fn append(&mut self, line: &R::Line) -> Result<(), Error> {
        let mut text = line.encode();
        text.push(b'\n');
        let mut written = self.lines.write_all(&text);
        if self.synced.elapsed() >= BETWEEN_SYNCS {
            written = written.and_then(|()| self.lines.sync_data());
            self.synced = Instant::now();
        }
        written.map_err(|source| Error::write(self.dir.join(R::LINES).shown(), source))
    }

    /// Adds a file about the whole record.
    pub(crate) fn add(&self, name: &str, text: Vec<u8>) -> Result<(), Error> {
        write_json(&self.dir.join(name), text)
    }

    /// Marks the record as complete.
    pub fn finish(&self, end: &End) -> Result<(), Error> {
        let lines = self.lines.sync_data();
        lines.map_err(|source| Error::write(self.dir.join(R::LINES).shown(), source))?;
        self.add(END, end.encode_pretty())
    }
}

/// A record opened for reading.
#[derive(Debug)]
pub struct Reader<R> {
    /// What was requested, and where.
    pub head: R,
    /// How it ended; `None` if it was interrupted (killed, power loss).
    pub end: Option<End>,
    /// Format of its files.
    format: u32,
    dir: Location,
}

impl<R: Record> Reader<R> {
    /// Whether `dir` holds a record of this kind.
    pub fn is_in(dir: impl Into<Location>) -> bool {
        dir.into().join(R::HEAD).at().is_file()
    }

    /// Opens the record in `dir`, and converts one of an earlier format.
    pub fn open(dir: impl Into<Location>) -> Result<Self, Error> {
        let dir = dir.into();
        let file = dir.join(R::HEAD);
        if !file.at().exists() {
            return Err(Error::NotARecord { dir: dir.shown().to_owned() });
        }
        let Version { format } = read_json(&file, Stored::decode)?;
        if format > R::FORMAT {
            let path = file.shown().to_owned();
            return Err(Error::Newer { path, format, known: R::FORMAT });
        }
        let head = if format < R::FORMAT {
            let value = earlier::head(read_json(&file, Stored::decode)?, format, R::FORMAT);
            R::decode(&value.encode()).map_err(|source| Error::broken(file.shown(), source))?
        } else {
            read_json(&file, R::decode)?
        };
        let end = Self::end(&dir.join(END), format)?;
        Ok(Self { head, end, format, dir })
    }

    fn end(file: &Location, format: u32) -> Result<Option<End>, Error> {
        if format >= R::FORMAT {
            return read_json_if_there(file, End::decode);
        }
        let Some(end) = read_json_if_there(file, Stored::decode)? else { return Ok(None) };
        End::decode(&earlier::end(end).encode())
            .map(Some)
            .map_err(|source| Error::broken(file.shown(), source))
    }

    /// Its missing parts.
    ///
    /// # Errors
    /// If its lines cannot be read.
    pub fn gap(&self) -> Result<Option<Gap>, Error> {
        gap(&self.dir.join(R::LINES), self.end.as_ref(), R::LINE)
    }

    /// A file about the whole record, if it exists.
    pub(crate) fn added<T>(
        &self,
        name: &str,
        decode: impl FnOnce(&[u8]) -> serde_json::Result<T>,
    ) -> Result<Option<T>, Error> {
        read_json_if_there(&self.dir.join(name), decode)
    }

    /// The measurements in order, one at a time, because a record may be larger than memory. A
    /// separate thread decodes a few ahead, which halves the time for a large record. Ignores an
    /// incomplete last line, left by a crash.
    pub fn lines(&self) -> Result<impl Iterator<Item = Result<R::Line, Error>> + use<R>, Error> {
        let format = self.format;
        let decoded = read_lines(&self.dir.join(R::LINES), move |line| {
            if format < R::FORMAT {
                let line = earlier::line(Stored::decode(line)?, format);
                return R::Line::decode(&line.encode());
            }
            R::Line::decode(line)
        })?;
        let (ahead, lines) = mpsc::sync_channel(DECODED_AHEAD);
        thread::spawn(move || {
            for line in decoded {
                if ahead.send(line).is_err() {
                    break; // The receiver wants no more.
                }
            }
        });
        Ok(lines.into_iter())
    }
}

/// Lines decoded ahead: enough to keep both threads busy, few enough that their histograms (up to
/// some MB per trial) do not matter.
const DECODED_AHEAD: usize = 8;
