//! The undo journal: what a run is about to make, written to disk before it is made.
//!
//! There is one file per run, `<state>/undo/<random>.jsonl`: a head line, then one [`Entry`] per
//! line, each flushed to disk before the action it announces. The run holds an exclusive lock
//! (`flock`) on the file while it lives. The kernel drops the lock with the process, however that
//! ends, so [`undo`](crate::undo()) can tell the journals of dead runs from those of living ones.
//!
//! Taking down a rig and undoing a dead run are the same code, [`Journal::unwind`].

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::entry::Entry;
use crate::error::Error;
use crate::marked;
use crate::state::Held;
use crate::undone::Undone;

/// Version of the journal's format.
const FORMAT: u32 = 1;

/// How long a program may take to begin after its parent was killed.
const LAST_PROGRAM: Duration = Duration::from_secs(5);

/// The journals of this process, by names that no other has.
static OWN: Mutex<Vec<(Arc<Held>, OsString)>> = Mutex::new(Vec::new());
const WHOLE: &str = "nothing panics while the list is locked";

/// First line of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
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

/// The directory of the journals in the state directory.
const DIRECTORY: &str = "undo";

/// The journal of this run. Its file is created with the first entry and removed with the last, so
/// a rig that makes nothing needs no state directory. Unwinds when dropped.
#[derive(Debug)]
pub(crate) struct Journal {
    state_dir: Option<PathBuf>,
    open: Option<Open>,
}

/// A journal file, locked by this process.
#[derive(Debug)]
pub(crate) struct Open {
    directory: Arc<Held>,
    name: OsString,
    file: File,
    head: Option<Head>,
    entries: Vec<Entry>,
}

/// Unlocks explicitly. Closing is not enough: a lock lasts while there is any copy of its
/// descriptor, and a child has one until it executes its own program.
impl Drop for Open {
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

/// The state of a journal that was listed.
pub(crate) enum Found {
    /// Its run is dead, and no other process undoes it.
    Dead(Open),
    /// Its run lives, or another process undoes it; with the process that wrote it.
    Living { owner: Option<u32> },
    /// It was removed in the meantime.
    Gone,
}

impl Journal {
    /// Makes nothing yet.
    pub(crate) fn new(state_dir: Option<PathBuf>) -> Self {
        Self { state_dir, open: None }
    }

    /// Writes `entry` to disk. Only then may the action be carried out.
    pub(crate) fn announce(&mut self, entry: Entry) -> Result<(), Error> {
        if self.open.is_none() {
            let state_dir = self.state_dir.as_deref().ok_or(Error::NoStateDirectory)?;
            let created = Open::create(&Arc::new(Held::make(state_dir, DIRECTORY)?));
            let failed = |source| Error::Journal { directory: state_dir.join(DIRECTORY), source };
            self.open = Some(created.map_err(failed)?);
        }
        let open = self.open.as_mut().expect("opened above");
        open.append(entry).map_err(|source| Error::Journal { directory: open.path(), source })
    }

    /// The state directory.
    pub(crate) fn state_dir(&self) -> Option<&Path> {
        self.state_dir.as_deref()
    }

    /// Name of the journal, which is in the environment of the run's programs; empty before the
    /// first entry.
    pub(crate) fn name(&self) -> String {
        self.open.as_ref().map(Open::run).unwrap_or_default()
    }

    /// Its path, for messages; empty before the first entry.
    pub(crate) fn path(&self) -> PathBuf {
        self.open.as_ref().map(Open::path).unwrap_or_default()
    }

    /// Takes the last entry back: its action did not happen, and anything at that place is not ours
    /// to undo or report. The line stays in the file until the file is removed.
    pub(crate) fn withdraw(&mut self) {
        if let Some(open) = &mut self.open {
            open.entries.pop();
        }
    }

    /// Undoes everything, last entry first. What cannot be undone stays in the journal.
    ///
    /// # Errors
    /// The first failure; `undo` finds the others again.
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
    fn create(directory: &Arc<Held>) -> io::Result<Self> {
        loop {
            let name = OsString::from(format!("{}.jsonl", token()?));
            let file = directory.create(&name)?;
            let head = Head::of_this_run();
            let directory = Arc::clone(directory);
            let mut open =
                Self { directory, name, file, head: Some(head.clone()), entries: Vec::new() };
            // Between creation and lock, `undo` may take the empty journal for that of a dead run
            // and remove it. Then the lock is on a file without a name, and we try again.
            if !open.lock()? {
                continue;
            }
            open.write_line(&head)?;
            open.directory.sync()?;
            OWN.lock().expect(WHOLE).push((Arc::clone(&open.directory), open.name.clone()));
            return Ok(open);
        }
    }

    /// Opens a journal; `None` if it is gone.
    fn at(directory: &Arc<Held>, name: &OsStr) -> Result<Option<Self>, Error> {
        let journal = || directory.path_of(name);
        let opened = directory.open(name);
        let opened = opened.map_err(|why| Error::UnusableJournal { journal: journal(), why })?;
        Ok(opened.map(|file| {
            let (directory, name) = (Arc::clone(directory), name.to_owned());
            Self { directory, name, file, head: None, entries: Vec::new() }
        }))
    }

    /// Opens a journal of this process again, to undo it as it is on disk.
    pub(crate) fn own(directory: &Arc<Held>, name: &OsStr) -> Result<Option<Self>, Error> {
        let Some(mut open) = Self::at(directory, name)? else { return Ok(None) };
        let journal = open.path();
        let read = open.read().map_err(|why| Error::UnusableJournal { journal, why });
        (open.head, open.entries) = read?;
        Ok(Some(open))
    }

    /// Opens a journal, to undo it if its run is dead.
    pub(crate) fn found(directory: &Arc<Held>, name: &OsStr) -> Result<Found, Error> {
        let Some(mut open) = Self::at(directory, name)? else { return Ok(Found::Gone) };
        let journal = open.path();
        let unusable = |why: String| Error::UnusableJournal { journal: journal.clone(), why };
        if !open.lock_dead().map_err(|error| unusable(format!("cannot be locked: {error}")))? {
            let is_gone = open.file.metadata().is_ok_and(|facts| facts.nlink() == 0);
            let owner = open.read().ok().and_then(|(head, _)| head).map(|head| head.pid);
            return Ok(if is_gone { Found::Gone } else { Found::Living { owner } });
        }
        let (head, entries) = open.read().map_err(unusable)?;
        if let Some(head) = &head
            && head.host != host()
        {
            return Err(unusable(format!(
                "belongs to host {}; run iotax undo there, or delete the journal if that host no \
                 longer exists",
                head.host
            )));
        }
        open.head = head;
        open.entries = entries;
        // A program of the dead run may still be making what is about to be undone.
        marked::kill_run(&open.run());
        Ok(Found::Dead(open))
    }

    /// Head and entries as they are in the file.
    fn read(&self) -> Result<(Option<Head>, Vec<Entry>), String> {
        let read = || {
            let mut text = Vec::new();
            let mut file = &self.file;
            file.rewind()?;
            file.read_to_end(&mut text)?;
            Ok(text)
        };
        let text = read().map_err(|error: io::Error| format!("cannot be read: {error}"))?;
        parse(&text)
    }

    /// Name of the journal, which is in the environment of the run's programs.
    fn run(&self) -> String {
        Path::new(&self.name).file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn path(&self) -> PathBuf {
        self.directory.path_of(&self.name)
    }

    /// False if another process holds it, or if it was removed in the meantime.
    fn lock(&self) -> io::Result<bool> {
        match self.file.try_lock() {
            Ok(()) => Ok(self.file.metadata()?.nlink() > 0),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// As [`Open::lock`], but waits if the run is dead. A run that is being killed holds the lock
    /// until it is gone. If it was starting a program, that program holds the lock until it
    /// executes.
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

    /// Whether the process that wrote the journal is alive and not ending; true if that is unknown.
    fn owner_lives(&self) -> bool {
        let Ok((Some(head), _)) = self.read() else { return true };
        head.host != host() || lives(head.pid) && !is_ending(head.pid)
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

    /// Undoes all entries, last first, and removes the journal unless some could not be undone.
    /// Calls
    /// `done` for each success and returns the failures.
    pub(crate) fn unwind(self, done: &mut dyn FnMut(&Entry, Undone)) -> Vec<Error> {
        let mut errors = Vec::new();
        OWN.lock().expect(WHOLE).retain(|(_, name)| *name != self.name);
        let journal = self.path();
        for entry in self.entries.iter().rev() {
            match entry.undo(&journal) {
                Ok(undone) => done(entry, undone),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty()
            && let Err(source) = self.directory.remove(&self.name)
            && source.kind() != io::ErrorKind::NotFound
        {
            errors.push(Error::unremovable(&journal, source, &journal));
        }
        errors
    }
}

/// The journals of this process that were not unwound.
pub(crate) fn own() -> Vec<(Arc<Held>, OsString)> {
    OWN.lock().expect(WHOLE).clone()
}

/// Whether a process of this number runs.
pub(crate) fn lives(pid: u32) -> bool {
    // A zombie has ended and only waits to be noticed.
    !matches!(stat(pid).first().map(String::as_str), None | Some("Z" | "X"))
}

/// Whether a running process is ending: until it is gone, it keeps its locks.
fn is_ending(pid: u32) -> bool {
    /// The kernel's flag for a process that exits.
    const PF_EXITING: u64 = 0x4;
    const FLAGS: usize = 6;
    let flags = stat(pid).get(FLAGS).and_then(|flags| flags.parse::<u64>().ok());
    flags.is_some_and(|flags| flags & PF_EXITING != 0) || is_being_killed(pid)
}

/// Whether SIGKILL has been sent, which no process outlives.
fn is_being_killed(pid: u32) -> bool {
    const SIGKILL: u64 = 1 << 8;
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let pending = |line: &str| {
        line.strip_prefix("SigPnd:")
            .or(line.strip_prefix("ShdPnd:"))
            .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
    };
    status.lines().filter_map(pending).any(|mask| mask & SIGKILL != 0)
}

/// The fields of a process in `/proc` after its name: state, parent, ...; empty if it is gone.
fn stat(pid: u32) -> Vec<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
    after.split_whitespace().map(str::to_owned).collect()
}

/// Process and entries of each journal whose run lives on this host. `undo` reports files that are
/// not journals or must not be obeyed.
pub(crate) fn living(state_dir: &Path) -> Result<Vec<(u32, Vec<Entry>)>, Error> {
    let Some(directory) = directory(state_dir)? else { return Ok(Vec::new()) };
    let mut living = Vec::new();
    for name in journals(&directory)? {
        // A run that ended in the meantime is skipped.
        let Ok(Some(open)) = Open::at(&directory, &name) else { continue };
        let is_locked = matches!(open.file.try_lock_shared(), Err(TryLockError::WouldBlock));
        if let (true, Ok((Some(head), entries))) = (is_locked, open.read())
            && head.host == host()
        {
            living.push((head.pid, entries));
        }
    }
    Ok(living)
}

/// The directory of the journals; `None` if there never was one.
pub(crate) fn directory(state_dir: &Path) -> Result<Option<Arc<Held>>, Error> {
    Ok(Held::hold(state_dir, DIRECTORY)?.map(Arc::new))
}

/// The names of files that look like journals.
pub(crate) fn journals(directory: &Held) -> Result<Vec<OsString>, Error> {
    let failed = |source| Error::UnusableState { path: directory.path_of("".as_ref()), source };
    let mut names = directory.names().map_err(failed)?;
    names.retain(|name| Path::new(name).extension().is_some_and(|end| end == "jsonl"));
    Ok(names)
}

/// Head and entries of a journal. An incomplete last line was being written when the run died; its
/// action had not begun, so it is left out. Everything else must be readable, because undoing only
/// a part of a journal could be worse than undoing nothing.
fn parse(text: &[u8]) -> Result<(Option<Head>, Vec<Entry>), String> {
    let complete = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let mut lines = text[..complete].split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let Some(head) = lines.next() else { return Ok((None, Vec::new())) };
    let strange = |error| format!("is not a journal of this version of iotax ({error})");
    let head: Head = serde_json::from_slice(head).map_err(strange)?;
    if head.format != FORMAT {
        return Err(format!(
            "has format {}, but this version of iotax supports only format {FORMAT}; run iotax \
             undo with the version that wrote the journal",
            head.format
        ));
    }
    let entries = lines.map(serde_json::from_slice).collect::<Result<_, _>>().map_err(strange)?;
    Ok((Some(head), entries))
}

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// 64 random bits as text: unique among the runs of this machine, and impossible to guess.
pub(crate) fn token() -> io::Result<String> {
    Ok(format!("{:016x}", getrandom::u64()?))
}

#[cfg(test)]
impl Journal {
    /// What `kill -9` does to a journal: the lock is gone, the file stays. To close the file is not
    /// enough: a program that another test is starting has it open, too, until it has begun, and
    /// that is waited for only where the run's process is dead.
    pub(crate) fn die(mut self) {
        if let Some(open) = self.open.take() {
            open.file.unlock().expect("this process holds the lock");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_entry_is_on_disk_before_announce_returns() {
        let root = tempfile::tempdir().unwrap();
        let mut journal = Journal::new(Some(root.path().to_owned()));
        let path = PathBuf::from("/no/such/parent/.iotax-x");
        let entry =
            Entry::Directory { path, token: "t".into(), parent_inode: 1, file_system: None };
        journal.announce(entry.clone()).unwrap();
        let file =
            fs::read_dir(root.path().join(DIRECTORY)).unwrap().next().unwrap().unwrap().path();
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
        assert_eq!(fs::read_dir(root.path().join(DIRECTORY)).unwrap().count(), 0);
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
                let entry = Entry::Directory { path, token: "t".into(), parent_inode: number, file_system: None };
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
