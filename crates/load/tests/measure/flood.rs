//! Strangers who connect to a peer as fast as they can, and those who know its token behind a long
//! path: how many of these get through.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use iotax_load::{Peer, path_ends};
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};

use crate::support::peer;

/// Of those who know the token, one after the other.
const HONEST: usize = 10;
/// What each of the addresses of strangers keeps open.
const KEPT: usize = 200;

/// Somewhere that leads to `far`, with this delay each way.
fn path_to(far: SocketAddr, delay: Duration) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let at = listener.local_addr().unwrap();
    let pump = move |mut from: TcpStream, mut to: TcpStream| {
        let mut bytes = vec![0; 1 << 16];
        while let Ok(read @ 1..) = from.read(&mut bytes) {
            thread::sleep(delay);
            if to.write_all(&bytes[..read]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Write);
    };
    thread::spawn(move || {
        for near in listener.incoming().flatten() {
            thread::sleep(delay);
            let Ok(far) = TcpStream::connect(far) else { continue };
            let (near_too, far_too) = (near.try_clone().unwrap(), far.try_clone().unwrap());
            thread::spawn(move || pump(near, far));
            thread::spawn(move || pump(far_too, near_too));
        }
    });
    at
}

/// Connects from an address of this machine, and says nothing.
fn stranger(from: Ipv4Addr, to: SocketAddr) -> Option<TcpStream> {
    let made = socket(AddressFamily::INET, SocketType::STREAM, None).ok()?;
    bind(&made, &SocketAddr::from((from, 0))).ok()?;
    connect(&made, &to).ok()?;
    Some(made.into())
}

/// Strangers until `stop`, so many a second in all, each address with its newest ones open.
fn flood(to: SocketAddr, per_second: u32, addresses: u8, stop: &AtomicBool, made: &AtomicU64) {
    thread::scope(|scope| {
        for address in 0..addresses {
            scope.spawn(move || {
                let from = Ipv4Addr::new(127, 0, 1, address);
                let pause = Duration::from_secs(1) * u32::from(addresses) / per_second;
                let mut open = std::collections::VecDeque::new();
                let mut next = Instant::now();
                while !stop.load(Ordering::Relaxed) {
                    open.extend(stranger(from, to));
                    made.fetch_add(1, Ordering::Relaxed);
                    if open.len() > KEPT {
                        open.pop_front();
                    }
                    next += pause;
                    thread::sleep(next.saturating_duration_since(Instant::now()));
                }
            });
        }
    });
}

#[test]
fn who_knows_the_token_gets_through_whatever_strangers_do() {
    let far = peer();
    println!("| round trip | strangers/s | from addresses | made | served | longest |");
    for rtt_ms in [20, 100, 300] {
        let near = path_to(far.address, Duration::from_millis(rtt_ms / 2));
        let path = Peer { address: near, ..far.clone() };
        for (per_second, addresses) in [(0, 1), (200, 1), (1000, 1), (3000, 1), (3000, 8)] {
            let (stop, made) = (AtomicBool::new(false), AtomicU64::new(0));
            let (served, longest) = thread::scope(|scope| {
                if per_second > 0 {
                    scope.spawn(|| flood(far.address, per_second, addresses, &stop, &made));
                    thread::sleep(Duration::from_millis(500));
                }
                let times = (0..HONEST).map(|_| {
                    let begun = Instant::now();
                    path_ends(&path).map(|_| begun.elapsed())
                });
                let times: Vec<_> = times.flatten().collect();
                stop.store(true, Ordering::Relaxed);
                (times.len(), times.into_iter().max().unwrap_or_default())
            });
            let made = made.into_inner();
            println!(
                "| {rtt_ms} ms | {per_second} | {addresses} | {made} | {served}/{HONEST} | {longest:.1?} |"
            );
            assert_eq!(served, HONEST);
        }
    }
}
