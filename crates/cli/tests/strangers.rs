//! A peer on the wire, and strangers who do what they can, beside a run that knows the token: each
//! is refused after a greeting, the peer's memory stays what it was, and the run has no error.
//! `IOTAX_STRANGERS=1` is the full measure, which prints its table; without it each does less.
#![allow(clippy::print_stderr, clippy::unwrap_used, reason = "a measure, and tests")]

mod support;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use support::Desk;
use support::peer::Peer;

/// What a peer says to anybody: its magic word.
const GREETING_BYTES: usize = 16;
/// What it says at most to whoever does not know the token: that it is refused, or if what it
/// repeats was right once, a nonce.
const MOST_BYTES: usize = GREETING_BYTES + 33;
/// What the near end knocks with: a nonce, what is wanted, and a code.
const HELLO_BYTES: usize = 72;
/// The peer's threads, buffers and tables, whoever is at it.
const MAX_MEMORY_KIB: u64 = 32 << 10;
/// As many as a full measure has at a time.
const MANY: usize = 1000;

/// A line of a peer's status in /proc, in KiB.
fn memory_kib(peer: &Peer, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", peer.process.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim_start_matches(':').split_whitespace().next().unwrap().parse().unwrap()
}

/// What strangers of a kind did.
#[derive(Default)]
struct Done {
    connections: u64,
    bytes: u64,
}

impl Done {
    /// Says something to the peer, and hears no more than its greeting until it hangs up.
    fn stranger(&mut self, peer: SocketAddr, says: &[u8]) {
        let mut stream = open(peer);
        self.connections += 1;
        self.bytes += says.len() as u64;
        // It may have hung up before all of that.
        let _ = stream.write_all(says);
        let _ = stream.shutdown(Shutdown::Write);
        assert!(heard(stream) <= MOST_BYTES);
    }

    /// Says something, is silent, and is still there.
    fn silent(&mut self, peer: SocketAddr, says: &[u8]) -> TcpStream {
        let mut stream = open(peer);
        self.connections += 1;
        self.bytes += says.len() as u64;
        let _ = stream.write_all(says);
        stream
    }
}

fn open(peer: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(peer).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    stream
}

/// Bytes that the peer says until it hangs up.
fn heard(mut stream: TcpStream) -> usize {
    let mut said = Vec::new();
    match stream.read_to_end(&mut said) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
    }
    said.len()
}

/// A run beside which strangers are at work, or none: the median of its round trips in
/// microseconds.
fn run(desk: &Desk, at: &str, time: &str) -> f64 {
    let words = ["run", "tcp-rr", at, "--ramp", "50ms", "--time", time, "--format", "json"];
    let said = desk.run(&words);
    assert_eq!(said.code, 0, "{said}");
    let job: Value = serde_json::from_str(&said.out).unwrap();
    let job = &job["jobs"][0];
    assert_eq!(job["error"], 0, "{job:#}");
    job["read"]["lat_ns"]["percentile"]["50.000000"].as_f64().unwrap() / 1e3
}

/// What a run said to a peer first, heard by somebody in between.
fn overheard(desk: &Desk, peer: &Peer) -> Vec<u8> {
    let between = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = format!("peer(address={}, token=token)", between.local_addr().unwrap());
    thread::scope(|scope| {
        let listener = scope.spawn(|| {
            let (mut near, _) = between.accept().unwrap();
            let (mut far, mut hello) = (open(peer.address), vec![0; HELLO_BYTES]);
            let mut greeting = [0; GREETING_BYTES];
            far.read_exact(&mut greeting).unwrap();
            near.write_all(&greeting).unwrap();
            near.read_exact(&mut hello).unwrap();
            hello
        });
        assert_eq!(desk.run(&["run", "tcp-rr", &at]).code, 3, "nobody was at the other end");
        listener.join().unwrap()
    })
}

#[test]
fn strangers_are_refused_and_harm_nobody() {
    let is_full = std::env::var_os("IOTAX_STRANGERS").is_some();
    let (many, garbage_bytes, time) =
        if is_full { (MANY, 10_000_000_000, "5s") } else { (100, 20_000_000, "200ms") };
    let desk = Desk::new();
    let peer = Peer::start();
    fs::write(desk.path().join("token"), &peer.token).unwrap();
    let at = format!("peer(address={}, token=token)", peer.address);
    let hello = overheard(&desk, &peer);
    let block: Vec<u8> =
        (0..1_u32 << 18).flat_map(|at| at.wrapping_mul(0x9e37_79b9).to_le_bytes()).collect();

    let times = |says: &[u8]| {
        let mut done = Done::default();
        (0..many).for_each(|_| done.stranger(peer.address, says));
        done
    };
    let still = |says: &[u8]| {
        let mut done = Done::default();
        let all: Vec<_> = (0..many).map(|_| done.silent(peer.address, says)).collect();
        // Silent until the peer has sent them all away, the last ones because they were silent.
        let said = all.into_iter().map(heard).max();
        assert!(said.is_some_and(|said| said <= MOST_BYTES));
        done
    };
    let streams = || {
        let mut done = Done::default();
        while done.bytes < garbage_bytes {
            let mut stream = open(peer.address);
            done.connections += 1;
            while let Ok(bytes) = stream.write(&block) {
                done.bytes += bytes as u64;
            }
        }
        done
    };
    let datagrams = || {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut done = Done::default();
        for datagram in block.chunks(60_000).cycle() {
            done.bytes += socket.send_to(datagram, peer.address).unwrap() as u64;
            if done.bytes >= garbage_bytes {
                break;
            }
        }
        done
    };
    let attacks: [(&str, &(dyn Fn() -> Done + Sync)); 9] = [
        ("nobody", &Done::default),
        ("says nothing and hangs up", &|| times(&[])),
        ("garbage", &|| times(&block[..300])),
        ("a wrong token", &|| times(&block[..HELLO_BYTES])),
        ("a replayed hello", &|| times(&hello)),
        ("silence, at a time", &|| still(&[])),
        ("half a hello, at a time", &|| still(&hello[..HELLO_BYTES / 2])),
        ("garbage without end", &streams),
        ("datagrams of garbage", &datagrams),
    ];
    let before_kib = memory_kib(&peer, "VmRSS");
    eprintln!("| strangers | connections | bytes | peer's peak memory, KiB | p50 beside it, us |");
    for (kind, attack) in attacks {
        let (done, p50_us) = thread::scope(|scope| {
            let attack = scope.spawn(attack);
            let p50_us = run(&desk, &at, time);
            (attack.join().unwrap(), p50_us)
        });
        let (Done { connections, bytes }, peak_kib) = (done, memory_kib(&peer, "VmHWM"));
        eprintln!("| {kind} | {connections} | {bytes} | {peak_kib} | {p50_us:.1} |");
        assert!(peak_kib < MAX_MEMORY_KIB, "{kind}: {before_kib} KiB became {peak_kib}");
    }
    run(&desk, &at, "50ms");
}
