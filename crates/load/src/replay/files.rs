//! The files of a trial, and one operation on them.

use std::ffi::{CStr, CString};
use std::fs::{File as OsFile, OpenOptions};
use std::num::NonZeroU64;
use std::os::fd::{
    AsFd as _, AsRawFd as _, BorrowedFd, FromRawFd as _, IntoRawFd as _, OwnedFd, RawFd,
};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};

use iotax_trace::{File, FileKind, Flags, NO_FILE, Op};
use memmap2::{MmapOptions, MmapRaw, UncheckedAdvice};
use rustix::fs::{
    AtFlags, CWD, FallocateFlags, Mode, OFlags, fallocate, fdatasync, fsync, ftruncate, mkdirat,
    openat, renameat, statat, syncfs, unlinkat,
};
use rustix::io::{Errno, ReadWriteFlags, pread, pwrite, pwritev2};

use super::commit::{Group, Synced, Turn};
use super::graph::{Io, names, replaced};
use super::place::{Place, c_name, name};
use super::signal::Halt;
use super::survey::{FileFacts, Survey, has_flag};
use crate::engine::sigbus::{self, Guarded};
use crate::engine::supplies::Buffers;
use crate::error::Error;
use crate::file_assignment::PAGE_BYTES;
use crate::layout::drop_cached;
use crate::target::shown;

/// The name of a file that is never there.
const ABSENT: &CStr = c"iotax-absent";
/// A name in use: the number of the file to which it first belonged, and whether it is the second.
const SECOND: u32 = 1;

/// All files of a trial.
pub(super) struct Files {
    at: At,
    slots: Vec<Slot>,
    /// The target, for errors.
    shown: String,
}

/// Where the files are.
enum At {
    Directory(OwnedFd),
    /// The recording has one file, which is this device.
    Device(CString),
}

/// One file.
struct Slot {
    buffered: Descriptor,
    direct: Descriptor,
    name: AtomicU32,
    /// Operations on its descriptors to come, if its name goes away: its space is free after the
    /// last.
    uses_left: AtomicU64,
    is_removed: bool,
    is_directory: bool,
    wants_direct: bool,
    mapped_bytes: u64,
    mapping: OnceLock<Mapped>,
    group: Option<Group>,
}

/// An open file, or none.
struct Descriptor(AtomicI32);

impl Descriptor {
    const fn none() -> Self {
        Self(AtomicI32::new(-1))
    }

    fn set(&self, file: OwnedFd) {
        let before = self.0.swap(file.into_raw_fd(), Ordering::AcqRel);
        drop(owned(before));
    }

    /// Callers use it before the last use of the file is counted.
    fn get(&self) -> Result<BorrowedFd<'_>, Errno> {
        match self.0.load(Ordering::Acquire) {
            -1 => Err(Errno::BADF),
            // SAFETY: it was set from an owned descriptor, which is closed when this is dropped,
            // or when the last operation on the file is over (see `Slot::used`).
            raw => Ok(unsafe { BorrowedFd::borrow_raw(raw) }),
        }
    }

    fn close(&self) {
        drop(owned(self.0.swap(-1, Ordering::AcqRel)));
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        self.close();
    }
}

fn owned(raw: RawFd) -> Option<OwnedFd> {
    // SAFETY: the code that takes a number out of a `Descriptor` is its only owner.
    (raw >= 0).then(|| unsafe { OwnedFd::from_raw_fd(raw) })
}

/// A file for page faults.
struct Mapped {
    // Before the mapping: its range must not be guarded any more once it is unmapped.
    guard: Guarded,
    mapping: MmapRaw,
    file: OsFile,
}

/// Result of an operation.
pub(super) struct Done {
    /// Bytes moved.
    pub outcome: Result<u64, Errno>,
    /// A sync of another thread covered it.
    pub is_shared: bool,
    /// Closed after the clock was read.
    pub leftover: Option<OwnedFd>,
}

impl Done {
    fn of(outcome: Result<u64, Errno>) -> Self {
        Self { outcome, is_shared: false, leftover: None }
    }

    /// `None` if the replay is over.
    fn after(synced: Synced) -> Option<Self> {
        let (result, is_shared) = match synced {
            Synced::Own(result) => (result, false),
            Synced::Shared(result) => (result, true),
            Synced::Over => return None,
        };
        Some(Self { is_shared, ..Self::of(result.map(|()| 0)) })
    }
}

impl Files {
    /// Opens what is there.
    pub(super) fn open(survey: &Survey, place: &Place) -> Result<Self, Error> {
        let slot = |(number, facts): (File, &FileFacts)| {
            let role = survey.roles.files.get(number as usize).copied().unwrap_or_default();
            Slot::new(number, facts, role.shares_syncs.then(|| Group::new(role.commits)))
        };
        let slots = (0..).zip(&survey.files).map(slot).collect();
        match place {
            Place::Device { path, file } => {
                let name = CString::new(path.as_os_str().as_bytes());
                let name = name.map_err(|_| Error::NoTarget { path: shown(path) })?;
                let shown = shown(path).display().to_string();
                let files = Self { at: At::Device(name), slots, shown };
                files.open_device(path, *file, &survey.files[*file as usize])?;
                Ok(files)
            }
            Place::Directory(path) => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let directory = rustix::fs::open(path, flags, Mode::empty());
                let directory = directory.map_err(Error::path("open", path))?;
                let target = path.parent().unwrap_or(path);
                let shown = shown(target).display().to_string();
                let files = Self { at: At::Directory(directory), slots, shown };
                for (number, facts) in (0..).zip(&survey.files) {
                    if facts.uses > 0 && !facts.is_created() {
                        files.open_slot(number, facts.uses_buffered).map_err(|errno| {
                            failed_open(errno, facts, &path.join(name(number, false)))
                        })?;
                    }
                }
                Ok(files)
            }
        }
    }

    fn open_device(&self, path: &Path, file: File, facts: &FileFacts) -> Result<(), Error> {
        let slot = &self.slots[file as usize];
        let open = |flags| {
            // The path may be that of a descriptor of this process, which is a link.
            let mut options = OpenOptions::new();
            options.custom_flags(flags);
            let opened = options.read(true).write(facts.is_written).open(path);
            opened.map_err(Error::path("open", path))
        };
        let file = open(0)?;
        // Only what the recording reads twice comes from the page cache.
        drop_cached(&file, path)?;
        slot.buffered.set(file.into());
        if slot.wants_direct {
            slot.direct.set(open(libc::O_DIRECT)?.into());
        }
        slot.map().map_err(Error::path("map", path))
    }

    fn open_slot(&self, number: File, opens_buffered: bool) -> Result<(), Errno> {
        let slot = &self.slots[number as usize];
        let name = c_name(number, false);
        let open = |more| self.open_at(slot, &name, more);
        if opens_buffered || slot.mapped_bytes > 0 {
            slot.buffered.set(open(OFlags::empty())?);
        }
        if slot.wants_direct {
            slot.direct.set(open(OFlags::DIRECT)?);
        }
        slot.map()
    }

    fn open_at(&self, slot: &Slot, name: &CStr, more: OFlags) -> Result<OwnedFd, Errno> {
        let access =
            if slot.is_directory { OFlags::RDONLY | OFlags::DIRECTORY } else { OFlags::RDWR };
        let flags = access | more | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(self.directory(), name, flags, Mode::from_raw_mode(0o600))
    }

    /// What names are relative to. The name of a device is absolute, or relative to the working
    /// directory.
    fn directory(&self) -> BorrowedFd<'_> {
        match &self.at {
            At::Directory(directory) => directory.as_fd(),
            At::Device(_) => CWD,
        }
    }

    /// A file in error messages. Users know neither its name in the replay's own directory nor that
    /// directory.
    pub(super) fn shown(&self, file: File) -> String {
        match (&self.at, file) {
            (At::Directory(_), NO_FILE) | (At::Device(_), _) => self.shown.clone(),
            (At::Directory(_), file) => format!("file {file} of the recording, in {}", self.shown),
        }
    }

    /// Before the start of a paired write, which waits for its turn. `None` if the replay is over.
    pub(super) fn await_turn(&self, io: &Io, halt: &Halt<'_>) -> Option<Turn> {
        let group = self.slots.get(io.file as usize).and_then(|slot| slot.group.as_ref());
        match group {
            Some(group) => group.begin_write(io.offset..io.offset.saturating_add(io.length), halt),
            None => Some(Turn::None),
        }
    }

    /// Waits for a sync of the file that begins after this, and issues it unless another thread does.
    /// `None` if the replay is over. The file is there from the beginning to the end.
    pub(super) fn commit(&self, file: File, buffers: &Buffers, halt: &Halt<'_>) -> Option<Done> {
        self.slots.get(file as usize)?.commit(buffers, halt)
    }

    /// Executes one operation. `None` if the replay is over.
    #[inline]
    pub(super) fn act(
        &self,
        io: &Io,
        turn: Turn,
        buffers: &mut Buffers,
        halt: &Halt<'_>,
    ) -> Option<Done> {
        let Some(slot) = self.slots.get(io.file as usize) else {
            return Some(Done::of(self.act_without_file(io)));
        };
        if names(io.op) {
            return Some(self.act_on_name(io, slot));
        }
        match io.op {
            Op::Fsync | Op::Fdatasync => slot.sync(io, turn, halt),
            _ => Some(Done::of(slot.act(io, buffers, halt))),
        }
    }

    /// After an operation, when the clock was read.
    pub(super) fn used(&self, io: &Io) {
        if let Some(slot) = self.slots.get(io.file as usize)
            && slot.is_removed
            && !names(io.op)
        {
            slot.used();
        }
    }

    fn act_without_file(&self, io: &Io) -> Result<u64, Errno> {
        match io.op {
            Op::SyncAll => match &self.at {
                At::Directory(directory) => syncfs(directory).map(|()| 0),
                // `syncfs` would sync the file system that the device node is in.
                At::Device(_) => self.slots.iter().try_fold(0, |done, slot| {
                    match slot.buffered.get().or_else(|_| slot.direct.get()) {
                        Ok(device) => fdatasync(device).map(|()| done),
                        Err(_) => Ok(done),
                    }
                }),
            },
            Op::Stat if io.result >= 0 => {
                statat(self.directory(), c".", AtFlags::empty()).map(|_| 0)
            }
            // The recorded `stat` failed, so the replay calls `stat` on a name that does not exist.
            Op::Stat => statat(self.directory(), ABSENT, AtFlags::SYMLINK_NOFOLLOW).map(|_| 0),
            _ => Err(Errno::BADF),
        }
    }

    fn act_on_name(&self, io: &Io, slot: &Slot) -> Done {
        let mut buffer = [0; NAME_BYTES];
        let name = slot.name.load(Ordering::Acquire);
        let name = match &self.at {
            At::Directory(_) => write_name(&mut buffer, name),
            At::Device(path) => path,
        };
        let directory = self.directory();
        match io.op {
            Op::Open if matches!(self.at, At::Device(_)) => {
                let direct = io.flags.contains(Flags::DIRECT);
                let flags = OFlags::RDONLY | OFlags::CLOEXEC;
                let flags = if direct { flags | OFlags::DIRECT } else { flags };
                match openat(directory, name, flags, Mode::empty()) {
                    Ok(file) => Done { leftover: Some(file), ..Done::of(Ok(0)) },
                    Err(errno) => Done::of(Err(errno)),
                }
            }
            Op::Open => {
                let truncates = has_flag(io.detail, libc::O_TRUNC);
                let direct = io.flags.contains(Flags::DIRECT) && !slot.is_directory;
                let mut more = OFlags::empty();
                more.set(OFlags::CREATE | OFlags::EXCL, io.creates);
                more.set(OFlags::TRUNC, truncates && !io.creates);
                more.set(OFlags::DIRECT, direct);
                match self.open_at(slot, name, more) {
                    Ok(file) => Done { leftover: Some(file), ..Done::of(Ok(0)) },
                    Err(errno) => Done::of(Err(errno)),
                }
            }
            Op::Stat => {
                let follows = matches!(self.at, At::Device(_));
                let flags = if follows { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
                Done::of(statat(directory, name, flags).map(|_| 0))
            }
            Op::Mkdir => Done::of(mkdirat(directory, name, Mode::from_raw_mode(0o700)).map(|()| 0)),
            Op::Unlink => {
                let flags = if slot.is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
                Done::of(unlinkat(directory, name, flags).map(|()| 0))
            }
            Op::Rename => Done::of(self.rename(io, slot, directory, name)),
            _ => Done::of(Err(Errno::NOSYS)),
        }
    }

    fn rename(
        &self,
        io: &Io,
        slot: &Slot,
        directory: BorrowedFd<'_>,
        name: &CStr,
    ) -> Result<u64, Errno> {
        let other = replaced(io).and_then(|file| self.slots.get(file as usize));
        let first = io.file << 1;
        let new = match other {
            Some(other) => other.name.load(Ordering::Acquire),
            None if slot.name.load(Ordering::Acquire) == first => first | SECOND,
            None => first,
        };
        let mut buffer = [0; NAME_BYTES];
        renameat(directory, name, directory, write_name(&mut buffer, new))?;
        slot.name.store(new, Ordering::Release);
        Ok(0)
    }

    /// After the latency is measured: keeps a created file open for later operations, and closes
    /// other files.
    pub(super) fn settle(&self, io: &Io, leftover: Option<OwnedFd>) -> Result<(), Errno> {
        let Some(file) = leftover else { return Ok(()) };
        let Some(slot) = self.slots.get(io.file as usize).filter(|_| io.creates) else {
            return Ok(());
        };
        if slot.uses_left.load(Ordering::Relaxed) == 0 {
            return Ok(());
        }
        let is_direct = io.flags.contains(Flags::DIRECT);
        let other = |flags| self.open_at(slot, &c_name(io.file, false), flags);
        if is_direct {
            slot.buffered.set(other(OFlags::empty())?);
            slot.direct.set(file);
        } else {
            if slot.wants_direct {
                slot.direct.set(other(OFlags::DIRECT)?);
            }
            slot.buffered.set(file);
        }
        slot.map()
    }
}

impl Slot {
    fn new(number: File, facts: &FileFacts, group: Option<Group>) -> Self {
        Self {
            buffered: Descriptor::none(),
            direct: Descriptor::none(),
            name: AtomicU32::new(number << 1),
            uses_left: AtomicU64::new(facts.uses),
            is_removed: facts.is_removed,
            is_directory: facts.state.kind == FileKind::Directory,
            wants_direct: facts.uses_direct,
            mapped_bytes: facts.mapped_bytes,
            mapping: OnceLock::new(),
            group,
        }
    }

    fn descriptor(&self, flags: Flags) -> Result<BorrowedFd<'_>, Errno> {
        if flags.contains(Flags::DIRECT) { self.direct.get() } else { self.buffered.get() }
    }

    fn act(&self, io: &Io, buffers: &mut Buffers, halt: &Halt<'_>) -> Result<u64, Errno> {
        let file = self.descriptor(io.flags)?;
        let most = buffers.slot_bytes();
        match io.op {
            Op::Read | Op::SendFile | Op::CopyRange => pieces(io, most, halt, |offset, bytes| {
                pread(file, &mut buffers.read_mut(0)[..bytes], offset)
            }),
            Op::Write => {
                let flags = if io.flags.contains(Flags::SYNC) {
                    ReadWriteFlags::SYNC
                } else if io.flags.contains(Flags::DATA_SYNC) {
                    ReadWriteFlags::DSYNC
                } else {
                    ReadWriteFlags::empty()
                };
                pieces(io, most, halt, |offset, bytes| {
                    let data = &buffers.write(0)[..bytes];
                    if flags.is_empty() {
                        pwrite(file, data, offset)
                    } else {
                        pwritev2(file, &[std::io::IoSlice::new(data)], offset, flags)
                    }
                })
            }
            Op::Fault | Op::Dirty => self.touch(io),
            Op::SyncRange => sync_range(file, io),
            // The kernel writes back a mapped range as `fdatasync` does.
            Op::Msync => fdatasync(file).map(|()| 0),
            Op::SyncAll => syncfs(file).map(|()| 0),
            Op::Allocate => {
                let mode = u32::try_from(io.detail).map_err(|_| Errno::INVAL)?;
                let mode = FallocateFlags::from_bits_retain(mode);
                fallocate(file, mode, io.offset, io.length).map(|()| 0)
            }
            Op::Truncate => ftruncate(file, io.offset).map(|()| 0),
            Op::Advise => advise(file, io),
            _ => Err(Errno::NOSYS),
        }
    }

    /// The last use closes a file whose name goes away.
    fn used(&self) {
        if self.uses_left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.buffered.close();
            self.direct.close();
        }
    }

    fn sync(&self, io: &Io, turn: Turn, halt: &Halt<'_>) -> Option<Done> {
        let sync = || {
            let file = self.descriptor(io.flags)?;
            if io.op == Op::Fsync { fsync(file) } else { fdatasync(file) }
        };
        match &self.group {
            None => Some(Done::of(sync().map(|()| 0))),
            Some(group) => Done::after(group.sync(turn, halt, sync)),
        }
    }

    fn commit(&self, buffers: &Buffers, halt: &Halt<'_>) -> Option<Done> {
        let group = self.group.as_ref()?;
        // The thread that issues the sync writes for all.
        let write_and_sync = || {
            let file = self.buffered.get().or_else(|_| self.direct.get())?;
            let last = group.last_written();
            let bytes = usize::try_from(last.end - last.start).expect("a few KiB");
            if bytes > 0 {
                pwrite(file, &buffers.write(0)[..bytes], last.start)?;
            }
            fdatasync(file)
        };
        Done::after(group.sync(Turn::None, halt, write_and_sync))
    }

    /// Maps all that is used through mappings.
    fn map(&self) -> Result<(), Errno> {
        if self.mapped_bytes == 0 {
            return Ok(());
        }
        let failed = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::NOMEM);
        let file = OsFile::from(self.buffered.get()?.try_clone_to_owned().map_err(failed)?);
        let bytes = usize::try_from(self.mapped_bytes).map_err(|_| Errno::FBIG)?;
        let flags = rustix::fs::fcntl_getfl(&file)?;
        let mut options = MmapOptions::new();
        options.len(bytes.next_multiple_of(PAGE_BYTES));
        let mapping = if flags.contains(OFlags::RDWR) {
            options.map_raw(&file)
        } else {
            options.map_raw_read_only(&file)
        };
        let mapping = mapping.map_err(failed)?;
        let guard = sigbus::guard(mapping.as_ptr().addr(), mapping.len()).map_err(failed)?;
        // A file is mapped once: the second time there is nothing to do.
        let _ = self.mapping.set(Mapped { guard, mapping, file });
        Ok(())
    }

    /// Touches the pages of a range as the application did, so that each is fetched again if it is
    /// not in memory.
    fn touch(&self, io: &Io) -> Result<u64, Errno> {
        let mapped = self.mapping.get().ok_or(Errno::BADF)?;
        let page = PAGE_BYTES as u64;
        let first = io.offset - io.offset % page;
        let end = io.offset.saturating_add(io.length.max(1)).min(self.mapped_bytes);
        let faults = mapped.guard.faults();
        let mut touched = 0;
        let mut at = first;
        while at < end {
            let place = usize::try_from(at).map_err(|_| Errno::FBIG)?;
            if io.op == Op::Fault {
                // SAFETY: there are no references into the mapping, and a shared mapping loses no
                // data by that: its pages are the file's.
                let _ = unsafe {
                    mapped.mapping.unchecked_advise_range(
                        UncheckedAdvice::DontNeed,
                        place,
                        PAGE_BYTES,
                    )
                };
            }
            // SAFETY: `at` is below the mapped bytes, so the byte is in the mapping. Other threads
            // may change it at the same time; its contents are not interpreted. A page that cannot
            // be read raises SIGBUS; `sigbus` maps an empty page instead.
            unsafe {
                let byte = mapped.mapping.as_mut_ptr().add(place);
                let value = byte.read_volatile();
                if io.op == Op::Dirty {
                    byte.write_volatile(value.wrapping_add(1));
                }
            }
            at += page;
            touched += page;
        }
        if mapped.guard.faults() == faults {
            return Ok(touched.min(io.length.max(1)));
        }
        let [first, end] = [first, end.next_multiple_of(page)];
        let place = usize::try_from(first).map_err(|_| Errno::FBIG)?;
        let bytes = usize::try_from(end - first).map_err(|_| Errno::FBIG)?;
        mapped.guard.put_back(&mapped.file, place, bytes, first)?;
        Err(Errno::IO)
    }
}

/// Executes an operation in pieces of at most `most` bytes until a piece is short or the replay
/// ends. Returns bytes moved.
#[inline]
fn pieces(
    io: &Io,
    most: usize,
    halt: &Halt<'_>,
    mut of: impl FnMut(u64, usize) -> Result<usize, Errno>,
) -> Result<u64, Errno> {
    let mut moved = 0;
    loop {
        let piece = usize::try_from(io.length - moved).map_or(most, |left| left.min(most));
        let offset = io.offset.saturating_add(moved);
        match rustix::io::retry_on_intr(|| of(offset, piece)) {
            Ok(done) => {
                moved += done as u64;
                if done < piece || moved == io.length || halt.is_raised() {
                    return Ok(moved);
                }
            }
            Err(errno) if moved == 0 => return Err(errno),
            Err(_) => return Ok(moved),
        }
    }
}

fn sync_range(file: BorrowedFd<'_>, io: &Io) -> Result<u64, Errno> {
    let signed = |number| i64::try_from(number).map_err(|_| Errno::INVAL);
    let (offset, bytes) = (signed(io.offset)?, signed(io.length)?);
    let flags = u32::try_from(io.detail).map_err(|_| Errno::INVAL)?;
    // SAFETY: the call takes numbers and an open descriptor.
    let result = unsafe { libc::sync_file_range(file.as_raw_fd(), offset, bytes, flags) };
    if result == 0 { Ok(0) } else { Err(last_errno()) }
}

fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

fn advise(file: BorrowedFd<'_>, io: &Io) -> Result<u64, Errno> {
    use rustix::fs::Advice;
    let advice = match i32::try_from(io.detail) {
        Ok(libc::POSIX_FADV_NORMAL) => Advice::Normal,
        Ok(libc::POSIX_FADV_RANDOM) => Advice::Random,
        Ok(libc::POSIX_FADV_SEQUENTIAL) => Advice::Sequential,
        Ok(libc::POSIX_FADV_WILLNEED) => Advice::WillNeed,
        Ok(libc::POSIX_FADV_DONTNEED) => Advice::DontNeed,
        Ok(libc::POSIX_FADV_NOREUSE) => Advice::NoReuse,
        _ => return Err(Errno::INVAL),
    };
    rustix::fs::fadvise(file, io.offset, NonZeroU64::new(io.length), advice).map(|()| 0)
}

/// `f`, ten digits, `r`, and a zero.
const NAME_BYTES: usize = 16;

/// Writes a name without taking memory for it.
fn write_name(buffer: &mut [u8; NAME_BYTES], name: u32) -> &CStr {
    let mut at = NAME_BYTES - 1;
    let mut put = |byte: u8| {
        at -= 1;
        buffer[at] = byte;
    };
    if name & SECOND != 0 {
        put(b'r');
    }
    let mut number = name >> 1;
    loop {
        put(b'0' + u8::try_from(number % 10).expect("a digit"));
        number /= 10;
        if number == 0 {
            break;
        }
    }
    put(b'f');
    CStr::from_bytes_until_nul(&buffer[at..]).expect("the last byte is zero")
}

fn failed_open(errno: Errno, facts: &FileFacts, path: &Path) -> Error {
    if errno == Errno::INVAL && facts.uses_direct {
        return Error::ReplayTarget {
            target: shown(path).display().to_string(),
            what: "the recording uses O_DIRECT, which this file system does not support; choose \
                   another target"
                .to_owned(),
        };
    }
    Error::path("open", path)(errno)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_layout() {
        for number in [0, 7, 10, 4096, u32::MAX >> 1] {
            for is_second in [false, true] {
                let mut buffer = [0; NAME_BYTES];
                let written = write_name(&mut buffer, number << 1 | u32::from(is_second));
                assert_eq!(written, &*c_name(number, is_second));
            }
        }
    }
}
