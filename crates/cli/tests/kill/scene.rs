//! Where runs are killed: a desk with a device to give up, and what is seen there.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::machine;
use super::runs::{Ends, Run};
use super::support::{Desk, wait_for};

/// How long what ends by itself may take to be gone, on a machine that others use.
const SETTLING: Duration = Duration::from_secs(10);

/// As much as btrfs takes, all of it a hole.
const DEVICE_BYTES: u64 = 128 << 20;

pub(crate) struct Scene {
    pub desk: Desk,
    /// A block device with nothing on it.
    pub device: PathBuf,
}

/// What there is on the machine because of a desk.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct State {
    traces: BTreeSet<String>,
    files: BTreeSet<PathBuf>,
    /// What is found on the device.
    signatures: String,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let desk = Desk::new();
        for name in ["theirs", "vm"] {
            fs::create_dir(desk.path().join(name)).unwrap();
        }
        let image = desk.path().join("image");
        File::create_new(&image).unwrap().set_len(DEVICE_BYTES).unwrap();
        let attached = Command::new("losetup").args(["--find", "--show"]).arg(&image).output();
        let device = PathBuf::from(said(&attached.unwrap()));
        Self { desk, device }
    }

    /// What there is now, results aside.
    pub(crate) fn state(&self) -> State {
        let (traces, files) = machine_and_files(&self.desk);
        let probed = Command::new("wipefs").arg("--no-act").arg(&self.device).output();
        State { traces, files, signatures: said(&probed.unwrap()) }
    }

    /// What there is once it is `expected`, or has had the time to become it: a program that was
    /// being started when its parent was killed ends by itself, when it next gets a CPU.
    pub(crate) fn settled(&self, expected: &State) -> State {
        let started = Instant::now();
        loop {
            let state = self.state();
            if state == *expected || started.elapsed() > SETTLING {
                return state;
            }
            sleep(SETTLING / 100);
        }
    }

    /// Starts a command; what it prints goes nowhere.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.desk.command(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Kills a run, undoes it, and says what undo told; an undo before that is killed itself.
    pub(crate) fn kill_and_undo(
        &self,
        run: &Run,
        child: &mut Child,
        undo_killed_after: Option<Duration>,
    ) -> String {
        child.kill().unwrap();
        child.wait().unwrap();
        self.take_down_what_is_to_stay(run);
        let groups = self.groups();
        if let Some(moment) = undo_killed_after {
            let mut undo = self.start(&["undo"]);
            sleep(moment);
            undo.kill().unwrap();
            undo.wait().unwrap();
        }
        let undone = self.desk.run(&["undo"]);
        assert_eq!(undone.code, 0, "{:?}: {undone}", run.arguments);
        let left: Vec<&PathBuf> = groups.iter().filter(|group| group.exists()).collect();
        assert!(left.is_empty(), "{:?} left {left:?}: {undone}", run.arguments);
        let again = self.desk.run(&["undo"]);
        assert!(again.out.starts_with("Nothing to undo"), "undo is idempotent: {again}");
        undone.out
    }

    /// A server whose starter was killed ends by itself if that came before its disks were up.
    pub(crate) fn take_down_what_is_to_stay(&self, run: &Run) {
        if run.ends == Ends::LeavesServer {
            wait_for("the server's end", || {
                self.desk.run(&["disk", "down", "--all", "--force"]);
                machine::processes(self.desk.path()).is_empty()
            });
        }
    }

    /// The control groups that runs which have not ended have announced.
    fn groups(&self) -> Vec<PathBuf> {
        let journals = self.desk.journals();
        let lines = journals.iter().flat_map(|journal| journal.lines());
        // One that was cut off was never acted upon.
        let entries = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let groups = entries.filter(|entry| entry["made"] == "cgroup");
        groups.map(|entry| entry["path"].as_str().unwrap().into()).collect()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.device).status();
    }
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap().trim().to_owned()
}

/// What is up on the machine because of a desk, and the files in it, without results and without
/// the directories of the state, which stay.
pub(crate) fn machine_and_files(desk: &Desk) -> (BTreeSet<String>, BTreeSet<PathBuf>) {
    let _ = fs::remove_dir_all(desk.path().join("out"));
    let mut files = BTreeSet::new();
    files_in(desk.path(), &mut files);
    for kept in ["state", "state/run", "state/undo"] {
        files.remove(&desk.path().join(kept));
    }
    (machine::traces_of(desk.path()), files)
}

fn files_in(directory: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_in(&path, found);
        }
        found.insert(path);
    }
}
