//! JSON files: single values, and files with a value per line.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Write as _};
use std::path::Path;

use crate::error::Error;
use crate::location::Location;

/// The values of a file, decoded from its lines. Ignores an incomplete last line, left by a crash.
pub(crate) fn read_lines<T, D: Fn(&[u8]) -> serde_json::Result<T>>(
    file: &Location,
    decode: D,
) -> Result<impl Iterator<Item = Result<T, Error>> + use<T, D>, Error> {
    let path = file.shown().to_owned();
    let file = open_file(file.at()).map_err(|source| Error::read(&path, source))?;
    let mut lines = Lines { reader: BufReader::new(file), number: 0, line: Vec::new() };
    Ok(std::iter::from_fn(move || lines.next(&path, &decode)))
}

struct Lines<R> {
    reader: R,
    number: usize,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    fn next<T>(
        &mut self,
        path: &Path,
        decode: impl Fn(&[u8]) -> serde_json::Result<T>,
    ) -> Option<Result<T, Error>> {
        self.line.clear();
        self.number += 1;
        match self.reader.read_until(b'\n', &mut self.line) {
            Err(source) => Some(Err(Error::read(path, source))),
            Ok(_) if self.line.last() != Some(&b'\n') => None,
            Ok(_) => Some(decode(&self.line).map_err(|source| Error::Broken {
                path: path.to_owned(),
                line: self.number,
                source,
            })),
        }
    }
}

/// Writes the first file of a record, and creates its directory if needed.
pub(crate) fn write_head(file: &Location, head: Vec<u8>) -> Result<(), Error> {
    let parent = |path: &Path| path.parent().unwrap_or(path).to_owned();
    fs::create_dir_all(parent(file.at()))
        .map_err(|source| Error::write(&parent(file.shown()), source))?;
    write_json(file, head)
}

/// A new file for appending lines.
pub(crate) fn appended(file: &Location) -> Result<File, Error> {
    let mut options = File::options();
    let opened = options.create_new(true).append(true).open(file.at());
    opened.map_err(|source| Error::write(file.shown(), source))
}

pub(crate) fn write_json(file: &Location, mut text: Vec<u8>) -> Result<(), Error> {
    text.push(b'\n');
    File::create_new(file.at())
        .and_then(|mut created| created.write_all(&text).and_then(|()| created.sync_all()))
        .map_err(|source| Error::write(file.shown(), source))
}

/// The decoded value of a file, if it exists.
pub(crate) fn read_json_if_there<T>(
    file: &Location,
    decode: impl FnOnce(&[u8]) -> serde_json::Result<T>,
) -> Result<Option<T>, Error> {
    if file.at().exists() { read_json(file, decode).map(Some) } else { Ok(None) }
}

pub(crate) fn read_json<T>(
    file: &Location,
    decode: impl FnOnce(&[u8]) -> serde_json::Result<T>,
) -> Result<T, Error> {
    let path = file.shown();
    let text = open_file(file.at()).and_then(io::read_to_string).map_err(|source| match source
        .kind()
    {
        ErrorKind::NotFound => Error::NotARecord { dir: path.parent().unwrap_or(path).to_owned() },
        _ => Error::read(path, source),
    })?;
    decode(text.as_bytes()).map_err(|source| Error::broken(path, source))
}

/// Opens a regular file; reading a pipe could wait forever.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    if fs::metadata(path)?.is_file() {
        File::open(path)
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}
