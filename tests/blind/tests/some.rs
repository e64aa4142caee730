//! Situations whose cause shows however busy the machine is; the others are for a quiet one. Needs
//! root, FUSE and loop devices; skipped loudly without.
#![allow(clippy::print_stderr, reason = "skipping is said")]

use std::path::Path;
use std::process::Command;

#[test]
fn planted_causes_are_named_and_healthy_controls_are_not_accused() {
    let is_root = rustix::process::geteuid().is_root();
    let ready = is_root && Path::new("/dev/fuse").exists();
    assert!(ready || std::env::var_os("CI").is_none(), "CI must be root and have /dev/fuse");
    if !ready {
        eprintln!("SKIPPED blind test: needs root and /dev/fuse");
        return;
    }
    let has_guest = Path::new("/usr/bin/linux.uml").exists();
    assert!(has_guest || std::env::var_os("CI").is_none(), "CI must have user-mode-linux");
    if !has_guest {
        eprintln!("SKIPPED blind test of dm-crypt: needs user-mode-linux");
    }
    let in_guest: &[&str] = if has_guest { &["--only", "on dm-crypt"] } else { &[] };
    let said = Command::new(env!("CARGO_BIN_EXE_iotax-blind"))
        .arg("--iotax")
        .arg(assert_cmd::cargo::cargo_bin("iotax"))
        .args(["--verbose", "--only", "cut into", "--only", "sync", "--only", "short read-ahead"])
        .args(in_guest)
        .output();
    let said = said.unwrap_or_else(|error| panic!("iotax-blind cannot be started: {error}"));
    let text = String::from_utf8_lossy(&said.stdout) + String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success(), "{text}");
    let found = 3 + usize::from(has_guest);
    let expected = format!("{found} of {found} planted causes named first");
    assert!(text.contains(&expected), "{text}");
}
