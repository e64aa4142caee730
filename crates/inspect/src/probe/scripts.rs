//! Programs for tests.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::thread;
use std::time::Duration;

/// Far above what a shell line needs, so that only hanging programs reach it.
pub(super) const PATIENT: Duration = Duration::from_mins(1);

/// A directory with a program that runs these shell lines.
pub(super) fn with(name: &str, script: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    let lines = format!("#!/bin/sh\n[ -z \"$IS_TRIED\" ] || exit 0\n{script}\n");
    fs::write(&path, lines).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    // A child that another test is starting may still have the file open for writing.
    let is_busy = || {
        let tried = Command::new(&path).env("IS_TRIED", "1").status();
        tried.is_err_and(|error| error.kind() == ErrorKind::ExecutableFileBusy)
    };
    while is_busy() {
        thread::yield_now();
    }
    directory
}
