//! Writes the trace to a file, or holds it in memory if writing would disturb the recorded file
//! system.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use iotax_trace::keep_whole_blocks;

use crate::error::Error;
use crate::processes::kernel_device;

/// A trace that is being written.
pub(crate) struct Sink {
    path: PathBuf,
    file: File,
    device: u32,
    held: Option<Vec<u8>>,
}

impl Sink {
    /// Creates the file. One that exists is not overwritten.
    pub(crate) fn create(path: &Path) -> Result<Self, Error> {
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::AlreadyExists => Error::Exists { path: path.to_owned() },
            _ => Error::File { act: "create", path: path.to_owned(), source },
        };
        // Offsets and times of I/O are private to the user.
        let mut options = File::options();
        let file = options
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .map_err(failed)?;
        let device = kernel_device(file.metadata().map_err(failed)?.dev());
        Ok(Self { path: path.to_owned(), file, device, held: None })
    }

    /// Notes that the program uses this device; if the trace is on the same device, it is held in
    /// memory.
    pub(crate) fn mind(&mut self, device: u32) {
        if device == self.device && self.held.is_none() {
            self.held = Some(Vec::new());
        }
    }

    pub(crate) const fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// Writes the buffered trace to the file. If that fails, keeps what fits.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        let held = self.held.take().unwrap_or_default();
        self.file.write_all(&held).map_err(|source| self.cut(source))
    }

    /// Ends the file after the last whole block, because of an error in writing.
    pub(crate) fn cut(self, source: io::Error) -> Error {
        let path = self.path.clone();
        match keep_whole_blocks(&self.file) {
            Ok(kept) => {
                if kept.events == 0 {
                    self.discard();
                }
                Error::Cut { path, source, kept }
            }
            // Readers find the whole blocks themselves.
            Err(_) => Error::File { act: "write", path, source },
        }
    }

    /// Removes the file, because it contains no recorded I/O.
    pub(crate) fn discard(self) {
        // If this fails, a file without I/O remains.
        let _ = fs::remove_file(&self.path);
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.held {
            Some(held) => held.write(bytes),
            None => self.file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_on_a_used_device_is_written_at_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("app.iotx");
        let device = kernel_device(fs::metadata(dir.path()).unwrap().dev());
        let mut sink = Sink::create(&path).unwrap();
        sink.write_all(b"head").unwrap();
        sink.mind(device + 1);
        assert!(!sink.is_held());
        sink.mind(device);
        sink.write_all(b"events").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"head");
        sink.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"headevents");
        let Err(error) = Sink::create(&path) else { panic!("it was overwritten") };
        assert!(error.to_string().contains("app.iotx already exists"), "{error}");
    }
}
