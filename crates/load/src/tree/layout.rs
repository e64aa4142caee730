//! The tree of each thread, made before the trial, and taken down.

use std::ffi::{CStr, CString};
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use iotax_experiment::{Job, Tree, Workload};
use rustix::fs::{Mode, OFlags, mkdirat, open};

use super::drive::create;
use crate::error::Error;
use crate::layout::fill;
use crate::target::{IoTarget, shown, within};

/// In a tree that this crate has made; a directory of the same name without it is left alone.
const MARK: &str = ".iotax-tree";

/// Refuses targets in which trees cannot be, and trees of others. Trees themselves are made anew
/// for every trial ([`make`]), so that each starts from the same state.
pub(crate) fn prepare(workload: &Workload, target: IoTarget<'_>) -> Result<(), Error> {
    for job in workload.jobs.iter().filter(|job| job.tree.is_some()) {
        let directory = directory(job, target)?;
        for thread in 0..job.threads {
            refuse_foreign(job, &root(directory, job, thread))?;
        }
    }
    Ok(())
}

/// The target, if files can be created in it.
pub(super) fn directory<'a>(job: &Job, target: IoTarget<'a>) -> Result<&'a Path, Error> {
    target.path().filter(|path| path.is_dir()).ok_or_else(|| {
        Error::unsuitable(
            job,
            format!(
                "file operations need a directory, but {target} is not a directory; name a \
                 directory, or a stack with a file system such as `file(size=2G) + ext4`"
            ),
        )
    })
}

fn refuse_foreign(job: &Job, root: &Path) -> Result<(), Error> {
    let is_there = root.symlink_metadata().is_ok();
    if is_there && !(root.is_dir() && root.join(MARK).is_file()) {
        return Err(Error::NotOurs { path: shown(root), job: job.name.clone() });
    }
    Ok(())
}

/// A tree that is there as long as this is.
pub(super) struct Made {
    path: PathBuf,
}

impl Made {
    /// Its root.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the tree of a thread, and opens it. Its files are durable, so that the trial does not
    /// pay for writing them back.
    pub(super) fn new(
        job: &Job,
        tree: &Tree,
        target: IoTarget<'_>,
        thread: u32,
        stop: &AtomicBool,
    ) -> Result<(Self, OwnedFd, Names, Slots, Vec<u8>), Error> {
        let path = root(directory(job, target)?, job, thread);
        refuse_foreign(job, &path)?;
        remove(&path)?;
        fs::create_dir(&path).map_err(Error::path("create", &path))?;
        let made = Self { path };
        let path = &made.path;
        let mark = path.join(MARK);
        let marked = within().write(true).create_new(true).open(&mark);
        let marked = marked.and_then(|mut file| file.write_all(b"iotax\n"));
        marked.map_err(Error::path("create", &mark))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = open(path, flags, Mode::empty()).map_err(Error::path("open", path))?;
        let names = Names::of(tree);
        for directory in names.directories() {
            mkdirat(&opened, directory, Mode::from_raw_mode(0o755))
                .map_err(Error::path("create directories in", path))?;
        }
        let mut content = vec![0; tree.file_bytes as usize];
        fill(&mut content, 0, path);
        let slots = Slots::new(slots(tree), tree.files);
        for slot in slots.files() {
            if stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            create(&opened, names.file(*slot), &content)
                .map_err(Error::path("create files in", path))?;
        }
        rustix::fs::syncfs(&opened).map_err(Error::path("sync", path))?;
        Ok((made, opened, names, slots, content))
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next run: it bears the mark.
        let _ = remove(&self.path);
    }
}

/// The mark goes last: what a killed run leaves half removed is still known as ours.
fn remove(root: &Path) -> Result<(), Error> {
    let failed = |source: std::io::Error| Error::path("remove", root)(source);
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() && !path.is_symlink() {
            fs::remove_dir_all(&path).map_err(failed)?;
        } else if path.file_name().is_none_or(|name| name != MARK) {
            fs::remove_file(&path).map_err(failed)?;
        }
    }
    match fs::remove_file(root.join(MARK)) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    fs::remove_dir(root).map_err(failed)
}

// Paths below a thread's tree, formatted once.

/// Names more than files: room to create and to rename into without waiting for a deletion.
const SPARE_SHARE: u32 = 4;
const SPARE_LEAST: u32 = 16;

/// Where the tree of a thread is.
pub(super) fn root(directory: &Path, job: &Job, thread: u32) -> PathBuf {
    directory.join(format!("{}.{thread}.tree", job.name))
}

/// Names that `tree` needs: its files, and some that are free.
pub(super) fn slots(tree: &Tree) -> u32 {
    tree.files.saturating_add((tree.files / SPARE_SHARE).max(SPARE_LEAST))
}

/// All paths of a tree, relative to its root.
pub(super) struct Names {
    files: Vec<CString>,
    directories: Vec<CString>,
    per_directory: u32,
}

impl Names {
    /// Formats them. Free names are spread over the directories as files are.
    pub(super) fn of(tree: &Tree) -> Self {
        let slots = slots(tree);
        let directories = tree.files.div_ceil(tree.files_per_directory.max(1)).max(1);
        let per_directory = slots.div_ceil(directories);
        let name = |text: String| CString::new(text).unwrap_or_default();
        Self {
            files: (0..slots)
                .map(|slot| name(format!("d{:05}/f{:08}", slot / per_directory, slot)))
                .collect(),
            directories: (0..slots.div_ceil(per_directory))
                .map(|directory| name(format!("d{directory:05}")))
                .collect(),
            per_directory,
        }
    }

    pub(super) fn file(&self, slot: u32) -> &CStr {
        &self.files[slot as usize]
    }

    /// Of the directory that a slot is in.
    pub(super) fn directory_of(&self, slot: u32) -> &CStr {
        &self.directories[(slot / self.per_directory) as usize]
    }

    pub(super) fn directories(&self) -> impl Iterator<Item = &CStr> {
        self.directories.iter().map(CString::as_c_str)
    }
}

// Which files are there, and which names are free.

/// A set of slots in two halves: those with a file first, free ones behind. Any of either half is
/// found, and changes sides, in constant time.
pub(super) struct Slots {
    order: Vec<u32>,
    there: usize,
}

impl Slots {
    /// Of `all` slots, `there` evenly spread ones have files.
    pub(super) fn new(all: u32, there: u32) -> Self {
        let mut order: Vec<u32> = (0..all).collect();
        let (mut with, mut free) = (Vec::new(), Vec::new());
        for slot in order.drain(..) {
            let due = (u64::from(slot) + 1) * u64::from(there) / u64::from(all.max(1));
            if due > with.len() as u64 { with.push(slot) } else { free.push(slot) }
        }
        let there = with.len();
        with.append(&mut free);
        Self { order: with, there }
    }

    /// How many have files.
    pub(super) fn there(&self) -> usize {
        self.there
    }

    /// How many are free.
    pub(super) fn free(&self) -> usize {
        self.order.len() - self.there
    }

    /// Any slot, with a file or free, by a random number.
    pub(super) fn any(&self, random: u64) -> u32 {
        self.order[pick(random, self.order.len())]
    }

    /// The slots with files.
    pub(super) fn files(&self) -> &[u32] {
        &self.order[..self.there]
    }

    /// Place and slot of a file, by a random number.
    pub(super) fn file(&self, random: u64) -> (usize, u32) {
        let place = pick(random, self.there);
        (place, self.order[place])
    }

    /// Place and slot of a free name, by a random number.
    pub(super) fn free_one(&self, random: u64) -> (usize, u32) {
        let place = self.there + pick(random, self.free());
        (place, self.order[place])
    }

    /// The free name at `place` now has a file.
    pub(super) fn created(&mut self, place: usize) {
        self.order.swap(place, self.there);
        self.there += 1;
    }

    /// The file at `place` is gone.
    pub(super) fn deleted(&mut self, place: usize) {
        self.there -= 1;
        self.order.swap(place, self.there);
    }

    /// The file at `from` now has the name that was free at `to`.
    pub(super) fn renamed(&mut self, from: usize, to: usize) {
        self.order.swap(from, to);
    }
}

/// Evenly below `count`, which must not be 0.
fn pick(random: u64, count: usize) -> usize {
    let below = crate::engine::below(random, count as u64);
    usize::try_from(below).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn files_are_spread_evenly_at_first() {
        let slots = Slots::new(100, 80);
        assert_eq!((slots.there(), slots.free()), (80, 20));
        for tenth in 0..10 {
            let range = tenth * 10..tenth * 10 + 10;
            assert_eq!(slots.files().iter().filter(|slot| range.contains(*slot)).count(), 8);
        }
    }

    proptest! {
        #[test]
        fn it_is_a_set_of_files(
            all in 2..60u32, steps in prop::collection::vec((0..3u8, any::<u64>(), any::<u64>()), 0..200)
        ) {
            let mut slots = Slots::new(all, all / 2);
            let mut oracle: BTreeSet<u32> = slots.files().iter().copied().collect();
            for (what, a, b) in steps {
                match what {
                    0 if slots.free() > 0 => {
                        let (place, slot) = slots.free_one(a);
                        slots.created(place);
                        prop_assert!(oracle.insert(slot));
                    }
                    1 if slots.there() > 0 => {
                        let (place, slot) = slots.file(a);
                        slots.deleted(place);
                        prop_assert!(oracle.remove(&slot));
                    }
                    2 if slots.there() > 0 && slots.free() > 0 => {
                        let ((from, old), (to, new)) = (slots.file(a), slots.free_one(b));
                        slots.renamed(from, to);
                        prop_assert!(oracle.remove(&old) && oracle.insert(new));
                    }
                    _ => {}
                }
                prop_assert_eq!(slots.files().iter().copied().collect::<BTreeSet<_>>(), oracle.clone());
            }
        }
    }
}
