//! Recordings that an agent replays: the client sends their contents, and the agent keeps them in
//! memory.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Error as IoError, ErrorKind};
use std::os::unix::fs::FileExt as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use iotax_experiment::RecordedLoad;
use iotax_load::Recording;
use rustix::fs::{MemfdFlags, memfd_create};
use serde::{Deserialize, Serialize};

/// An agent keeps at most this much.
pub const MOST_RECORDED_BYTES: u64 = 256 << 20;
/// Length of a piece. In base64, it fits in a message.
const PIECE_BYTES: usize = 4 << 20;

/// A piece of the contents of a recording.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Piece {
    /// Of the recording.
    hash: String,
    /// Where it begins. Pieces are sent in order.
    offset_bytes: u64,
    base64: String,
}

/// The pieces of a recording.
pub(super) struct Pieces<'a> {
    recorded: &'a RecordedLoad,
    file: File,
    offset_bytes: u64,
}

impl<'a> Pieces<'a> {
    pub(super) fn of(recorded: &'a RecordedLoad) -> Result<Self, iotax_load::Error> {
        Ok(Self { recorded, file: Recording::contents(recorded)?, offset_bytes: 0 })
    }

    /// The next piece; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Piece>> {
        let mut bytes = vec![0; PIECE_BYTES];
        let mut length = 0;
        while length < bytes.len() {
            let at = self.offset_bytes + length as u64;
            match self.file.read_at(&mut bytes[length..], at) {
                Ok(0) => break,
                Ok(read) => length += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let hash = self.recorded.hash.clone();
        let base64 = BASE64.encode(&bytes[..length]);
        let piece = Piece { hash, offset_bytes: self.offset_bytes, base64 };
        self.offset_bytes += length as u64;
        Ok((length > 0).then_some(piece))
    }
}

/// What the client has sent.
#[derive(Debug, Default)]
pub(super) struct Contents {
    by_hash: HashMap<String, Content>,
}

#[derive(Debug)]
struct Content {
    file: File,
    bytes: u64,
}

impl Contents {
    pub(super) fn add(&mut self, piece: Piece) -> io::Result<()> {
        let invalid = |what: &str| IoError::new(ErrorKind::InvalidData, what);
        let Piece { hash, offset_bytes, base64 } = piece;
        let bytes = BASE64.decode(base64).map_err(|error| invalid(&error.to_string()))?;
        // One that is sent again replaces the first.
        if offset_bytes == 0 {
            self.by_hash.remove(&hash);
        }
        let kept: u64 = self.by_hash.values().map(|content| content.bytes).sum();
        if kept.saturating_add(bytes.len() as u64) > MOST_RECORDED_BYTES {
            let most = iotax_quantity::size(MOST_RECORDED_BYTES);
            return Err(IoError::new(
                ErrorKind::StorageFull,
                format!("an agent replays at most {most} of recordings"),
            ));
        }
        if offset_bytes == 0 {
            let file = memfd_create("iotax-recording", MemfdFlags::CLOEXEC)?;
            self.by_hash.insert(hash.clone(), Content { file: file.into(), bytes: 0 });
        }
        let content = self.by_hash.get_mut(&hash).filter(|known| known.bytes == offset_bytes);
        let content = content.ok_or_else(|| invalid("a piece of a recording is missing"))?;
        content.file.write_all_at(&bytes, offset_bytes)?;
        content.bytes += bytes.len() as u64;
        Ok(())
    }

    /// A recording whose contents were sent.
    pub(super) fn recording(&self, of: &RecordedLoad) -> Result<Recording, iotax_load::Error> {
        let content = self.by_hash.get(&of.hash).map(|content| content.file.try_clone());
        let missing = || IoError::new(ErrorKind::NotFound, "it was not sent to the agent");
        let file = content.unwrap_or_else(|| Err(missing()));
        Recording::of_contents(of, file.map_err(iotax_load::Error::cannot_read(&of.path))?)
    }
}
