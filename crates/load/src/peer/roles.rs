//! What the far end does on an authenticated connection.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener};
use std::thread::sleep;
use std::time::{Duration, Instant};

use iotax_record::BusyOne;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use super::flow::Flow;
use super::hello::Role;
use super::udp::Flows;
use super::{connects, udp_back};
use crate::busiest::{Busy, Ended, OfEnd};
use crate::child::{self, Child, Running};
use crate::counters::Reading;
use crate::error::Error;
use crate::sockopt::keep_alive;

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
        Role::Iperf3 => serve_iperf3(stream),
        Role::Addresses => tell_ends(&mut stream),
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

// What the far end tells of its host, as bytes.

/// Names of threads are shorter (`TASK_COMM_LEN`).
const NAME_BYTES: usize = 16;
/// Not known.
const UNKNOWN: u64 = u64::MAX;

#[derive(Debug, PartialEq)]
pub(super) struct PeerTold {
    /// CPU time of the peer's process.
    pub cpu_ns: Option<u64>,
    pub cpu_busy_ns: Option<u64>,
    /// Which kernel it is.
    pub boot: [u8; 8],
    pub cpus: u32,
    /// Since it was last asked.
    pub busiest: OfEnd,
}

impl PeerTold {
    pub(super) const BYTES: usize = 28 + NAME_BYTES + 28;

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut name = [0; NAME_BYTES];
        let (mut thread_ns, mut cpu_ns, mut interrupts, mut cpu) = (UNKNOWN, UNKNOWN, 0, 0);
        for (one, busy_ns) in self.busiest.iter().flatten() {
            match one {
                BusyOne::Thread { name: of } => {
                    name.iter_mut().zip(of.bytes()).for_each(|(to, from)| *to = from);
                    thread_ns = *busy_ns;
                }
                BusyOne::Cpu { number, interrupts_ns } => {
                    (cpu, interrupts, cpu_ns) = (*number, *interrupts_ns, *busy_ns);
                }
            }
        }
        [
            &self.cpu_ns.unwrap_or(UNKNOWN).to_le_bytes()[..],
            &self.cpu_busy_ns.unwrap_or(UNKNOWN).to_le_bytes(),
            &self.boot,
            &self.cpus.to_le_bytes(),
            &name,
            &thread_ns.to_le_bytes(),
            &cpu_ns.to_le_bytes(),
            &interrupts.to_le_bytes(),
            &cpu.to_le_bytes(),
        ]
        .concat()
    }

    pub(super) fn decode(bytes: &[u8; Self::BYTES]) -> Self {
        let mut rest = &bytes[..];
        let cpu_ns = known(take(&mut rest));
        let cpu_busy_ns = known(take(&mut rest));
        let boot = take(&mut rest);
        let cpus = u32::from_le_bytes(take(&mut rest));
        let name: [u8; NAME_BYTES] = take(&mut rest);
        let name = String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned();
        let [thread_ns, busy_ns] = [(); 2].map(|()| known(take(&mut rest)));
        let interrupts_ns = u64::from_le_bytes(take(&mut rest));
        let number = u32::from_le_bytes(take(&mut rest));
        let busiest = [
            thread_ns.map(|ns| (BusyOne::Thread { name }, ns)),
            busy_ns.map(|ns| (BusyOne::Cpu { number, interrupts_ns }, ns)),
        ];
        Self { cpu_ns, cpu_busy_ns, boot, cpus, busiest }
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> [u8; N] {
    let (first, more) = rest.split_first_chunk().expect("the fields add up to the bytes read");
    *rest = more;
    *first
}

fn known(bytes: [u8; 8]) -> Option<u64> {
    Some(u64::from_le_bytes(bytes)).filter(|figure| *figure != UNKNOWN)
}

// Between which addresses a connection is, as each of its ends sees it: what differs was translated
// on the way.

const ADDRESS_BYTES: usize = 18;

/// A connection to a peer, from both of its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathEnds {
    /// The near end's own address.
    pub near: SocketAddr,
    /// The same as the far end sees it.
    pub near_seen: SocketAddr,
    /// Where the near end connected to.
    pub far: SocketAddr,
    /// The address of the far end's own that the connection came to.
    pub far_own: SocketAddr,
    /// The path's MTU as the near end's kernel knows it: of the first interface, if nothing on the
    /// way has told of a smaller one.
    pub mtu_bytes: Option<u32>,
}

/// What the far end tells of a connection.
pub(super) struct Seen {
    /// The near end's address.
    pub near: SocketAddr,
    /// Its own.
    pub far: SocketAddr,
}

impl Seen {
    pub(super) fn read(flow: &mut Flow) -> io::Result<Self> {
        let mut told = [[0; ADDRESS_BYTES]; 2];
        for address in &mut told {
            flow.read_exact(address)?;
        }
        let [near, far] = told.map(|bytes| decode(&bytes));
        Ok(Self { near, far })
    }
}

/// Tells them, at the far end.
pub(super) fn tell_ends(stream: &mut Flow) -> io::Result<()> {
    let socket = stream.socket();
    let both = [socket.peer_addr()?, socket.local_addr()?];
    stream.write_all(&both.map(encode).concat())?;
    stream.flush()?;
    // The near end closes it.
    stream.read(&mut [0]).map(drop)
}

fn encode(address: SocketAddr) -> [u8; ADDRESS_BYTES] {
    let ip = match address.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    let mut bytes = [0; ADDRESS_BYTES];
    bytes[..16].copy_from_slice(&ip.octets());
    bytes[16..].copy_from_slice(&address.port().to_le_bytes());
    bytes
}

/// Sockets of both families know IPv4 as mapped.
fn decode(bytes: &[u8; ADDRESS_BYTES]) -> SocketAddr {
    let (ip, port) = bytes.split_first_chunk::<16>().expect("it is longer");
    let port = u16::from_le_bytes(port.try_into().expect("two are left"));
    SocketAddr::new(Ipv6Addr::from(*ip).to_canonical(), port)
}

// What the far end does for iperf3: a server for one test, as long as the connection.

const NAME: &str = "iperf3";
/// What it prints when it can be connected to.
const LISTENS: &str = "Server listening";
/// How long it may take to.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is looked at, and the connection.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Silence after which a near end is asked whether it is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Another program may take the port that was just free.
const TRIES: usize = 3;
/// Of what the far end says when it cannot.
const MOST_WORDS_BYTES: usize = 400;

/// The far end: starts a server where it was connected to, tells its port, and ends it with the
/// connection.
pub(super) fn serve_iperf3(mut connection: Flow) -> io::Result<()> {
    let socket = connection.socket();
    keep_alive(socket, KEEP_ALIVE)?;
    let at = socket.local_addr()?.ip().to_canonical();
    let (server, port) = match started(at) {
        Ok(started) => started,
        Err(error) => {
            let mut words = error.to_string();
            words.truncate(words.floor_char_boundary(MOST_WORDS_BYTES));
            connection.write_all(&[&[0; 2], words.as_bytes()].concat())?;
            return connection.flush();
        }
    };
    connection.write_all(&port.to_le_bytes())?;
    connection.flush()?;
    connection.socket().set_read_timeout(Some(POLL_INTERVAL))?;
    // The near end says nothing more; what it says is not what was agreed.
    while !server.has_ended() {
        match connection.read(&mut [0]) {
            Err(error) if is_timeout(&error) => {}
            _ => break,
        }
    }
    Ok(())
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// A server that listens, and its port.
fn started(at: IpAddr) -> Result<(Running, u16), Error> {
    let program = child::find_program(NAME)?;
    let attempt = || {
        let port =
            free_port(at).map_err(|source| Error::Start { program: program.clone(), source })?;
        let server = Child::new(NAME, &program, arguments(at, port)).start()?;
        let since = Instant::now();
        while !server.said().contains(LISTENS) {
            if server.has_ended() || since.elapsed() > PATIENCE {
                return Err(server.end()?.failed("did not start as a server"));
            }
            sleep(POLL_INTERVAL);
        }
        Ok((server, port))
    };
    let mut last = attempt();
    for _ in 1..TRIES {
        if last.is_ok() {
            break;
        }
        last = attempt();
    }
    last
}

/// One test, then it ends. It has nothing to report while it runs.
fn arguments(at: IpAddr, port: u16) -> Vec<String> {
    let words = format!("--server --one-off --bind {at} --port {port} --interval 0 --forceflush");
    words.split(' ').map(str::to_owned).collect()
}

fn free_port(at: IpAddr) -> io::Result<u16> {
    let listener = TcpListener::bind((at, 0))?;
    Ok(listener.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_understood() {
        let busiest = [
            Some((BusyOne::Thread { name: "peer".to_owned() }, 7)),
            Some((BusyOne::Cpu { number: 3, interrupts_ns: 8 }, 9)),
        ];
        for busiest in [busiest, [None, None]] {
            let told =
                PeerTold { cpu_ns: Some(1), cpu_busy_ns: None, boot: [5; 8], cpus: 4, busiest };
            let bytes: [u8; PeerTold::BYTES] = told.encode().try_into().unwrap();
            assert_eq!(PeerTold::decode(&bytes), told);
        }
    }
}

#[cfg(test)]
mod tests_of_ends {
    use super::*;

    #[test]
    fn addresses_of_both_families_are_told() {
        for text in ["10.0.0.2:7474", "[fd00::2]:1", "0.0.0.0:65535"] {
            let address: SocketAddr = text.parse().unwrap();
            assert_eq!(decode(&encode(address)), address);
        }
        let mapped = "[::ffff:10.0.0.2]:7".parse().unwrap();
        assert_eq!(decode(&encode(mapped)), "10.0.0.2:7".parse().unwrap());
    }
}
