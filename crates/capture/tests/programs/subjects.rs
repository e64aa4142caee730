//! Which processes are recorded, and what is known of them when the recording begins.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use iotax_capture::{Error, Subject};
use iotax_testing::{needs, needs_bpf, needs_program};
use iotax_trace::{EndReason, Op, Unseen};

use crate::support::{
    Driver, Trace, let_go, make_pipes, meet, record_program, record_while, wait_for_reports,
    wait_until,
};

fn driver() -> Option<Driver> {
    (needs_bpf() && needs_program("cc")).then(|| Driver::build("calls"))
}

#[test]
fn files_that_are_open_or_mapped_before_are_known() {
    let Some(driver) = driver() else { return };
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    make_pipes(place);
    fs::write(place.join("open"), [7; 5000]).unwrap();
    fs::write(place.join("mapped"), vec![7; 65536]).unwrap();
    let mut running = driver.start("before", place);
    meet(place);
    let output = tempfile::tempdir().unwrap();
    let subject = Subject::Processes(vec![running.id()]);
    let trace = record_while(&subject, &output.path().join("x.iotx"), |reports| {
        wait_for_reports(reports, 1);
        let_go(place);
        assert!(running.wait().unwrap().success());
    });
    assert_eq!(trace.files[trace.written(100) as usize].size_bytes, 5000);
    let synced = trace.of(Op::Msync);
    assert_eq!((synced.len(), synced[0].offset), (1, 8192));
    assert_eq!(trace.files[synced[0].file as usize].size_bytes, 65536);
}

#[test]
fn a_child_is_recorded_after_its_parent_has_ended() {
    let Some(driver) = driver() else { return };
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    make_pipes(place);
    let mut parent = driver.start("orphan", place);
    meet(place);
    let subject = Subject::Processes(vec![parent.id()]);
    let output = tempfile::tempdir().unwrap();
    let trace = record_while(&subject, &output.path().join("x.iotx"), |reports| {
        wait_for_reports(reports, 1);
        let_go(place);
        assert!(parent.wait().unwrap().success());
        let now = reports.load(Ordering::SeqCst);
        // If it ended with its parent, the recorder would not report again.
        wait_for_reports(reports, now + 2);
        fs::write(place.join("gone"), "").unwrap();
    });
    trace.only(Op::Write, 300);
    assert_eq!(trace.end.unwrap().reason, Some(EndReason::Gone));
}

/// A control group, removed at the end.
struct Group(PathBuf);

impl Group {
    fn new(hierarchy: &Path, name: &str) -> Self {
        let path = hierarchy.join(format!("iotax-test-{name}-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        fs::create_dir(path.join("below")).unwrap();
        Self(path)
    }

    fn add(&self, pid: u32) {
        fs::write(self.0.join("cgroup.procs"), pid.to_string()).unwrap();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for path in [self.0.join("below"), self.0.clone()] {
            // It is busy until the kernel has cleaned up after its last process.
            wait_until(|| fs::remove_dir(&path).is_ok() || !path.exists());
        }
    }
}

/// The hierarchy of version 2, and one of version 1.
fn hierarchies() -> Vec<PathBuf> {
    let root = Path::new("/sys/fs/cgroup");
    [root.to_owned(), root.join("unified"), root.join("pids")]
        .into_iter()
        .filter(|path| path.join("cgroup.procs").exists())
        .collect()
}

#[test]
fn who_joins_a_group_later_is_recorded() {
    let Some(driver) = driver() else { return };
    if !needs(!hierarchies().is_empty(), "control groups") {
        return;
    }
    for (number, hierarchy) in hierarchies().iter().enumerate() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path();
        make_pipes(place);
        fs::write(place.join("open"), [7; 5000]).unwrap();
        fs::write(place.join("mapped"), vec![7; 65536]).unwrap();
        let group = Group::new(hierarchy, &format!("joined{number}"));
        let mut idle = Command::new("sleep").arg("600").spawn().unwrap();
        group.add(idle.id());
        let mut other = driver.start("before", place);
        meet(place);
        let output = tempfile::tempdir().unwrap();
        let subject = Subject::Group(group.0.clone());
        let trace = record_while(&subject, &output.path().join("x.iotx"), |reports| {
            wait_for_reports(reports, 1);
            fs::write(group.0.join("below/cgroup.procs"), other.id().to_string()).unwrap();
            let now = reports.load(Ordering::SeqCst);
            wait_for_reports(reports, now + 1);
            let_go(place);
            assert!(other.wait().unwrap().success());
            idle.kill().unwrap();
            idle.wait().unwrap();
        });
        assert!(!trace.unseen.contains(&Unseen::LaterMembers));
        assert_eq!(trace.files[trace.written(100) as usize].size_bytes, 5000, "{hierarchy:?}");
        assert_eq!(trace.of(Op::Msync).len(), 1);
        assert_eq!(trace.end.unwrap().reason, Some(EndReason::Gone));
    }
}

#[test]
fn who_is_started_in_a_group_is_recorded() {
    let Some(driver) = driver() else { return };
    let is_second = |path: &&PathBuf| path.join("cgroup.controllers").exists();
    let hierarchies = hierarchies();
    let hierarchy = hierarchies.iter().find(is_second);
    if !needs(hierarchy.is_some(), "control groups of version 2") {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    make_pipes(place);
    let group = Group::new(hierarchy.unwrap(), "started");
    std::os::unix::fs::symlink(&group.0, place.join("group")).unwrap();
    let mut idle = Command::new("sleep").arg("600").spawn().unwrap();
    group.add(idle.id());
    let mut starter = driver.start("into-group", place);
    meet(place);
    let output = tempfile::tempdir().unwrap();
    let subject = Subject::Group(group.0.clone());
    let trace = record_while(&subject, &output.path().join("x.iotx"), |reports| {
        wait_for_reports(reports, 1);
        let_go(place);
        assert!(starter.wait().unwrap().success());
        idle.kill().unwrap();
        idle.wait().unwrap();
    });
    trace.only(Op::Write, 400);
}

#[test]
fn files_of_others_that_cannot_be_read_are_named() {
    if !needs_program("setpriv") {
        return;
    }
    let Some(driver) = driver() else { return };
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    make_pipes(place);
    fs::write(place.join("open"), [7; 5000]).unwrap();
    fs::write(place.join("mapped"), vec![7; 65536]).unwrap();
    let mut running = driver.start("before", place);
    meet(place);
    let output = tempfile::tempdir().unwrap();
    let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(output.path(), everybody).unwrap();
    let (program, trace) = (output.path().join("record"), output.path().join("x.iotx"));
    // The build directory may be closed to others.
    fs::copy(record_program(), &program).unwrap();
    let rights = "+bpf,+perfmon";
    let mut recorder = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .args([format!("--inh-caps={rights}"), format!("--ambient-caps={rights}")])
        .arg(program)
        .arg(&trace)
        .arg(running.id().to_string())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It says when it records.
    let mut said = std::io::BufReader::new(recorder.stderr.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut said, &mut line).unwrap();
    assert_eq!(line, "recording\n");
    let_go(place);
    assert!(running.wait().unwrap().success());
    assert!(recorder.wait().unwrap().success());
    let trace = Trace::read(&trace);
    trace.only(Op::Write, 100);
    assert!(trace.unseen.contains(&Unseen::OpenFiles), "{:?}", trace.unseen);
}

#[test]
fn an_empty_group_is_an_error() {
    if !needs_bpf() || !needs(!hierarchies().is_empty(), "control groups") {
        return;
    }
    let group = Group::new(&hierarchies()[0], "empty");
    let output = tempfile::tempdir().unwrap().path().join("x.iotx");
    let recorder = iotax_capture::Recorder::attach().unwrap();
    let subject = Subject::Group(group.0.clone());
    let request = iotax_capture::Request {
        subject: &subject,
        output: &output,
        head: crate::support::head(),
        limits: crate::support::LIMITS,
    };
    let result = recorder.record(request, &AtomicBool::new(false), &mut |_| ());
    assert!(matches!(result, Err(Error::EmptyGroup { .. })));
    assert!(!output.exists());
}
