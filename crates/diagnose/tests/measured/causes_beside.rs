//! What a reader beside a writer points to, with all CPUs busy or not.

use iotax_diagnose::{Confidence, Suspect};
use iotax_experiment::layers::{File, Loop, QemuLuks};
use iotax_experiment::{Engine, Layer, Stack, Target};
use iotax_record::{CPU_MODES, DirectionRecord, JobRecord, Series};

use crate::causes::{Scene, device};
use crate::support::{SECOND_NS, SECONDS};
use crate::{confidence, texts};

const MIB: u64 = 1 << 20;

/// Reads of 4 KiB, 1,000 per second of 8 ms each, and a download of so many MiB per second.
fn scene(download_mib: u64, read_await_ms: f64) -> Scene {
    let mut scene = Scene::healthy();
    let bytes = download_mib * MIB * SECONDS;
    scene.beside = Some(JobRecord {
        name: "download".into(),
        engine: "psync".into(),
        threads: 2,
        queue_depth: 1,
        active_ns: SECONDS * SECOND_NS,
        write: DirectionRecord { ios: bytes / MIB, bytes, ..DirectionRecord::default() },
        ..JobRecord::default()
    });
    scene.edit(|job| job.uncached = true);
    scene.counters.devices = vec![device("vda", [1000, 8], [download_mib, 2048], read_await_ms)];
    scene
}

fn without_cpu(mut scene: Scene) -> Scene {
    let ticks = std::array::from_fn::<Series, CPU_MODES, _>(|mode| {
        Series::from_iter([Some(0), Some(if mode == 0 { 200 * SECONDS } else { 0 })])
    });
    scene.counters.cpu_ticks = Some(Box::new(ticks));
    scene.cpu_busy_ns = Some(2 * SECONDS * SECOND_NS);
    scene
}

fn told(scene: Scene) -> Vec<String> {
    let told = |suspect: Suspect| format!("{} {}", confidence(suspect.confidence), suspect.cause);
    scene.suspects().into_iter().map(told).collect()
}

#[test]
fn a_disk_that_another_job_keeps_busy_comes_before_the_cpus() {
    let busy = ["likely saturated-device", "possible cpu-bound"];
    assert_eq!(told(without_cpu(scene(600, 7.5))), busy);
    assert_eq!(told(scene(600, 7.5)), busy[..1]);
}

#[test]
fn a_disk_that_is_busy_with_the_reads_alone_is_what_was_asked_for() {
    let mut alone = scene(600, 7.5);
    alone.beside = None;
    alone.counters.devices = vec![device("vda", [1000, 8], [0, 0], 7.5)];
    assert_eq!(told(alone), Vec::<String>::new());
    assert_eq!(told(scene(1, 7.5)), Vec::<String>::new(), "the download is a fifth of all");
}

#[test]
fn reads_that_hardly_wait_at_the_disk_wait_for_a_cpu() {
    assert_eq!(told(without_cpu(scene(600, 1.0)))[0], "likely cpu-bound");
}

#[test]
fn what_the_evidence_says() {
    let suspects = scene(600, 7.5).suspects();
    insta::assert_snapshot!(texts(&suspects[0].evidence), @"
    I/Os from reader spent 95 % of their time at vda (busy for 100 % of the time), where 99 % of all bytes were for download
    the disk's queue held 12 requests on average
    ");
}

/// The same on a stack: a loop device on layers on a disk that has next to nothing to do.
fn stacked(layers: &[Layer]) -> Scene {
    let mut scene = scene(100, 0.1);
    let mut all = vec![Layer::File(File { path: None, size_bytes: 1 << 30, thin: false })];
    all.extend_from_slice(layers);
    all.push(Layer::Loop(Loop { direct: true }));
    scene.bed.edit(|spec| spec.arms[0].target = Target::Stack(Stack { layers: all }));
    scene.edit(|job| job.engine = Engine::Psync);
    let above = device("loop1", [1000, 8], [100, 2048], 7.5);
    scene.counters.devices.insert(0, above);
    scene
}

#[test]
fn layers_that_encrypt_are_named_where_the_time_passes_in_them() {
    let luks = Layer::QemuLuks(QemuLuks { key_bits: 256 });
    let twice = [luks.clone(), luks.clone()];
    assert_eq!(told(stacked(&twice)), ["sure encrypted-twice"]);
    assert_eq!(told(stacked(&twice[..1])), ["sure encryption-in-path"]);
    assert_eq!(told(stacked(&[])), Vec::<String>::new());
    let busy = without_cpu(stacked(&twice));
    assert_eq!(told(busy), ["likely encrypted-twice", "possible cpu-bound"]);
    let suspects = without_cpu(stacked(&twice)).suspects();
    insta::assert_snapshot!(texts(&suspects[0].evidence), @"I/Os spent 95 % of their time at loop1, and 1.3 % at vda below it, so 93 % was spent in between, in qemu-luks and qemu-luks (added by iotax)");
    insta::assert_snapshot!(texts(&suspects[0].against), @"all CPUs were busy, and encryption needs them");
    // The disk itself is slow.
    let mut slow = stacked(&twice);
    slow.counters.devices[1] = device("vda", [1000, 8], [100, 2048], 7.0);
    assert_eq!(told(slow), Vec::<String>::new());
}

#[test]
fn a_cache_that_is_kept_cold_is_not_too_small() {
    let refaults = |uncached| {
        let mut scene = scene(1, 6.0);
        scene.edit(|job| {
            (job.engine, job.direct, job.uncached) = (Engine::Psync, false, uncached);
        });
        scene.counters.memory.as_mut().unwrap().file_refaults =
            [Some(0), Some(800 * SECONDS)].into_iter().collect();
        told(scene)
    };
    assert_eq!(refaults(false), ["likely page-cache-thrash"]);
    assert_eq!(refaults(true), Vec::<String>::new());
}

#[test]
fn programs_that_take_the_cpus_come_before_syncs_that_wait_for_one() {
    // A log: each write is in memory at once, and synced; the disk has a third of that time.
    let mut log = Scene::healthy();
    log.edit(|job| {
        (job.engine, job.direct, job.read_percent, job.queue_depth) = (Engine::Psync, false, 0, 1);
    });
    log.iops = 187.0;
    log.latencies = vec![(20_000, 187 * SECONDS)];
    log.sync_ns = Some((187 * SECONDS, 5_300_000));
    log.process_cpu_ns = Some(SECOND_NS);
    log.counters.devices = vec![device("vda", [0, 0], [375, 8], 0.85)];
    assert_eq!(told(without_cpu(log)), ["likely cpu-bound", "possible flush-bound"]);
}

#[test]
fn time_without_syncs_is_not_counted_as_the_disks() {
    // It syncs for 60 % of the time, nine tenths of which the disk takes: 54 % in all.
    let mut log = Scene::healthy();
    log.edit(|job| {
        (job.engine, job.direct, job.read_percent, job.queue_depth) = (Engine::Psync, false, 0, 1);
    });
    log.iops = 187.0;
    log.latencies = vec![(20_000, 187 * SECONDS)];
    log.sync_ns = Some((187 * SECONDS, 3_200_000));
    log.process_cpu_ns = Some(SECOND_NS);
    log.counters.devices = vec![device("vda", [0, 0], [375, 8], 1.44)];
    let suspects = without_cpu(log).suspects();
    let cpu = suspects.iter().find(|suspect| suspect.cause == "cpu-bound").unwrap();
    assert_eq!((cpu.confidence, &cpu.against[..]), (Confidence::Likely, &[][..]));
    assert!((cpu.explains.unwrap() - 0.46).abs() < 0.02, "{cpu:?}");
}
