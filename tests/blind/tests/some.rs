//! Situations whose cause shows however busy the machine is; the others are for a quiet one. Needs
//! root, FUSE and loop devices; skipped loudly without.
use std::process::Command;

use iotax_testing::{needs_fuse, needs_program};

#[test]
fn planted_causes_are_named_and_healthy_controls_are_not_accused() {
    if !needs_fuse() {
        return;
    }
    let has_guest = needs_program("linux.uml");
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
