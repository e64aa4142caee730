//! What to record: processes and all that they start, a control group, or a command.

use std::ffi::OsString;
use std::fs;
use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::thread;

use crate::error::Error;
use crate::groups::processes_in;

/// The inode of the first PID namespace, in every kernel.
const FIRST_NAMESPACE: u64 = 0xEFFF_FFFC;

/// What to record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// These processes, their descendants, and all processes that they start later.
    Processes(Vec<u32>),
    /// The processes of a control group and of the groups in it, and all that they start.
    Group(PathBuf),
    /// A command, which ends the recording when it ends.
    Command(Vec<OsString>),
}

impl Subject {
    pub(crate) fn command(&self) -> Option<&[OsString]> {
        if let Self::Command(command) = self { Some(command) } else { None }
    }

    /// The processes that exist before the recording begins.
    pub(crate) fn processes(&self) -> Result<Vec<u32>, Error> {
        let roots = match self {
            Self::Processes(pids) => {
                let missing = pids.iter().find(|pid| !is_running(**pid));
                if let Some(&pid) = missing {
                    return Err(Error::NoProcess { pid });
                }
                pids.clone()
            }
            Self::Group(path) => {
                let pids = processes_in(path)
                    .map_err(|source| Error::NoGroup { path: path.clone(), source })?;
                if pids.is_empty() {
                    return Err(Error::EmptyGroup { path: path.clone() });
                }
                pids
            }
            Self::Command(_) => return Ok(Vec::new()),
        };
        let mut all = Vec::new();
        for pid in roots {
            add_tree(pid, &mut all);
        }
        Ok(all)
    }
}

/// Whether it is a process, rather than a thread or what is left of one.
pub(crate) fn is_running(pid: u32) -> bool {
    let group = status_of(pid, "Tgid:");
    group.is_some_and(|group| group == pid.to_string())
        && status_of(pid, "State:").is_none_or(|state| state != "Z")
}

/// The first word of a field of the process's status, such as `Tgid:`.
pub(crate) fn status_of(pid: u32, field: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let value = status.lines().find_map(|line| line.strip_prefix(field))?;
    value.split_whitespace().next().map(str::to_owned)
}

fn add_tree(pid: u32, all: &mut Vec<u32>) {
    // The recorder itself is not recorded.
    if all.contains(&pid) || pid == std::process::id() {
        return;
    }
    all.push(pid);
    let tasks = fs::read_dir(format!("/proc/{pid}/task"));
    for task in tasks.into_iter().flatten().flatten() {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        children.split_whitespace().filter_map(|child| child.parse().ok()).for_each(|child| {
            add_tree(child, all);
        });
    }
}

/// A PID namespace, as BPF programs name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PidNamespace {
    pub device: u64,
    pub inode: u64,
}

impl PidNamespace {
    /// The PID namespace of this process; `None` in the initial namespace, where PIDs equal the
    /// kernel's.
    pub(crate) fn own() -> Option<Self> {
        let facts = fs::metadata("/proc/self/ns/pid").ok()?;
        let (device, inode) = (kernel_device(facts.dev()), facts.ino());
        (inode != FIRST_NAMESPACE).then_some(Self { device: device.into(), inode })
    }
}

/// A device number in the kernel's encoding rather than in that of `stat`.
pub(crate) fn kernel_device(device: u64) -> u32 {
    rustix::fs::major(device) << 20 | rustix::fs::minor(device)
}

/// Starts a command, but blocks it until `register` returns, so that no event is missed.
pub(crate) fn start(
    command: &[OsString],
    register: impl FnOnce(u32) -> Result<(), Error>,
) -> Result<Child, Error> {
    let path = PathBuf::from(command.first().cloned().unwrap_or_default());
    let failed = |source| Error::Start { command: path.clone(), source };
    let (mut announced, announce) = io::pipe().map_err(failed)?;
    let (wait, mut go) = io::pipe().map_err(failed)?;
    let mut child = Command::new(&path);
    child.args(&command[1..]);
    let mut gate = Gate { announce, wait, go: go.as_raw_fd() };
    // SAFETY: between fork and exec, the closure only calls getpid, write and read.
    unsafe { child.pre_exec(move || gate.pass()) };
    // `spawn` returns when the child has executed the command, so another thread waits for that.
    let spawned = thread::spawn(move || child.spawn());
    let mut pid = [0; 4];
    if announced.read_exact(&mut pid).is_ok() {
        register(u32::from_le_bytes(pid))?;
        go.write_all(&[1]).map_err(failed)?;
    }
    spawned.join().expect("spawning does not panic").map_err(failed)
}

/// The pipe on which the child waits.
struct Gate {
    announce: PipeWriter,
    wait: PipeReader,
    /// The child's copy of the end that opens the gate.
    go: RawFd,
}

impl Gate {
    fn pass(&mut self) -> io::Result<()> {
        // If the recorder dies, the kernel closes that end, and the child does not wait forever.
        // SAFETY: this runs in the child, which does not use it.
        unsafe { rustix::io::close(self.go) };
        self.announce.write_all(&std::process::id().to_le_bytes())?;
        self.wait.read_exact(&mut [0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_waits_until_it_is_registered() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("mark");
        let command = ["touch".into(), mark.clone().into_os_string()];
        let mut registered = 0;
        let mut child = start(&command, |pid| {
            assert!(!mark.exists() && is_running(pid));
            registered = pid;
            Ok(())
        })
        .unwrap();
        assert!(child.wait().unwrap().success());
        assert!(mark.exists());
        assert_eq!(registered, child.id());
    }

    #[test]
    fn a_command_that_does_not_exist_is_named() {
        let error = start(&["/no/such/program".into()], |_| Ok(())).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot start /no/such/program: No such file or directory (os error 2)"
        );
    }

    #[test]
    fn a_tree_has_its_children() {
        let mut child = Command::new("sh").args(["-c", "sleep 60 & wait"]).spawn().unwrap();
        let children = || Subject::Processes(vec![child.id()]).processes().unwrap().len() > 1;
        while !children() {
            thread::sleep(std::time::Duration::from_millis(5));
        }
        let found = Subject::Processes(vec![child.id()]).processes().unwrap();
        for pid in found.into_iter().filter(|pid| *pid != child.id()) {
            let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let pid = child.id();
        let missing = Subject::Processes(vec![pid]).processes();
        assert!(matches!(missing, Err(Error::NoProcess { pid: found }) if found == pid));
    }
}
