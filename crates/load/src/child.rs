//! Runs another program as a process: started, watched, and always ended.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::error::Error;

/// How often it is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Between asking fio to end and ending it.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time after which it is left alone: a process that waits in the kernel for unresponsive storage
/// cannot even be killed.
const LAST_WAIT: Duration = Duration::from_secs(10);
/// A result of fio with bins takes 60 KB per job.
const MOST_OUTPUT_BYTES: u64 = 32 << 20;
const MOST_ERRORS_BYTES: u64 = 1 << 20;

/// A program to be run.
pub(crate) struct Child<'a> {
    /// Its name in messages.
    pub name: &'static str,
    pub program: &'a Path,
    pub arguments: Vec<OsString>,
    /// Its standard input.
    pub input: &'a str,
    pub directory: &'a Path,
    /// The network namespace that it runs in, as a file; `None` for that of this process.
    pub namespace: Option<&'a Path>,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Itself,
    Stopped,
    /// It took too long.
    Late,
    /// It printed too much.
    Flood,
}

/// Its result.
pub(crate) struct Said {
    name: &'static str,
    pub status: ExitStatus,
    pub ending: Ending,
    pub out: String,
    pub err: String,
}

impl Said {
    /// An error with the output of the program, where the reason is at the end.
    pub(crate) fn failed(&self, what: &str) -> Error {
        let text = if self.err.trim().is_empty() { before_result(&self.out) } else { &self.err };
        let text = text.trim();
        let from = text.char_indices().rev().nth(600).map_or(0, |(at, _)| at);
        let said: Vec<&str> = text[from..].lines().map(str::trim).collect();
        let said = said.join(" | ");
        let said = if said.is_empty() { said } else { format!(": {said}") };
        Error::Program { name: self.name, what: what.to_owned(), said }
    }
}

/// The messages of fio, which come before the JSON.
fn before_result(out: &str) -> &str {
    let is_result = |rest: &&str| rest.starts_with('{');
    let mut rest = out;
    let mut said = 0;
    while !is_result(&rest) {
        let Some(line) = rest.find('\n') else { return out };
        said += line + 1;
        rest = &rest[line + 1..];
    }
    &out[..said]
}

impl<'a> Child<'a> {
    /// One that reads nothing, in the root directory and this process's own network.
    pub(crate) fn new(
        name: &'static str,
        program: &'a Path,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Self { name, program, arguments, input: "", directory: Path::new("/"), namespace: None }
    }

    /// Runs it to its end, which comes after `limit` at the latest. While it runs, `glance` is
    /// called repeatedly with its process.
    pub(crate) fn run(
        &self,
        limit: Duration,
        stop: &AtomicBool,
        glance: &mut dyn FnMut(Pid),
    ) -> Result<Said, Error> {
        let running = self.start()?;
        let group = &running.group;
        let started = Instant::now();
        let mut ending = Ending::Itself;
        let mut asked = None;
        while !group.has_ended() {
            glance(group.pid());
            let why = if flooded(&running.out, &running.err) {
                Some(Ending::Flood)
            } else if stop.load(Ordering::Relaxed) {
                Some(Ending::Stopped)
            } else {
                (started.elapsed() > limit).then_some(Ending::Late)
            };
            match (asked, why) {
                (None, Some(why)) => {
                    ending = why;
                    asked = Some(Instant::now());
                    // On this signal, fio reports what it has so far.
                    group.signal(Signal::INT);
                }
                (Some(asked), _) if asked.elapsed() > PATIENCE + LAST_WAIT => {
                    running.group.leave();
                    return Err(self.hangs());
                }
                (Some(asked), _) if asked.elapsed() > PATIENCE => group.signal(Signal::KILL),
                _ => {}
            }
            sleep(POLL_INTERVAL);
        }
        Ok(Said { ending, ..running.end()? })
    }

    /// Starts it. It is ended when the returned value is dropped, and when this thread ends.
    pub(crate) fn start(&self) -> Result<Running, Error> {
        let program = self.program;
        let start = || {
            let out = sink("output", MOST_OUTPUT_BYTES)?;
            let err = sink("errors", MOST_ERRORS_BYTES)?;
            let group = self.spawn(&out, &err)?;
            Ok(Running { name: self.name, program: program.to_owned(), group, out, err })
        };
        start().map_err(|source| Error::Start { program: program.to_owned(), source })
    }

    fn spawn(&self, out: &File, err: &File) -> io::Result<Group> {
        let mut input = File::from(memfd_create("input", MemfdFlags::CLOEXEC)?);
        input.write_all(self.input.as_bytes())?;
        input.rewind()?;
        let mut command = Command::new(self.program);
        command.args(&self.arguments).current_dir(self.directory).process_group(0);
        // Only what a program needs: fio reads job options' defaults from no variable, but its
        // engines and the loader do.
        command.env_clear().env("LC_ALL", "C");
        for name in ["PATH", "HOME", "TMPDIR"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.stdin(input).stdout(out.try_clone()?).stderr(err.try_clone()?);
        let parent = rustix::process::getpid().as_raw_nonzero().get();
        // SAFETY: between fork and exec only async-signal-safe functions are called, and nothing
        // is allocated.
        unsafe { command.pre_exec(move || alone(parent)) };
        if let Some(namespace) = self.namespace {
            let namespace = File::open(namespace)?;
            let kind = Some(LinkNameSpaceType::Network);
            let enter = move || Ok(move_into_link_name_space(namespace.as_fd(), kind)?);
            // SAFETY: one system call, which is async-signal-safe; nothing is allocated.
            unsafe { command.pre_exec(enter) };
        }
        command.spawn().map(Group)
    }

    fn hangs(&self) -> Error {
        let what = "is waiting in the kernel for I/O and cannot be stopped: its storage does not \
                    respond";
        Error::Program { name: self.name, what: what.to_owned(), said: String::new() }
    }
}

/// A program that was started.
pub(crate) struct Running {
    name: &'static str,
    program: PathBuf,
    group: Group,
    out: File,
    err: File,
}

impl Running {
    /// Whether it has ended by itself.
    pub(crate) fn has_ended(&self) -> bool {
        self.group.has_ended()
    }

    /// What it has printed so far.
    pub(crate) fn said(&self) -> String {
        text(&self.out)
    }

    /// Ends it if it is still running, and everything that it has started.
    pub(crate) fn end(mut self) -> Result<Said, Error> {
        self.group.signal(Signal::KILL);
        let ended = self.group.0.wait();
        let status = ended.map_err(|source| Error::Start { program: self.program, source })?;
        let (out, err) = (text(&self.out), text(&self.err));
        Ok(Said { name: self.name, status, ending: Ending::Itself, out, err })
    }
}

impl Said {
    /// Fails unless it succeeded; `what` it should have done `within` which time.
    pub(crate) fn succeeded(&self, what: &str, within: &str) -> Result<(), Error> {
        match (self.ending, self.status.success()) {
            (Ending::Itself, true) => Ok(()),
            (Ending::Itself | Ending::Stopped, _) => {
                Err(self.failed(&format!("failed ({})", self.status)))
            }
            (Ending::Late, _) => {
                Err(self.failed(&format!("did not {what} within {within}, and was stopped")))
            }
            // Its output is of no use here.
            (Ending::Flood, _) => Err(Error::Program {
                name: self.name,
                what: "printed too much output and was stopped".to_owned(),
                said: String::new(),
            }),
        }
    }
}

/// The program of this name that a shell would run.
pub(crate) fn find_program(name: &'static str) -> Result<PathBuf, Error> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|directory| directory.join(name))
        .find(|program| program.is_file())
        .ok_or(Error::NoProgram { name })
}

/// In the child: signals as a program expects them, and death with its parent.
fn alone(parent: libc::pid_t) -> io::Result<()> {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGPIPE] {
        // SAFETY: sets a default disposition.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // SAFETY: the set is initialised by sigemptyset before it is used.
    unsafe {
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
    // SAFETY: takes numbers only.
    let set = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) };
    if set != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: no arguments.
    if unsafe { libc::getppid() } != parent {
        // The parent died before the line above.
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(())
}

/// A process that leads a group, ended when dropped.
struct Group(std::process::Child);

impl Group {
    fn pid(&self) -> Pid {
        Pid::from_child(&self.0)
    }

    /// Whether it has ended. It is not reaped, so that its group is still its own.
    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(self.pid()), options), Ok(None))
    }

    /// Neither ends it nor waits for it: it disappears when the kernel allows it.
    fn leave(self) {
        std::mem::forget(self);
    }

    fn signal(&self, signal: Signal) {
        // It cannot be another's: it is not reaped yet.
        let _ = kill_process_group(self.pid(), signal);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Ok(None) = self.0.try_wait() {
            self.signal(Signal::KILL);
            let _ = self.0.wait();
        }
    }
}

/// Anonymous memory limited to `most_bytes`: the kernel refuses to let it grow further.
fn sink(name: &str, most_bytes: u64) -> io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = File::from(memfd_create(name, flags)?);
    file.set_len(most_bytes)?;
    fcntl_add_seals(&file, SealFlags::GROW)?;
    Ok(file)
}

/// How much was written: parent and child share the position.
fn written(file: &File) -> u64 {
    let mut file = file;
    file.stream_position().unwrap_or(0)
}

/// Whether the output is (almost) full: fio writes in pieces.
fn flooded(out: &File, err: &File) -> bool {
    let is_full = |file, most_bytes| written(file) + 4096 > most_bytes;
    is_full(out, MOST_OUTPUT_BYTES) || is_full(err, MOST_ERRORS_BYTES)
}

fn text(file: &File) -> String {
    let length = usize::try_from(written(file)).unwrap_or(0);
    let mut bytes = vec![0; length];
    match file.read_exact_at(&mut bytes, 0) {
        Ok(()) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => String::new(),
    }
}
