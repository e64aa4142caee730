//! Load between the two ends of a path: this process and a peer in it, over loopback.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use iotax_experiment::{BlockSizes, Engine, Job, Pace, Workload};
use iotax_load::{
    Error, IoTarget, LoadDriver as _, Native, Peer, Tls, TlsBy, TlsCipher, new_peer_secret,
};
use iotax_record::LoadRecord;
use support::{MS, peer, request, run_prepared, workload};

fn load(engine: Engine, bytes: u32) -> Job {
    Job { engine, block_sizes: BlockSizes::Fixed(bytes), ..Job::new("job") }
}

fn run(workload: &Workload, peer: &Peer) -> LoadRecord {
    run_prepared(workload, IoTarget::Peer(peer)).unwrap()
}

#[test]
fn a_stream_passes_either_way() {
    let peer = peer();
    for read_percent in [0, 100] {
        let job = Job { read_percent, threads: 2, ..load(Engine::TcpStream, 128 << 10) };
        let record = run(&workload(job), &peer);
        let job = &record.jobs[0];
        let moved = if read_percent == 100 { &job.read } else { &job.write };
        assert_eq!((&job.first_error, moved.errors), (&None, 0));
        assert_eq!(moved.bytes, moved.ios * (128 << 10));
        assert_eq!(moved.service.count(), moved.ios);
        let tcp = job.tcp.unwrap();
        assert_eq!(tcp.connections, 2);
        assert!(tcp.mss_bytes > 0);
        let far_end = record.far_end.unwrap();
        assert!(far_end.same_host && far_end.cpu_busy_ns.is_some());
    }
}

#[test]
fn requests_are_answered_at_any_depth_and_at_a_rate() {
    let peer = peer();
    for (depth, pace) in [(1, Pace::Closed), (8, Pace::Closed), (4, Pace::Even { iops: 500.0 })] {
        let job = Job { queue_depth: depth, pace, ..load(Engine::TcpRr, 64) };
        let record = run(&workload(job), &peer);
        let job = &record.jobs[0];
        assert_eq!((&job.first_error, job.queue_depth), (&None, depth));
        assert!(job.read.ios > 0);
        assert_eq!(job.read.bytes, 64 * job.read.ios);
        assert_eq!(job.read.response.is_some(), pace != Pace::Closed);
    }
}

#[test]
fn load_is_encrypted_with_any_cipher() {
    use TlsCipher::{Aes128Gcm, Aes256Gcm, ChaCha20Poly1305};
    for cipher in [Aes128Gcm, Aes256Gcm, ChaCha20Poly1305] {
        let peer = Peer { tls: Some(Tls { by: TlsBy::Process, cipher }), ..peer() };
        for read_percent in [0, 100] {
            // More than one record, and more than what is encrypted at a time.
            let job = Job { read_percent, ..load(Engine::TcpStream, 300_000) };
            let record = run(&workload(job), &peer);
            let job = &record.jobs[0];
            let moved = if read_percent == 100 { &job.read } else { &job.write };
            assert_eq!((&job.first_error, moved.errors), (&None, 0), "{cipher:?}");
            assert!(moved.ios > 0 && job.tcp.is_some(), "{cipher:?}");
        }
        for (depth, bytes, pace) in [
            (1, 64, Pace::Closed),
            (8, 64, Pace::Closed),
            (3, 300_000, Pace::Closed),
            (4, 64, Pace::Even { iops: 500.0 }),
        ] {
            let job = Job { queue_depth: depth, pace, ..load(Engine::TcpRr, bytes) };
            let record = run(&workload(job), &peer);
            let job = &record.jobs[0];
            assert_eq!((&job.first_error, job.read.errors), (&None, 0), "{cipher:?} {bytes}");
            assert!(job.read.ios > 0, "{cipher:?} {bytes}");
        }
    }
}

#[test]
fn each_request_has_a_connection_of_its_own() {
    let peer = peer();
    let job = Job { threads: 2, ..load(Engine::TcpConnect, 64) };
    let record = run(&workload(job), &peer);
    let job = &record.jobs[0];
    assert_eq!((&job.first_error, job.read.errors), (&None, 0));
    assert!(job.read.ios > 0);
    assert_eq!(job.read.bytes, 64 * job.read.ios);
    assert_eq!(job.read.service.count(), job.read.ios);
}

#[test]
fn datagrams_are_counted_at_both_ends() {
    let peer = peer();
    for read_percent in [0, 100] {
        let pace = Pace::Even { iops: 1000.0 };
        let job = Job { read_percent, pace, threads: 2, ..load(Engine::UdpStream, 1200) };
        let record = run(&workload(job), &peer);
        let job = &record.jobs[0];
        assert_eq!(job.first_error, None);
        let udp = job.udp.unwrap();
        assert!(udp.sent > 0 && job.offered_ios.is_some());
        assert_eq!(udp.sent, job.write.ios + job.read.ios);
        // Loopback loses none that the receiver has room for, and these are few.
        assert_eq!((udp.received, udp.reordered, udp.duplicates), (udp.sent, 0, 0));
    }
}

#[test]
fn a_peer_refuses_whoever_does_not_know_its_token() {
    let peer = peer();
    let stranger = Peer { secret: new_peer_secret().unwrap(), ..peer };
    let workload = workload(load(Engine::TcpRr, 64));
    let stop = AtomicBool::new(false);
    let error = Native.run(&request(&workload, IoTarget::Peer(&stranger), &stop)).unwrap_err();
    let Error::Peer { source, .. } = error else { panic!("{error}") };
    assert_eq!(source.to_string(), "it rejected the token");
}

/// Garbage, silence and hang-ups, more of them than a peer listens to at a time.
#[test]
fn strangers_do_not_keep_out_those_who_know_the_token() {
    let peer = peer();
    let mut silent = Vec::new();
    for stranger in 0..200 {
        let mut stream = TcpStream::connect(peer.address).unwrap();
        if stranger % 3 == 0 {
            // It may have been sent away already.
            let _ = stream.write_all(&[0x5a; 300]);
        }
        if stranger % 3 != 1 {
            silent.push(stream);
        }
    }
    let record = run(&workload(load(Engine::TcpRr, 64)), &peer);
    assert!(record.jobs[0].read.ios > 0);
    let mut oldest = silent.swap_remove(0);
    oldest.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let mut said = Vec::new();
    let _ = oldest.read_to_end(&mut said);
    assert!(said.len() <= 17, "a stranger hears a greeting, and that it is refused");
}

#[test]
fn load_for_storage_does_not_go_over_a_network_path() {
    let peer = peer();
    let workload = workload(load(Engine::Psync, 4096));
    let stop = AtomicBool::new(false);
    let error = Native.run(&request(&workload, IoTarget::Peer(&peer), &stop)).unwrap_err();
    assert!(error.to_string().contains("needs storage"), "{error}");
}

#[test]
fn nobody_at_the_far_end_is_an_error_that_names_it() {
    let nobody: SocketAddr = (Ipv4Addr::LOCALHOST, 1).into();
    let peer = Peer::at(nobody, new_peer_secret().unwrap());
    let mut workload = workload(load(Engine::TcpStream, 4096));
    workload.time_ns = MS;
    let stop = AtomicBool::new(false);
    let error = Native.run(&request(&workload, IoTarget::Peer(&peer), &stop)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot use the peer tcp://127.0.0.1:1: Connection refused (os error 111)"
    );
}
