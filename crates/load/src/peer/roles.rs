//! What the far end does on a connection, once that has proved itself.

use std::io::{self, Read, Write};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use super::connects;
use super::ends;
use super::flow::Flow;
use super::hello::Role;
use super::iperf3;
use super::told::PeerTold;
use super::udp::Flows;
use super::udp_back;
use crate::busiest::{Busy, Ended};
use crate::counters::Reading;

/// What is read at a time: at least as much as the largest socket buffer that iperf3 asks for.
const READ_BYTES: usize = 256 << 10;
/// What is asked for, and no answer: any other byte.
pub(super) const ASK: u8 = b'?';

/// Performs `role` until the near end closes the connection.
pub(super) fn perform(
    mut stream: Flow,
    role: Role,
    session: u64,
    flows: &Flows,
    ended: &Ended,
) -> io::Result<()> {
    stream.socket().set_nodelay(true)?;
    match role {
        Role::Sink => sink(&mut stream),
        Role::Source { bytes } => source(&mut stream, bytes as usize, session),
        Role::Answer { bytes } => answer(&mut stream, bytes as usize),
        Role::Counters => tell_counters(&mut stream, ended),
        Role::Connections { bytes } => connects::serve(&mut stream, bytes as usize),
        Role::DatagramsBack { bytes } => {
            udp_back::send(&flows.of(session)?, &mut stream, bytes as usize)
        }
        Role::Datagrams => flows.of(session)?.tell(&mut stream),
        Role::Iperf3 => iperf3::serve(stream),
        Role::Addresses => ends::tell(&mut stream),
    }
}

fn sink(stream: &mut Flow) -> io::Result<()> {
    let mut bytes = vec![0; READ_BYTES];
    while stream.read(&mut bytes)? > 0 {}
    Ok(())
}

/// Random bytes: a path that compresses must not look fast.
fn source(stream: &mut Flow, bytes: usize, seed: u64) -> io::Result<()> {
    let mut block = vec![0; bytes];
    Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(&mut block);
    loop {
        stream.write_all(&block)?;
    }
}

/// Answers whole requests only: the answer to one of many segments begins with its last.
fn answer(stream: &mut Flow, bytes: usize) -> io::Result<()> {
    let mut requests = vec![0; READ_BYTES.max(2 * bytes)];
    let mut filled = 0;
    loop {
        match stream.read(&mut requests[filled..])? {
            0 => return Ok(()),
            read => filled += read,
        }
        let whole = filled - filled % bytes;
        stream.write_all(&requests[..whole])?;
        requests.copy_within(whole..filled, 0);
        filled -= whole;
    }
}

/// What this host has done so far; and since it was last asked, what had the most to do.
fn tell_counters(stream: &mut Flow, ended: &Ended) -> io::Result<()> {
    let own = [std::process::id()];
    let mut before = Busy::now(&own);
    let mut asked = [0];
    while stream.read(&mut asked)? > 0 && asked == [ASK] {
        let (counters, busy) = (Reading::now().into_counters(), Busy::now(&own).with(ended));
        let told = PeerTold {
            cpu_ns: counters.process_cpu_ns,
            cpu_busy_ns: counters.cpu_busy_ns,
            boot: boot(),
            cpus: u32::try_from(busy.cpus()).unwrap_or(0),
            busiest: busy.since(&before),
        };
        before = busy;
        stream.write_all(&told.encode())?;
    }
    Ok(())
}

/// Tells kernels apart, and nothing else: ends on one of them share its CPUs.
pub(super) fn boot() -> [u8; 8] {
    use sha2::{Digest as _, Sha256};
    let id = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digest = Sha256::digest(id);
    digest[..8].try_into().expect("a digest is longer")
}
