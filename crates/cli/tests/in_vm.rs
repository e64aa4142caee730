//! iotax on layers that only a virtual machine has for sure. Skipped loudly where there is none.
#![allow(clippy::unwrap_used, reason = "tests")]

mod vm;

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

const MIB: u64 = 1 << 20;
const CRYPT: [(&str, &str); 3] =
    [("cryptsetup", "cryptsetup-bin"), ("dmsetup", "dmsetup"), ("mkfs.ext4", "e2fsprogs")];
const TRACES: &str = include_str!("vm/traces.sh");

#[test]
fn past_the_work_queues_a_search_engine_reads_and_loads_faster_from_dm_crypt() {
    let Some(vm) = vm::guest(1024 * MIB).and_then(|vm| vm.with_programs(&CRYPT)) else { return };
    let vm = vm.alone().memory(256 * MIB).limit(Duration::from_mins(5));
    let script = format!("{TRACES}\nBLOCKS=5\n{}", include_str!("vm/work-queues.sh"));
    let compare = || {
        let did = vm.run(&script).success();
        let said: Value = serde_json::from_str(&did.text("compare.json")).unwrap();
        let verdict = |metric: &str| {
            let all = said["comparisons"].as_array().unwrap();
            let found = all.iter().find(|comparison| comparison["metric"] == metric).unwrap();
            found["verdict"].as_str().unwrap().to_owned()
        };
        (["throughput", "load_time"].map(verdict), did)
    };
    let (mut verdicts, mut did) = compare();
    // Something else that begins or ends meanwhile makes noise of which nothing can be told.
    if verdicts.iter().any(|verdict| verdict == "undecided") {
        (verdicts, did) = compare();
    }
    assert_eq!(verdicts, ["faster", "faster"], "{did}");
    // How docs/examples/work-queues is made.
    if let Some(example) = std::env::var_os("IOTAX_TEST_EXAMPLE") {
        let keep = |from: &str, name| fs::copy(did.file(from), Path::new(&example).join(name));
        keep("record/report.html", "report.html").unwrap();
        keep("compare.txt", "summary.txt").unwrap();
    }
}

#[test]
fn a_hung_script_is_ended_and_what_it_wrote_kept() {
    let Some(vm) = vm::guest(MIB) else { return };
    let did = vm.limit(Duration::from_secs(1)).run("echo before; sleep 100 & sleep 100");
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
