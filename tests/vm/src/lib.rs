//! A small virtual machine for storage layers that this machine's kernel may lack: User Mode Linux
//! with Debian's own modules (dm-crypt, NFS, Kerberos). It boots in about three seconds. User Mode
//! Linux has no BPF: what depends on the kernel itself runs in a [`KernelVm`].
//!
//! Its root is this machine's, read-only under an overlay in memory, so the guest has this
//! machine's programs and the iotax just built, and can change nothing outside a directory of its
//! own. It has one CPU, and a system call costs it tens of microseconds: compare arms in it, but
//! take none of its figures for a machine's.
#![forbid(unsafe_code)]
#![allow(
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "for tests: what happens to a guest is told"
)]

mod kernel;

use std::fs::{self, DirEntry, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, SystemTime};

use iotax_testing::needs_programs;
use tempfile::TempDir;

pub use kernel::KernelVm;

/// CPUs that guests may take: two guests at a time, or one whose times matter.
const ALL_CPUS: u32 = 2;
/// A guest that has written nothing for this long hangs: no script is silent for as long.
const SILENT: Duration = Duration::from_mins(5);
/// Between looks at whether a CPU is free, or a guest has ended.
const LOOK: Duration = Duration::from_millis(100);

/// A bash script that sets up a Kerberos realm, an NFS server and its export in a guest: to be
/// followed by what is to be done there. Its head says what stands afterwards.
pub const NFS_SERVER: &str = include_str!("../nfs.sh");

/// A guest to be.
pub struct Vm {
    iotax: PathBuf,
    work: PathBuf,
    disk_bytes: u64,
    memory_bytes: u64,
    limit: Duration,
    cpus: u32,
}

/// CPUs kept from other guests until this is dropped: a locked file for each, since several test
/// programs run at a time.
struct Turn {
    _cpus: Vec<File>,
}

/// What a script did in the guest.
pub struct VmOutput {
    /// Its exit status; 124 if it was ended.
    pub status: i32,
    /// What it printed.
    pub stdout: String,
    /// What it printed as errors.
    pub stderr: String,
    share: TempDir,
}

impl Vm {
    /// A guest for this iotax (`$IOTAX`), with an empty disk of so many bytes, `/dev/ubda`
    /// (`$DISK`), that shares a new directory in `work` with this machine; `None`, said loudly, on
    /// a machine that lacks the program for it.
    pub fn new(iotax: &Path, work: &Path, disk_bytes: u64) -> Option<Self> {
        if !needs_programs(&["linux.uml", "insmod", "cc"]) {
            return None;
        }
        let limit = Duration::from_mins(2);
        let (iotax, work) = (iotax.to_owned(), work.to_owned());
        Some(Self { iotax, work, disk_bytes, memory_bytes: 512 << 20, limit, cpus: 1 })
    }

    /// `None`, said loudly, if one of the programs the script needs is missing here.
    pub fn with_programs(self, programs: &[&str]) -> Option<Self> {
        needs_programs(programs).then_some(self)
    }

    /// The guest's memory, 512 MiB unless told.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory_bytes = bytes;
        self
    }

    /// Ends the guest after so long, 120 s unless told.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Runs while no other guest does, because its script measures times.
    #[must_use]
    pub fn alone(mut self) -> Self {
        self.cpus = ALL_CPUS;
        self
    }

    /// Boots, runs a bash script in a directory shared with this machine, and powers off.
    ///
    /// The script finds `$IOTAX`, the program under test, and `$DISK`. A guest whose kernel hangs,
    /// so that not even the script's own limit is kept, is started once more.
    pub fn run(&self, script: &str) -> VmOutput {
        let again = |console: String| {
            eprintln!("{console}\nThe guest's kernel hung: starting it once more.");
            self.try_run(script)
        };
        self.try_run(script).or_else(again).unwrap_or_else(|console| panic!("{console}"))
    }

    /// As [`Vm::run`]; the console of a guest that did not get to the end.
    pub fn try_run(&self, script: &str) -> Result<VmOutput, String> {
        let _turn = Turn::take(&self.work, self.cpus);
        let share = tempfile::tempdir_in(&self.work).unwrap();
        let fast = self.memory_dir();
        let store = match &fast {
            Some(dir) => tempfile::tempdir_in(dir).unwrap(),
            None => tempfile::tempdir_in(share.path()).unwrap(),
        };
        let disk = store.path().join("disk");
        File::create(&disk).unwrap().set_len(self.disk_bytes).unwrap();
        let env = format!("IOTAX='{}'\nDISK=/dev/ubda\n", self.iotax.display());
        fs::write(share.path().join("env"), env).unwrap();
        fs::write(share.path().join("script"), script).unwrap();

        self.boot(share.path(), store.path(), &disk);
        end_leftovers(share.path());
        collect(share, self.limit)
    }

    /// The guest from power-on to power-off.
    ///
    /// `timeout` ends a hung guest with SIGTERM, on which the main process of User Mode Linux takes
    /// all its others along. `setpriv` has the same done if the thread of the test dies.
    fn boot(&self, share: &Path, store: &Path, disk: &Path) {
        let seconds = self.limit.as_secs();
        let mut command = Command::new("setpriv");
        command
            .args(["--pdeathsig", "TERM", "timeout", "--kill-after=5"])
            // The script's own limit comes first, and then what it wrote is still handed over; on
            // a busy machine booting takes its time too.
            .arg((seconds + 45).to_string())
            .arg("env")
            .arg(format!("LD_PRELOAD={}", whole_state(store).display()))
            .arg("linux.uml")
            .arg(format!("mem={}M", self.memory_bytes >> 20))
            .args(["rootfstype=hostfs", "rootflags=/", "ro", "quiet"])
            .args(["con=null", "con0=null,fd:1"])
            .arg(format!("ubd0={}", disk.display()))
            .arg(format!("uml_dir={}/", store.display()))
            .arg(format!("init={}/init.sh", env!("CARGO_MANIFEST_DIR")))
            .arg(format!("VM_SHARE={}", share.display()))
            .arg(format!("VM_SECONDS={seconds}"))
            .env("TMPDIR", store);
        attend(&mut command, share);
    }

    /// Where the guest's memory and disk can be kept in this machine's memory: it must be large
    /// enough and allow executable mappings, which containers often forbid there.
    fn memory_dir(&self) -> Option<PathBuf> {
        let found = Command::new("findmnt")
            .args(["--noheadings", "--bytes", "--output", "AVAIL,OPTIONS", "/dev/shm"])
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&found.stdout).into_owned();
        let mut words = text.split_whitespace();
        let free: u64 = words.next()?.parse().ok()?;
        let fits = free > self.disk_bytes + self.memory_bytes + (64 << 20);
        let runs = !words.next()?.split(',').any(|option| option == "noexec");
        (fits && runs).then(|| PathBuf::from("/dev/shm"))
    }
}

impl Turn {
    /// Waits for so many CPUs of the guests that work in this directory.
    fn take(work: &Path, cpus: u32) -> Self {
        let open = |cpu| File::create(work.join(format!("guest-cpu-{cpu}.lock"))).unwrap();
        let mut all: Vec<File> = (0..ALL_CPUS).map(open).collect();
        if cpus == ALL_CPUS {
            for cpu in &all {
                cpu.lock().unwrap();
            }
            return Self { _cpus: all };
        }
        loop {
            if let Some(free) = all.iter().position(|cpu| cpu.try_lock().is_ok()) {
                return Self { _cpus: vec![all.swap_remove(free)] };
            }
            thread::sleep(LOOK);
        }
    }
}

impl VmOutput {
    /// A file that the script left in its working directory.
    pub fn file(&self, name: &str) -> PathBuf {
        self.share.path().join(name)
    }

    /// Its text; empty if there is none.
    pub fn text(&self, name: &str) -> String {
        read(&self.file(name))
    }

    /// The output, if the script succeeded.
    #[must_use]
    #[track_caller]
    pub fn success(self) -> Self {
        assert_eq!(self.status, 0, "{self}\nkernel:\n{}", self.text("dmesg"));
        self
    }
}

impl std::fmt::Display for VmOutput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}\nstderr:\n{}[exit {}]", self.stdout, self.stderr, self.status)
    }
}

/// Runs a guest until it ends, or until it has written nothing for too long.
fn attend(command: &mut Command, share: &Path) {
    let console = File::create(share.join("console")).unwrap();
    command.stdin(Stdio::null()).stdout(console.try_clone().unwrap()).stderr(console);
    let mut guest = command.spawn().expect("setpriv starts (util-linux)");
    while guest.try_wait().unwrap().is_none() {
        thread::sleep(LOOK);
        // A guest that lost its timer waits in its idle loop for good.
        if last_change(share).is_some_and(|at| at.elapsed().is_ok_and(|past| past > SILENT)) {
            eprintln!("the guest has written nothing for {SILENT:?}");
            let _ = Command::new("kill").arg(guest.id().to_string()).status();
            guest.wait().unwrap();
        }
    }
}

/// What the script did; the console of a guest that did not get to the end.
fn collect(share: TempDir, limit: Duration) -> Result<VmOutput, String> {
    let [console, status, stdout, stderr] =
        ["console", "status", "stdout", "stderr"].map(|name| read(&share.path().join(name)));
    let Ok(status) = status.trim().parse() else {
        return Err(format!(
            "the guest did not finish within {limit:?}\nconsole:\n{console}\nstdout:\n{stdout}\n\
             stderr:\n{stderr}"
        ));
    };
    Ok(VmOutput { status, stdout, stderr, share })
}

fn read(path: &Path) -> String {
    fs::read(path).map_or(String::new(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// What User Mode Linux needs on a CPU with more registers than its kernel knows, built in `store`.
fn whole_state(store: &Path) -> PathBuf {
    let library = store.join("whole_state.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/whole_state.c");
    let mut cc = Command::new("cc");
    let built = cc.args(["-shared", "-fPIC", "-O2", "-o"]).arg(&library).arg(source).status();
    assert!(built.expect("cc starts").success(), "{source} does not compile");
    library
}

/// When a file in this directory, or below it, was last written.
fn last_change(directory: &Path) -> Option<SystemTime> {
    let of = |entry: DirEntry| {
        let metadata = entry.metadata().ok()?;
        let below = metadata.is_dir().then(|| last_change(&entry.path())).flatten();
        metadata.modified().ok().into_iter().chain(below).max()
    };
    fs::read_dir(directory).ok()?.flatten().filter_map(of).max()
}

/// Kills what still runs of the guest that shares this directory, known by its command line.
fn end_leftovers(share: &Path) {
    let mark = format!("VM_SHARE={}", share.display());
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let pid = entry.file_name().to_string_lossy().into_owned();
        if pid.bytes().all(|b| b.is_ascii_digit())
            && read(&entry.path().join("cmdline")).split('\0').any(|word| word == mark)
        {
            eprintln!("process {pid} of the guest was still there");
            let _ = Command::new("kill").args(["-KILL", &pid]).status();
        }
    }
}
