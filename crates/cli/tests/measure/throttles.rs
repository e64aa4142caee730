//! Caps of real throttles: the kernel's for a cgroup, and qemu-storage-daemon's. Needs root and
//! FUSE; skipped loudly without. docs/benchmarks.md has measured figures. The bounds here are wide,
//! because a busy machine serves less than a cap allows.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use iotax_testing::{needs_fuse, needs_programs};
use serde_json::Value;

use crate::support::Desk;

fn desk(programs: &[&str]) -> Option<Desk> {
    (needs_fuse() && needs_programs(programs)).then(Desk::new)
}

/// What is found; a search that a busy machine has ended early is made again, and said.
fn caps(desk: &Desk, target: &str) -> Value {
    for attempt in 1..=3 {
        let said = desk.run(&["limits", target, "--quick", "--no-metadata", "--format", "json"]);
        if said.code == 0 {
            let found: Value = serde_json::from_str(&said.out).unwrap();
            return found["targets"][0].clone();
        }
        eprintln!("attempt {attempt}: exit code {}: {}{}", said.code, said.err, said.out);
    }
    panic!("no search came to its end");
}

/// Whether the interval reaches into what a busy machine may be served. A limiter that lets I/Os
/// through in batches makes it wide.
fn is_near(cap: &Value, truth: f64) -> bool {
    let ends = cap["lo"].as_f64().zip(cap["hi"].as_f64());
    ends.is_some_and(|(lo, hi)| lo <= 1.05 * truth && hi >= 0.7 * truth)
}

#[test]
fn the_cap_of_a_cgroup_is_found() {
    let Some(desk) = desk(&[]) else { return };
    let target = caps(&desk, "file(size=256M) + loop + cgroup-io(read_iops=500)");
    assert!(is_near(&target["iops"], 500.0), "{target:#}");
    assert_eq!(target["evidence"]["is_plateau"], true, "{target:#}");
}

#[test]
fn the_caps_of_a_throttle_group_are_found() {
    let Some(desk) = desk(&["qemu-storage-daemon"]) else { return };
    let (image, export) = (desk.path().join("image"), desk.path().join("export"));
    // Holes would be answered without the image.
    fs::write(&image, vec![0xa5; 256 << 20]).unwrap();
    fs::write(&export, []).unwrap();
    let _daemon = Daemon::start(&[
        "--object",
        "throttle-group,id=group,x-iops-total=500,x-bps-total=16000000",
        "--blockdev",
        &format!("driver=file,node-name=file,filename={}", image.display()),
        "--blockdev",
        "driver=raw,node-name=raw,file=file",
        "--blockdev",
        "driver=throttle,node-name=slow,throttle-group=group,file=raw",
        "--export",
        &format!("type=fuse,id=e,node-name=slow,mountpoint={},writable=off", export.display()),
    ]);
    let started = Instant::now();
    while fs::metadata(&export).unwrap().len() == 0 {
        assert!(started.elapsed() < Duration::from_secs(30), "the export does not appear");
        sleep(Duration::from_millis(50));
    }
    let target = caps(&desk, export.to_str().unwrap());
    assert!(is_near(&target["iops"], 500.0), "{target:#}");
    assert!(is_near(&target["bw_bytes"], 16e6), "{target:#}");
}

/// Ends with the test, whatever becomes of it.
struct Daemon(Child);

impl Daemon {
    fn start(args: &[&str]) -> Self {
        let mut command = Command::new("qemu-storage-daemon");
        Self(command.args(args).stdin(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.0);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.0.wait();
    }
}
