//! `iotax layers` anywhere: with everything installed, and on a machine that has nothing.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use insta::assert_snapshot;
use iotax_experiment::Layer;
use iotax_testing::skipped;
use serde_json::Value;
use support::{Desk, Said};

/// Runs iotax as a user without any right, in an empty environment.
fn as_nobody(args: &[&str]) -> Option<Said> {
    // A copy, since nobody may not be let into the directory of the build.
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("iotax");
    std::fs::copy(assert_cmd::cargo::cargo_bin!("iotax"), &program).unwrap();
    let mut command = Command::new("chmod");
    assert!(command.args(["-R", "a+rx"]).arg(dir.path()).status().unwrap().success());
    let mut command = Command::new(program);
    command.args(args).env_clear().env("PATH", "/nonexistent").current_dir("/").uid(65534);
    match command.output() {
        Ok(output) => Some(Desk::new().said(&output)),
        Err(error) => {
            skipped(&format!("another user can only be had by root: {error}"));
            None
        }
    }
}

fn assert_fits(said: &Said) {
    assert_eq!(said.code, 0, "{said}");
    assert_eq!(said.err, "");
    let wide: Vec<_> = said.out.lines().filter(|line| line.chars().count() > 80).collect();
    assert_eq!(wide, Vec::<&str>::new());
    assert!(!said.out.contains('\x1b'), "no colours without a terminal");
}

#[test]
fn all_layers_are_listed() {
    let said = Desk::new().run(&["layers"]);
    assert_fits(&said);
    for layer in Layer::catalog() {
        let line = said.out.lines().find(|line| line.split_whitespace().next() == Some(layer.name));
        let answer = line.unwrap().split_whitespace().nth(1).unwrap();
        assert!(["yes", "no"].contains(&answer), "{}: {answer}", layer.name);
    }
}

#[test]
fn a_bare_machine_gets_every_reason_and_what_to_do() {
    let Some(said) = as_nobody(&["layers"]) else { return };
    assert_fits(&said);
    assert!(said.out.contains("not root: run as root (sudo)"), "{said}");
    for word in ["ext4", "qemu-luks", "dmcrypt", "tmpfs", "loop"] {
        let mut lines =
            said.out.lines().skip_while(|line| !line.starts_with(&format!("  {word} ")));
        let line = lines.next().unwrap();
        assert!(line.contains(" no "), "{line}");
        assert!(lines.take(3).any(|line| line.contains("(not root")), "{said}");
    }
    let aes = said.out.lines().find(|line| line.starts_with("  aes ")).unwrap();
    assert!(aes.contains(" yes "), "{aes}");
    let said = as_nobody(&["layers", "--format", "json"]).unwrap();
    let all: Value = serde_json::from_str(&said.out).unwrap();
    let all = all["layers"].as_array().unwrap();
    assert_eq!(all.len(), Layer::catalog().count());
    let needs = all.iter().flat_map(|layer| layer["needs_in_system"].as_array().unwrap());
    for need in needs {
        assert_eq!(need["met"].as_bool().unwrap(), need["remedy"].is_null(), "{need}");
        assert_eq!(need["problem"].is_null(), need["remedy"].is_null(), "{need}");
    }
}

#[test]
fn every_layer_is_explained_even_on_a_bare_machine() {
    for layer in Layer::catalog() {
        let said = Desk::new().run(&["layers", layer.name]);
        assert_fits(&said);
        assert!(said.out.contains(layer.example), "{said}");
    }
    let Some(said) = as_nobody(&["layers", "dmcrypt"]) else { return };
    assert_fits(&said);
    assert!(said.out.contains("no   root\n       not root: run as root (sudo)"), "{said}");
}

#[test]
fn one_layer_is_explained_with_its_parameters() {
    let said = Desk::new().run(&["layers", "delay"]);
    assert_snapshot!(said, @"
    delay: added latency; I/Os in flight wait in parallel
      Runs in iotax's own process; needs in-process layers below it.
      For example: delay(latency=260us)

    Parameters
      latency=DURATION
          mean added latency
      jitter=DURATION
          maximum deviation, plus or minus (default: 0)

    Needs
      nothing
    [exit 0]
    ");
}

#[test]
fn a_misspelt_layer_is_corrected() {
    assert_snapshot!(Desk::new().run(&["layers", "dmcript"]), @"
    error: unknown layer `dmcript`; did you mean `dmcrypt`?
    known layers: ALL
    [exit 2]
    ");
}

#[test]
fn colours_are_given_when_asked_for() {
    let said = Desk::new().run(&["layers", "--color", "always"]);
    assert!(said.out.contains("\x1b[32myes\x1b["), "{said}");
}
