//! Full and read-only file systems, which only root can make. Skipped loudly for others.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use insta::assert_snapshot;
use iotax_testing::needs;
use support::Desk;

/// A tmpfs of its own; gone when dropped.
struct Mount(PathBuf);

impl Mount {
    /// `None`, said loudly, if this user may not mount.
    fn tmpfs(at: PathBuf, options: &str) -> Option<Self> {
        fs::create_dir(&at).unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "iotax-test"])
            .arg(&at)
            .output();
        let mounted = mount.is_ok_and(|output| output.status.success());
        needs(mounted, "root, to mount a tmpfs").then(|| Self(at))
    }

    fn names(&self) -> Vec<PathBuf> {
        fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path()).collect()
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn lines(path: &Path) -> usize {
    fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

#[test]
fn a_disk_too_small_for_the_test_data_is_refused_before_anything_is_written() {
    let desk = Desk::new();
    let Some(small) = Mount::tmpfs(desk.path().join("small"), "size=8M") else { return };
    let said = desk.run(&[
        "run", "randread-4k", "small", "--set", "size=64M", "--set", "direct=false", "--out", "out",
    ]);
    assert_snapshot!(said);
    assert_eq!(small.names(), Vec::<PathBuf>::new());
}

/// 307 GiB as published; never written here.
#[test]
fn a_suite_fits_itself_to_the_space_there_is() {
    let desk = Desk::new();
    let Some(_small) = Mount::tmpfs(desk.path().join("small"), "size=4G") else { return };
    let suite = ["plan", "run", "provider-baseline", "small", "--set", "direct=false"];
    let plan = desk.run(&suite).out;
    let (_, files) = plan.split_once("Files\n").unwrap();
    assert_snapshot!(files.split("\n\n").next().unwrap(), @"  test files shrunk from 307G to 3520M, because target has room for only 3686M");
    assert!(!plan.contains("be refused"), "{plan}");
    let plan = desk.run(&[&suite[..], &["--scale", "1"]].concat()).out;
    let (_, refused) = plan.split_once("refuse this run\n").unwrap();
    // Where a line ends goes with the length of the path.
    let refused = refused.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_snapshot!(refused.replace(&desk.path().display().to_string(), "DESK"), @"arm target: DESK/small: needs 307 GiB of free space, but only 4 GiB is available; free some space, or choose smaller sizes use --scale 0.01");
}

#[test]
fn a_stack_on_a_disk_too_small_is_refused_before_anything_is_written() {
    let desk = Desk::new();
    let Some(small) = Mount::tmpfs(desk.path().join("small"), "size=8M") else { return };
    let said = desk.run(&["run", "randread-4k", "file(size=64M) + aes", "--dir", "small"]);
    assert_snapshot!(said.to_string().replace(|c: char| c.is_ascii_digit(), "#"));
    assert_eq!(small.names(), Vec::<PathBuf>::new());
}

#[test]
fn a_read_only_directory_is_refused() {
    let desk = Desk::new();
    let Some(_fixed) = Mount::tmpfs(desk.path().join("fixed"), "size=8M,ro") else { return };
    assert_snapshot!(desk.run(&["run", "randread-4k", "fixed", "--out", "out"]));
}

#[test]
fn results_cannot_go_to_a_read_only_directory() {
    let desk = Desk::new();
    let Some(_fixed) = Mount::tmpfs(desk.path().join("fixed"), "size=8M,ro") else { return };
    assert_snapshot!(desk.run(&["run", "randread-4k", "mem(size=4M)", "--out", "fixed/out"]));
}

#[test]
fn when_the_disk_of_the_results_fills_up_the_trials_so_far_stay() {
    let desk = Desk::new();
    let Some(_small) = Mount::tmpfs(desk.path().join("small"), "size=64k") else { return };
    let said = desk.run(&[
        "run", "randread-4k", "mem(size=4M)", "-n", "500", "--time", "200ms", "--ramp", "0s",
        "--out", "small/out",
    ]);
    assert_eq!(said.code, 3, "{said}");
    assert!(said.err.contains("cannot write results to small/out/trials.jsonl"), "{said}");
    assert!(said.err.contains("trials measured so far are kept"), "{said}");
    assert!(said.out.contains("randread-4k:"), "the results so far are shown: {said}");
    let kept = lines(&desk.path().join("small/out/trials.jsonl"));
    assert!(kept >= 2, "{kept} lines");
    let report = desk.run(&["report", "small/out", "--format", "csv"]);
    assert!(report.out.lines().count() >= kept, "{report}");
}

/// Runs a script in a mount namespace of its own, where nothing that it mounts is seen elsewhere.
/// `None`, said loudly, if this user may not.
fn among_own_mounts(desk: &Desk, script: &str) -> Option<String> {
    let run = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", script]).current_dir(desk.path());
        command.env("IOTAX", env!("CARGO_BIN_EXE_iotax")).output()
    };
    let can = run("mkdir own && mount -t tmpfs iotax-test own");
    if !needs(can.is_ok_and(|output| output.status.success()), "root, to make a mount namespace") {
        return None;
    }
    let said = desk.said(&run(script).unwrap());
    assert_eq!(said.code, 0, "{said}");
    Some(said.out)
}

const DOCTOR: &str = "\"$IOTAX\" doctor --no-metadata";

#[test]
fn the_doctor_sees_all_mounts_beside_one_whose_name_is_no_text() {
    let desk = Desk::new();
    let script = format!(
        r#"odd=$(printf 'odd\377'); mkdir "$odd" && mount -t tmpfs odd "$odd" && {DOCTOR} own "$odd""#
    );
    let script = format!("mount -t tmpfs plain own && {script}");
    let Some(said) = among_own_mounts(&desk, &script) else { return };
    assert!(said.contains("own\n└─ tmpfs on DESK/own\n      plain,"), "{said}");
    assert!(said.contains("$'odd\\377'\n└─ tmpfs on DESK/odd\u{fffd}\n      odd,"), "{said}");
}

#[test]
fn the_doctor_says_what_it_cannot_see_without_the_kernels_file_systems() {
    let desk = Desk::new();
    for (hidden, what) in
        [("/sys", "block devices"), ("/proc", "mounts, memory and control groups")]
    {
        let script = format!("mount -t tmpfs none {hidden} && {DOCTOR} .");
        let Some(said) = among_own_mounts(&desk, &format!("rmdir own; {script}")) else { return };
        let expected = format!("- {what}: with {hidden} mounted: iotax doctor");
        assert!(said.contains(&expected), "{said}");
        let _ = fs::remove_dir(desk.path().join("own"));
    }
}

#[test]
fn the_doctor_tells_of_each_of_many_paths_among_many_mounts() {
    let desk = Desk::new();
    // Mounts on one another are as many lines for whoever looks for one.
    let script = format!(
        "i=0; while [ $i -lt 300 ]; do mount -t tmpfs m$i own; i=$((i+1)); done; \
         mkdir own/d && (cd own && seq 300 | xargs mkdir) && {DOCTOR} own/[0-9]*"
    );
    let Some(said) = among_own_mounts(&desk, &script) else { return };
    let (seen, late) = (said.matches("m299, ").count(), said.matches("not looked at: ").count());
    assert!(seen >= 1, "{said}");
    // Each path is told, whether there was time for it or not.
    assert_eq!(said.matches("\n└─ tmpfs on DESK/own").count() + late, 300, "{said}");
}
