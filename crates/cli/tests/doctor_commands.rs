//! The commands that the doctor suggests are ones that this program takes.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use iotax_diagnose::findings;
use iotax_experiment::CloudChoice;
use iotax_inspect::ProbeOptions;
use iotax_record::Machine;
use iotax_record::machine::{PathKind, PathSeen};
use iotax_testing::skipped;

/// The commands that are suggested for a machine whose paths all lie in `home`.
fn suggested(file: &Path, home: &Path) -> Vec<String> {
    let mut machine: Machine =
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let moved = |path: &str| home.join(path.trim_start_matches('/')).to_str().unwrap().to_owned();
    // Peers are no paths.
    for path in machine.paths.iter_mut().filter(|path| path.kind != Some(PathKind::Peer)) {
        path.path = moved(&path.path);
        std::fs::create_dir_all(&path.path).unwrap();
    }
    for limits in &mut machine.groups.io {
        limits.path = moved(&limits.path);
    }
    let disk = match file.file_stem().unwrap().to_str().unwrap() {
        "aws-r6i-4xlarge-gp3" => Some("gp3:size=500G,iops=6000,bw=250M"),
        _ => None,
    };
    let disks = disk.into_iter().map(str::to_owned).collect();
    let findings = findings(&machine, &CloudChoice { disks, ..CloudChoice::default() });
    findings.into_iter().flat_map(|finding| finding.commands).collect()
}

/// What a shell makes of a command, if what is called is only asked what it would do.
fn asked(command: &str) -> (bool, String) {
    // The search for caps has no plan; its arguments are read before help is given.
    let ask = if command.starts_with("iotax limits ") { r#""$@" --help"# } else { r#"plan "$@""# };
    let script = format!("iotax() {{ \"$IOTAX\" {ask}; }}\n{command}");
    let output = Command::new("sh")
        .args(["-c", &script])
        .env("IOTAX", env!("CARGO_BIN_EXE_iotax"))
        .output()
        .unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn every_suggested_command_can_be_planned() {
    let home = tempfile::Builder::new().prefix("it's a disk ").tempdir().unwrap();
    let machines = Path::new(env!("CARGO_MANIFEST_DIR")).join("../diagnose/tests/machines");
    let files = std::fs::read_dir(machines).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|file| file.extension().is_some_and(|end| end == "json"));
    let commands: BTreeSet<_> = files.flat_map(|file| suggested(&file, home.path())).collect();
    assert!(commands.len() > 40, "{commands:?}");
    for command in &commands {
        let (is_taken, says) = asked(command);
        assert!(is_taken, "{command}\n{says}");
    }
    for wrong in ["iotax run no-such-workload /tmp", "iotax limits --no-such-option /tmp"] {
        assert!(!asked(wrong).0, "{wrong}");
    }
}

/// What is suggested for a path of this machine if the findings of a machine with every fault held
/// of it.
fn suggested_for(path: &Path) -> Vec<String> {
    let look = ProbeOptions {
        metadata: None,
        programs: Vec::new(),
        watch: Duration::ZERO,
        environment: None,
    };
    let seen = iotax_inspect::machine(&[path], &[], &look).paths.remove(0);
    assert_eq!(seen.problem, None);
    let machines = Path::new(env!("CARGO_MANIFEST_DIR")).join("../diagnose/tests/machines");
    let text = std::fs::read_to_string(machines.join("workshop.json")).unwrap();
    let mut machine: Machine = serde_json::from_str(&text).unwrap();
    machine.paths = vec![PathSeen { top: machine.paths[0].top, ..seen }];
    let findings = findings(&machine, &CloudChoice::default());
    assert!(findings.len() > 3, "{findings:#?}");
    findings.into_iter().flat_map(|finding| finding.commands).collect()
}

/// Runs a suggested load for a moment, in a directory of its own.
fn really_run(command: &str) {
    let moment = "--set size=4M --time 100ms --ramp 50ms --out out";
    let script = format!("iotax() {{ \"$IOTAX\" \"$@\" {moment}; }}\n{command}");
    let desk = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // Names that are escaped want a shell that knows `$'...'`.
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(desk.path())
        .env("IOTAX", env!("CARGO_BIN_EXE_iotax"))
        .env("IOTAX_STATE_DIR", desk.path().join("state"))
        .output()
        .unwrap();
    let says = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}\n{says}");
}

/// One command for each workload that can be run in a moment.
fn loads(commands: &[String]) -> Vec<&String> {
    let workloads = ["randread-4k", "seqread-1m", "randwrite-4k", "seqwrite-1m"];
    let first = |workload: &&str| {
        let start = format!("iotax run {workload} ");
        commands.iter().find(|line| line.starts_with(&start) && !line.contains("--time"))
    };
    workloads.iter().filter_map(first).collect()
}

#[test]
fn what_is_suggested_for_a_path_of_any_kind_really_runs() {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let at = |name: &str| home.path().join(name);
    let (large, small, socket, fifo) = (at("large"), at("small"), at("socket"), at("fifo"));
    File::create(&large).unwrap().set_len(64 << 20).unwrap();
    std::fs::write(&small, "a few bytes").unwrap();
    // Names of sockets are short.
    let sockets = tempfile::tempdir().unwrap();
    let _listener = UnixListener::bind(sockets.path().join("s")).unwrap();
    std::fs::rename(sockets.path().join("s"), &socket).unwrap_or_else(|_| {
        std::fs::write(&socket, "").unwrap();
    });
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let newline = at("two\nlines");
    std::fs::create_dir(&newline).unwrap();
    for path in [large, small, socket, fifo, newline] {
        let commands = suggested_for(&path);
        let loads = loads(&commands);
        assert!(loads.len() >= 2, "{}: {commands:#?}", path.display());
        for command in loads {
            really_run(command);
        }
    }
}

#[test]
fn a_name_that_is_no_text_is_shown_for_a_shell_and_is_in_no_command() {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = home.path().join(OsStr::from_bytes(b"a\xff"));
    std::fs::create_dir(&path).unwrap();
    // What lies below it can be read.
    let commands = suggested_for(&path);
    assert!(commands.iter().all(|command| command.contains("/dev/")), "{commands:#?}");
    let said = Command::new(env!("CARGO_BIN_EXE_iotax"))
        .args(["doctor", "--no-metadata"])
        .arg(&path)
        .output()
        .unwrap();
    assert!(said.status.success());
    let text = String::from_utf8(said.stdout).unwrap();
    assert!(text.starts_with("$'") && text.contains(r"/a\377'"), "{text}");
}

/// A loop device, gone when it is dropped.
struct Loop(PathBuf);

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.0).status();
    }
}

#[test]
fn a_device_is_only_read() {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = home.path().join("file");
    File::create(&file).unwrap().set_len(64 << 20).unwrap();
    let made = Command::new("losetup").args(["--find", "--show"]).arg(&file).output();
    let Some(made) = made.ok().filter(|made| made.status.success()) else {
        return skipped("needs root and losetup");
    };
    let device = Loop(PathBuf::from(String::from_utf8(made.stdout).unwrap().trim()));
    let commands = suggested_for(&device.0);
    let loads = loads(&commands);
    assert!(!loads.is_empty() && loads.iter().all(|load| load.contains("read")), "{commands:#?}");
    for command in loads {
        really_run(command);
    }
}
