//! The program iperf3 as a driver, from this process to a peer in it, over loopback.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::net::Ipv4Addr;
use std::sync::atomic::AtomicBool;

use iotax_experiment::{BlockSizes, Engine, Job, Pace};
use iotax_load::{Error, IoTarget, Iperf3, LoadDriver as _, Peer, new_peer_secret};
use iotax_record::LoadRecord;
use iotax_testing::needs_program;
use support::{peer, request, workload};

/// iperf3, or a loud word that it is missing.
fn iperf3() -> Option<Iperf3> {
    needs_program("iperf3").then(|| Iperf3::find().unwrap())
}

fn run(iperf3: &Iperf3, job: Job, target: IoTarget<'_>) -> Result<LoadRecord, Error> {
    let workload = workload(job);
    let stop = AtomicBool::new(false);
    iperf3.prepare(&workload, target, &|_, _| {}, &stop)?;
    iperf3.run(&request(&workload, target, &stop))
}

fn job(engine: Engine, bytes: u32, read_percent: u8) -> Job {
    Job { engine, block_sizes: BlockSizes::Fixed(bytes), read_percent, ..Job::new("flow") }
}

#[test]
fn a_stream_is_recorded_as_one_of_the_native_engine() {
    let Some(iperf3) = iperf3() else { return };
    let peer = peer();
    for read_percent in [0, 100] {
        let job = Job { threads: 2, ..job(Engine::TcpStream, 128 << 10, read_percent) };
        let record = run(&iperf3, job, IoTarget::Peer(&peer)).unwrap();
        assert!(record.driver.starts_with("iperf3 3."), "{}", record.driver);
        let [job] = record.jobs.as_slice() else { panic!("{record:?}") };
        assert_eq!(
            (job.name.as_str(), job.engine.as_str(), job.threads),
            ("flow", "tcp_stream", 2)
        );
        let (moved, other) = match read_percent {
            0 => (&job.write, &job.read),
            _ => (&job.read, &job.write),
        };
        assert!(moved.bytes > 0 && other.bytes == 0);
        // Asked for 200 ms after 20 ms: whole seconds of each.
        assert_eq!(moved.per_second_bytes.len(), 1);
        assert_eq!(job.tcp.map(|tcp| tcp.connections), (read_percent == 0).then_some(2));
        let far_end = record.far_end.unwrap();
        assert!(far_end.same_host && far_end.cpu_busy_ns.is_some() && far_end.cpu_ns > 0);
        assert!(record.system.cpu_busy_ns.is_some());
    }
}

#[test]
fn datagrams_are_sent_at_the_rate_of_all_flows_together() {
    let Some(iperf3) = iperf3() else { return };
    let pace = Pace::Even { iops: 1000.0 };
    let job = Job { pace, threads: 2, ..job(Engine::UdpStream, 1200, 0) };
    let record = run(&iperf3, job, IoTarget::Peer(&peer())).unwrap();
    let job = &record.jobs[0];
    let udp = job.udp.unwrap();
    assert!(udp.received > 0 && udp.received <= udp.sent);
    // What is due in iperf3's own second, and no more than that on a machine that is busy.
    let (offered, due) = (job.offered_ios.unwrap(), job.active_ns / 1_000_000);
    assert!(offered.abs_diff(due) <= 1, "{offered} of {due}");
    assert!(udp.sent <= offered + offered / 10, "{udp:?} {offered}");
}

#[test]
fn what_is_no_network_path_is_refused() {
    let Some(iperf3) = iperf3() else { return };
    let directory = tempfile::tempdir().unwrap();
    let job = job(Engine::TcpStream, 4096, 0);
    let error = run(&iperf3, job, IoTarget::Path(directory.path())).unwrap_err().to_string();
    let error = error.replace(&directory.path().display().to_string(), "DIR");
    insta::assert_snapshot!(error, @"job `flow`: iperf3 needs a network path such as `netns`, but DIR is not one");
}

#[test]
fn a_path_without_its_far_end_is_an_error_that_names_it() {
    let Some(iperf3) = iperf3() else { return };
    let address = (Ipv4Addr::LOCALHOST, 1).into();
    let gone = Peer::at(address, new_peer_secret().unwrap());
    let error = run(&iperf3, job(Engine::TcpStream, 4096, 0), IoTarget::Peer(&gone)).unwrap_err();
    insta::assert_snapshot!(error, @"cannot use the peer tcp://127.0.0.1:1: Connection refused (os error 111)");
}
