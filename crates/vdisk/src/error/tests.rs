use std::path::PathBuf;
use std::sync::Arc;

use insta::assert_snapshot;

use rustix::io::Errno;

use iotax_layers::{
    Aes, Cache, Delay, Fault, File, Flash, Layer, Mem, QemuLuks, Queue, Throttle, Tier,
};

use super::*;
use crate::{AvailableMemory, ManualClock, MemoryLimit, Session, VirtualDisk};

fn open(layers: &[Layer]) -> Result<VirtualDisk, Error> {
    VirtualDisk::open(layers, Arc::new(ManualClock::default()))
}

fn mem() -> Layer {
    Layer::Mem(Mem { size_bytes: 1 << 20 })
}

fn aes() -> Layer {
    Layer::Aes(Aes { key_bits: 256, sector_bytes: 4096 })
}

fn refused(layers: &[Layer]) -> String {
    let error = open(layers).unwrap_err();
    assert_eq!(error.fault(), iotax_layers::blame::Fault::Usage, "{error:?}");
    error.to_string()
}

fn on_mem(layer: Layer) -> String {
    refused(&[mem(), layer])
}

#[test]
fn what_is_no_disk() {
    let delay = Layer::Delay(Delay { latency_ns: 1000, jitter_ns: 0 });
    assert_snapshot!(refused(&[]), @"`` is not an in-process disk: such a disk needs one base (mem or file) at the bottom");
    assert_snapshot!(refused(&[delay.clone(), mem()]), @"`delay(latency=1us) + mem(size=1M)` is not an in-process disk: such a disk needs one base (mem or file) at the bottom");
    assert_snapshot!(refused(&[mem(), delay, mem()]), @"`mem(size=1M) + delay(latency=1us) + mem(size=1M)` is not an in-process disk: such a disk needs one base (mem or file) at the bottom");
    assert!(open(&[mem(), Layer::QemuLuks(QemuLuks { key_bits: 256 })]).is_err());
}

#[test]
fn impossible_sizes() {
    let mem = |size_bytes| [Layer::Mem(Mem { size_bytes })];
    assert_snapshot!(refused(&mem(0)), @"`mem`: size=0 is not valid: it must be a multiple of 512 bytes, the unit of `mem`, and not 0");
    assert_snapshot!(refused(&mem(1000)), @"`mem`: size=1000 is not valid: it must be a multiple of 512 bytes, the unit of `mem`, and not 0");
    let [odd] = mem(4096 + 512);
    assert_snapshot!(refused(&[odd, aes()]), @"`mem`: size=4608 is not valid: it must be a multiple of 4096 bytes, the unit of `aes`, and not 0");
    let existing = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(existing.path(), [0; 7]).unwrap();
    let file = File { path: Some(existing.path().into()), size_bytes: 7, thin: false };
    assert_snapshot!(refused(&[Layer::File(file)]), @"`file`: size=7 is not valid: it must be a multiple of 512 bytes, the unit of `file`, and not 0");
    let cache = |size_bytes| Layer::Cache(Cache { size_bytes });
    assert_snapshot!(on_mem(cache(0)), @"`cache`: size=0 is not valid: it must be a multiple of its page size, 4096 bytes, and not 0");
    let tier = |size_bytes| Layer::Tier(Tier { size_bytes });
    assert_snapshot!(on_mem(tier(5000)), @"`tier`: size=5000 is not valid: it must be a multiple of its page size, 4096 bytes, and not 0");
    assert_snapshot!(on_mem(cache(5000)), @"`cache`: size=5000 is not valid: it must be a multiple of its page size, 4096 bytes, and not 0");
}

#[test]
fn more_memory_than_there_is() {
    let error = |available| Error::NoMemory { layer: "mem", size_bytes: 1 << 40, available };
    let some = AvailableMemory { bytes: 3 << 30, limit: MemoryLimit::Machine };
    assert_snapshot!(error(Some(some)), @"`mem`: size=1T does not fit in memory (3 GiB available): choose a smaller size");
    assert_snapshot!(error(None), @"`mem`: size=1T does not fit in memory: choose a smaller size");
    assert_eq!(error(None).fault(), iotax_layers::blame::Fault::Environment);
}

#[test]
fn parameters_out_of_range() {
    assert_snapshot!(on_mem(Layer::Queue(Queue { workers: 0 })), @"`queue`: workers=0 is not valid: it must be 1 to 1024");
    assert_snapshot!(on_mem(Layer::Queue(Queue { workers: 5000 })), @"`queue`: workers=5000 is not valid: it must be 1 to 1024");
    let delay = |latency_ns| Layer::Delay(Delay { latency_ns, jitter_ns: 0 });
    assert_snapshot!(on_mem(delay(u64::MAX)), @"`delay`: latency=18446744073709551615ns is not valid: it must be at most 1 hour");
    let flash = |channels, latency_ns, bw_bytes| {
        Layer::Flash(Flash { channels, latency_ns, bw_bytes, jitter_ns: 2000 })
    };
    assert_snapshot!(on_mem(flash(0, 2000, 1e9)), @"`flash`: channels=0 is not valid: it must be 1 to 65536");
    assert_snapshot!(on_mem(flash(8, u64::MAX, 1e9)), @"`flash`: latency=18446744073709551615ns is not valid: it must be at most 1 hour");
    assert_snapshot!(on_mem(flash(8, 2000, 0.0)), @"`flash`: bw=0 is not valid: it must be 1 to 1e15 per second");
    let aes = |key_bits, sector_bytes| Layer::Aes(Aes { key_bits, sector_bytes });
    assert_snapshot!(on_mem(aes(128, 4096)), @"`aes`: key=128 is not valid: it must be 256");
    assert_snapshot!(on_mem(aes(256, 1000)), @"`aes`: sector=1000 is not valid: it must be 512 or 4096");
    let throttle = |iops, burst_iops, credits_ns| {
        Layer::Throttle(Throttle { iops, burst_iops, credits_ns, ..Throttle::default() })
    };
    assert_snapshot!(on_mem(throttle(None, None, None)), @"`throttle`: iops=none is not valid: it must be set unless bw is set");
    assert_snapshot!(on_mem(throttle(Some(5e2), Some(4e2), Some(1_000_000_000))), @"`throttle`: burst_iops=400 is not valid: it must be above the sustained rate, and at most 1e15 per second");
    assert_snapshot!(on_mem(throttle(Some(5e2), Some(3.5e3), Some(1000))), @"`throttle`: credits=0 is not valid: it must be long enough to allow at least one I/O or byte above the sustained rate");
    let fault = |eio| Layer::Fault(Fault { eio, ..Fault::default() });
    assert_snapshot!(on_mem(fault(1.5)), @"`fault`: eio=1.5 is not valid: it must be a probability from 0 to 1");
    assert_snapshot!(on_mem(fault(f64::NAN)), @"`fault`: eio=NaN is not valid: it must be a probability from 0 to 1");
    let stall = Fault { stall_ns: u64::MAX, ..Fault::default() };
    assert_snapshot!(on_mem(Layer::Fault(stall)), @"`fault`: stall_time=18446744073709551615ns is not valid: it must be at most 1 hour");
}

#[test]
fn throttles_out_of_range_or_at_odds() {
    let throttle = |iops, burst_iops: Option<f64>| {
        let credits_ns = burst_iops.map(|_| 1_000_000_000);
        let limits = Throttle { iops: Some(iops), burst_iops, credits_ns, ..Throttle::default() };
        Layer::Throttle(limits)
    };
    assert_snapshot!(on_mem(throttle(0.0, None)), @"`throttle`: iops=0 is not valid: it must be 0.001 to 1e15 per second");
    assert_snapshot!(on_mem(throttle(500.0, Some(1e16))), @"`throttle`: burst_iops=10000000000000000 is not valid: it must be above the sustained rate, and at most 1e15 per second");
    let group = "vm".to_owned();
    assert_snapshot!(Error::GroupConflict { group }, @"`throttle`: group=vm is already used with different caps: give all throttles in a group the same caps, or use another group for this throttle");
}

#[test]
fn files_that_cannot_be_had() {
    let path = PathBuf::from("/data/disk.img");
    let file = |errno: Errno, action| Error::file(&path, action, &errno.into());
    assert_snapshot!(file(Errno::ACCESS, "open"), @"`file`: cannot open /data/disk.img: Permission denied (os error 13): choose a location that you have permission to write to");
    assert_snapshot!(file(Errno::ROFS, "open"), @"`file`: cannot open /data/disk.img: Read-only file system (os error 30): choose a path on a writable file system");
    assert_snapshot!(file(Errno::ISDIR, "open"), @"`file`: cannot open /data/disk.img: Is a directory (os error 21): specify a file");
    assert_snapshot!(file(Errno::IO, "inspect"), @"`file`: cannot inspect /data/disk.img: Input/output error (os error 5)");
    let path = || path.clone();
    let (file_bytes, size_bytes) = (4096, 1 << 20);
    assert_snapshot!(Error::FileTooSmall { path: path(), file_bytes, size_bytes }, @"`file`: /data/disk.img has 4096 bytes, fewer than size=1M, and iotax never extends an existing file: choose a smaller size or another path");
    assert_snapshot!(Error::NotAFile { path: path(), device: true }, @"`file`: /data/disk.img is a block device, which a stack would overwrite: choose another path");
    assert_snapshot!(Error::NotAFile { path: path(), device: false }, @"`file`: /data/disk.img is not a regular file: choose another path");
}

#[test]
fn files_that_are_none() {
    let error = |path: &str| {
        let file = File { path: Some(path.into()), size_bytes: 4096, thin: false };
        open(&[Layer::File(file)]).unwrap_err()
    };
    assert_snapshot!(error("/nonexistent/disk.img"), @"`file`: cannot open /nonexistent/disk.img: No such file or directory (os error 2): only an existing file can be used");
    assert_snapshot!(error("/"), @"`file`: cannot open /: Is a directory (os error 21): specify a file");
    assert_snapshot!(error("/dev/null"), @"`file`: /dev/null is not a regular file: choose another path");
}

#[test]
fn sessions_that_cannot_be() {
    let disk = open(&[mem(), aes()]).unwrap();
    let error = |depth, max_io_bytes| Session::new(&disk, depth, max_io_bytes).unwrap_err();
    assert_snapshot!(error(0, 4096), @"session depth 0 is not valid: it must be 1 to 65536");
    assert_snapshot!(error(1 << 20, 4096), @"session depth 1048576 is not valid: it must be 1 to 65536");
    assert_snapshot!(error(1, 512), @"a maximum I/O size of 512 bytes is not valid on this disk: it must be a multiple of 4096 bytes, and not 0");
    let source = std::io::Error::from_raw_os_error(11);
    assert_snapshot!(Error::Spawn { number: 7, source }, @"`queue`: worker thread 7 could not be started: Resource temporarily unavailable (os error 11); use fewer workers");
}

#[test]
fn mounts_that_fail() {
    use std::io::Error as System;
    let device = |errno: Errno| Error::NoFuse { source: errno.into() };
    assert_snapshot!(device(Errno::NOENT), @"cannot open /dev/fuse: No such file or directory (os error 2): load the kernel module with `modprobe fuse`, or pass the device to this container (--device /dev/fuse)");
    assert_snapshot!(device(Errno::ACCESS), @"cannot open /dev/fuse: Permission denied (os error 13): run as root");
    assert_snapshot!(device(Errno::NODEV), @"cannot open /dev/fuse: No such device (os error 19)");
    let at = |source: System| Error::Mount { path: PathBuf::from("/mnt/disk"), source };
    assert_snapshot!(at(Errno::NOENT.into()), @"cannot mount the disk at /mnt/disk: No such file or directory (os error 2): create the directory first");
    assert_snapshot!(at(Errno::NOTDIR.into()), @"cannot mount the disk at /mnt/disk: Not a directory (os error 20): specify a directory");
    assert_snapshot!(at(Errno::PERM.into()), @"cannot mount the disk at /mnt/disk: Operation not permitted (os error 1): run as root, or install fusermount3 (package fuse3) and specify a directory that you own");
    assert_snapshot!(at(Errno::BUSY.into()), @"cannot mount the disk at /mnt/disk: Device or resource busy (os error 16)");
}
