//! Records without BPF: strace traces the program, and its output is imported as it comes.

use std::fs::{self, File};
use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use iotax_trace::import::{self, ImportError, Imported};
use iotax_trace::{EndReason, Head, keep_whole_blocks};
use rustix::process::{Pid, Signal, kill_process};

use crate::error::Error;
use crate::overhead::{Done, Overhead};
use crate::processes::{is_running, start, status_of};
use crate::recorder::{Limits, Progress, Recorded, Request};
use crate::sink::Sink;

const GLANCE: Duration = Duration::from_millis(50);
/// How often progress is reported.
const TELL: Duration = Duration::from_millis(500);
const ATTACH: Duration = Duration::from_secs(10);
const LAST_WORDS: Duration = Duration::from_secs(1);
/// The calls that the import uses, and others of these classes. `-s 0` leaves out file contents.
const OPTIONS: &[&str] =
    &["-f", "-ttt", "-T", "-y", "-q", "-s", "0", "-e", "trace=%desc,%file,%process,msync,madvise"];

/// Records with strace. It slows the program down, but needs no rights to trace the user's own
/// programs. The names of files that it reports stay in memory.
pub fn record_with_strace(
    request: Request<'_>,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(&Progress),
) -> Result<Recorded, Error> {
    let Request { subject, output, head, limits } = request;
    let processes = subject.processes()?;
    let mut tracer = Tracer::new(output, &head)?;
    let started = match subject.command() {
        Some(command) => start(command, |pid| tracer.attach(&[pid])).map(Some),
        None => tracer.attach(&processes).map(|()| None),
    };
    let followed = started.map(|mut child| {
        let reason = tracer.follow(&processes, child.as_mut(), limits, stop, tell);
        (child, reason)
    });
    let last = tracer.progress();
    let has_ended = matches!(&followed, Ok((_, Ok(EndReason::Command { .. } | EndReason::Gone))));
    let finished = tracer.finish(output, has_ended);
    let discard = |_: &Error| drop(fs::remove_file(output));
    let (child, reason) = followed.inspect_err(discard)?;
    let (reason, failure) = match finished {
        Ok(()) => (reason.as_ref().ok().copied(), reason.err()),
        Err(cut @ Error::Cut { .. }) => (None, Some(cut)),
        Err(error) => return Err(error).inspect_err(discard),
    };
    let child = child.filter(|_| !matches!(reason, Some(EndReason::Command { .. })));
    Ok(Recorded { path: output.to_owned(), reason, last, was_held: false, child, failure })
}

/// strace, and the import of what it says.
struct Tracer {
    output: File,
    began: Instant,
    lines: Arc<AtomicU64>,
    /// Where strace writes.
    pipe: PipeWriter,
    strace: Option<Child>,
    import: JoinHandle<Result<Imported, ImportError>>,
    overhead: Overhead,
}

impl Tracer {
    fn new(path: &Path, head: &Head) -> Result<Self, Error> {
        let (reader, pipe) = io::pipe().map_err(Error::RunStrace)?;
        let sink = Sink::create(path)?;
        let failed = |source| Error::File { act: "open", path: path.to_owned(), source };
        let output = File::options().read(true).write(true).open(path).map_err(failed)?;
        let lines = Arc::<AtomicU64>::default();
        let counted = Counted { from: reader, lines: Arc::clone(&lines) };
        let options =
            import::Options { format: Some(import::Format::Strace), program: head.program.clone() };
        let import = thread::spawn(move || import::import(vec![counted], sink, &options));
        let overhead = Overhead::of_machine();
        Ok(Self { output, began: Instant::now(), lines, pipe, strace: None, import, overhead })
    }

    /// Returns when the first of the processes is traced.
    fn attach(&mut self, processes: &[u32]) -> Result<(), Error> {
        // strace opens the pipe by this name, so the program does not inherit it.
        let pipe = format!("/proc/{}/fd/{}", std::process::id(), self.pipe.as_raw_fd());
        let mut command = Command::new("strace");
        command.args(OPTIONS).arg("-o").arg(pipe);
        command.args(processes.iter().map(|pid| format!("-p{pid}")));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let strace = command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::NoStrace,
            _ => Error::RunStrace(error),
        })?;
        let strace = self.strace.insert(strace);
        let began = Instant::now();
        while !processes.iter().any(|pid| is_traced(*pid)) {
            let has_failed = strace.try_wait().map_err(Error::RunStrace)?.is_some();
            if has_failed || began.elapsed() > ATTACH {
                let _ = strace.kill();
                return Err(Error::Strace { why: said(strace.stderr.take()) });
            }
            thread::sleep(Duration::from_millis(5));
        }
        // strace would stop at a full pipe.
        let stderr = strace.stderr.take();
        thread::spawn(move || said(stderr));
        Ok(())
    }

    fn follow(
        &mut self,
        processes: &[u32],
        mut child: Option<&mut Child>,
        limits: Limits,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(&Progress),
    ) -> Result<EndReason, Error> {
        let mut told = Instant::now();
        let mut is_left = false;
        loop {
            thread::sleep(GLANCE);
            if told.elapsed() >= TELL {
                told = Instant::now();
                let (elapsed, used_ns) = (self.began.elapsed(), self.cpu_ns());
                self.overhead.update(Done { elapsed, used_ns, events: 0 });
                tell(&self.progress());
            }
            let progress = self.progress();
            if let Some(child) = &mut child {
                if let Some(status) = child.try_wait().map_err(Error::RunStrace)? {
                    return Ok(EndReason::Command { code: status.code() });
                }
            } else if !processes.iter().any(|pid| is_running(*pid)) {
                return Ok(EndReason::Gone);
            }
            if let Some(reason) = limits.reached(&progress, u64::MAX, stop) {
                return Ok(reason);
            }
            // Otherwise it ended because the program did, or on the Ctrl-C that also stops this one.
            if is_left {
                return Err(Error::StraceEnded);
            }
            let strace = self.strace.as_mut().map_or(Ok(None), Child::try_wait);
            is_left = strace.map_err(Error::RunStrace)?.is_some();
        }
    }

    fn progress(&self) -> Progress {
        Progress {
            elapsed: self.began.elapsed(),
            events: self.lines.load(Ordering::Relaxed),
            lost: 0,
            bytes: self.output.metadata().map_or(0, |facts| facts.len()),
            overhead: self.overhead.recent(),
            whole_overhead: self.overhead.whole(),
        }
    }

    /// The CPU time of strace.
    fn cpu_ns(&self) -> u64 {
        let pid = self.strace.as_ref().map(Child::id);
        let stat = pid.and_then(|pid| fs::read_to_string(format!("/proc/{pid}/stat")).ok());
        let stat = stat.unwrap_or_default();
        let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        let ticks: u64 =
            fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
        ticks * (1_000_000_000 / rustix::param::clock_ticks_per_second().max(1))
    }

    /// Detaches strace, and waits until all it said is imported. If the program has ended, strace
    /// ends, too, unless it follows others that the program has started.
    fn finish(self, path: &Path, has_ended: bool) -> Result<(), Error> {
        if let Some(mut strace) = self.strace {
            let began = Instant::now();
            while strace.try_wait().map_err(Error::RunStrace)?.is_none() {
                if !has_ended || began.elapsed() > LAST_WORDS {
                    let _ = kill_process(Pid::from_child(&strace), Signal::INT);
                    strace.wait().map_err(Error::RunStrace)?;
                } else {
                    thread::sleep(GLANCE);
                }
            }
        }
        drop(self.pipe);
        match self.import.join().expect("importing does not panic") {
            Ok(_) => Ok(()),
            Err(ImportError::Empty { .. }) => {
                Err(Error::Nothing { seconds: self.began.elapsed().as_secs() })
            }
            Err(ImportError::Write(iotax_trace::Error::Io(source))) => {
                let path = path.to_owned();
                let kept = keep_whole_blocks(&self.output).unwrap_or_default();
                if kept.events == 0 {
                    let _ = fs::remove_file(&path);
                }
                Err(Error::Cut { path, source, kept })
            }
            Err(error) => Err(Error::Import(error)),
        }
    }
}

fn is_traced(pid: u32) -> bool {
    status_of(pid, "TracerPid:").is_some_and(|tracer| tracer != "0")
}

/// The first message of strace.
fn said(stderr: Option<ChildStderr>) -> String {
    let mut text = String::new();
    if let Some(mut stderr) = stderr {
        let _ = stderr.read_to_string(&mut text);
    }
    let first = text.lines().next().unwrap_or("strace did not attach");
    first.trim_start_matches("strace: ").to_owned()
}

/// Counts the lines that are read.
struct Counted {
    from: PipeReader,
    lines: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.from.read(buffer)?;
        let lines = buffer[..length].split(|byte| *byte == b'\n').count() - 1;
        self.lines.fetch_add(lines as u64, Ordering::Relaxed);
        Ok(length)
    }
}
