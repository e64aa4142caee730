//! The file: a magic number, then blocks that each have a kind, a length and a checksum. What was
//! written before a crash can be read; a reader needs one chunk in memory at a time.
//!
//! | block | contents |
//! |---|---|
//! | `H` | the head, JSON |
//! | `F` | the state of the next files, JSON |
//! | `S` | updated states of files that were listed before, JSON |
//! | `E` | a chunk of events |
//! | `Z` | the end, JSON |
//!
//! JSON is compressed, too.

use std::fs;
use std::io::{self, Read, Seek as _, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use iotax_layers::blame::{Blame, Fault};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::columns::{self, CHUNK};
use crate::event::{Event, File};
use crate::head::{ChunkPlace, End, FileState, Head, VERSION};

const MAGIC: &[u8; 8] = b"iotaxtr\n";
/// Kind, length and checksum.
const BLOCK_HEAD: usize = 1 + 4 + 4;
/// Maximum length of a block, and of its JSON after decompression.
const LONGEST_BLOCK: u32 = 16 << 20;
/// Maximum number of files and gaps of files in a block.
const STATES: usize = 1 << 13;
/// Maximum number of files of a trace, and of gaps of all files.
const MOST_STATES: usize = 1 << 22;

/// Whether there is a trace at this path, by its first bytes.
pub fn is_trace(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    if !path.is_file() {
        return false;
    }
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *MAGIC
}

/// Why a trace cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("not an iotax recording")]
    NotATrace,
    #[error("format version {found} of the recording is newer than this iotax; update iotax")]
    TooNew { found: u32 },
    #[error(
        "format version {found} of the recording is older than the first release of iotax; record the application again"
    )]
    TooOld { found: u32 },
    #[error("the recording is damaged at byte {at_byte}")]
    Damaged { at_byte: u64 },
}

impl Blame for Error {
    fn fault(&self) -> Fault {
        match self {
            Self::Io(error) => Fault::of_reading(error),
            Self::NotATrace | Self::TooNew { .. } | Self::TooOld { .. } | Self::Damaged { .. } => {
                Fault::Usage
            }
        }
    }
}

/// Writes a trace as its events come.
pub struct Writer<W> {
    out: W,
    at_byte: u64,
    waiting: Vec<Event>,
    new_files: Vec<FileState>,
    amended: Vec<(File, FileState)>,
    gaps: usize,
    files: u32,
    end: End,
}

impl<W: Write> Writer<W> {
    pub fn new(mut out: W, head: &Head) -> Result<Self, Error> {
        out.write_all(MAGIC)?;
        let mut writer = Self {
            out,
            at_byte: MAGIC.len() as u64,
            waiting: Vec::with_capacity(CHUNK),
            new_files: Vec::new(),
            amended: Vec::new(),
            gaps: 0,
            files: 0,
            end: End::default(),
        };
        writer.block(b'H', &pack(head))?;
        Ok(writer)
    }

    /// Adds a file; its number.
    pub fn file(&mut self, state: FileState) -> File {
        let state = self.bounded(state);
        self.new_files.push(state);
        self.files += 1;
        self.files - 1
    }

    /// Replaces the state of a file that was added before.
    pub fn amend(&mut self, file: File, state: FileState) {
        let state = self.bounded(state);
        self.amended.push((file, state));
    }

    /// Without its gaps if the trace has too many already.
    fn bounded(&mut self, state: FileState) -> FileState {
        if self.gaps + state.gaps.len() > MOST_STATES {
            return FileState { gaps: Vec::new(), ..state };
        }
        self.gaps += state.gaps.len();
        state
    }

    pub fn push(&mut self, event: Event) -> Result<(), Error> {
        self.end.length_ns = self.end.length_ns.max(event.end_ns);
        self.waiting.push(event);
        if self.waiting.len() == CHUNK { self.flush() } else { Ok(()) }
    }

    /// Writes buffered events, so that they survive if the writer is killed.
    pub fn flush(&mut self) -> Result<(), Error> {
        let new_files = std::mem::take(&mut self.new_files);
        for files in in_blocks(&new_files, |state| state) {
            self.block(b'F', &pack(&files))?;
        }
        let amended = std::mem::take(&mut self.amended);
        for states in in_blocks(&amended, |(_, state)| state) {
            self.block(b'S', &pack(&states))?;
        }
        if let Some(first) = self.waiting.first() {
            let place = ChunkPlace {
                at_byte: self.at_byte,
                first_ns: first.end_ns,
                events: u32::try_from(self.waiting.len()).expect("a chunk"),
            };
            self.end.chunks.push(place);
            self.end.events += u64::from(place.events);
            let chunk = columns::encode(&self.waiting);
            self.waiting.clear();
            self.block(b'E', &chunk)?;
        }
        Ok(self.out.flush()?)
    }

    pub const fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// Stops without writing the end block.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// Bytes written so far.
    pub const fn bytes(&self) -> u64 {
        self.at_byte
    }

    /// Writes the end block. Values that the writer counted itself replace those given.
    pub fn finish(mut self, end: &End) -> Result<W, Error> {
        self.end(end)?;
        Ok(self.out)
    }

    /// Like [`Self::finish`], but if it fails, the caller still has what was written. Nothing can
    /// be written afterwards.
    pub fn end(&mut self, end: &End) -> Result<(), Error> {
        self.flush()?;
        let length_ns = end.length_ns.max(self.end.length_ns);
        let own = std::mem::take(&mut self.end);
        let end = End { events: own.events, chunks: own.chunks, length_ns, ..end.clone() };
        self.block(b'Z', &pack(&end))?;
        Ok(self.out.flush()?)
    }

    fn block(&mut self, kind: u8, payload: &[u8]) -> Result<(), Error> {
        let length = u32::try_from(payload.len()).ok().filter(|length| *length <= LONGEST_BLOCK);
        let length = length.ok_or_else(|| io::Error::other("a block is too large"))?;
        let mut head = [0; BLOCK_HEAD];
        head[0] = kind;
        head[1..5].copy_from_slice(&length.to_le_bytes());
        head[5..].copy_from_slice(&checksum(kind, payload).to_le_bytes());
        self.out.write_all(&head)?;
        self.out.write_all(payload)?;
        self.at_byte += (BLOCK_HEAD + payload.len()) as u64;
        Ok(())
    }
}

/// Parts of a list of files that each fit a block.
fn in_blocks<T>(all: &[T], state: impl Fn(&T) -> &FileState) -> Vec<&[T]> {
    let mut blocks = Vec::new();
    let (mut first, mut states) = (0, 0);
    for (at, one) in all.iter().enumerate() {
        states += 1 + state(one).gaps.len();
        if states >= STATES || at + 1 == all.len() {
            blocks.push(&all[first..=at]);
            (first, states) = (at + 1, 0);
        }
    }
    blocks
}

/// Reads a trace from its beginning.
pub struct Reader<R> {
    from: R,
    at_byte: u64,
    pub head: Head,
    /// The files known so far; later blocks may update them.
    pub files: Vec<FileState>,
    gaps: usize,
    /// `None` until the end is read, or if the trace was cut off.
    pub end: Option<End>,
    /// Of the latest chunk.
    chunk_at: u64,
    /// It does not begin with the first block, so that the states of files are not known.
    is_resumed: bool,
}

impl<R: Read> Reader<R> {
    pub fn new(mut from: R) -> Result<Self, Error> {
        let mut magic = [0; MAGIC.len()];
        match from.read_exact(&mut magic) {
            Ok(()) if magic == *MAGIC => {}
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => return Err(error.into()),
            _ => return Err(Error::NotATrace),
        }
        let mut at_byte = MAGIC.len() as u64;
        let Some((b'H', payload)) = block(&mut from, &mut at_byte)? else {
            return Err(Error::NotATrace);
        };
        // A newer head may have other fields.
        let version: OnlyVersion = unpack(&payload).ok_or(Error::Damaged { at_byte: 0 })?;
        if version.version > VERSION {
            return Err(Error::TooNew { found: version.version });
        }
        if version.version < VERSION {
            return Err(Error::TooOld { found: version.version });
        }
        let head = unpack(&payload).ok_or(Error::Damaged { at_byte: 0 })?;
        Ok(Self {
            from,
            at_byte,
            head,
            files: Vec::new(),
            gaps: 0,
            end: None,
            chunk_at: 0,
            is_resumed: false,
        })
    }

    /// Goes on with the chunk at `at_byte` (see [`Reader::chunk_at`]), where `from` begins. It only
    /// reads events: states of files are skipped.
    pub fn resume(from: R, at_byte: u64, head: &Head) -> Self {
        Self {
            from,
            at_byte,
            head: head.clone(),
            files: Vec::new(),
            gaps: 0,
            end: None,
            chunk_at: at_byte,
            is_resumed: true,
        }
    }

    /// Where the latest chunk begins, in bytes from the beginning of the trace.
    pub const fn chunk_at(&self) -> u64 {
        self.chunk_at
    }

    /// The next chunk of events, in the order in which they ended; `None` after the last.
    pub fn chunk(&mut self) -> Result<Option<Vec<Event>>, Error> {
        loop {
            let at_byte = self.at_byte;
            let damaged = || Error::Damaged { at_byte };
            let Some((kind, payload)) = block(&mut self.from, &mut self.at_byte)? else {
                return Ok(None);
            };
            match kind {
                b'F' | b'S' if self.is_resumed => {}
                b'F' => {
                    let files: Vec<FileState> = unpack(&payload).ok_or_else(damaged)?;
                    self.gaps += files.iter().map(|state| state.gaps.len()).sum::<usize>();
                    self.files.extend(files);
                    if self.files.len() > MOST_STATES || self.gaps > MOST_STATES {
                        return Err(damaged());
                    }
                }
                b'S' => {
                    let states: Vec<(File, FileState)> = unpack(&payload).ok_or_else(damaged)?;
                    self.gaps += states.iter().map(|(_, state)| state.gaps.len()).sum::<usize>();
                    if self.gaps > MOST_STATES {
                        return Err(damaged());
                    }
                    for (file, state) in states {
                        *self.files.get_mut(file as usize).ok_or_else(damaged)? = state;
                    }
                }
                b'E' => {
                    let events = columns::decode(&payload).map_err(|_| damaged())?;
                    self.chunk_at = at_byte;
                    return Ok(Some(events));
                }
                b'Z' => self.end = Some(unpack(&payload).ok_or_else(damaged)?),
                _ => return Err(damaged()),
            }
        }
    }
}

/// What is left of a trace that could not be written to its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kept {
    pub bytes: u64,
    pub events: u64,
}

/// Cuts a trace off after its last whole block.
///
/// # Errors
/// If the file cannot be read or cut. Readers ignore a partial block at the end.
pub fn keep_whole_blocks(file: &fs::File) -> io::Result<Kept> {
    let mut from = io::BufReader::new(file);
    from.seek(io::SeekFrom::Start(0))?;
    let mut kept = Kept::default();
    if let Ok(mut reader) = Reader::new(from) {
        while let Ok(Some(events)) = reader.chunk() {
            kept.events += events.len() as u64;
        }
        kept.bytes = reader.at_byte;
    }
    file.set_len(kept.bytes)?;
    Ok(kept)
}

#[derive(serde::Deserialize)]
struct OnlyVersion {
    version: u32,
}

/// The next block; `None` at the end, also within a block that was not written to its end.
fn block(from: &mut impl Read, at_byte: &mut u64) -> Result<Option<(u8, Vec<u8>)>, Error> {
    let begin = *at_byte;
    let mut head = [0; BLOCK_HEAD];
    if !filled(from, &mut head)? {
        return Ok(None);
    }
    let [kind, a, b, c, d, sum @ ..] = head;
    let length = u32::from_le_bytes([a, b, c, d]);
    if length > LONGEST_BLOCK {
        return Err(Error::Damaged { at_byte: begin });
    }
    // A corrupt length must not cause a large allocation.
    let mut payload = Vec::new();
    from.by_ref().take(u64::from(length)).read_to_end(&mut payload)?;
    if payload.len() < length as usize {
        return Ok(None);
    }
    if checksum(kind, &payload) != u32::from_le_bytes(sum) {
        return Err(Error::Damaged { at_byte: begin });
    }
    *at_byte += (BLOCK_HEAD + payload.len()) as u64;
    Ok(Some((kind, payload)))
}

/// Whether the buffer could be filled.
fn filled(from: &mut impl Read, buffer: &mut [u8]) -> Result<bool, Error> {
    match from.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn checksum(kind: u8, payload: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&[kind]), payload)
}

fn pack(value: &impl Serialize) -> Vec<u8> {
    let json = serde_json::to_vec(value).expect("plain data");
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&json).expect("memory takes all");
    encoder.finish().expect("memory takes all")
}

fn unpack<T: DeserializeOwned>(payload: &[u8]) -> Option<T> {
    let mut json = Vec::new();
    DeflateDecoder::new(payload).take(u64::from(LONGEST_BLOCK)).read_to_end(&mut json).ok()?;
    serde_json::from_slice(&json).ok()
}
