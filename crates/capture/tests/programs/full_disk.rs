//! A disk that is full before the recording is written.

use std::path::{Path, PathBuf};
use std::process::Command;

use iotax_capture::{Recorded, Subject};
use iotax_testing::{needs_bpf, needs_program};
use iotax_trace::Op;

use crate::support::{Driver, Trace, record};

/// A small file system in memory.
pub(crate) struct Small(tempfile::TempDir);

impl Small {
    pub(crate) fn new(kib: u32) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let size = format!("size={kib}k");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(directory.path());
        assert!(mount.status().unwrap().success());
        Self(directory)
    }

    pub(crate) fn output(&self) -> PathBuf {
        self.0.path().join("app.iotx")
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        assert!(Command::new("umount").arg(self.0.path()).status().unwrap().success());
    }
}

fn recorded(place: &Path, output: &Path) -> Option<Recorded> {
    if !needs_bpf() || !needs_program("cc") {
        return None;
    }
    let driver = Driver::build("calls");
    let command = vec![driver.path().into(), "many".into(), place.into()];
    let mut done = record(&Subject::Command(command), output, &mut || ());
    if let Some(child) = &mut done.child {
        assert!(child.wait().unwrap().success(), "the program goes on");
    }
    Some(done)
}

/// What was saved, as the error says and as a reader finds it.
pub(crate) fn is_saved(done: Recorded, output: &Path) {
    let error = done.failure.unwrap().to_string();
    assert!(error.contains("No space left on device"), "{error}");
    assert_eq!(done.reason, None);
    let trace = Trace::read(output);
    assert!(trace.events.len() >= 65_536, "{}", trace.events.len());
    assert!(trace.of(Op::Write).len() > 60_000);
    let number = iotax_quantity::count(trace.events.len() as u64, "event");
    assert!(error.contains(&format!("the first {number} (")), "{error}");
}

#[test]
fn what_was_written_before_the_disk_was_full_is_kept() {
    let small = Small::new(700);
    let place = tempfile::tempdir().unwrap();
    let Some(done) = recorded(place.path(), &small.output()) else { return };
    assert!(!done.was_held);
    is_saved(done, &small.output());
}

#[test]
fn as_much_as_fits_is_kept_of_a_recording_in_memory() {
    let small = Small::new(700);
    let Some(done) = recorded(small.0.path(), &small.output()) else { return };
    assert!(done.was_held);
    is_saved(done, &small.output());
}

#[test]
fn nothing_is_left_of_a_recording_of_which_nothing_fits() {
    let small = Small::new(60);
    let place = tempfile::tempdir().unwrap();
    let Some(done) = recorded(place.path(), &small.output()) else { return };
    let error = done.failure.unwrap().to_string();
    assert!(error.contains("nothing was saved; free space"), "{error}");
    assert!(!small.output().exists());
}
