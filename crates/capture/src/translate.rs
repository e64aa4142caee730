//! Converts raw events to trace events: numbers files and threads, and makes times relative to the
//! start.

use iotax_trace::{CONNECTIONS, Event, File, Flags, NO_FILE, Op, Thread};
use rustc_hash::FxHashMap;

use crate::mappings::{Mapping, Mappings};
use crate::names::{Names, PathHash};
use crate::raw::{self, Kind, RawEvent};

/// `O_CREAT`, on every architecture that Linux runs on here.
const CREATES: u64 = 0o100;

/// Where a file is. The number of an inode can be another file's after an unlink.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub device: u32,
    pub inode: u64,
}

/// What identifies a file while it is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pub place: Place,
    /// 0 if it is not known, or if the file system has none.
    pub generation: u32,
}

impl Identity {
    /// Several device nodes can refer to the same block device.
    pub(crate) const fn new(kind: Kind, device: u32, inode: u64, generation: u32) -> Self {
        match kind {
            Kind::Block => Self { place: Place { device, inode: 0 }, generation: 0 },
            _ => Self { place: Place { device, inode }, generation },
        }
    }
}

/// A file that an event mentions for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NewFile {
    pub file: File,
    pub identity: Identity,
    pub kind: Kind,
    pub process: u32,
    /// The descriptor through which its state can be read; negative if it is only mapped.
    pub descriptor: i32,
    /// Whether the program has just created the file.
    pub is_new: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Translator {
    start_ns: u64,
    files: FxHashMap<Place, Known>,
    next_file: File,
    names: Names,
    threads: FxHashMap<u32, ThreadSoFar>,
    next_thread: Thread,
    /// By process.
    mappings: FxHashMap<u32, Mappings<Identity>>,
    /// Numbers of sockets, by their inodes.
    sockets: FxHashMap<u64, u64>,
}

#[derive(Debug, Clone, Copy)]
struct Known {
    file: File,
    generation: u32,
    is_unlinked: bool,
}

#[derive(Debug, Clone, Copy)]
struct ThreadSoFar {
    number: Thread,
    cpu_ns: u64,
    end_ns: u64,
}

impl Translator {
    /// The recording began at `start_ns` of the monotonic clock.
    pub(crate) fn new(start_ns: u64) -> Self {
        Self { start_ns, ..Self::default() }
    }

    /// Returns the trace event, if there is one, and a file that it mentions for the first time.
    pub(crate) fn translate(&mut self, raw: &RawEvent) -> (Option<Event>, Option<NewFile>) {
        let Some(op) = Op::from_number(raw.op) else { return (None, self.note(raw)) };
        let (file, new_file) = self.file_of(op, raw);
        let thread = self.thread(raw.thread);
        let [cpu_ns, run_delay_ns] = self.before(raw);
        let mut event = Event {
            op,
            flags: Flags(raw.flags),
            thread,
            file,
            offset: raw.offset,
            length: raw.length,
            result: raw.result,
            end_ns: raw.end_ns.saturating_sub(self.start_ns),
            latency_ns: raw.end_ns.saturating_sub(raw.start_ns),
            cpu_ns,
            run_delay_ns,
            detail: raw.detail,
        };
        self.follow(raw, &mut event);
        if matches!(op, Op::Fault | Op::Msync) && event.file == NO_FILE {
            // The mapping was not recorded, so the file is unknown.
            return (None, None);
        }
        (Some(event), new_file)
    }

    /// Registers a file that was open before the recording began; its number, and whether that is
    /// a new one.
    pub(crate) fn known(&mut self, identity: Identity) -> (File, bool) {
        self.number(identity, false)
    }

    /// Registers a part of a file that was mapped before the recording began.
    pub(crate) fn mapped_before(&mut self, process: u32, address: u64, part: Mapping<Identity>) {
        self.mappings.entry(process).or_default().map(address, part);
    }

    /// What only the reader of the events needs.
    fn note(&mut self, raw: &RawEvent) -> Option<NewFile> {
        let mappings = self.mappings.entry(raw.process).or_default();
        match raw.op {
            raw::UNMAP if raw.result >= 0 => mappings.unmap(raw.offset, raw.length),
            raw::REMAP if raw.result >= 0 => {
                let to = raw.result.cast_unsigned();
                mappings.remap(raw.offset, raw.detail, to, raw.length);
            }
            raw::EXEC => *mappings = Mappings::default(),
            raw::FILE => return self.file_of(Op::CopyRange, raw).1,
            _ => {}
        }
        None
    }

    fn thread(&mut self, thread: u32) -> Thread {
        let next = self.next_thread;
        let found = self.threads.entry(thread).or_insert_with(|| {
            self.next_thread += 1;
            ThreadSoFar { number: next, cpu_ns: 0, end_ns: 0 }
        });
        found.number
    }

    /// The CPU time and the run delay between the thread's previous event and the start of this
    /// one.
    fn before(&mut self, raw: &RawEvent) -> [u64; 2] {
        // An asynchronous I/O can complete in another thread.
        if raw.flags & (Flags::URING.0 | Flags::AIO.0) != 0 {
            return [0; 2];
        }
        let counted = [raw.cpu_ns, raw.run_delay_ns.into()];
        match Op::from_number(raw.op) {
            // The thread may have waited in the call.
            Some(Op::Wake | Op::Request) => self.since(raw.thread, counted, [raw.end_ns; 2]),
            Some(Op::Answer) => self.before_answer(raw, counted),
            _ => self.since(raw.thread, counted, [raw.start_ns, raw.end_ns]),
        }
    }

    /// The call that sends an answer is no I/O: its time and CPU time come before the next event.
    fn before_answer(&mut self, raw: &RawEvent, counted: [u64; 2]) -> [u64; 2] {
        let earlier = self.threads.get(&raw.thread).filter(|thread| thread.end_ns > 0).copied();
        let before = self.since(raw.thread, counted, [raw.start_ns; 2]);
        if let (Some(earlier), Some(thread)) = (earlier, self.threads.get_mut(&raw.thread)) {
            thread.cpu_ns = earlier.cpu_ns + before[0];
        }
        before
    }

    /// The same of a thread with this total CPU time, and this run delay since its previous event.
    /// The kernel's CPU time includes the previous call, so both are capped at the time between the
    /// calls.
    fn since(
        &mut self,
        thread: u32,
        [cpu_ns, run_delay_ns]: [u64; 2],
        [start_ns, end_ns]: [u64; 2],
    ) -> [u64; 2] {
        let Some(thread) = self.threads.get_mut(&thread) else { return [0; 2] };
        let is_first = thread.end_ns == 0;
        let used_ns = cpu_ns.saturating_sub(thread.cpu_ns);
        let between_ns = start_ns.saturating_sub(thread.end_ns);
        (thread.cpu_ns, thread.end_ns) = (cpu_ns, end_ns);
        if is_first {
            return [0; 2];
        }
        let cpu_ns = used_ns.min(between_ns);
        [cpu_ns, run_delay_ns.min(between_ns - cpu_ns)]
    }

    fn file_of(&mut self, op: Op, raw: &RawEvent) -> (File, Option<NewFile>) {
        if raw.kind == Kind::None {
            return self.file_elsewhere(op, raw);
        }
        let identity = Identity::new(raw.kind, raw.device, raw.inode, raw.generation);
        let is_opened = op == Op::Open;
        let (file, is_first) = self.number(identity, is_opened);
        if is_opened {
            self.names.opened(PathHash::of_opened(raw), identity.place);
            if raw.kind == Kind::Directory {
                self.names.learn(PathHash::of_directory(raw));
            }
        }
        let new = is_first.then_some(NewFile {
            file,
            identity,
            kind: raw.kind,
            process: raw.process,
            descriptor: raw.descriptor,
            is_new: is_opened && raw.detail & CREATES != 0 && raw.offset == 0,
        });
        (file, new)
    }

    /// The file's number, and whether it is a new one. Another generation is another file. Where
    /// the file system has no generations, so is a file that is opened by path after an unlink.
    fn number(&mut self, identity: Identity, is_opened: bool) -> (File, bool) {
        let generation = identity.generation;
        if let Some(known) = self.files.get_mut(&identity.place) {
            let is_same = match (known.generation, generation) {
                (0, _) | (_, 0) => !(is_opened && known.is_unlinked),
                (before, now) => before == now,
            };
            if is_same {
                known.generation = known.generation.max(generation);
                return (known.file, false);
            }
        }
        let file = self.next_file;
        self.next_file += 1;
        self.files.insert(identity.place, Known { file, generation, is_unlinked: false });
        (file, true)
    }

    /// The file of an event that has no descriptor to read it from.
    fn file_elsewhere(&mut self, op: Op, raw: &RawEvent) -> (File, Option<NewFile>) {
        let path = match op {
            Op::Fault => return self.file_at(raw, raw.detail),
            Op::Msync => return self.file_at(raw, raw.offset),
            Op::Open => PathHash::of_opened(raw),
            Op::Rename | Op::Unlink | Op::Mkdir | Op::Stat | Op::Truncate => PathHash::of_call(raw),
            _ => return (NO_FILE, None),
        };
        let known = self.names.get(path).and_then(|place| self.files.get(&place));
        (known.map_or(NO_FILE, |known| known.file), None)
    }

    /// The file that is mapped at an address.
    fn file_at(&mut self, raw: &RawEvent, address: u64) -> (File, Option<NewFile>) {
        let Some((identity, _)) = self.mapped(raw.process, address) else { return (NO_FILE, None) };
        let (file, is_first) = self.number(identity, false);
        let (kind, process) = (Kind::Regular, raw.process);
        let new = NewFile { file, identity, kind, process, descriptor: -1, is_new: false };
        (file, is_first.then_some(new))
    }

    fn mapped(&self, process: u32, address: u64) -> Option<(Identity, u64)> {
        self.mappings.get(&process)?.at(address)
    }

    fn offset_at(&self, process: u32, address: u64) -> u64 {
        self.mapped(process, address).map_or(0, |(_, offset)| offset)
    }

    /// Applies the event to the translator's state, and adapts it to the trace format.
    fn follow(&mut self, raw: &RawEvent, event: &mut Event) {
        let has_worked = raw.result >= 0;
        match event.op {
            Op::Open => {
                event.length = 0;
                if raw.kind == Kind::Directory {
                    event.offset = 0;
                }
            }
            Op::Unlink => {
                event.offset = 0;
                if has_worked && let Some(place) = self.names.remove(PathHash::of_call(raw)) {
                    self.unlinked(place);
                }
            }
            Op::Rename => {
                event.detail = self.renamed(raw, has_worked);
                (event.offset, event.length) = (0, 0);
            }
            Op::Truncate if raw.kind == Kind::None => {
                (event.offset, event.length) = (raw.length, 0);
            }
            Op::Map => self.map(raw, event),
            Op::Msync => event.offset = self.offset_at(raw.process, raw.offset),
            Op::Fault => {
                if raw.kind == Kind::None {
                    event.offset = self.offset_at(raw.process, raw.detail);
                }
                event.detail = 0;
            }
            Op::CopyRange => {
                let place = Place { device: raw.name, inode: raw.detail };
                event.detail = self.files.get(&place).map_or(NO_FILE, |known| known.file).into();
            }
            Op::Wake | Op::Spawn => {
                let other = u32::try_from(raw.detail).unwrap_or(0);
                event.detail = self.thread(other).into();
                if event.op == Op::Wake {
                    let before = [raw.length, raw.result.cast_unsigned()];
                    let [cpu_ns, delay_ns] = self.since(other, before, [raw.start_ns, raw.end_ns]);
                    (event.length, event.result) = (cpu_ns, delay_ns.cast_signed());
                } else {
                    self.spawned(raw);
                    event.length = 0;
                }
            }
            Op::Exit => {
                self.threads.remove(&raw.thread);
                if raw.thread == raw.process {
                    self.mappings.remove(&raw.process);
                }
            }
            Op::Stat | Op::Mkdir => (event.offset, event.detail) = (0, 0),
            Op::Request | Op::Answer => {
                event.detail = self.connection(raw.inode);
                if event.op == Op::Request {
                    // The call may have waited for the client.
                    event.latency_ns = 0;
                }
            }
            _ => {}
        }
    }

    fn map(&mut self, raw: &RawEvent, event: &mut Event) {
        if raw.result < 0 || raw.kind == Kind::None {
            return;
        }
        let file = Identity::new(raw.kind, raw.device, raw.inode, raw.generation);
        let mapping = Mapping { bytes: raw.length, file, offset: raw.offset };
        self.mapped_before(raw.process, raw.result.cast_unsigned(), mapping);
        // Where a program has its memory is its secret.
        event.result = 0;
    }

    /// The number of a socket. After as many as are distinguished, numbering begins again: then a
    /// connection may lose the request that it was answering.
    fn connection(&mut self, inode: u64) -> u64 {
        if self.sockets.len() as u64 == CONNECTIONS && !self.sockets.contains_key(&inode) {
            self.sockets.clear();
        }
        let next = self.sockets.len() as u64;
        *self.sockets.entry(inode).or_insert(next)
    }

    /// A child process begins with the mappings of its parent.
    fn spawned(&mut self, raw: &RawEvent) {
        let child = u32::try_from(raw.length).unwrap_or(0);
        if child != raw.process
            && let Some(parent) = self.mappings.get(&raw.process)
        {
            self.mappings.insert(child, parent.clone());
        }
    }

    fn unlinked(&mut self, place: Place) -> Option<File> {
        let known = self.files.get_mut(&place)?;
        known.is_unlinked = true;
        Some(known.file)
    }

    /// Number of the replaced file plus one; 0 if there was none.
    fn renamed(&mut self, raw: &RawEvent, has_worked: bool) -> u64 {
        if !has_worked {
            return 0;
        }
        let target = PathHash::of_target(raw);
        let before = match self.names.remove(PathHash::of_call(raw)) {
            Some(place) => self.names.insert(target, place).filter(|before| *before != place),
            None => self.names.remove(target),
        };
        before.and_then(|place| self.unlinked(place)).map_or(0, |file| u64::from(file) + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPENED: RawEvent = RawEvent {
        start_ns: 2_000,
        end_ns: 3_000,
        cpu_ns: 500,
        run_delay_ns: 0,
        offset: 0,
        length: DIRECTORY,
        inode: 7,
        result: 3,
        detail: CREATES,
        device: 1,
        thread: 10,
        process: 10,
        descriptor: 3,
        op: Op::Open as u8,
        kind: Kind::Regular,
        flags: 0,
        name: 99,
        generation: 0,
    };
    /// The name is in this directory.
    const DIRECTORY: u64 = 5;
    const WRITTEN: RawEvent = RawEvent {
        start_ns: 5_000,
        end_ns: 6_000,
        cpu_ns: 900,
        length: 4096,
        result: 4096,
        detail: 0,
        op: Op::Write as u8,
        name: 0,
        ..OPENED
    };
    const UNLINKED: RawEvent = RawEvent {
        kind: Kind::None,
        op: Op::Unlink as u8,
        offset: DIRECTORY,
        length: 0,
        result: 0,
        descriptor: -1,
        ..OPENED
    };

    fn event(translator: &mut Translator, raw: RawEvent) -> Event {
        translator.translate(&raw).0.unwrap()
    }

    #[test]
    fn a_file_has_one_number_and_a_thread_its_cpu_time() {
        let mut translator = Translator::new(1_000);
        let (opened, new) = translator.translate(&OPENED);
        assert!(new.unwrap().is_new);
        assert_eq!(opened.unwrap().end_ns, 2_000);
        let (written, new) = translator.translate(&WRITTEN);
        let written = written.unwrap();
        assert_eq!((written.file, written.thread, written.cpu_ns), (0, 0, 400));
        assert_eq!(new, None);
        let other = RawEvent { inode: 8, thread: 11, ..WRITTEN };
        let (other, new) = translator.translate(&other);
        assert_eq!((other.unwrap().file, other.unwrap().thread), (1, 1));
        assert!(!new.unwrap().is_new);
    }

    #[test]
    fn a_name_that_is_used_again_is_another_file() {
        let mut translator = Translator::new(0);
        assert_eq!(event(&mut translator, OPENED).file, 0);
        assert_eq!(event(&mut translator, UNLINKED).file, 0);
        assert_eq!(event(&mut translator, WRITTEN).file, 0, "it is still open");
        assert_eq!(event(&mut translator, OPENED).file, 1);
        assert_eq!(event(&mut translator, WRITTEN).file, 1);
    }

    #[test]
    fn another_generation_is_another_file() {
        let mut translator = Translator::new(0);
        let of = |generation: u32| RawEvent { generation, ..WRITTEN };
        assert_eq!(event(&mut translator, of(4)).file, 0);
        assert_eq!(event(&mut translator, of(4)).file, 0);
        assert_eq!(event(&mut translator, of(9)).file, 1, "no unlink was recorded");
        let opened = RawEvent { generation: 9, ..OPENED };
        assert_eq!(event(&mut translator, opened).file, 1);
        event(&mut translator, UNLINKED);
        assert_eq!(event(&mut translator, opened).file, 1, "opened by another link");
        assert_eq!(event(&mut translator, of(0)).file, 1, "a system without generations");
    }

    #[test]
    fn the_time_to_send_an_answer_comes_before_the_next_event() {
        let mut translator = Translator::new(0);
        let arrived = RawEvent {
            op: Op::Request as u8,
            kind: Kind::None,
            start_ns: 1_000,
            end_ns: 9_000,
            cpu_ns: 100,
            inode: 77,
            result: 50,
            ..WRITTEN
        };
        let request = event(&mut translator, arrived);
        assert_eq!((request.file, request.detail, request.result), (NO_FILE, 0, 50));
        // 1 us of CPU time before the call, and 2 us in it.
        let sent = RawEvent {
            op: Op::Answer as u8,
            start_ns: 10_000,
            end_ns: 12_000,
            cpu_ns: 3_100,
            ..arrived
        };
        let answer = event(&mut translator, sent);
        assert_eq!((answer.detail, answer.cpu_ns, answer.start_ns()), (0, 1_000, 10_000));
        let other = RawEvent { inode: 78, start_ns: 12_500, end_ns: 13_000, cpu_ns: 3_300, ..sent };
        let other = event(&mut translator, other);
        assert_eq!((other.detail, other.cpu_ns), (1, 2_200));
    }

    #[test]
    fn numbers_of_connections_are_bounded() {
        let mut translator = Translator::new(0);
        let numbers: Vec<u64> = (0..CONNECTIONS + 2).map(|at| translator.connection(at)).collect();
        assert!(numbers[..1 << 16].iter().copied().eq(0..CONNECTIONS));
        assert_eq!((&numbers[1 << 16..], translator.sockets.len()), (&[0, 1][..], 2));
        assert_eq!(translator.connection(CONNECTIONS), 0);
    }

    #[test]
    fn a_copy_names_the_file_that_it_writes() {
        let mut translator = Translator::new(0);
        event(&mut translator, OPENED);
        let target = RawEvent { op: raw::FILE, inode: 8, descriptor: 4, ..WRITTEN };
        let (none, new) = translator.translate(&target);
        assert_eq!((none, new.unwrap().file), (None, 1));
        let copied =
            RawEvent { op: Op::CopyRange as u8, detail: 8, name: OPENED.device, ..WRITTEN };
        let copied = event(&mut translator, copied);
        assert_eq!((copied.file, copied.detail), (0, 1));
    }

    #[test]
    fn a_rename_replaces_a_file() {
        let mut translator = Translator::new(0);
        event(&mut translator, OPENED);
        event(&mut translator, RawEvent { inode: 8, name: 100, ..OPENED });
        let renamed =
            RawEvent { op: Op::Rename as u8, name: 100, length: DIRECTORY, detail: 99, ..UNLINKED };
        let renamed = event(&mut translator, renamed);
        assert_eq!((renamed.file, renamed.detail), (1, 1));
        assert_eq!(event(&mut translator, UNLINKED).file, 1, "the name is the other file's now");
    }

    #[test]
    fn faults_belong_to_the_mapped_file() {
        let mut translator = Translator::new(0);
        event(&mut translator, OPENED);
        let mapping = RawEvent {
            op: Op::Map as u8,
            offset: 8192,
            length: 1 << 20,
            result: 0x7000_0000,
            ..WRITTEN
        };
        event(&mut translator, mapping);
        let fault = RawEvent {
            op: Op::Fault as u8,
            kind: Kind::None,
            detail: 0x7000_1234,
            length: 4096,
            ..WRITTEN
        };
        let seen = event(&mut translator, fault);
        assert_eq!((seen.file, seen.offset, seen.detail), (0, 8192 + 0x1234, 0));
        let elsewhere = RawEvent { detail: 0x8000_0000, ..fault };
        assert_eq!(translator.translate(&elsewhere).0, None);
        let unmapped = RawEvent { op: raw::UNMAP, offset: 0x7000_0000, length: 1 << 20, ..WRITTEN };
        assert_eq!(translator.translate(&unmapped), (None, None));
        assert_eq!(translator.translate(&fault).0, None);
    }

    #[test]
    fn a_file_that_was_mapped_before_is_new_at_its_first_event() {
        let mut translator = Translator::new(0);
        let identity = Identity { place: Place { device: 1, inode: 7 }, generation: 3 };
        let mapping = Mapping { bytes: 8192, file: identity, offset: 4096 };
        translator.mapped_before(10, 0x7000_0000, mapping);
        let synced =
            RawEvent { op: Op::Msync as u8, kind: Kind::None, offset: 0x7000_1000, ..WRITTEN };
        let (event, new) = translator.translate(&synced);
        assert_eq!((event.unwrap().file, event.unwrap().offset), (0, 8192));
        assert_eq!((new.unwrap().identity, new.unwrap().descriptor), (identity, -1));
        let gone = RawEvent { op: raw::EXEC, ..WRITTEN };
        translator.translate(&gone);
        assert_eq!(translator.translate(&synced).0, None);
    }

    #[test]
    fn a_thread_number_is_not_used_twice() {
        let mut translator = Translator::new(0);
        event(&mut translator, OPENED);
        let gone = RawEvent { op: Op::Exit as u8, kind: Kind::None, name: 0, ..WRITTEN };
        event(&mut translator, gone);
        assert_eq!(event(&mut translator, WRITTEN).thread, 1);
    }
}
