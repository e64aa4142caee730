//! Fills files with data that can be neither compressed nor deduplicated.
//!
//! Storage that compresses, deduplicates or skips zeros would otherwise answer without reading
//! anything: reading a hole of a sparse file costs no device I/O.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::{Advice, FallocateFlags, fadvise, fallocate};
use rustix::io::Errno;

use crate::error::Error;

/// Bytes per write.
const CHUNK_BYTES: usize = 1 << 20;

/// Chunks between two syncs. Syncs keep the progress correct, because a write alone only reaches
/// memory, and they avoid a long wait at the end that could not be interrupted.
const CHUNKS_PER_SYNC: u64 = 64;

/// Receives progress, and can stop the work.
pub(crate) struct Watch<'a> {
    pub(crate) progress: &'a mut dyn FnMut(&Preparing<'_>),
    pub(crate) stop: &'a AtomicBool,
}

/// Gives `file` its size and, if the file system can, allocates its space, so that a lack of space
/// shows at once. `path` is for messages.
pub(crate) fn reserve(file: &File, path: &Path, size_bytes: u64) -> Result<(), Error> {
    let failed = |error: io::Error| failure(path, 0, size_bytes, error);
    file.set_len(size_bytes).map_err(failed)?;
    match fallocate(file, FallocateFlags::empty(), 0, size_bytes) {
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        Err(error) => Err(failed(error.into())),
    }
}

/// Bytes that are allocated to one file before it is the next one's turn.
const TURN_BYTES: u64 = 16 << 20;

/// Gives several files their sizes and allocates their space piece by piece in turns. So they are
/// side by side on the volume, and none is in a faster part of it.
pub(crate) fn reserve_in_turns(files: &[(File, PathBuf, u64)]) -> Result<(), Error> {
    let largest = files.iter().map(|(.., size_bytes)| *size_bytes).max().unwrap_or(0);
    for turn in 1..=largest.div_ceil(TURN_BYTES) {
        for (file, path, size_bytes) in files {
            let so_far = (*size_bytes).min(turn * TURN_BYTES);
            reserve(file, path, so_far)?;
        }
    }
    Ok(())
}

/// Writes `size_bytes` of pseudo-random data and flushes them to the device. None stays in the page
/// cache. `path` is for messages.
pub(crate) fn fill(
    file: &File,
    path: &Path,
    size_bytes: u64,
    seed: u64,
    watch: &mut Watch<'_>,
) -> Result<(), Error> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut chunk = vec![0; CHUNK_BYTES];
    let what = path.display().to_string();
    let mut done_bytes = 0;
    let mut chunks = 0;
    while done_bytes < size_bytes {
        if watch.stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let left = usize::try_from(size_bytes - done_bytes).unwrap_or(usize::MAX);
        let part = &mut chunk[..left.min(CHUNK_BYTES)];
        rng.fill_bytes(part);
        let written = file.write_all_at(part, done_bytes);
        let done_here = done_bytes + part.len() as u64;
        chunks += 1;
        let synced = if chunks % CHUNKS_PER_SYNC == 0 || done_here == size_bytes {
            written.and_then(|()| file.sync_data())
        } else {
            written
        };
        synced.map_err(|error| failure(path, done_bytes, size_bytes, error))?;
        done_bytes = done_here;
        (watch.progress)(&Preparing::Filling { what: &what, done_bytes, size_bytes });
    }
    // Only a hint. File systems that ignore it keep their pages, which direct I/O does not see.
    let _ = fadvise(file, 0, None, Advice::DontNeed);
    Ok(())
}

fn failure(path: &Path, done_bytes: u64, wanted_bytes: u64, source: io::Error) -> Error {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Error::Full { path, done_bytes, wanted_bytes }
        }
        _ => Error::Make { path, action: "fill it with data", source },
    }
}

/// What is being prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preparing<'a> {
    /// A disk is filled with data. `what` is for people: a file, or a stack in memory. With the
    /// bytes that are on the device, and the total.
    Filling { what: &'a str, done_bytes: u64, size_bytes: u64 },
    /// The layers of an arm are made.
    Making { arm: &'a str },
}

#[cfg(test)]
mod tests {
    use std::fs;

    use iotax_experiment::{Blame as _, Fault};

    use super::*;

    fn filled(size_bytes: u64, seed: u64) -> Vec<u8> {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut told = Vec::new();
        let stop = AtomicBool::new(false);
        let mut progress = |progress: &Preparing<'_>| {
            let Preparing::Filling { done_bytes, .. } = progress else { panic!("only filling") };
            told.push(*done_bytes);
        };
        let mut watch = Watch { progress: &mut progress, stop: &stop };
        reserve(file.as_file(), file.path(), size_bytes).unwrap();
        fill(file.as_file(), file.path(), size_bytes, seed, &mut watch).unwrap();
        assert!(told.is_sorted());
        assert_eq!(told.last().copied(), Some(size_bytes));
        fs::read(file.path()).unwrap()
    }

    #[test]
    fn no_two_blocks_are_alike_and_none_is_zero() {
        let data = filled((2 << 20) + 4096, 1);
        assert_eq!(data.len(), (2 << 20) + 4096);
        let mut blocks: Vec<&[u8]> = data.chunks(512).collect();
        blocks.sort_unstable();
        assert!(blocks.windows(2).all(|pair| pair[0] != pair[1]));
        assert!(blocks.iter().all(|block| block.iter().any(|byte| *byte != 0)));
    }

    #[test]
    fn the_seed_decides_the_data() {
        assert_eq!(filled(8192, 7), filled(8192, 7));
        assert_ne!(filled(8192, 7), filled(8192, 8));
    }

    #[test]
    fn the_stop_flag_ends_it_between_two_chunks() {
        let file = tempfile::tempfile().unwrap();
        let stop = AtomicBool::new(false);
        let mut progress = |_: &Preparing<'_>| stop.store(true, Ordering::Relaxed);
        let mut watch = Watch { progress: &mut progress, stop: &stop };
        let result = fill(&file, Path::new("x"), 8 << 20, 1, &mut watch);
        assert_eq!(result.unwrap_err().fault(), Fault::Interrupted);
        assert_eq!(file.metadata().unwrap().len(), 1 << 20);
    }

    #[test]
    fn a_full_file_system_is_named_with_how_far_it_got() {
        let file = File::options().write(true).open("/dev/full").unwrap();
        let stop = AtomicBool::new(false);
        let mut watch = Watch { progress: &mut |_| (), stop: &stop };
        let error = fill(&file, Path::new("/mnt/x"), 4 << 20, 1, &mut watch).unwrap_err();
        insta::assert_snapshot!(error, @"/mnt/x: the file system is full: only 0 B of 4 MiB could be written; free some space, or choose a smaller size");
    }
}
