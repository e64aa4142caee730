//! Converts raw events to trace events: numbers files and threads, and makes times relative to the
//! start.

use std::collections::{BTreeMap, HashMap};

use iotax_trace::{Event, File, Flags, NO_FILE, Op, Thread};

use crate::raw::{Kind, RawEvent};

/// `O_CREAT`, on every architecture that Linux runs on here.
const CREATES: u64 = 0o100;

/// What identifies a file while it is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    pub device: u32,
    pub inode: u64,
}

/// A file that an event mentions for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NewFile {
    pub file: File,
    pub identity: Identity,
    pub kind: Kind,
    pub process: u32,
    /// The descriptor through which its state can be read; negative if there is none.
    pub descriptor: i32,
    /// Whether the program has just created the file.
    pub is_new: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Translator {
    start_ns: u64,
    files: HashMap<Identity, Known>,
    next_file: File,
    /// File identities, by keyed hash of their path.
    names: HashMap<u32, Identity>,
    threads: HashMap<u32, ThreadSoFar>,
    next_thread: Thread,
    /// By process: files by descriptor, and mappings by address.
    processes: HashMap<u32, ProcessSoFar>,
}

#[derive(Debug, Clone, Copy)]
struct Known {
    file: File,
    is_unlinked: bool,
}

#[derive(Debug, Clone, Copy)]
struct ThreadSoFar {
    number: Thread,
    cpu_ns: u64,
    end_ns: u64,
}

#[derive(Debug, Clone, Default)]
struct ProcessSoFar {
    descriptors: HashMap<i32, File>,
    mappings: BTreeMap<u64, Mapping>,
}

#[derive(Debug, Clone, Copy)]
struct Mapping {
    bytes: u64,
    file: File,
    offset: u64,
}

impl Translator {
    /// The recording began at `start_ns` of the monotonic clock.
    pub(crate) fn new(start_ns: u64) -> Self {
        Self { start_ns, ..Self::default() }
    }

    /// Returns the trace event, if there is one, and a file that it mentions for the first time.
    pub(crate) fn translate(&mut self, raw: &RawEvent) -> (Option<Event>, Option<NewFile>) {
        let Some(op) = Op::from_number(raw.op) else { return (None, None) };
        let (file, new_file) = self.file_of(op, raw);
        let mut event = Event {
            op,
            flags: Flags(raw.flags),
            thread: self.thread(raw.thread),
            file,
            offset: raw.offset,
            length: raw.length,
            result: raw.result,
            end_ns: raw.end_ns.saturating_sub(self.start_ns),
            latency_ns: raw.end_ns.saturating_sub(raw.start_ns),
            cpu_ns: self.cpu_before(raw),
            detail: raw.detail,
        };
        self.follow(raw, &mut event);
        if matches!(op, Op::Fault | Op::Msync) && event.file == NO_FILE {
            // The mapping was not recorded, so the file is unknown.
            return (None, None);
        }
        (Some(event), new_file)
    }

    /// Registers a file that was open before the recording began.
    pub(crate) fn known(&mut self, new: NewFile) -> NewFile {
        let file = self.number(new.identity, false).0;
        self.process(new.process).descriptors.insert(new.descriptor, file);
        NewFile { file, ..new }
    }

    /// Whether a file has a number.
    pub(crate) fn knows(&self, identity: Identity) -> bool {
        self.files.contains_key(&identity)
    }

    fn process(&mut self, process: u32) -> &mut ProcessSoFar {
        self.processes.entry(process).or_default()
    }

    fn thread(&mut self, thread: u32) -> Thread {
        let next = self.next_thread;
        let found = self.threads.entry(thread).or_insert_with(|| {
            self.next_thread += 1;
            ThreadSoFar { number: next, cpu_ns: 0, end_ns: 0 }
        });
        found.number
    }

    /// The CPU time between the thread's previous event and the start of this one. The kernel's
    /// count includes the call, so it is capped at the time between the calls.
    fn cpu_before(&mut self, raw: &RawEvent) -> u64 {
        let Some(thread) = self.threads.get_mut(&raw.thread) else { return 0 };
        let is_first = thread.end_ns == 0;
        let used_ns = raw.cpu_ns.saturating_sub(thread.cpu_ns);
        let start_ns = if raw.op == Op::Wake as u8 { raw.end_ns } else { raw.start_ns };
        let between_ns = start_ns.saturating_sub(thread.end_ns);
        // An asynchronous I/O can complete in another thread.
        if raw.flags & (Flags::URING.0 | Flags::AIO.0) != 0 {
            return 0;
        }
        (thread.cpu_ns, thread.end_ns) = (raw.cpu_ns, raw.end_ns);
        if is_first { 0 } else { used_ns.min(between_ns) }
    }

    fn file_of(&mut self, op: Op, raw: &RawEvent) -> (File, Option<NewFile>) {
        if raw.kind == Kind::None {
            return (self.file_elsewhere(op, raw), None);
        }
        // Several device nodes can refer to the same block device.
        let inode = if raw.kind == Kind::Block { 0 } else { raw.inode };
        let identity = Identity { device: raw.device, inode };
        let is_opened = op == Op::Open;
        let (file, is_first) = self.number(identity, is_opened);
        if raw.name != 0 {
            self.names.insert(raw.name, identity);
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

    /// The file's number, and whether it is a new one. A file opened by path after an unlink is a
    /// new file, even if the inode number is reused.
    fn number(&mut self, identity: Identity, is_opened: bool) -> (File, bool) {
        match self.files.get(&identity) {
            Some(known) if !(is_opened && known.is_unlinked) => (known.file, false),
            _ => {
                let file = self.next_file;
                self.next_file += 1;
                self.files.insert(identity, Known { file, is_unlinked: false });
                (file, true)
            }
        }
    }

    /// The file of an event that has no descriptor to read it from.
    fn file_elsewhere(&mut self, op: Op, raw: &RawEvent) -> File {
        let by_name = |names: &HashMap<u32, Identity>, name: u32| names.get(&name).copied();
        let file = |this: &Self, identity: Identity| this.files.get(&identity).map(|it| it.file);
        match op {
            Op::Close => self.process(raw.process).descriptors.remove(&raw.descriptor),
            Op::Fault => self.mapped(raw.process, raw.detail).map(|(file, _)| file),
            Op::Msync => self.mapped(raw.process, raw.offset).map(|(file, _)| file),
            _ => by_name(&self.names, raw.name).and_then(|identity| file(self, identity)),
        }
        .unwrap_or(NO_FILE)
    }

    fn mapped(&self, process: u32, address: u64) -> Option<(File, u64)> {
        let mappings = &self.processes.get(&process)?.mappings;
        let (start, mapping) = mappings.range(..=address).next_back()?;
        let within = address - start;
        (within < mapping.bytes).then_some((mapping.file, mapping.offset + within))
    }

    /// Applies the event to the translator's state, and adapts it to the trace format.
    fn follow(&mut self, raw: &RawEvent, event: &mut Event) {
        let has_worked = raw.result >= 0;
        match event.op {
            Op::Open if has_worked => {
                let descriptor = i32::try_from(raw.result).unwrap_or(-1);
                self.process(raw.process).descriptors.insert(descriptor, event.file);
            }
            Op::Unlink => {
                if let Some(identity) = self.names.remove(&raw.name).filter(|_| has_worked)
                    && let Some(known) = self.files.get_mut(&identity)
                {
                    known.is_unlinked = true;
                }
            }
            Op::Rename => event.detail = self.renamed(raw, has_worked),
            Op::Truncate if raw.kind == Kind::None => event.offset = raw.length,
            Op::Map if has_worked => {
                let mapping = Mapping { bytes: raw.length, file: event.file, offset: raw.offset };
                let address = raw.result.cast_unsigned();
                self.process(raw.process).mappings.insert(address, mapping);
                // Where a program has its memory is its secret.
                event.result = 0;
            }
            Op::Msync => {
                event.offset = self.mapped(raw.process, raw.offset).map_or(0, |(_, at)| at);
            }
            Op::Fault if raw.kind == Kind::None => {
                event.offset = self.mapped(raw.process, raw.detail).map_or(0, |(_, at)| at);
                event.detail = 0;
            }
            Op::CopyRange => {
                let to = i32::try_from(raw.detail).unwrap_or(-1);
                let file = self.process(raw.process).descriptors.get(&to);
                event.detail = file.map_or(NO_FILE, |file| *file).into();
            }
            Op::Wake | Op::Spawn => {
                event.detail = self.thread(u32::try_from(raw.detail).unwrap_or(0)).into();
                if event.op == Op::Spawn {
                    self.spawned(raw);
                    event.length = 0;
                }
            }
            Op::Exit => {
                self.threads.remove(&raw.thread);
                if raw.thread == raw.process {
                    self.processes.remove(&raw.process);
                }
            }
            Op::Fault | Op::Stat | Op::Mkdir => event.detail = 0,
            _ => {}
        }
    }

    /// A child process begins with the descriptors and mappings of its parent.
    fn spawned(&mut self, raw: &RawEvent) {
        let child = u32::try_from(raw.length).unwrap_or(0);
        if child != raw.process
            && let Some(parent) = self.processes.get(&raw.process)
        {
            self.processes.insert(child, parent.clone());
        }
    }

    /// Number of the replaced file plus one; 0 if there was none.
    fn renamed(&mut self, raw: &RawEvent, has_worked: bool) -> u64 {
        let target = u32::try_from(raw.detail).unwrap_or(0);
        if !has_worked || target == 0 {
            return 0;
        }
        let before = match self.names.remove(&raw.name) {
            Some(identity) => self.names.insert(target, identity),
            None => self.names.remove(&target),
        };
        let replaced = before.and_then(|identity| self.files.get_mut(&identity));
        replaced.map_or(0, |known| {
            known.is_unlinked = true;
            u64::from(known.file) + 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPENED: RawEvent = RawEvent {
        start_ns: 2_000,
        end_ns: 3_000,
        cpu_ns: 500,
        offset: 0,
        length: 0,
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
    };
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
    const UNLINKED: RawEvent =
        RawEvent { kind: Kind::None, op: Op::Unlink as u8, result: 0, descriptor: -1, ..OPENED };

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
    fn a_rename_replaces_a_file() {
        let mut translator = Translator::new(0);
        event(&mut translator, OPENED);
        event(&mut translator, RawEvent { inode: 8, name: 100, ..OPENED });
        let renamed = RawEvent { op: Op::Rename as u8, name: 100, detail: 99, ..UNLINKED };
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
