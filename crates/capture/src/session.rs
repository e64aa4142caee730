//! A recording that is under way: the recording loop, and the state of files.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use iotax_trace::{End, EndReason, FileState, Head, Op, Writer};
use rustix::time::{ClockId, clock_gettime};

use crate::error::Error;
use crate::mappings::Mapping;
use crate::open_files::{descriptor_path, descriptors, mapped_parts};
use crate::overhead::{Done, Overhead};
use crate::probes::Probes;
use crate::raw::{self, Kind, RawEvent};
use crate::recorder::{Progress, Watch, random};
use crate::sink::Sink;
use crate::start_state::state_of;
use crate::translate::{Identity, NewFile, Translator};

/// How long events may wait in the ring. It has room for 4,000,000 events per second.
const GLANCE: Duration = Duration::from_millis(20);
/// How often the CPU time of the BPF programs is measured, for as long as events may wait. The time
/// between two samples varies by up to a half, so that no regular load is always or never measured.
const SAMPLE: Duration = Duration::from_secs(1);
/// How often in the beginning.
const FIRST_SAMPLES: Duration = Duration::from_millis(100);
/// How often progress is reported.
const TELL: Duration = Duration::from_millis(500);
/// Events that are taken before the recorder looks whether it should end.
const AT_ONCE: usize = 1 << 16;
/// After this time, events are written even if they are few.
const WRITE: Duration = Duration::from_secs(5);

pub(crate) struct Session {
    path: PathBuf,
    began: Instant,
    cpu_before_ns: u64,
    writer: Writer<Sink>,
    translator: Translator,
    devices: Vec<u32>,
    events: u64,
    io_events: u64,
    sees_proc: bool,
    overhead: Overhead,
}

impl Session {
    pub(crate) fn begin(output: &Path, head: &Head, probes: &Probes) -> Result<Self, Error> {
        let sink = Sink::create(output)?;
        let now = clock_gettime(ClockId::Monotonic);
        let start_ns = now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs();
        Ok(Self {
            path: output.to_owned(),
            began: Instant::now(),
            cpu_before_ns: own_cpu_ns(),
            writer: Writer::new(sink, head)?,
            translator: Translator::new(start_ns),
            devices: Vec::new(),
            events: 0,
            io_events: 0,
            sees_proc: probes.sees_proc(),
            overhead: Overhead::of_machine(),
        })
    }

    /// Registers the files that a process already has open or mapped.
    pub(crate) fn note_process(&mut self, process: u32, probes: &Probes) {
        for descriptor in descriptors(process) {
            let path = descriptor_path(process, descriptor);
            if let Some((identity, kind)) = probes.identity_of(&path) {
                self.note_file(before(identity, kind, process, descriptor), &path);
            }
        }
        if self.sees_proc {
            self.note_mappings(process, probes);
        }
    }

    /// Most files that are mapped privately are programs and libraries, which no event may ever
    /// mention. Their state is read when one does.
    fn note_mappings(&mut self, process: u32, probes: &Probes) {
        let mut found = HashMap::new();
        for part in mapped_parts(process) {
            let paths = part.paths(process);
            let found = found.entry((part.device, part.inode)).or_insert_with(|| {
                paths.iter().find_map(|path| Some((path.clone(), probes.identity_of(path)?)))
            });
            let Some((path, (identity, Kind::Regular))) = found else { continue };
            let mapping =
                Mapping { bytes: part.end - part.start, file: *identity, offset: part.offset };
            self.translator.mapped_before(process, part.start, mapping);
            if part.is_shared {
                self.note_file(before(*identity, Kind::Regular, process, -1), path);
            }
        }
    }

    fn note_file(&mut self, new: NewFile, path: &Path) {
        let (file, is_first) = self.translator.known(new.identity);
        if is_first {
            let state = state_of(path).unwrap_or_default();
            self.add_file(NewFile { file, ..new }, FileState { kind: new.kind.of_file(), ..state });
        }
    }

    fn add_file(&mut self, new: NewFile, mut state: FileState) {
        let device = new.identity.place.device;
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

    pub(crate) fn follow(
        &mut self,
        probes: &mut Probes,
        watch: &mut Watch<'_>,
        tell: &mut dyn FnMut(&Progress),
    ) -> Result<EndReason, Error> {
        let mut told = Instant::now();
        let mut written = Instant::now();
        let mut next_sample = Instant::now();
        loop {
            let now = Instant::now();
            if now >= next_sample {
                let apart = (self.began.elapsed() / 4).clamp(FIRST_SAMPLES, SAMPLE);
                next_sample = now + apart.mul_f64(0.5 + f64::from(random()) / f64::from(u32::MAX));
                self.sample(probes)?;
            } else if !self.drain(probes)? {
                thread::sleep(GLANCE);
            }
            if told.elapsed() >= TELL {
                told = Instant::now();
                self.measure_overhead();
                tell(&self.progress(probes));
                if written.elapsed() >= WRITE {
                    written = Instant::now();
                    self.writer.flush()?;
                }
            }
            let is_held = self.writer.get_mut().is_held();
            if let Some(ended) = watch.ended(&self.progress(probes), is_held, probes)? {
                return Ok(ended);
            }
        }
    }

    /// Whether there may be more.
    pub(crate) fn drain(&mut self, probes: &mut Probes) -> Result<bool, Error> {
        for _ in 0..AT_ONCE {
            match probes.next() {
                Some(raw) => self.add(&raw, probes)?,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    fn add(&mut self, raw: &RawEvent, probes: &Probes) -> Result<(), Error> {
        if raw.op == raw::JOIN {
            if self.sees_proc {
                self.note_process(u32::try_from(raw.length).unwrap_or(0), probes);
            }
            return Ok(());
        }
        let (event, new) = self.translator.translate(raw);
        if let Some(new) = new {
            let state = self.state_of(new, raw, probes);
            self.add_file(new, state);
        }
        if let Some(event) = event {
            self.events += 1;
            self.io_events += u64::from(event.op.is_io());
            self.writer.push(event)?;
        }
        Ok(())
    }

    /// The state of a file before its first event, if it can still be read.
    fn state_of(&self, new: NewFile, raw: &RawEvent, probes: &Probes) -> FileState {
        let is_opened = raw.op == Op::Open as u8;
        let is_same = |path: &PathBuf| {
            let found = probes.identity_of(path);
            found.is_some_and(|(identity, _)| identity == new.identity)
        };
        let path = if new.is_new || !self.sees_proc {
            None
        } else if new.descriptor >= 0 {
            Some(descriptor_path(new.process, new.descriptor)).filter(is_same)
        } else {
            let parts = mapped_parts(new.process).into_iter();
            let parts = parts.filter(|part| part.inode == new.identity.place.inode);
            parts.flat_map(|part| part.paths(new.process)).find(is_same)
        };
        let mut state = path.and_then(|path| state_of(&path).ok()).unwrap_or_default();
        state.kind = new.kind.of_file();
        if is_opened && new.kind == Kind::Regular {
            state.size_bytes = raw.offset;
        }
        state.is_new = new.is_new;
        state
    }

    /// Measures the CPU time of the BPF programs for a while.
    fn sample(&mut self, probes: &mut Probes) -> Result<(), Error> {
        self.drain(probes)?;
        let (began, before) = (Instant::now(), self.events);
        probes.begin_sample();
        thread::sleep(GLANCE);
        self.drain(probes)?;
        if let Some(used) = probes.end_sample() {
            self.overhead.sample_programs(began.elapsed(), used, self.events - before);
        }
        Ok(())
    }

    /// Overhead of the recorder and its BPF programs, as a share of the machine's CPU time. It
    /// excludes the programs if the kernel cannot measure them.
    fn measure_overhead(&mut self) {
        let (elapsed, used_ns) = (self.began.elapsed(), self.used_ns());
        self.overhead.update(Done { elapsed, used_ns, events: self.events });
    }

    fn used_ns(&self) -> u64 {
        own_cpu_ns().saturating_sub(self.cpu_before_ns)
    }

    fn progress(&self, probes: &Probes) -> Progress {
        Progress {
            elapsed: self.began.elapsed(),
            events: self.events,
            lost: probes.lost(),
            bytes: self.writer.bytes(),
            overhead: self.overhead.recent(),
            whole_overhead: self.overhead.whole(),
        }
    }

    /// Writes what is left after all programs are detached. Returns how the recording was at its
    /// end, whether it was held in memory, and why it could not be written, if so.
    pub(crate) fn finish(
        mut self,
        probes: &Probes,
        reason: Result<EndReason, Error>,
    ) -> Result<Finished, Error> {
        self.measure_overhead();
        let mut last = self.progress(probes);
        let reason = match reason {
            Ok(reason) => reason,
            Err(Error::Trace(iotax_trace::Error::Io(source))) => {
                let failure = self.writer.into_inner().cut(source);
                return Ok(Finished { last, was_held: false, failure: Some(failure) });
            }
            Err(error) => {
                // The error is not that of the file, so the file gets what was recorded.
                let flushed = self.writer.flush();
                let sink = self.writer.into_inner();
                let written = flushed.map_err(Error::from).and_then(|()| sink.finish());
                let failure = Some(written.err().unwrap_or(error));
                return Ok(Finished { last, was_held: false, failure });
            }
        };
        if self.io_events == 0 {
            self.discard();
            return Err(Error::Nothing { seconds: last.elapsed.as_secs() });
        }
        let end = End {
            reason: Some(reason),
            overhead: Some(last.whole_overhead),
            lost: last.lost,
            length_ns: u64::try_from(last.elapsed.as_nanos()).unwrap_or(u64::MAX),
            recorder_cpu_ns: Some(self.used_ns()),
            ..End::default()
        };
        let ended = self.writer.end(&end);
        let sink = self.writer.into_inner();
        let was_held = sink.is_held();
        let failure = match ended {
            Ok(()) => sink.finish().err(),
            Err(iotax_trace::Error::Io(source)) => Some(sink.cut(source)),
            Err(error) => Some(error.into()),
        };
        last.bytes = fs::metadata(&self.path).map_or(last.bytes, |facts| facts.len());
        Ok(Finished { last, was_held, failure })
    }

    pub(crate) fn discard(self) {
        self.writer.into_inner().discard();
    }
}

/// A file that was there before the recording; it has no number yet.
const fn before(identity: Identity, kind: Kind, process: u32, descriptor: i32) -> NewFile {
    NewFile { file: 0, identity, kind, process, descriptor, is_new: false }
}

/// A recording at its end.
pub(crate) struct Finished {
    pub last: Progress,
    pub was_held: bool,
    pub failure: Option<Error>,
}

fn own_cpu_ns() -> u64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    used.tv_sec.unsigned_abs() * 1_000_000_000 + used.tv_nsec.unsigned_abs()
}
