//! What measurements on a file server point to.

use iotax_diagnose::Evidence;
use iotax_diagnose::evidence::nfs::NfsEvidence;
use iotax_record::machine::{KernelSettings, MountSeen, NfsSeen, NfsTransport, SeenLayer};
use iotax_record::{
    CPU_MODES, NFS_COUNTERS, NfsClientCounters, NfsCounters, NfsGranted, NfsOperation, Series,
};

use crate::causes::Scene;
use crate::support::{SECOND_NS, SECONDS};

/// Reads of 4 KiB, 1,000 per second, each a call with these times in microseconds: before it was
/// sent, until the reply came, and in all. All CPUs were busy.
fn scene(sec: &str, [queue_us, rtt_us, execute_us]: [u64; 3]) -> Scene {
    let mut scene = Scene::healthy();
    let SeenLayer::Mount(mount) = &mut scene.machine.nodes[0].layer else { panic!("the mount") };
    *mount = MountSeen {
        mount_point: "/data".to_owned(),
        file_system: "nfs4".to_owned(),
        source: "server:/export".to_owned(),
        number: Some("0:40".to_owned()),
        read_ahead_bytes: Some(1 << 20),
        nfs: Some(NfsSeen {
            options: format!("vers=4.1,rsize=262144,sec={sec}"),
            transports: vec![NfsTransport::default()],
            ..NfsSeen::default()
        }),
        ..MountSeen::default()
    };
    scene.machine.nodes.truncate(1);
    scene.machine.nodes[0].below.clear();
    scene.machine.kernel =
        KernelSettings { nfs_session_slots: Some(64), ..KernelSettings::default() };
    scene.counters.devices.clear();
    let calls = 1000 * SECONDS;
    let times = [queue_us, rtt_us, execute_us].map(|us| calls * us / 1000);
    read_calls(&mut scene, [calls, calls, 0, 0, calls << 12, times[0], times[1], times[2], 0]);
    let ticks = std::array::from_fn::<Series, CPU_MODES, _>(|mode| {
        Series::from_iter([Some(0), Some(if mode == 2 { 200 * SECONDS } else { 0 })])
    });
    scene.counters.cpu_ticks = Some(Box::new(ticks));
    scene.cpu_busy_ns = Some(2 * SECONDS * SECOND_NS);
    scene
}

fn read_calls(scene: &mut Scene, counted: [u64; NFS_COUNTERS]) {
    let counters = Box::new(counted.map(|count| Series::from_iter([Some(0), Some(count)])));
    let operations = vec![NfsOperation { name: "READ".to_owned(), counters }];
    let source = "server:/export".to_owned();
    scene.counters.nfs = vec![NfsCounters {
        mount_point: "/data".to_owned(),
        source,
        operations,
        ..NfsCounters::default()
    }];
}

#[test]
fn cpus_that_encrypt_calls() {
    let times = [100, 6_000, 8_000];
    assert_eq!(scene("krb5p", times).first(), "likely nfs-kerberos");
    assert_eq!(scene("krb5i", times).first(), "likely nfs-kerberos");
    assert_eq!(scene("krb5", times).first(), "likely cpu-bound");
    assert_eq!(scene("sys", times).first(), "likely cpu-bound");
    let mut idle = scene("krb5p", times);
    idle.counters.cpu_ticks = None;
    let seen = &idle.suspects()[0].evidence[0];
    assert!(!matches!(seen, Evidence::Nfs(NfsEvidence::Kerberos { .. })), "{seen:?}");
}

#[test]
fn calls_that_wait_for_a_slot() {
    let mut few = scene("sys", [7_000, 900, 8_000]);
    assert_eq!(few.suspects()[0].cause, "cpu-bound");
    few = scene("sys", [7_000, 900, 8_000]);
    few.machine.kernel.nfs_session_slots = Some(2);
    assert_eq!(few.first(), "likely nfs-slots");
    // Slots of sessions are no matter of an older version.
    let mut older = scene("sys", [7_000, 900, 8_000]);
    older.machine.kernel.nfs_session_slots = Some(2);
    let SeenLayer::Mount(mount) = &mut older.machine.nodes[0].layer else { panic!("the mount") };
    mount.nfs.as_mut().unwrap().options = "vers=4.0,sec=sys".to_owned();
    assert_eq!(older.first(), "likely cpu-bound");
}

#[test]
fn calls_that_are_sent_again() {
    let again = |sec: &str, connections| {
        let mut scene = scene(sec, [100, 7_000, 8_000]);
        let calls = 1000 * SECONDS;
        read_calls(&mut scene, [calls, calls + calls / 50, 0, 0, calls << 12, 8, 8, 9, 0]);
        let SeenLayer::Mount(mount) = &mut scene.machine.nodes[0].layer else {
            panic!("the mount")
        };
        let nfs = mount.nfs.as_mut().unwrap();
        nfs.transports.resize(connections, NfsTransport::default());
        scene.counters.cpu_ticks = None;
        scene.suspects()[0].cause
    };
    assert_eq!(again("sys", 1), "nfs-retransmissions");
    assert_eq!(again("krb5", 4), "nfs-gss-window");
}

#[test]
fn mounts_that_are_there_only_while_they_are_driven() {
    let mut scene = scene("krb5p", [100, 6_000, 8_000]);
    let SeenLayer::Mount(mount) = &mut scene.machine.nodes[0].layer else { panic!("the mount") };
    mount.nfs = None;
    scene.counters.nfs[0].granted = NfsGranted::of("vers=4.1,sec=krb5p");
    assert_eq!(scene.first(), "likely nfs-kerberos");
}

#[test]
fn contexts_that_the_server_lost() {
    let first = |sec: &str, refused: u64| {
        let mut scene = scene(sec, [100, 7_000, 8_000]);
        let SeenLayer::Mount(mount) = &mut scene.machine.nodes[0].layer else {
            panic!("the mount")
        };
        mount.nfs.as_mut().unwrap().transports.resize(4, NfsTransport::default());
        let of = |more| Series::from_iter([Some(0), Some(1000 * SECONDS + more)]);
        scene.counters.nfs_client = Some(NfsClientCounters {
            calls: of(0),
            retransmissions: of(0),
            credentials: of(refused),
        });
        scene.counters.cpu_ticks = None;
        scene.first()
    };
    assert_eq!(first("krb5", 4), "likely nfs-gss-window");
    assert_ne!(first("krb5", 0), "likely nfs-gss-window");
    assert_ne!(first("sys", 4), "likely nfs-gss-window");
}

#[test]
fn calls_as_small_as_the_read_ahead() {
    let with_window = |bytes| {
        let mut scene = scene("sys", [10, 700, 900]);
        let SeenLayer::Mount(mount) = &mut scene.machine.nodes[0].layer else {
            panic!("the mount")
        };
        mount.read_ahead_bytes = Some(bytes);
        scene.edit(|job| {
            (job.direct, job.pattern) = (false, iotax_experiment::Pattern::Sequential);
            job.engine = iotax_experiment::Engine::Psync;
        });
        scene.first()
    };
    assert_eq!(with_window(4096), "sure nfs-read-ahead");
    assert_eq!(with_window(4 << 20), "likely cpu-bound");
}

#[test]
fn attributes_that_are_asked_for_each_time() {
    let with = |options: &str| {
        let mut scene = scene("sys", [10, 700, 900]);
        let SeenLayer::Mount(mount) = &mut scene.machine.nodes[0].layer else {
            panic!("the mount")
        };
        mount.nfs.as_mut().unwrap().options = format!("vers=4.1,sec=sys,{options}");
        scene.counters.nfs[0].operations[0].name = "GETATTR".to_owned();
        scene.counters.cpu_ticks = None;
        scene.first()
    };
    for off in ["noac", "acregmax=0", "acdirmax=0", "lookupcache=none"] {
        assert_eq!(with(off), "sure nfs-attribute-cache", "{off}");
    }
    assert_eq!(with("acregmax=60,lookupcache=pos"), "nothing");
}
