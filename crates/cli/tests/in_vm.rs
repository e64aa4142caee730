//! The virtual machine that tests of layers use. Skipped loudly where there is none.
#![allow(clippy::unwrap_used, reason = "tests")]

mod vm;

use std::fs;
use std::time::Duration;

const MIB: u64 = 1 << 20;

#[test]
fn a_hung_script_is_ended_and_what_it_wrote_kept() {
    let Some(vm) = vm::guest(MIB) else { return };
    let did = vm.limit(Duration::from_secs(5)).run("echo before; sleep 100 & sleep 100");
    assert_eq!((did.status, did.stdout.as_str()), (124, "before\n"), "{did}");
}

#[test]
fn the_guest_writes_nowhere_but_into_its_share() {
    let Some(vm) = vm::guest(MIB) else { return };
    let mark = format!("/usr/iotax-vm-test-{}", std::process::id());
    let did = vm.run(&format!("echo guest >{mark} && cp {mark} kept; exit 3"));
    assert_eq!((did.status, did.text("kept").as_str()), (3, "guest\n"), "{did}");
    assert!(fs::metadata(&mark).is_err(), "{mark} came through");
}

#[test]
fn a_guest_that_dies_shows_its_console() {
    let Some(vm) = vm::guest(MIB) else { return };
    let Err(console) = vm.try_run("echo c >/proc/sysrq-trigger; sleep 100") else {
        panic!("it lived")
    };
    assert!(console.contains("Kernel panic"), "{console}");
}
