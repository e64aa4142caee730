//! Other programs: found, run, and ended.
//!
//! Every program has the name of its run's journal in its environment, so that `undo` finds what a
//! killed run left: a `mkfs` or `mount` that outlived its parent could otherwise act after `undo`.
//! The kernel kills programs that are waited for together with their parent; `undo` ends what they
//! have started. Secrets are passed through anonymous memory as standard input, never as arguments.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, PipeWriter, Read, Seek, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, Mode, memfd_create};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};
use rustix::thread::{CpuSet, LinkNameSpaceType, move_into_link_name_space, sched_setaffinity};

use crate::error::Error;
use crate::marked::{DAEMON, RUN};
use crate::namespace::Namespace;

/// Directories of administrators' programs, searched in addition to the user's PATH.
const ALSO_IN: &str = "/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin:/usr/lib/ipsec";
/// How long a process may take to end before it is killed, and then to disappear; and how long a
/// starting daemon may be idle.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time limit for a command of the user.
const COMMAND: Duration = Duration::from_mins(1);
/// The path of the program of that name.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_program = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(&path)
        .chain(std::env::split_paths(ALSO_IN))
        .map(|directory| directory.join(name))
        .find(is_program)
}

/// A program about to be run.
#[derive(Debug)]
pub(crate) struct Program {
    name: OsString,
    command: Command,
    output: io::Result<File>,
    /// Kept so that it can be emptied: a daemon holds its standard input while it lives.
    input: io::Result<Option<File>>,
    /// The other end of its standard input, held while it runs.
    held: Option<PipeWriter>,
    namespace: Option<Arc<Namespace>>,
    /// Time limit; none if `None`.
    limit: Option<Duration>,
}

impl Program {
    /// The program `name` of [`find_program`], or the one at a path. Errors appear when it is run.
    pub(crate) fn new(name: impl AsRef<OsStr>) -> Self {
        let name = name.as_ref().to_owned();
        let found = name.to_str().filter(|name| !name.contains('/')).and_then(find_program);
        let mut command = Command::new(found.as_deref().map_or(name.as_os_str(), Path::as_os_str));
        // Ctrl-C goes only to iotax, which takes things down in order.
        command.process_group(0).stdin(Stdio::null()).env("LC_ALL", "C");
        // udev must not wait for devices that exist for seconds, or make links to them.
        command.env("DM_DISABLE_UDEV", "1");
        let output = anonymous("output");
        Self { name, command, output, input: Ok(None), held: None, namespace: None, limit: None }
    }

    /// A shell command of the user, run as the user would run it in this directory. If the
    /// directory is gone, it runs in the root directory.
    pub(crate) fn shell(command: &str, directory: &Path) -> Self {
        let mut shell = Self::new("/bin/sh");
        shell.name = "the command".into();
        shell.command.env_remove("DM_DISABLE_UDEV");
        shell.limit = Some(COMMAND);
        let directory = if directory.is_dir() { directory } else { Path::new("/") };
        shell.within(directory).arg("-c").arg(command)
    }

    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    pub(crate) fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.command.args(arguments);
        self
    }

    /// The directory it runs in, which relative paths start from.
    pub(crate) fn within(mut self, directory: &Path) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// Its standard input, which is in no file and no argument, and is wiped when the program has
    /// ended or is ready.
    pub(crate) fn input(mut self, bytes: &[u8]) -> Self {
        self.input = anonymous("input").and_then(|mut file| {
            file.write_all(bytes)?;
            file.rewind()?;
            self.command.stdin(file.try_clone()?);
            Ok(Some(file))
        });
        self
    }

    /// Its standard input, which then stays open while this process lives. So a program that ends
    /// with its input ends with this process, however that ends.
    pub(crate) fn held_input(mut self, bytes: &[u8]) -> Self {
        let pipe = io::pipe().and_then(|(reader, mut writer)| {
            writer.write_all(bytes)?;
            Ok((reader, writer))
        });
        match pipe {
            Ok((reader, writer)) => {
                self.command.stdin(reader);
                self.held = Some(writer);
            }
            Err(error) => self.input = Err(error),
        }
        self
    }

    /// The CPUs it runs on; none means any.
    pub(crate) fn on_cpus(mut self, cpus: &[u32]) -> Self {
        if !cpus.is_empty() {
            bind_to_cpus(&mut self.command, cpus);
        }
        self
    }

    /// The network namespace it runs in.
    pub(crate) fn in_namespace(mut self, namespace: Arc<Namespace>) -> Self {
        self.namespace = Some(namespace);
        self
    }

    pub(crate) fn name(&self) -> String {
        self.name.to_string_lossy().into_owned()
    }

    /// Runs it to its end and returns what it printed.
    ///
    /// # Errors
    /// [`Error::Program`] with its output if it fails; [`Error::Interrupted`] if the user stopped
    /// it.
    pub(crate) fn run(mut self, run: &str, stop: &AtomicBool) -> Result<String, Error> {
        die_with_parent(&mut self.command);
        let child = self.spawn(run, None)?;
        let Some(status) = wait(child, stop, self.limit)? else {
            let limit = iotax_quantity::span(self.limit.unwrap_or_default().as_secs());
            return Err(self.failed(&format!("did not end within {limit}"), &self.said()));
        };
        let said = self.said();
        if status.success() { Ok(said) } else { Err(self.failed(&status.to_string(), &said)) }
    }

    /// Starts it as a daemon that goes to the background when it is ready, and waits for that. The
    /// token must have been announced.
    pub(crate) fn detach(mut self, run: &str, token: &str, stop: &AtomicBool) -> Result<(), Error> {
        let child = self.spawn(run, Some(token))?;
        let status = wait(child, stop, None)?.expect("waiting has no time limit");
        self.wipe_input();
        if status.success() { Ok(()) } else { Err(self.failed(&status.to_string(), &self.said())) }
    }

    /// Starts it as a daemon with this token, which must have been announced. It ends with
    /// [`end_daemon`].
    pub(crate) fn start(mut self, run: &str, token: &str) -> Result<Daemon, Error> {
        let child = self.spawn(run, Some(token))?;
        Ok(Daemon { program: self, child })
    }

    fn spawn(&mut self, run: &str, daemon: Option<&str>) -> Result<Child, Error> {
        let prepare = || -> io::Result<(File, File)> {
            let output = self.output.as_ref().map_err(copy)?;
            self.input.as_ref().map_err(copy)?;
            Ok((output.try_clone()?, output.try_clone()?))
        };
        let (out, err) = prepare().map_err(|error| self.failed(&error.to_string(), ""))?;
        self.command.stdout(out).stderr(err);
        // After it is bound to its parent's life, so that it never outlives its parent for long.
        if let Some(namespace) = self.namespace.take() {
            enter(&mut self.command, namespace);
        }
        match daemon {
            Some(token) => self.command.env(DAEMON, token),
            None => self.command.env(RUN, run),
        };
        self.command.spawn().map_err(|error| self.failed(&error.to_string(), ""))
    }

    /// Wipes its input, which others could otherwise read among the daemon's open files.
    fn wipe_input(&self) {
        if let Ok(Some(input)) = &self.input {
            let _ = input.set_len(0);
        }
    }

    /// What it has printed so far.
    pub(crate) fn said(&self) -> String {
        let mut text = Vec::new();
        if let Ok(output) = &self.output {
            let mut output: &File = output;
            let _ = output.rewind().and_then(|()| output.read_to_end(&mut text));
        }
        String::from_utf8_lossy(&text).trim().to_owned()
    }

    fn failed(&self, status: &str, said: &str) -> Error {
        // The reason is at the end of the output.
        let from = said.char_indices().rev().nth(600).map_or(0, |(at, _)| at);
        Error::Program {
            name: self.name(),
            status: status.to_owned(),
            said: said[from..].to_owned(),
        }
    }
}

/// A daemon that was started.
#[derive(Debug)]
pub(crate) struct Daemon {
    program: Program,
    child: Child,
}

impl Daemon {
    /// Waits until `ready` returns something. If the daemon ends before, that is a failure. It is
    /// reaped when it ends.
    pub(crate) fn until<T>(
        mut self,
        stop: &AtomicBool,
        mut ready: impl FnMut(&Program) -> Option<T>,
    ) -> Result<T, Error> {
        let mut idle = Idle::new(Instant::now());
        let mut pause = Duration::from_millis(1);
        let found = loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                // Some programs go to the background by themselves.
                if let Some(found) = status.success().then(|| ready(&self.program)).flatten() {
                    return Ok(found);
                }
                return Err(self.program.failed(&status.to_string(), &self.program.said()));
            }
            if let Some(found) = ready(&self.program) {
                break found;
            }
            if stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            // Filling a disk takes minutes, but an idle process is stuck.
            if idle.observe(Instant::now(), Work::of(self.child.id())) > PATIENCE {
                let said = self.program.said();
                return Err(self.program.failed("is idle, but did not become ready", &said));
            }
            sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        };
        self.program.wipe_input();
        let Self { mut child, program } = self;
        std::thread::spawn(move || {
            let _held = program.held;
            child.wait()
        });
        Ok(found)
    }
}

/// Binds the program's life to this thread, which must wait for its end: for the kernel, the thread
/// is the parent.
#[expect(unsafe_code, reason = "safe Rust cannot run code between fork and exec")]
fn die_with_parent(command: &mut Command) {
    let parent = rustix::process::getpid();
    let bind = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // It may have died before the line above.
        if rustix::process::getppid() == Some(parent) {
            Ok(())
        } else {
            Err(io::Error::from(Errno::SRCH))
        }
    };
    // SAFETY: two system calls, which are async-signal-safe; nothing is allocated.
    unsafe { command.pre_exec(bind) };
}

/// Restricts the program to these CPUs.
#[expect(unsafe_code, reason = "safe Rust cannot run code between fork and exec")]
fn bind_to_cpus(command: &mut Command, cpus: &[u32]) {
    let mut set = CpuSet::new();
    for cpu in cpus {
        set.set(*cpu as usize);
    }
    // SAFETY: one system call, which is async-signal-safe; nothing is allocated.
    unsafe { command.pre_exec(move || Ok(sched_setaffinity(None, &set)?)) };
}

/// Makes the program run in a namespace.
#[expect(unsafe_code, reason = "safe Rust cannot run code between fork and exec")]
fn enter(command: &mut Command, namespace: Arc<Namespace>) {
    let enter = move || {
        let kind = Some(LinkNameSpaceType::Network);
        Ok(move_into_link_name_space(namespace.file().as_fd(), kind)?)
    };
    // SAFETY: one system call, which is async-signal-safe; nothing is allocated.
    unsafe { command.pre_exec(enter) };
}

/// Its exit status; `None` if it was stopped after `limit`.
fn wait(
    mut child: Child,
    stop: &AtomicBool,
    limit: Option<Duration>,
) -> Result<Option<ExitStatus>, Error> {
    let started = Instant::now();
    let mut pause = Duration::from_micros(200);
    // It leads its own process group, so what it started ends with it.
    let end = |child: &mut Child| {
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
        let _ = child.wait();
    };
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(Some(status)),
            Ok(None) if stop.load(Ordering::Relaxed) => {
                end(&mut child);
                return Err(Error::Interrupted);
            }
            Ok(None) if limit.is_some_and(|limit| started.elapsed() > limit) => {
                end(&mut child);
                return Ok(None);
            }
            Ok(None) => sleep(pause),
            Err(source) => {
                return Err(Error::cannot("wait for a program", Path::new("/proc"))(source));
            }
        }
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

fn anonymous(name: &str) -> io::Result<File> {
    let file = memfd_create(name, MemfdFlags::CLOEXEC)?;
    // ssh rejects a key file whose mode allows others to read it.
    rustix::fs::fchmod(&file, Mode::RUSR | Mode::WUSR)?;
    Ok(File::from(file))
}

/// `io::Error` cannot be cloned.
fn copy(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), error.to_string())
}

/// What a process has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Work {
    /// CPU time of all its threads, in the kernel's ticks.
    cpu_ticks: u64,
    /// Bytes that it read and wrote, if known.
    bytes: u64,
}

impl Work {
    /// Of process `pid`; `None` if unknown.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let io = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
        Self::read(&stat, &io)
    }

    fn read(stat: &str, io: &str) -> Option<Self> {
        // `pid (name) state ...`: the name may contain anything. CPU time in user and kernel mode
        // are fields 14 and 15 (proc(5)), the 12th and 13th after the name.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |field: usize| fields.get(field)?.parse::<u64>().ok();
        let bytes = io.lines().filter_map(|line| line.split_once(": "));
        let bytes = bytes.filter_map(|(_, count)| count.parse::<u64>().ok());
        Some(Self {
            cpu_ticks: ticks(11)?.saturating_add(ticks(12)?),
            bytes: bytes.fold(0, u64::saturating_add),
        })
    }
}

/// How long a process has done nothing.
#[derive(Debug)]
pub(crate) struct Idle {
    work: Option<Work>,
    since: Instant,
}

impl Idle {
    /// It starts now.
    pub(crate) fn new(now: Instant) -> Self {
        Self { work: None, since: now }
    }

    /// The time since it last did something.
    pub(crate) fn observe(&mut self, now: Instant, work: Option<Work>) -> Duration {
        if work != self.work {
            self.work = work;
            self.since = now;
        }
        now.saturating_duration_since(self.since)
    }
}

#[cfg(test)]
mod tests {
    use iotax_experiment::{Blame as _, Fault};

    use super::*;

    fn sh(script: &str) -> Program {
        Program::new("sh").args(["-c", script])
    }

    #[test]
    fn what_a_program_says_when_it_fails_is_in_the_error() {
        let stop = AtomicBool::new(false);
        let error = sh("echo no such luck >&2; exit 3").run("r", &stop).unwrap_err();
        insta::assert_snapshot!(error, @"sh failed (exit status: 3): no such luck");
        let error = Program::new("no-such-program").run("r", &stop).unwrap_err();
        insta::assert_snapshot!(error, @"no-such-program failed (No such file or directory (os error 2))");
    }

    #[test]
    fn input_arrives_and_output_comes_back() {
        let stop = AtomicBool::new(false);
        assert_eq!(sh("tr a-z A-Z").input(b"secret").run("r", &stop).unwrap(), "SECRET");
    }

    #[test]
    fn a_program_stays_on_the_cpus_it_is_given() {
        let last = rustix::thread::sched_getaffinity(None).unwrap();
        let last = (0..1024).rev().find(|cpu| last.is_set(*cpu as usize)).unwrap();
        let bound = sh("grep Cpus_allowed_list /proc/self/status").on_cpus(&[last]);
        let said = bound.run("r", &AtomicBool::new(false)).unwrap();
        assert_eq!(said.split_whitespace().last(), Some(&*last.to_string()));
    }

    #[test]
    fn what_a_daemon_was_given_to_read_is_gone_when_it_is_ready() {
        let stop = AtomicBool::new(false);
        let token = crate::journal::token().unwrap();
        let secret = std::env::temp_dir().join(format!("iotax-{token}"));
        let script = format!("read line; echo $line > {0}; exec sleep 60", secret.display());
        let daemon = sh(&script).input(b"secret\n").start("r", &token).unwrap();
        let input = PathBuf::from(format!("/proc/{}/fd/0", daemon.child.id()));
        let has_read = || fs::read_to_string(&secret).is_ok_and(|text| text == "secret\n");
        daemon.until(&stop, |_| has_read().then_some(())).unwrap();
        fs::remove_file(&secret).unwrap();
        assert_eq!(fs::read(&input).unwrap(), b"");
        assert!(crate::marked::end_daemon(&token));
    }

    #[test]
    fn a_program_is_stopped_with_the_run() {
        let stop = AtomicBool::new(true);
        assert_eq!(sh("sleep 60").run("r", &stop).unwrap_err().fault(), Fault::Interrupted);
    }

    /// Runs itself as the parent that is killed.
    #[test]
    fn a_program_that_is_waited_for_dies_with_its_parent() {
        const PARENT: &str = "IOTAX_TEST_PARENT";
        if let Some(mark) = std::env::var_os(PARENT) {
            let _ = sh("sleep 60").args([mark]).run("", &AtomicBool::new(false));
            return;
        }
        let mark = crate::journal::token().unwrap();
        let name = "programs::tests::a_program_that_is_waited_for_dies_with_its_parent";
        let mut parent = Command::new(std::env::current_exe().unwrap());
        parent.args([name, "--exact"]).env(PARENT, &mark).stdout(Stdio::null());
        let mut parent = parent.spawn().unwrap();
        let program = wait_until(|| argument_of_any(&mark));
        parent.kill().unwrap();
        parent.wait().unwrap();
        let path = PathBuf::from(format!("/proc/{program}"));
        wait_until(|| {
            (!fs::read(path.join("cmdline")).is_ok_and(|line| !line.is_empty())).then_some(())
        });
    }

    /// The process that has `mark` as an argument.
    fn argument_of_any(mark: &str) -> Option<String> {
        let has = |pid: &String| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.split(|byte| *byte == 0).any(|argument| argument == mark.as_bytes())
        };
        let entries = fs::read_dir("/proc").unwrap().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).find(has)
    }

    fn wait_until<T>(mut found: impl FnMut() -> Option<T>) -> T {
        // Far less than the program would last.
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            if let Some(found) = found() {
                return found;
            }
            assert!(Instant::now() < end, "waited in vain");
            sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_daemon_ends_by_its_token_and_nothing_else_does() {
        let stop = AtomicBool::new(false);
        let token = crate::journal::token().unwrap();
        sh("sleep 60").start("r", &token).unwrap().until(&stop, |_| Some(())).unwrap();
        assert!(!crate::marked::end_daemon("another"));
        assert!(crate::marked::end_daemon(&token));
        assert!(!crate::marked::end_daemon(&token));
    }

    #[test]
    fn a_daemon_that_ends_at_once_says_why() {
        let stop = AtomicBool::new(false);
        let daemon = sh("echo bad option; exit 1").start("r", "t").unwrap();
        let error = daemon.until(&stop, |_| None::<()>).unwrap_err();
        insta::assert_snapshot!(error, @"sh failed (exit status: 1): bad option");
    }
}

#[cfg(test)]
mod idle_tests {
    use super::*;

    #[test]
    fn whoever_works_is_not_idle_however_long_it_takes() {
        let start = Instant::now();
        let mut idle = Idle::new(start);
        let at = |seconds| start + Duration::from_secs(seconds);
        let work = |bytes| Some(Work { cpu_ticks: 1, bytes });
        for second in 0..1000 {
            assert_eq!(idle.observe(at(second), work(second)), Duration::ZERO);
        }
        assert_eq!(idle.observe(at(1009), work(999)), Duration::from_secs(10));
        assert_eq!(idle.observe(at(1010), work(1000)), Duration::ZERO);
    }

    #[test]
    fn what_cannot_be_seen_counts_as_idle() {
        let start = Instant::now();
        let mut idle = Idle::new(start);
        assert_eq!(idle.observe(start + Duration::from_secs(11), None), Duration::from_secs(11));
    }

    #[test]
    fn work_is_read_as_the_kernel_writes_it() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194304 9 0 0 0 120 30 0 0 20 0 4 0 99";
        let io = "rchar: 10\nwchar: 20\nread_bytes: 0\nwrite_bytes: 4096\n";
        assert_eq!(Work::read(stat, io), Some(Work { cpu_ticks: 150, bytes: 4126 }));
        assert_eq!(Work::read(stat, ""), Some(Work { cpu_ticks: 150, bytes: 0 }));
        assert_eq!(Work::read("7 (a", io), None);
        assert!(Work::of(std::process::id()).is_some());
    }
}
