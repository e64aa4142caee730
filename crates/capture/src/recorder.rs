//! Reads events and writes the trace; enforces the limits and measures losses and overhead.

use std::fs;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use iotax_trace::{End, EndReason, FileState, Head, Op, Unseen, Writer};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};

use crate::error::Error;
use crate::probes::Probes;
use crate::processes::{Subject, is_running, kernel_device, start};
use crate::raw::{Kind, RawEvent};
use crate::sink::Sink;
use crate::start_state::{descriptor_path, state_of};
use crate::translate::{Identity, NewFile, Translator};

/// How long events may wait in the ring.
const GLANCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// How often overhead is measured and progress is reported.
const TELL: Duration = Duration::from_millis(500);
/// Attaching is a one-time cost, so the overhead limit applies only after this time.
const SETTLING: Duration = Duration::from_secs(2);
/// Events that are taken before the recorder looks whether it should end.
const AT_ONCE: usize = 1 << 16;
/// What may wait in memory.
const HELD_BYTES: u64 = 256 << 20;
/// After this time, events are written even if they are few.
const WRITE: Duration = Duration::from_secs(5);

/// When a recording ends by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    pub time: Option<Duration>,
    /// Maximum size of the trace.
    pub bytes: u64,
    /// Share of this machine's CPU time.
    pub overhead: f64,
}

/// What to record, and where to.
#[derive(Debug)]
pub struct Request<'a> {
    pub subject: &'a Subject,
    pub output: &'a Path,
    /// The recorder adds what it detects itself.
    pub head: Head,
    pub limits: Limits,
}

/// Progress of a recording.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    pub elapsed: Duration,
    pub events: u64,
    pub lost: u64,
    pub bytes: u64,
    /// Share of this machine's CPU time that the recorder took.
    pub overhead: f64,
}

/// A recording that was made.
#[derive(Debug)]
pub struct Recorded {
    pub path: PathBuf,
    pub reason: EndReason,
    pub last: Progress,
    /// The trace was held in memory, because the program uses the same file system.
    pub was_held: bool,
    /// The command, if it is still running.
    pub child: Option<Child>,
}

/// BPF programs that are attached but do not record yet.
pub struct Recorder {
    probes: Probes,
}

impl Recorder {
    /// Loads the BPF programs.
    pub fn attach() -> Result<Self, Error> {
        // Only hashes of paths leave the kernel. The key is random and is not stored.
        let [a, b, c, d, ..] = RandomState::new().build_hasher().finish().to_le_bytes();
        let key = u32::from_le_bytes([a, b, c, d]);
        Ok(Self { probes: Probes::load(key)? })
    }

    /// Records into a new file.
    pub fn record(
        mut self,
        request: Request<'_>,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(&Progress),
    ) -> Result<Recorded, Error> {
        let Request { subject, output, mut head, limits } = request;
        head.unseen.extend(&self.probes.unseen);
        if !self.probes.sees_proc() {
            head.unseen.push(Unseen::StartState);
        }
        let processes = subject.processes()?;
        let mut session = Session::begin(output, &head, self.probes.sees_proc())?;
        let mut child = None;
        for &pid in &processes {
            self.probes.record_process(pid)?;
        }
        for &pid in &processes {
            session.note_open_files(pid);
            session.drain(&mut self.probes)?;
        }
        if let Subject::Command(command) = subject {
            let probes = &mut self.probes;
            let started = start(command, |pid| probes.record_process(pid));
            match started {
                Ok(started) => child = Some(started),
                Err(error) => {
                    session.discard();
                    return Err(error);
                }
            }
        }
        let mut watch = Watch { processes, child, limits, stop };
        let reason = session.follow(&mut self.probes, &mut watch, tell)?;
        self.probes.detach();
        while session.drain(&mut self.probes)? {}
        session.finish(&self.probes, reason, watch.child)
    }
}

/// What ends a recording.
struct Watch<'a> {
    processes: Vec<u32>,
    child: Option<Child>,
    limits: Limits,
    stop: &'a AtomicBool,
}

impl Watch<'_> {
    fn ended(&mut self, progress: &Progress, is_held: bool) -> Result<Option<EndReason>, Error> {
        let most_bytes = self.limits.bytes.min(if is_held { HELD_BYTES } else { u64::MAX });
        if let Some(child) = &mut self.child {
            let status = child.try_wait().map_err(Error::Ring)?;
            if let Some(status) = status {
                return Ok(Some(EndReason::Command { code: status.code() }));
            }
        } else if !self.processes.iter().any(|pid| is_running(*pid)) {
            return Ok(Some(EndReason::Gone));
        }
        let is_costly = progress.elapsed > SETTLING && progress.overhead > self.limits.overhead;
        Ok(if self.stop.load(Ordering::Relaxed) {
            Some(EndReason::Stopped)
        } else if self.limits.time.is_some_and(|time| progress.elapsed >= time) {
            Some(EndReason::Time)
        } else if progress.bytes >= most_bytes {
            Some(EndReason::Size)
        } else if is_costly {
            Some(EndReason::Overhead)
        } else {
            None
        })
    }
}

/// A recording that is under way.
struct Session {
    path: PathBuf,
    began: Instant,
    cpu_before_ns: u64,
    run_before_ns: Option<u64>,
    cpus: u32,
    writer: Writer<Sink>,
    translator: Translator,
    devices: Vec<u32>,
    events: u64,
    io_events: u64,
    sees_proc: bool,
    overhead: f64,
}

impl Session {
    fn begin(output: &Path, head: &Head, sees_proc: bool) -> Result<Self, Error> {
        let sink = Sink::create(output)?;
        let now = clock_gettime(ClockId::Monotonic);
        let start_ns = now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs();
        Ok(Self {
            path: output.to_owned(),
            began: Instant::now(),
            cpu_before_ns: own_cpu_ns(),
            run_before_ns: None,
            cpus: online_cpus(),
            writer: Writer::new(sink, head)?,
            translator: Translator::new(start_ns),
            devices: Vec::new(),
            events: 0,
            io_events: 0,
            sees_proc,
            overhead: 0.0,
        })
    }

    /// Registers the files that a process already has open.
    fn note_open_files(&mut self, process: u32) {
        let entries = fs::read_dir(format!("/proc/{process}/fd"));
        for entry in entries.into_iter().flatten().flatten() {
            let descriptor = entry.file_name().to_str().and_then(|name| name.parse().ok());
            let Some(descriptor) = descriptor else { continue };
            let path = descriptor_path(process, descriptor);
            let Ok(facts) = fs::metadata(&path) else { continue };
            let of = facts.file_type();
            let (device, inode, kind) = if of.is_file() {
                (facts.dev(), facts.ino(), Kind::Regular)
            } else if of.is_dir() {
                (facts.dev(), facts.ino(), Kind::Directory)
            } else if of.is_block_device() {
                (facts.rdev(), 0, Kind::Block)
            } else {
                continue;
            };
            let identity = Identity { device: kernel_device(device), inode };
            let is_first = !self.translator.knows(identity);
            let new = NewFile { file: 0, identity, kind, process, descriptor, is_new: false };
            let new = self.translator.known(new);
            if is_first {
                let state = state_of(&path).unwrap_or_default();
                self.add_file(new, FileState { kind: kind.of_file(), ..state });
            }
        }
    }

    fn add_file(&mut self, new: NewFile, mut state: FileState) {
        let device = new.identity.device;
        self.writer.get_mut().mind(device);
        let number = self.devices.iter().position(|known| *known == device);
        let number = number.unwrap_or_else(|| {
            self.devices.push(device);
            self.devices.len() - 1
        });
        state.device = u32::try_from(number).unwrap_or(u32::MAX);
        let file = self.writer.file(state);
        debug_assert_eq!(file, new.file, "both count from zero");
    }

    fn follow(
        &mut self,
        probes: &mut Probes,
        watch: &mut Watch<'_>,
        tell: &mut dyn FnMut(&Progress),
    ) -> Result<EndReason, Error> {
        self.run_before_ns = probes.run_time_ns();
        let mut told = Instant::now();
        let mut written = Instant::now();
        loop {
            let ring = probes.ring();
            let mut polled = [PollFd::new(&ring, PollFlags::IN)];
            match poll(&mut polled, Some(&GLANCE)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(Error::Ring(error.into())),
            }
            self.drain(probes)?;
            if told.elapsed() >= TELL {
                told = Instant::now();
                self.overhead = self.measure_overhead(probes);
                tell(&self.progress(probes));
                if written.elapsed() >= WRITE {
                    written = Instant::now();
                    self.writer.flush()?;
                }
            }
            let is_held = self.writer.get_mut().is_held();
            if let Some(ended) = watch.ended(&self.progress(probes), is_held)? {
                self.overhead = self.measure_overhead(probes);
                return Ok(ended);
            }
        }
    }

    /// Whether there may be more.
    fn drain(&mut self, probes: &mut Probes) -> Result<bool, Error> {
        for _ in 0..AT_ONCE {
            match probes.next() {
                Some(raw) => self.add(&raw)?,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    fn add(&mut self, raw: &RawEvent) -> Result<(), Error> {
        let (event, new) = self.translator.translate(raw);
        if let Some(new) = new {
            let state = self.state_of(new, raw);
            self.add_file(new, state);
        }
        if let Some(event) = event {
            self.events += 1;
            if !matches!(event.op, Op::Wake | Op::Spawn | Op::Exit) {
                self.io_events += 1;
            }
            self.writer.push(event)?;
        }
        Ok(())
    }

    /// The state of a file before its first event, if it can still be read.
    fn state_of(&self, new: NewFile, raw: &RawEvent) -> FileState {
        let is_opened = raw.op == Op::Open as u8;
        let found = if new.is_new || !self.sees_proc || new.descriptor < 0 {
            None
        } else {
            let path = descriptor_path(new.process, new.descriptor);
            let is_same = fs::metadata(&path)
                .is_ok_and(|facts| facts.ino() == new.identity.inode || new.kind == Kind::Block);
            state_of(&path).ok().filter(|_| is_same)
        };
        let mut state = found.unwrap_or_default();
        state.kind = new.kind.of_file();
        if is_opened && new.kind == Kind::Regular {
            state.size_bytes = raw.offset;
        }
        state.is_new = new.is_new;
        state
    }

    /// Overhead of the recorder and its BPF programs, as a share of the machine's CPU time. It
    /// excludes the programs if the kernel does not measure them.
    fn measure_overhead(&self, probes: &Probes) -> f64 {
        let in_kernel = probes.run_time_ns().zip(self.run_before_ns);
        let in_kernel = in_kernel.map_or(0, |(now, before)| now.saturating_sub(before));
        let own = own_cpu_ns().saturating_sub(self.cpu_before_ns);
        let had = self.began.elapsed().as_secs_f64() * f64::from(self.cpus);
        (in_kernel + own) as f64 / 1e9 / had
    }

    fn progress(&self, probes: &Probes) -> Progress {
        Progress {
            elapsed: self.began.elapsed(),
            events: self.events,
            lost: probes.lost(),
            bytes: self.writer.bytes(),
            overhead: self.overhead,
        }
    }

    fn finish(
        self,
        probes: &Probes,
        reason: EndReason,
        child: Option<Child>,
    ) -> Result<Recorded, Error> {
        let mut last = self.progress(probes);
        if self.io_events == 0 {
            self.discard();
            return Err(Error::Nothing { seconds: last.elapsed.as_secs() });
        }
        let end = End {
            reason: Some(reason),
            overhead: Some(last.overhead),
            lost: last.lost,
            length_ns: u64::try_from(last.elapsed.as_nanos()).unwrap_or(u64::MAX),
            recorder_cpu_ns: Some(own_cpu_ns().saturating_sub(self.cpu_before_ns)),
            ..End::default()
        };
        let sink = self.writer.finish(&end)?;
        let was_held = sink.is_held();
        sink.finish()?;
        last.bytes = fs::metadata(&self.path).map_or(last.bytes, |facts| facts.len());
        let child = child.filter(|_| !matches!(reason, EndReason::Command { .. }));
        Ok(Recorded { path: self.path, reason, last, was_held, child })
    }

    fn discard(self) {
        self.writer.into_inner().discard();
    }
}

fn online_cpus() -> u32 {
    let cpus = aya::util::online_cpus().map_or(1, |cpus| cpus.len());
    u32::try_from(cpus).unwrap_or(1).max(1)
}

fn own_cpu_ns() -> u64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    used.tv_sec.unsigned_abs() * 1_000_000_000 + used.tv_nsec.unsigned_abs()
}
