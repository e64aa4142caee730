//! Workloads to vary, and targets to run them on.

#![allow(dead_code, reason = "each test program uses its part")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::thread;

use iotax_experiment::{Engine, IndexEnds, Job, Pattern, Workload};
use iotax_layers::{Layer, Mem};
use iotax_load::{Error, IoTarget, LoadDriver, Native, Peer, Request, new_peer_secret, serve_peer};
use iotax_record::LoadRecord;
use iotax_vdisk::{MonotonicClock, VirtualDisk};

pub(crate) const MIB: u64 = 1 << 20;
pub(crate) const MS: u64 = 1_000_000;

/// Every engine of the driver's loop that works on storage; `vdisk` stands for a virtual disk as
/// the target.
pub(crate) fn engines() -> impl Iterator<Item = Engine> {
    Engine::ALL
        .iter()
        .copied()
        .filter(|engine| !engine.has_tree() && !engine.is_network() && !engine.replays())
}

pub(crate) fn job(engine: Engine) -> Job {
    Job { engine, pattern: Pattern::Random, size_bytes: 2 * MIB, ..Job::new("job") }
}

/// `job` for 200 ms after 20 ms.
pub(crate) fn workload(job: Job) -> Workload {
    Workload {
        name: "test".to_owned(),
        about: String::new(),
        ramp_ns: 20 * MS,
        time_ns: 200 * MS,
        primary: job.name.clone(),
        jobs: vec![job],
        index: None,
        requires: None,
        origin: None,
        notes: Vec::new(),
        yields: None,
        slices: None,
    }
}

pub(crate) fn disk(layers: &[Layer]) -> VirtualDisk {
    VirtualDisk::open(layers, Arc::new(MonotonicClock)).unwrap()
}

pub(crate) fn mem(size_bytes: u64) -> Layer {
    Layer::Mem(Mem { size_bytes })
}

/// A peer of this process, which lasts as long as the process.
pub(crate) fn peer() -> Peer {
    let secret = new_peer_secret().unwrap();
    let (tell, told) = channel();
    let own = secret.clone();
    thread::spawn(move || {
        let any = (Ipv4Addr::LOCALHOST, 0).into();
        serve_peer(any, own, |address| tell.send(address).map_err(std::io::Error::other))
    });
    Peer::at(told.recv().unwrap(), secret)
}

pub(crate) fn request<'a>(
    workload: &'a Workload,
    target: IoTarget<'a>,
    stop: &'a AtomicBool,
) -> Request<'a> {
    Request {
        workload,
        index_ends: &IndexEnds::Both,
        target,
        ramp_ns: workload.ramp_ns,
        time_ns: workload.time_ns,
        part: None,
        seed: 11,
        stop,
        live: None,
    }
}

pub(crate) fn prepare_and_run(
    workload: &Workload,
    target: IoTarget<'_>,
) -> Result<LoadRecord, Error> {
    Native.prepare(workload, target, &|_, _| {}, &AtomicBool::new(false))?;
    run_prepared(workload, target)
}

pub(crate) fn run_prepared(workload: &Workload, target: IoTarget<'_>) -> Result<LoadRecord, Error> {
    let stop = AtomicBool::new(false);
    let run = || Native.run(&request(workload, target, &stop));
    // On a busy machine a job may get no CPU for the whole of a short window, which tells nothing.
    let tells = |run: &Result<LoadRecord, Error>| !run.as_ref().is_ok_and(has_idle_job);
    (0..19).map(|_| run()).find(tells).unwrap_or_else(run)
}

/// Whether some job had time and nothing to show for it, not even an error.
fn has_idle_job(record: &LoadRecord) -> bool {
    record
        .jobs
        .iter()
        .any(|job| job.active_ns > 0 && job.operations.is_empty() && job.ios() + job.errors() == 0)
}

/// Runs on a new directory, or on 64 MiB of memory for the engine `vdisk`.
pub(crate) fn run(workload: &Workload) -> LoadRecord {
    let directory = tempfile::tempdir().unwrap();
    run_in(directory.path(), workload)
}

pub(crate) fn run_in(directory: &Path, workload: &Workload) -> LoadRecord {
    if workload.jobs[0].engine == Engine::Vdisk {
        let disk = disk(&[mem(64 * MIB)]);
        prepare_and_run(workload, IoTarget::Disk(&disk)).unwrap()
    } else {
        prepare_and_run(workload, IoTarget::Path(directory)).unwrap()
    }
}
