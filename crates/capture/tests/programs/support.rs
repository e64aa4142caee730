//! Programs to record, and recordings to read.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use iotax_capture::{Limits, Recorded, Recorder, Request, Subject};
use iotax_trace::{End, Event, FileState, Head, Op, Reader, Source, Unseen};

pub(crate) const LIMITS: Limits =
    Limits { time: Some(Duration::from_mins(2)), bytes: 1 << 30, overhead: 1e9 };

pub(crate) fn head() -> Head {
    Head { cpus: Some(1), ..Head::new("test", Source::Bpf) }
}

pub(crate) struct Trace {
    pub events: Vec<Event>,
    pub files: Vec<FileState>,
    pub unseen: Vec<Unseen>,
    pub end: Option<End>,
}

impl Trace {
    pub(crate) fn read(path: &Path) -> Self {
        let mut reader = Reader::new(File::open(path).unwrap()).unwrap();
        let mut events = Vec::new();
        while let Some(chunk) = reader.chunk().unwrap() {
            events.extend(chunk);
        }
        let unseen = reader.head.unseen.clone();
        Self { events, files: reader.files, unseen, end: reader.end }
    }

    pub(crate) fn of(&self, op: Op) -> Vec<&Event> {
        self.events.iter().filter(|event| event.op == op).collect()
    }

    /// The only event of this kind with this many bytes.
    pub(crate) fn only(&self, op: Op, bytes: u64) -> &Event {
        let found: Vec<_> = self.of(op).into_iter().filter(|event| event.length == bytes).collect();
        assert_eq!(found.len(), 1, "{op} of {bytes} bytes: {found:?}");
        found[0]
    }

    /// The file that a write of this many bytes went to.
    pub(crate) fn written(&self, bytes: u64) -> u32 {
        self.only(Op::Write, bytes).file
    }
}

/// Names a directory with compiled drivers, for guests in which a compiler takes long.
pub(crate) const DRIVERS: &str = "IOTAX_TEST_DRIVERS";

/// A program in `tests/drivers`, compiled.
pub(crate) struct Driver {
    directory: tempfile::TempDir,
}

impl Driver {
    pub(crate) fn build(name: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        if let Some(compiled) = std::env::var_os(DRIVERS) {
            fs::copy(Path::new(&compiled).join(name), directory.path().join("driver")).unwrap();
            return Self { directory };
        }
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/drivers/{name}.c"));
        let mut compiler = Command::new("cc");
        compiler.args(["-O2", "-pthread", "-o"]).arg(directory.path().join("driver")).arg(source);
        assert!(compiler.status().unwrap().success());
        Self { directory }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("driver")
    }

    /// Runs a scenario of `calls.c` under the recorder.
    pub(crate) fn recorded(&self, scenario: &str, place: &Path) -> Trace {
        let output = self.directory.path().join("app.iotx");
        let command = vec![self.path().into(), scenario.into(), place.into()];
        let done = record(&Subject::Command(command), &output, &mut || ());
        assert!(done.failure.is_none(), "{:?}", done.failure);
        let trace = Trace::read(&output);
        assert_eq!(trace.end.as_ref().unwrap().lost, 0);
        fs::remove_file(output).unwrap();
        trace
    }

    pub(crate) fn start(&self, scenario: &str, place: &Path) -> Child {
        Command::new(self.path()).arg(scenario).arg(place).spawn().unwrap()
    }
}

/// Records, and calls `told` whenever the recorder reports its progress.
pub(crate) fn record(subject: &Subject, output: &Path, told: &mut dyn FnMut()) -> Recorded {
    let recorder = Recorder::attach().unwrap();
    let request = Request { subject, output, head: head(), limits: LIMITS };
    recorder.record(request, &AtomicBool::new(false), &mut |_| told()).unwrap()
}

/// Records, and runs `other` in another thread with the number of progress reports so far.
pub(crate) fn record_while(
    subject: &Subject,
    output: &Path,
    other: impl FnOnce(&AtomicUsize) + Send,
) -> Trace {
    let reports = AtomicUsize::new(0);
    thread::scope(|scope| {
        let other = scope.spawn(|| other(&reports));
        record(subject, output, &mut || {
            reports.fetch_add(1, Ordering::SeqCst);
        });
        other.join().unwrap();
    });
    Trace::read(output)
}

/// Waits for what must happen on any machine. A test that waits in vain fails, rather than hang.
pub(crate) fn wait_until(mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_mins(5), "it has not happened");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until the recorder has reported its progress this many times.
pub(crate) fn wait_for_reports(reports: &AtomicUsize, count: usize) {
    wait_until(|| reports.load(Ordering::SeqCst) >= count);
}

/// The pipes with which a driver waits for the test.
pub(crate) fn make_pipes(place: &Path) {
    for name in ["there", "back"] {
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, place.join(name), kind, mode, 0).unwrap();
    }
}

/// Waits until the driver does.
pub(crate) fn meet(place: &Path) {
    let mut pipe = without_wait().read(true).open(place.join("there")).unwrap();
    wait_until(|| matches!(pipe.read(&mut [0]), Ok(1)));
}

pub(crate) fn let_go(place: &Path) {
    let path = place.join("back");
    wait_until(|| {
        let pipe = without_wait().write(true).open(&path);
        pipe.is_ok_and(|mut pipe| pipe.write(b"x").is_ok())
    });
}

/// Does not wait for the other end of a pipe.
fn without_wait() -> OpenOptions {
    let mut options = File::options();
    options.custom_flags(libc::O_NONBLOCK);
    options
}

/// The program that records, as a process of its own.
pub(crate) fn record_program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_iotax-test-recorder"))
}
