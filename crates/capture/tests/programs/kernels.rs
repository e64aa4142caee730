//! What older kernels make of the recorder.

use std::fs;
use std::path::Path;

use iotax_capture::Recorder;
use iotax_testing::{needs_bpf, needs_program};
use iotax_vm::KernelVm;

use crate::support::{DRIVERS, Driver};

/// Each kernel's verifier gives up after 1,000,000 instructions, but older ones need more for the
/// same program.
const MOST_INSTRUCTIONS: u64 = 200_000;
const DISK_BYTES: u64 = 2 << 30;

#[test]
fn the_verifier_checks_each_program_with_ease() {
    if !needs_bpf() {
        return;
    }
    let _recorder = Recorder::attach().unwrap();
    let entries = fs::read_dir("/proc/self/fdinfo").unwrap().flatten();
    let texts = entries.filter_map(|entry| fs::read_to_string(entry.path()).ok());
    let checked = |text: &str| -> Option<u64> {
        text.lines().find_map(|line| line.strip_prefix("verified_insns:")?.trim().parse().ok())
    };
    let checked: Vec<u64> = texts.filter_map(|text| checked(&text)).collect();
    assert!(!checked.is_empty());
    assert!(checked.iter().all(|count| *count < MOST_INSTRUCTIONS), "{checked:?}");
}

/// Runs this program's other tests in a guest with the kernel of Debian 12.
#[test]
fn programs_are_recorded_by_kernel_6_1() {
    let work = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let Some(vm) = KernelVm::new("6.1.", work, DISK_BYTES) else { return };
    if !needs_program("cc") {
        return;
    }
    let drivers = tempfile::tempdir_in(work).unwrap();
    for name in ["calls", "oracle"] {
        fs::copy(Driver::build(name).path(), drivers.path().join(name)).unwrap();
    }
    let tests = std::env::current_exe().unwrap();
    let (tests, drivers) = (tests.display(), drivers.path().display());
    // Requirements that are not met there fail the tests. Page faults need a real file system.
    let did = vm.run(&format!(
        "set -e
        mkfs.ext4 -q -F $DISK
        mount $DISK /tmp
        cd /tmp
        modprobe -a btrfs loop
        uname -r
        CI=true {DRIVERS}='{drivers}' '{tests}' --test-threads=1 calls:: each_io"
    ));
    let did = did.success();
    assert!(did.stdout.contains("test each_io_of_a_program_is_recorded ... ok"), "{did}");
    println!("{did}");
}
