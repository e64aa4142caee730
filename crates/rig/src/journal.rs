//! The undo journal: what a run is about to make, on disk before it is made.
//!
//! One file per run, `<state>/undo/<random>.jsonl`: a head line, then one [`Entry`] per line, each
//! forced to disk before the action it announces. The run holds an exclusive lock (`flock`) on it
//! for as long as it lives, so that [`undo`](crate::undo()) can tell the journals of dead runs
//! from those of living ones: the kernel drops the lock with the process, however it ends.
//!
//! Taking down a rig and undoing a dead run are the same code, [`Journal::unwind`].

use std::env;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::entry::{Entry, Undone};
use crate::error::Error;
use crate::programs;

/// Version of the journal's format.
const FORMAT: u32 = 1;

/// How long a program may take to begin after its parent was killed.
const LAST_PROGRAM: Duration = Duration::from_secs(5);

/// First line of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    /// Version of the format.
    format: u32,
    /// Host whose paths these are: a state directory may be on a network file system.
    host: String,
    /// Process, for people.
    pid: u32,
}

impl Head {
    fn of_this_run() -> Self {
        Self { format: FORMAT, host: host(), pid: std::process::id() }
    }
}

/// Where state is kept: `$IOTAX_STATE_DIR` if set; for root `/var/lib/iotax`, so that a `sudo`
/// that keeps the user's HOME does not leave root's files in it; else `$XDG_STATE_HOME/iotax`, and
/// without that `~/.local/state/iotax`, as the XDG Base Directory Specification says. `None` if
/// the environment names no home either.
pub fn state_dir() -> Option<PathBuf> {
    let root = rustix::process::geteuid().is_root();
    state_dir_from(root, |name| env::var_os(name).map(PathBuf::from))
}

fn state_dir_from(root: bool, variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    // The specification asks for relative paths to be ignored.
    let absolute = |name| variable(name).filter(|path| path.is_absolute());
    absolute("IOTAX_STATE_DIR")
        .or_else(|| root.then(|| PathBuf::from("/var/lib/iotax")))
        .or_else(|| absolute("XDG_STATE_HOME").map(|path| path.join("iotax")))
        .or_else(|| absolute("HOME").map(|path| path.join(".local/state/iotax")))
}

/// Where the journals are within the state directory.
pub(crate) fn directory(state_dir: &Path) -> PathBuf {
    state_dir.join("undo")
}

/// The journal of this run. Its file is made with the first entry and removed with the last, so a
/// rig that makes nothing needs no state directory. Unwinds when dropped.
#[derive(Debug)]
pub(crate) struct Journal {
    state_dir: Option<PathBuf>,
    open: Option<Open>,
}

/// A journal file, locked by this process.
#[derive(Debug)]
pub(crate) struct Open {
    path: PathBuf,
    file: File,
    head: Option<Head>,
    entries: Vec<Entry>,
}

impl Journal {
    /// Makes nothing yet.
    pub(crate) fn new(state_dir: Option<PathBuf>) -> Self {
        Self { state_dir, open: None }
    }

    /// Writes `entry` to disk. Only then may it be acted upon.
    pub(crate) fn announce(&mut self, entry: Entry) -> Result<(), Error> {
        if self.open.is_none() {
            let state_dir = self.state_dir.as_deref().ok_or(Error::NoStateDirectory)?;
            let directory = directory(state_dir);
            let created = Open::create(&directory);
            self.open = Some(created.map_err(|source| Error::Journal { directory, source })?);
        }
        let open = self.open.as_mut().expect("opened above");
        open.append(entry).map_err(|source| Error::Journal { directory: open.path.clone(), source })
    }

    /// Where it is kept.
    pub(crate) fn state_dir(&self) -> Option<&Path> {
        self.state_dir.as_deref()
    }

    /// Name of the journal, which the programs of its run bear; empty before the first entry.
    pub(crate) fn name(&self) -> String {
        self.open.as_ref().map(Open::name).unwrap_or_default()
    }

    /// Where it is, for messages; empty before the first entry.
    pub(crate) fn path(&self) -> PathBuf {
        self.open.as_ref().map(|open| open.path.clone()).unwrap_or_default()
    }

    /// Takes the last entry back: what it announced did not happen, and whatever is there instead
    /// is not for us to undo or to report. The line stays in the file until the file is removed.
    pub(crate) fn withdraw(&mut self) {
        if let Some(open) = &mut self.open {
            open.entries.pop();
        }
    }

    /// Undoes everything, last first. What cannot be undone stays in the journal.
    ///
    /// # Errors
    /// The first failure; the others are met again by `undo`.
    pub(crate) fn unwind(&mut self) -> Result<(), Error> {
        let Some(open) = self.open.take() else { return Ok(()) };
        open.unwind(&mut |_, _| ()).into_iter().next().map_or(Ok(()), Err)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // A failure is not lost: the journal file stays, and `undo` reports it.
        let _ = self.unwind();
    }
}

impl Open {
    fn create(directory: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        loop {
            let path = directory.join(format!("{}.jsonl", token()?));
            let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path)?;
            let head = Head::of_this_run();
            let mut open = Self { path, file, head: Some(head.clone()), entries: Vec::new() };
            // Between creation and lock, `undo` may take an empty journal for a dead run's and
            // remove it; then the lock is on a file without a name, and it is done again.
            if !open.lock()? {
                continue;
            }
            open.write_line(&head)?;
            File::open(directory)?.sync_all()?;
            return Ok(open);
        }
    }

    /// Opens the journal of a dead run; `None` if its run lives, or someone else undoes it.
    pub(crate) fn of_the_dead(path: &Path) -> Result<Option<Self>, Error> {
        let unusable = |why: String| Error::UnusableJournal { journal: path.to_owned(), why };
        let file = match OpenOptions::new().read(true).append(true).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unusable(format!("cannot be opened: {error}"))),
        };
        let mut open = Self { path: path.to_owned(), file, head: None, entries: Vec::new() };
        if !open.lock_dead().map_err(|error| unusable(format!("cannot be locked: {error}")))? {
            return Ok(None);
        }
        let mut text = Vec::new();
        open.file
            .read_to_end(&mut text)
            .map_err(|error| unusable(format!("cannot be read: {error}")))?;
        let (head, entries) = parse(&text).map_err(unusable)?;
        if let Some(head) = &head
            && head.host != host()
        {
            return Err(unusable(format!(
                "belongs to host {}; undo there, or delete it if that host is gone",
                head.host
            )));
        }
        open.head = head;
        open.entries = entries;
        // A program that the run had under way may still be making what is about to be undone.
        programs::kill_run(&open.name());
        Ok(Some(open))
    }

    fn name(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// False if another process holds it, or it was removed meanwhile.
    fn lock(&self) -> io::Result<bool> {
        match self.file.try_lock() {
            Ok(()) => Ok(self.file.metadata()?.nlink() > 0),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// As [`Open::lock`]. A run that was killed while it started a program leaves the lock to that
    /// program for the moment until it has begun: a locked journal of a dead run is waited for.
    fn lock_dead(&self) -> io::Result<bool> {
        let started = Instant::now();
        loop {
            if self.lock()? {
                return Ok(true);
            }
            if self.owner_lives() || started.elapsed() > LAST_PROGRAM {
                return Ok(false);
            }
            sleep(Duration::from_millis(5));
        }
    }

    /// Whether the process that wrote the journal runs; true if that cannot be told.
    fn owner_lives(&self) -> bool {
        let text = fs::read(&self.path).unwrap_or_default();
        let Ok((Some(head), _)) = parse(&text) else { return true };
        head.host != host() || lives(head.pid)
    }

    fn append(&mut self, entry: Entry) -> io::Result<()> {
        self.write_line(&entry)?;
        self.entries.push(entry);
        Ok(())
    }

    fn write_line(&mut self, line: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.file.write_all(&text)?;
        self.file.sync_data()
    }

    /// Undoes all entries, last first, and then removes the journal unless some of it could not be
    /// undone. Tells `done` about each success and returns the failures.
    pub(crate) fn unwind(self, done: &mut dyn FnMut(&Entry, Undone)) -> Vec<Error> {
        let mut errors = Vec::new();
        for entry in self.entries.iter().rev() {
            match entry.undo(&self.path) {
                Ok(undone) => done(entry, undone),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty()
            && let Err(source) = fs::remove_file(&self.path)
            && source.kind() != io::ErrorKind::NotFound
        {
            errors.push(Error::Remove { path: self.path.clone(), source, journal: self.path });
        }
        errors
    }
}

/// Whether a process of this number runs.
pub(crate) fn lives(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // `pid (name) state ...`; a zombie has ended and only waits to be noticed.
    let state = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next());
    !matches!(state, None | Some("Z" | "X"))
}

/// Process and entries of each journal whose run lives on this host.
pub(crate) fn living(state_dir: &Path) -> Result<Vec<(u32, Vec<Entry>)>, Error> {
    let directory = directory(state_dir);
    let paths = match journals(&directory) {
        Ok(paths) => paths,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(Error::Journal { directory, source }),
    };
    let mut living = Vec::new();
    for path in paths {
        // One that ends meanwhile is none.
        let Ok(file) = File::open(&path) else { continue };
        let is_locked = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
        let parsed = parse(&fs::read(&path).unwrap_or_default());
        if let (true, Ok((Some(head), entries))) = (is_locked, parsed)
            && head.host == host()
        {
            living.push((head.pid, entries));
        }
    }
    Ok(living)
}

/// The journals in a directory.
pub(crate) fn journals(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Head and entries of a journal. A last line without its end was being written when the run died;
/// its action had not begun, so it is left out. Everything else must be understood: to undo a part
/// of a journal could be worse than nothing.
fn parse(text: &[u8]) -> Result<(Option<Head>, Vec<Entry>), String> {
    let complete = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let mut lines = text[..complete].split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let Some(head) = lines.next() else { return Ok((None, Vec::new())) };
    let strange = |error| format!("is not a journal of this version of iotax ({error})");
    let head: Head = serde_json::from_slice(head).map_err(strange)?;
    if head.format != FORMAT {
        return Err(format!(
            "has format {}, this version of iotax writes {FORMAT}; undo with the version that wrote it",
            head.format
        ));
    }
    let entries = lines.map(serde_json::from_slice).collect::<Result<_, _>>().map_err(strange)?;
    Ok((Some(head), entries))
}

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// 64 random bits as text: unique among the runs of this machine, and not to be guessed.
pub(crate) fn token() -> io::Result<String> {
    Ok(format!("{:016x}", getrandom::u64()?))
}

#[cfg(test)]
impl Journal {
    /// What `kill -9` does to a journal: the lock is gone, the file stays.
    pub(crate) fn die(mut self) {
        self.open = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn state(root: bool, variables: &[(&str, &str)]) -> Option<String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name)?;
            Some(PathBuf::from(found.1))
        };
        state_dir_from(root, variable).map(|path| path.display().to_string())
    }

    #[test]
    fn the_state_directory_follows_the_xdg_specification_except_for_root() {
        let user = [("HOME", "/home/me"), ("XDG_STATE_HOME", "/var/me")];
        assert_eq!(state(false, &user).unwrap(), "/var/me/iotax");
        assert_eq!(state(false, &user[..1]).unwrap(), "/home/me/.local/state/iotax");
        assert_eq!(state(true, &user).unwrap(), "/var/lib/iotax");
        assert_eq!(state(true, &[("IOTAX_STATE_DIR", "/s")]).unwrap(), "/s");
        assert_eq!(
            state(false, &[("XDG_STATE_HOME", "relative"), ("HOME", "/h")]).unwrap(),
            "/h/.local/state/iotax"
        );
        assert_eq!(state(false, &[]), None);
    }

    #[test]
    fn an_entry_is_on_disk_before_announce_returns() {
        let root = tempfile::tempdir().unwrap();
        let mut journal = Journal::new(Some(root.path().to_owned()));
        let path = PathBuf::from("/no/such/parent/.iotax-x");
        let entry = Entry::Directory { path, token: "t".into(), parent_inode: 1 };
        journal.announce(entry.clone()).unwrap();
        let file = fs::read_dir(directory(root.path())).unwrap().next().unwrap().unwrap().path();
        let (head, entries) = parse(&fs::read(file).unwrap()).unwrap();
        assert_eq!((head, entries), (Some(Head::of_this_run()), vec![entry]));
        journal.die();
    }

    #[test]
    fn a_journal_that_undid_everything_is_gone() {
        let root = tempfile::tempdir().unwrap();
        let target = tempfile::tempdir().unwrap();
        let mut journal = Journal::new(Some(root.path().to_owned()));
        crate::scratch::make(target.path(), &mut journal).unwrap();
        journal.unwind().unwrap();
        assert_eq!(fs::read_dir(directory(root.path())).unwrap().count(), 0);
        assert_eq!(fs::read_dir(target.path()).unwrap().count(), 0);
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_parser_panic(bytes: Vec<u8>, text in ".*\n.*") {
            let _ = parse(&bytes);
            let _ = parse(text.as_bytes());
        }

        /// Cutting a journal anywhere gives the entries whose lines are whole, never an error.
        #[test]
        fn a_journal_cut_anywhere_keeps_its_whole_lines(entries in 0_u64..4, cut in 0_usize..2000) {
            let mut text = serde_json::to_vec(&Head::of_this_run()).unwrap();
            text.push(b'\n');
            let mut ends = vec![text.len()];
            for number in 0..entries {
                let path = PathBuf::from(format!("/x/{number}"));
                let entry = Entry::Directory { path, token: "t".into(), parent_inode: number };
                text.extend(serde_json::to_vec(&entry).unwrap());
                text.push(b'\n');
                ends.push(text.len());
            }
            let cut = cut.min(text.len());
            let (head, found) = parse(&text[..cut]).unwrap();
            let whole = ends.iter().filter(|end| **end <= cut).count();
            prop_assert_eq!(usize::from(head.is_some()) + found.len(), whole);
        }
    }
}
