//! Runs the real binary in a directory of its own.
#![allow(dead_code, clippy::unwrap_used, reason = "each test binary uses its part")]

pub(crate) mod azure;
pub(crate) mod group;
pub(crate) mod peer;
mod schema;

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use iotax_experiment::Layer;
use serde_json::Value;
use tempfile::TempDir;

/// A place to run iotax in: a working directory and a state directory nobody else uses.
pub(crate) struct Desk {
    dir: TempDir,
}

/// What a command did.
pub(crate) struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// Waits until `ready`. However busy the machine is, it does not take ten minutes.
pub(crate) fn wait_for(what: &str, mut ready: impl FnMut() -> bool) {
    let started = Instant::now();
    while !ready() {
        assert!(started.elapsed() < Duration::from_mins(10), "waited ten minutes for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a program has come so far that Ctrl-C is caught, which is before it makes anything.
pub(crate) fn catches_ctrl_c(program: &Child) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", program.id()));
    let status = status.unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    caught.is_some_and(|set| set & 2 != 0)
}

impl Desk {
    pub(crate) fn new() -> Self {
        // Beside the build, not in /tmp, which is often a tmpfs without direct I/O.
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        Self { dir }
    }

    /// With the results in these directories of fixtures on it, under their own names.
    pub(crate) fn with_results(directories: &[&str]) -> Self {
        let desk = Self::new();
        for directory in directories {
            for entry in std::fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|e| e == "json" || e == "xml") {
                    std::fs::copy(&path, desk.path().join(path.file_name().unwrap())).unwrap();
                }
            }
        }
        desk
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("iotax"));
        command
            .args(args)
            .current_dir(self.path())
            .env("IOTAX_STATE_DIR", self.path().join("state"))
            .env_remove("NO_COLOR")
            .stdin(Stdio::null());
        command
    }

    /// Runs iotax to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Said {
        self.said(&self.command(args).output().unwrap())
    }

    /// What iotax says of arms that it can compare; results are in `out`. `facts`: see
    /// [`Self::facts`].
    pub(crate) fn compared(&self, arms: &[&str], facts: &[&str]) -> String {
        let said = self.run(&[&["compare", "--out", "out"], arms].concat());
        assert_eq!(said.code, 0, "{said}");
        assert_eq!(self.facts(), facts, "{said}");
        said.out
    }

    /// The comparisons in `out` as programs read them: what, verdict, tax with its interval, and
    /// how many results or blocks. A change of words cannot change them.
    pub(crate) fn facts(&self) -> Vec<String> {
        let said = self.run(&["report", "out", "--format", "json"]);
        let json: Value =
            serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said}"));
        let parts = json["phases"].as_array().map_or(std::slice::from_ref(&json), Vec::as_slice);
        let comparisons = parts.iter().flat_map(|part| part["comparisons"].as_array().unwrap());
        let fact = |one: &Value| {
            let word = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
            let share = |key: &str| one[key].as_f64().map_or("-".to_owned(), |n| format!("{n:.3}"));
            let [arm, metric, verdict] = ["arm", "metric", "verdict"].map(word);
            let [tax, lo, hi] = ["tax", "lo", "hi"].map(share);
            format!("{arm} {metric} {verdict} {tax} [{lo}, {hi}] {}", one["blocks"])
        };
        comparisons.map(fact).collect()
    }

    /// What a finished command did, with this desk's path called `DESK`.
    pub(crate) fn said(&self, output: &Output) -> Said {
        schema::check(&String::from_utf8_lossy(&output.stdout));
        let clean = |bytes: &[u8]| {
            String::from_utf8_lossy(bytes).replace(&self.path().display().to_string(), "DESK")
        };
        Said {
            code: output.status.code().unwrap_or(-1),
            out: clean(&output.stdout),
            err: clean(&output.stderr),
        }
    }

    /// Whether a run of this desk's has made something that it will have to unmake.
    pub(crate) fn has_something_up(&self) -> bool {
        // Its first line says whose it is; what the second announces is there with the third.
        self.journals().iter().any(|journal| journal.lines().count() > 2)
    }

    /// The journals of runs of this desk's that have not been undone.
    pub(crate) fn journals(&self) -> Vec<String> {
        let files = std::fs::read_dir(self.path().join("state/undo")).into_iter().flatten();
        files.flatten().filter_map(|file| std::fs::read_to_string(file.path()).ok()).collect()
    }

    /// Names in the working directory, without the state directory.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.retain(|name| name != "state");
        names.sort();
        names
    }
}

/// A test that fails may leave disks up, or a run that it was about to stop.
impl Drop for Desk {
    fn drop(&mut self) {
        if std::thread::panicking() && !self.journals().is_empty() {
            for words in [&["disk", "down", "--all", "--force"][..], &["undo"]] {
                drop(self.command(words).output());
            }
        }
    }
}

/// A list of all layers is `ALL`, so that a new one leaves snapshots as they are.
impl std::fmt::Display for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let layers: Vec<_> = Layer::catalog().map(|layer| layer.name).collect();
        let err = self.err.replace(&layers.join(", "), "ALL");
        write!(f, "{}{err}[exit {}]", self.out, self.code)
    }
}
