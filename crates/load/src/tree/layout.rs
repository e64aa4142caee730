//! The tree of each thread, made before the trial, and taken down.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use iotax_experiment::{Job, Tree, Workload};
use rustix::fs::{Mode, OFlags, mkdirat, open};

use super::act::create;
use super::names::{Names, root, slots};
use super::slots::Slots;
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
                "operations on files need a directory, and {target} is none; name one, or a stack \
                 with a file system such as `file(size=2G) + ext4`"
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
