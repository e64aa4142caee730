//! The symptom of a cause is there, and what was measured does not explain the time by it.

use iotax_experiment::{BlockSizes, Engine, Pattern};
use iotax_record::machine::{GroupIoLimits, MountSeen, SeenLayer};
use iotax_record::{CPU_MODES, Series};

use crate::causes::{Scene, device, flushed, memory};
use crate::support::{SECOND_NS, SECONDS};
use crate::{confidence, texts};

/// Both CPUs are busy all the time: of that, so much is in programs, and this is one that took so
/// much.
fn busy(mut scene: Scene, in_programs: f64, own: f64) -> Scene {
    let all = 200 * SECONDS;
    let user = iotax_quantity::whole(in_programs * all as f64);
    let ticks = std::array::from_fn::<Series, CPU_MODES, _>(|mode| {
        let end = match mode {
            0 => user,
            2 => all - user,
            _ => 0,
        };
        Series::from_iter([Some(0), Some(end)])
    });
    scene.counters.cpu_ticks = Some(Box::new(ticks));
    let all_ns = 2 * SECONDS * SECOND_NS;
    scene.cpu_busy_ns = Some(all_ns);
    scene.process_cpu_ns = Some(iotax_quantity::whole(own * all_ns as f64));
    scene
}

fn told(scene: Scene) -> Vec<String> {
    let told = |suspect: iotax_diagnose::Suspect| {
        format!("{} {}", confidence(suspect.confidence), suspect.cause)
    };
    scene.suspects().into_iter().map(told).collect()
}

fn with_mount(mut scene: Scene, change: impl FnOnce(&mut MountSeen)) -> Scene {
    let SeenLayer::Mount(mount) = &mut scene.machine.nodes[0].layer else { panic!("the mount") };
    change(mount);
    scene
}

/// A sync took 2.7 ms, the disk's flush 0.09 ms.
fn slow_syncs_on_a_fast_disk() -> Scene {
    let mut scene = Scene::healthy();
    scene.sync_ns = Some((1_700, 2_700_000));
    let disk = device("vda", [0, 0], [0, 0], 0.0);
    scene.counters.devices = vec![flushed(disk, 340, 0)];
    scene.counters.devices[0].counters[16] = [Some(0), Some(153)].into_iter().collect();
    scene.edit(|job| job.read_percent = 0);
    scene
}

#[test]
fn flushes_that_the_disk_did_in_no_time() {
    assert_eq!(told(slow_syncs_on_a_fast_disk()), ["possible flush-bound"]);
    let suspects = slow_syncs_on_a_fast_disk().suspects();
    insta::assert_snapshot!(texts(&suspects[0].against), @"flushes and writes on vda account for 3.3 % of the time in fsync");
    // Other programs took the CPUs.
    let starved = busy(slow_syncs_on_a_fast_disk(), 0.99, 0.02);
    assert_eq!(told(starved), ["likely cpu-bound", "possible flush-bound"]);
    let suspects = busy(slow_syncs_on_a_fast_disk(), 0.99, 0.02).suspects();
    insta::assert_snapshot!(texts(&suspects[0].evidence), @"
    all CPUs were busy for 100 % of the time, 1 % of it in the kernel
    other programs took 97 % of the CPU time
    ");
    // This program itself did.
    assert_eq!(told(busy(slow_syncs_on_a_fast_disk(), 0.99, 0.95))[0], "likely cpu-bound");
}

#[test]
fn syncs_whose_pages_the_disk_was_slow_to_write() {
    let mut scene = slow_syncs_on_a_fast_disk();
    scene.edit(|job| (job.engine, job.direct) = (Engine::Psync, false));
    scene.counters.devices = vec![flushed(device("vda", [0, 0], [680, 8], 1.2), 340, 0)];
    assert_eq!(told(scene)[0], "sure flush-bound");
}

#[test]
fn syncs_of_which_nobody_saw_who_took_the_time() {
    let mut scene = slow_syncs_on_a_fast_disk();
    scene.counters.devices.clear();
    assert_eq!(told(scene), ["likely flush-bound"]);
}

#[test]
fn a_rate_that_is_near_a_groups_limit_by_chance() {
    let mut scene = Scene::healthy();
    scene.machine.groups.io = vec![GroupIoLimits {
        group: "/db".to_owned(),
        path: "/data".to_owned(),
        read_iops: Some(1020.0),
        ..GroupIoLimits::default()
    }];
    // The disk itself takes all of the time.
    scene.counters.devices = vec![device("vda", [1000, 8], [0, 0], 7.9)];
    assert_eq!(told(scene), ["possible cgroup-io-max"]);
}

#[test]
fn a_quota_that_several_cpus_were_held_up_by() {
    let mut scene = Scene::healthy();
    scene.edit(|job| job.threads = 2);
    // 60 % of the time on each of two CPUs is no more than that.
    scene.counters.throttled_us = Some([Some(0), Some(6_000_000)].into_iter().collect());
    assert_eq!(told(scene), ["sure cpu-quota"]);
    let mut scene = Scene::healthy();
    scene.edit(|job| job.threads = 2);
    scene.counters.throttled_us = Some([Some(0), Some(1_500_000)].into_iter().collect());
    assert_eq!(told(scene), ["possible cpu-quota"]);
}

#[test]
fn steal_of_a_seventh_explains_a_seventh() {
    let mut scene = Scene::healthy();
    let ticks = std::array::from_fn::<Series, CPU_MODES, _>(|mode| {
        let end = match mode {
            3 => 170 * SECONDS,
            7 => 30 * SECONDS,
            _ => 0,
        };
        Series::from_iter([Some(0), Some(end)])
    });
    scene.counters.cpu_ticks = Some(Box::new(ticks));
    assert_eq!(told(scene), ["possible cpu-steal"]);
}

#[test]
fn a_long_read_ahead_that_costs_no_time() {
    let mut scene = Scene::healthy();
    scene.edit(|job| job.engine = Engine::Mmap);
    scene.counters.devices = vec![device("vda", [1000, 256], [0, 0], 0.3)];
    assert_eq!(told(scene), ["possible read-ahead-waste"]);
}

#[test]
fn a_short_read_ahead_of_a_program_that_computes() {
    let mut scene = Scene::healthy();
    scene.edit(|job| {
        (job.engine, job.pattern) = (Engine::Mmap, Pattern::Sequential);
        job.block_sizes = BlockSizes::Fixed(128 << 10);
    });
    scene.queue().read_ahead_bytes = Some(8 << 10);
    scene.counters.devices = vec![device("vda", [16_000, 16], [0, 0], 0.01)];
    assert_eq!(told(scene), ["possible read-ahead"]);
}

#[test]
fn dirty_pages_of_others_hold_up_nobody_who_does_not_wait() {
    let mut scene = Scene::healthy();
    scene.edit(|job| {
        (job.engine, job.direct, job.read_percent) = (Engine::Psync, false, 0);
        job.pace = iotax_experiment::Pace::Even { iops: 1000.0 };
    });
    scene.counters.memory = Some(memory(800, 1000, 0));
    scene.counters.devices = vec![device("vda", [0, 0], [500, 8], 1.0)];
    // Each write is a copy of two microseconds.
    scene.latencies = vec![(2_100, 5_000)];
    assert_eq!(told(scene), ["possible dirty-throttling"]);
}

#[test]
fn pages_that_are_read_again_in_no_time() {
    let mut scene = Scene::healthy();
    scene.edit(|job| (job.engine, job.direct) = (Engine::Psync, false));
    scene.counters.memory = Some(memory(0, 1000, 800));
    scene.counters.devices = vec![device("vda", [1000, 8], [0, 0], 0.2)];
    assert_eq!(told(scene), ["possible page-cache-thrash"]);
}

#[test]
fn another_program_on_a_disk_that_has_time_for_both() {
    let mut scene = Scene::healthy();
    scene.counters.devices = vec![device("vda", [1000, 8], [400, 256], 0.2)];
    assert_eq!(told(scene), ["possible neighbour"]);
}

#[test]
fn ios_cut_for_a_disk_that_takes_no_time_for_the_pieces() {
    let mut scene = Scene::healthy();
    scene.edit(|job| job.block_sizes = BlockSizes::Fixed(128 << 10));
    scene.queue().max_io_bytes = Some(8 << 10);
    scene.counters.devices = vec![device("vda", [16_000, 16], [0, 0], 0.02)];
    assert_eq!(told(scene), ["possible io-split"]);
}

#[test]
fn direct_writes_to_a_mount_with_sync_are_written_once_in_any_case() {
    let scene = with_mount(Scene::healthy(), |mount| mount.options = "rw,sync".to_owned());
    let with = |mut scene: Scene, writes| {
        scene.edit(|job| job.read_percent = 0);
        scene.counters.devices = vec![device("vda", [0, 0], [writes, 8], 7900.0 / writes as f64)];
        told(scene)
    };
    assert_eq!(with(scene, 1000), Vec::<String>::new());
    let scene = with_mount(Scene::healthy(), |mount| mount.options = "rw,sync".to_owned());
    assert_eq!(with(scene, 3000), ["sure sync-mount"]);
}

#[test]
fn a_setting_that_was_seen_and_measured_to_cost_nothing_is_no_cause() {
    let mut scene = with_mount(Scene::healthy(), |mount| mount.options = "rw,sync".to_owned());
    scene.edit(|job| job.read_percent = 0);
    scene.counters.devices = vec![device("vda", [0, 0], [1000, 8], 1.0)];
    assert_eq!(told(scene), Vec::<String>::new());
}

#[test]
fn credits_that_seem_to_run_out_while_others_take_the_cpus() {
    let scene = || {
        let mut scene = Scene::healthy();
        scene.seconds = Some([vec![4000; 8], vec![1000; 12]].concat());
        scene
    };
    assert_eq!(told(scene()), ["likely burst-spent"]);
    assert_eq!(told(busy(scene(), 0.95, 0.05)), ["likely cpu-bound", "possible burst-spent"]);
}

#[test]
fn a_direct_read_that_a_cache_answered_and_that_was_slow_elsewhere() {
    let mut scene = Scene::healthy();
    scene.counters.devices = vec![device("vda", [400, 8], [0, 0], 19.0)];
    assert_eq!(told(scene), ["possible cache-answers"]);
}
