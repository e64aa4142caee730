//! Delays of the mount as a clock sees them. Not part of `cargo test`, because a busy machine
//! decides them; `cargo xtask measure` runs them. Needs root and `/dev/fuse`.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use iotax_layers::{Delay, Layer, Mem};
use iotax_testing::needs_fuse;
use iotax_vdisk::fuse::{MountOptions, mount};
use iotax_vdisk::{MonotonicClock, VirtualDisk};

#[test]
fn delayed_requests_wait_at_the_same_time() {
    if !needs_fuse() {
        return;
    }
    let latency_ns = 50_000_000;
    let mem = Layer::Mem(Mem { size_bytes: 1 << 20 });
    let delay = Layer::Delay(Delay { latency_ns, jitter_ns: 0 });
    let options = MountOptions { threads: Some(2), ..MountOptions::default() };
    let dir = tempfile::tempdir().expect("a temporary directory");
    let disk = VirtualDisk::open(&[mem, delay], Arc::new(MonotonicClock)).expect("a valid stack");
    let mounted = mount(&disk, dir.path(), &options).expect("root and /dev/fuse are there");
    let file = File::open(dir.path().join("disk")).expect("the disk's file");
    let start = Instant::now();
    thread::scope(|scope| {
        for index in 0..32 {
            let file = &file;
            scope.spawn(move || file.read_exact_at(&mut [0; 4096], index * 4096).expect("a read"));
        }
    });
    let took = start.elapsed();
    let latency = Duration::from_nanos(latency_ns);
    assert!(took >= latency);
    // One after the other they would take 32 latencies; two at a time, 16.
    assert!(took < 8 * latency, "{took:?}");
    drop((file, mounted));
}
