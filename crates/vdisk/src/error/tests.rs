use std::path::PathBuf;
use std::sync::Arc;

use insta::assert_snapshot;

use super::*;
use crate::{
    AesConfig, AvailableMemory, Burst, CacheConfig, DelayConfig, FaultConfig, FileConfig,
    FlashConfig, LayerConfig, ManualClock, MemConfig, MemoryLimit, QueueConfig, RateLimit, Session,
    ThrottleConfig, TierConfig, Trigger, VirtualDisk,
};

fn open(layers: &[LayerConfig]) -> Result<VirtualDisk, Error> {
    VirtualDisk::open(layers, Arc::new(ManualClock::default()))
}

fn mem() -> LayerConfig {
    LayerConfig::Mem(MemConfig { size_bytes: 1 << 20 })
}

fn refused(layers: &[LayerConfig]) -> String {
    let error = open(layers).unwrap_err();
    assert_eq!(error.fault(), Fault::Usage, "{error:?}");
    error.to_string()
}

fn on_mem(layer: LayerConfig) -> String {
    refused(&[mem(), layer])
}

#[test]
fn stacks_in_the_wrong_order() {
    let delay = LayerConfig::Delay(DelayConfig { latency_ns: 1, jitter_ns: 0 });
    assert_snapshot!(refused(&[]), @"the stack is empty: it needs at least a base layer, such as mem(size=64M)");
    assert_snapshot!(refused(&[delay.clone(), mem()]), @"`delay` is at the bottom of the stack, where the data must be: start the stack with mem(size=64M) or file(size=1G)");
    assert_snapshot!(refused(&[mem(), delay, mem()]), @"`mem` is layer 3 of the stack, but it holds the data and can only be the first: a stack has exactly one base");
}

#[test]
fn impossible_sizes() {
    let mem = |size_bytes| [LayerConfig::Mem(MemConfig { size_bytes })];
    assert_snapshot!(refused(&mem(0)), @"`mem`: size=0 is not possible: it must be a multiple of 512 bytes, the unit of `mem`, and not 0");
    assert_snapshot!(refused(&mem(1000)), @"`mem`: size=1000 is not possible: it must be a multiple of 512 bytes, the unit of `mem`, and not 0");
    let [odd] = mem(4096 + 512);
    assert_snapshot!(refused(&[odd, LayerConfig::Aes(AesConfig::default())]), @"`mem`: size=4608 is not possible: it must be a multiple of 4096 bytes, the unit of `aes`, and not 0");
    let file =
        FileConfig { path: None, dir: PathBuf::from("."), size_bytes: Some(7), direct: false };
    assert_snapshot!(refused(&[LayerConfig::File(file)]), @"`file`: size=7 is not possible: it must be a multiple of 512 bytes, the unit of `file`, and not 0");
    let cache = |size_bytes| LayerConfig::Cache(CacheConfig { size_bytes });
    assert_snapshot!(on_mem(cache(0)), @"`cache`: size=0 is not possible: it must be a multiple of its page size, 4096 bytes, and not 0");
    let tier = |size_bytes| LayerConfig::Tier(TierConfig { size_bytes });
    assert_snapshot!(on_mem(tier(5000)), @"`tier`: size=5000 is not possible: it must be a multiple of its page size, 4096 bytes, and not 0");
    assert_snapshot!(on_mem(cache(5000)), @"`cache`: size=5000 is not possible: it must be a multiple of its page size, 4096 bytes, and not 0");
}

#[test]
fn more_memory_than_there_is() {
    let error = |available| Error::NoMemory { layer: "mem", size_bytes: 1 << 40, available };
    let some = AvailableMemory { bytes: 3 << 30, limit: MemoryLimit::Machine };
    assert_snapshot!(error(Some(some)), @"`mem`: size=1T does not fit in memory (3 GiB available): choose a smaller size");
    assert_snapshot!(error(None), @"`mem`: size=1T does not fit in memory: choose a smaller size");
    assert_eq!(error(None).fault(), Fault::Environment);
}

#[test]
fn parameters_out_of_range() {
    let aes = |key_bits, sector_bytes| LayerConfig::Aes(AesConfig { key_bits, sector_bytes });
    assert_snapshot!(on_mem(aes(128, 4096)), @"`aes`: key=128 is not possible: it must be 256, for AES-XTS-256");
    assert_snapshot!(on_mem(aes(256, 1024)), @"`aes`: sector=1K is not possible: it must be 512 or 4096 bytes");
    assert_snapshot!(on_mem(LayerConfig::Queue(QueueConfig { workers: 0 })), @"`queue`: workers=0 is not possible: it must be 1 to 1024");
    assert_snapshot!(on_mem(LayerConfig::Queue(QueueConfig { workers: 5000 })), @"`queue`: workers=5000 is not possible: it must be 1 to 1024");
    let delay = |latency_ns, jitter_ns| LayerConfig::Delay(DelayConfig { latency_ns, jitter_ns });
    assert_snapshot!(on_mem(delay(1000, 2000)), @"`delay`: jitter=2us is not possible: it must be at most the latency: a delay lies between latency - jitter and latency + jitter");
    assert_snapshot!(on_mem(delay(u64::MAX, 0)), @"`delay`: latency=18446744073709551615ns is not possible: it must be at most 1 hour");
    let flash = |channels, latency_ns, bw_bytes| {
        LayerConfig::Flash(FlashConfig { channels, latency_ns, bw_bytes, jitter_ns: 2000 })
    };
    assert_snapshot!(on_mem(flash(0, 2000, 1e9)), @"`flash`: channels=0 is not possible: it must be 1 to 65536");
    assert_snapshot!(on_mem(flash(8, u64::MAX, 1e9)), @"`flash`: latency=18446744073709551615ns is not possible: it must be at most 1 hour");
    assert_snapshot!(on_mem(flash(8, 2000, 0.0)), @"`flash`: bw=0 is not possible: it must be 1 to 1e15 per second");
    assert_snapshot!(on_mem(flash(8, 1000, 1e9)), @"`flash`: jitter=2us is not possible: it must be at most the latency");
    let fault = |eio| LayerConfig::Fault(FaultConfig { eio, ..FaultConfig::default() });
    assert_snapshot!(on_mem(fault(Trigger::Every(0))), @"`fault`: eio=1/0 is not possible: it must be every n-th, with n at least 1");
    assert_snapshot!(on_mem(fault(Trigger::Chance(1.5))), @"`fault`: eio=1.5 is not possible: it must be a probability, 0 to 1");
    assert_snapshot!(on_mem(fault(Trigger::Chance(f64::NAN))), @"`fault`: eio=NaN is not possible: it must be a probability, 0 to 1");
    let stall = FaultConfig { stall_ns: u64::MAX, ..FaultConfig::default() };
    assert_snapshot!(on_mem(LayerConfig::Fault(stall)), @"`fault`: stall_time=18446744073709551615ns is not possible: it must be at most 1 hour");
}

#[test]
fn throttles_that_limit_nothing_or_contradict_themselves() {
    let throttle = |iops, bw_bytes| {
        LayerConfig::Throttle(ThrottleConfig { iops, bw_bytes, ..ThrottleConfig::default() })
    };
    assert_snapshot!(on_mem(throttle(None, None)), @"`throttle` limits nothing: add iops=4000, bw=32M, or both");
    assert_snapshot!(on_mem(throttle(Some(RateLimit::sustained(0.0)), None)), @"`throttle`: iops=0 is not possible: it must be 0.001 to 1e15 per second");
    let bursting = |per_s, credits| {
        let burst = Some(Burst { per_s, credits });
        throttle(None, Some(RateLimit { sustained_per_s: 500.0, burst }))
    };
    assert_snapshot!(on_mem(bursting(500.0, 9)), @"`throttle`: burst_bw=500 is not possible: it must be above the sustained rate, and at most 1e15 per second");
    assert_snapshot!(on_mem(bursting(1000.0, 0)), @"`throttle`: credits=0 is not possible: it must be above 0: credits are what pays for a burst");
    let group = "vm".to_owned();
    assert_snapshot!(Error::GroupConflict { group }, @"`throttle`: group=vm is in use with other caps: give all throttles of a group the same caps, or this one another group");
}

#[test]
fn files_that_cannot_be_had() {
    let path = PathBuf::from("/data/disk.img");
    let file = |errno: Errno, action| Error::file(&path, action, &errno.into());
    assert_snapshot!(file(Errno::NOENT, "create"), @"`file`: cannot create /data/disk.img: No such file or directory (os error 2): create the directory first");
    assert_snapshot!(file(Errno::ACCESS, "open"), @"`file`: cannot open /data/disk.img: Permission denied (os error 13): choose a place that you may write to");
    assert_snapshot!(file(Errno::ROFS, "create in"), @"`file`: cannot create in /data/disk.img: Read-only file system (os error 30): choose a place on a writable file system");
    assert_snapshot!(file(Errno::ISDIR, "open"), @"`file`: cannot open /data/disk.img: Is a directory (os error 21): name a file");
    assert_snapshot!(file(Errno::IO, "inspect"), @"`file`: cannot inspect /data/disk.img: Input/output error (os error 5)");
    let path = || path.clone();
    let (wanted_bytes, available_bytes) = (1 << 30, Some(4096));
    assert_snapshot!(Error::NoSpace { path: path(), wanted_bytes, available_bytes }, @"`file`: /data/disk.img has no room for 1073741824 bytes (4096 bytes available): choose a smaller size or another place");
    assert_snapshot!(Error::NoSize { path: path() }, @"`file`: /data/disk.img does not exist yet, so it needs a size: add size=1G");
    let (file_bytes, size_bytes) = (4096, 1 << 20);
    assert_snapshot!(Error::FileTooSmall { path: path(), file_bytes, size_bytes }, @"`file`: /data/disk.img has 4096 bytes, fewer than size=1M; an existing file is never grown: choose a smaller size or another path");
    assert_snapshot!(Error::NotAFile { path: path(), device: true }, @"`file`: /data/disk.img is a block device, which a stack would overwrite: name a file");
    assert_snapshot!(Error::NotAFile { path: path(), device: false }, @"`file`: /data/disk.img is not a regular file: name a file");
    assert_snapshot!(Error::Fill { path: path(), offset: 8192, source: Errno::NOSPC }, @"cannot fill /data/disk.img with data at byte 8192: No space left on device (os error 28)");
}

#[test]
fn missing_directories_are_told_from_the_real_thing() {
    let dir = PathBuf::from("/nonexistent/dir");
    let size_bytes = Some(4096);
    let anonymous = FileConfig { path: None, dir: dir.clone(), size_bytes, direct: false };
    let named = FileConfig { path: Some(dir.join("disk.img")), ..anonymous.clone() };
    let is_dir = FileConfig { path: Some(PathBuf::from("/")), ..anonymous.clone() };
    let device = FileConfig { path: Some(PathBuf::from("/dev/null")), ..anonymous.clone() };
    let error = |config| open(&[LayerConfig::File(config)]).unwrap_err();
    assert_snapshot!(error(anonymous), @"`file`: cannot create in /nonexistent/dir: No such file or directory (os error 2): create the directory first");
    assert_snapshot!(error(named), @"`file`: cannot create /nonexistent/dir/disk.img: No such file or directory (os error 2): create the directory first");
    assert_snapshot!(error(is_dir), @"`file`: cannot open /: Is a directory (os error 21): name a file");
    assert_snapshot!(error(device), @"`file`: /dev/null is not a regular file: name a file");
}

#[test]
fn sessions_that_cannot_be() {
    let disk = open(&[mem(), LayerConfig::Aes(AesConfig::default())]).unwrap();
    let error = |depth, max_io_bytes| Session::new(&disk, depth, max_io_bytes).unwrap_err();
    assert_snapshot!(error(0, 4096), @"a session of depth 0 is not possible: it must be 1 to 65536");
    assert_snapshot!(error(1 << 20, 4096), @"a session of depth 1048576 is not possible: it must be 1 to 65536");
    assert_snapshot!(error(1, 512), @"I/Os of up to 512 bytes are not possible on this disk: the size must be a multiple of 4096 bytes, and not 0");
    let source = std::io::Error::from_raw_os_error(11);
    assert_snapshot!(Error::Spawn { number: 7, source }, @"`queue`: worker thread 7 could not be started: Resource temporarily unavailable (os error 11); use fewer workers");
}

#[test]
fn mounts_that_fail() {
    use std::io::Error as System;
    let device = |errno: Errno| Error::NoFuse { source: errno.into() };
    assert_snapshot!(device(Errno::NOENT), @"cannot open /dev/fuse: No such file or directory (os error 2): load the kernel's module with `modprobe fuse`, or pass the device to this container (--device /dev/fuse)");
    assert_snapshot!(device(Errno::ACCESS), @"cannot open /dev/fuse: Permission denied (os error 13): run as root");
    assert_snapshot!(device(Errno::NODEV), @"cannot open /dev/fuse: No such device (os error 19)");
    let at = |source: System| Error::Mount { path: PathBuf::from("/mnt/disk"), source };
    assert_snapshot!(at(Errno::NOENT.into()), @"cannot mount the disk at /mnt/disk: No such file or directory (os error 2): create the directory first");
    assert_snapshot!(at(Errno::NOTDIR.into()), @"cannot mount the disk at /mnt/disk: Not a directory (os error 20): name a directory");
    assert_snapshot!(at(Errno::PERM.into()), @"cannot mount the disk at /mnt/disk: Operation not permitted (os error 1): run as root, or install fusermount3 (package fuse3) and name a directory that is yours");
    assert_snapshot!(at(Errno::BUSY.into()), @"cannot mount the disk at /mnt/disk: Device or resource busy (os error 16)");
}
