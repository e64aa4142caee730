//! Load over a network path: one shape each, as network benchmarks have them.

use super::scales::{KIB, SECOND_NS};
use crate::engine::Engine;
use crate::workload::{BlockSizes, Job, Pace, Workload};

/// What iperf3 hands to the kernel at a time.
const STREAM_BLOCK_BYTES: u32 = 128 * KIB;
/// A request, and its answer: what sockperf sends by default is 14 bytes; a small message of an
/// application is some dozens.
const REQUEST_BYTES: u32 = 64;

/// Fits the packets of nearly every path, tunnels included.
const DATAGRAM_BYTES: u32 = 1200;
const DATAGRAMS_PER_S: f64 = 5000.0;

pub(super) fn tcp_stream() -> Workload {
    network(
        "tcp-stream",
        "One TCP connection that carries 128 KiB blocks to the peer as fast as the path takes them, as \
         iperf3 does: the bandwidth of a flow. Set threads=4 for four flows.",
        [stream("flow", 0)],
    )
}

pub(super) fn tcp_stream_back() -> Workload {
    network(
        "tcp-stream-back",
        "The same from the peer to here, as iperf3 --reverse: paths and their limits need not be the \
         same both ways.",
        [stream("flow", 100)],
    )
}

pub(super) fn tcp_stream_both() -> Workload {
    network(
        "tcp-stream-both",
        "One TCP connection to the peer and one from it at the same time, as iperf3 --bidir: what a \
         path carries both ways together. A wire carries as much each way, a CPU at an end does not.",
        [stream("to", 0), stream("from", 100)],
    )
}

pub(super) fn tcp_rr() -> Workload {
    let job = Job {
        engine: Engine::TcpRr,
        block_sizes: BlockSizes::Fixed(REQUEST_BYTES),
        ..Job::new("requests")
    };
    network(
        "tcp-rr",
        "One TCP connection with one request of 64 bytes under way at a time, answered with as many: the \
         time of a round trip. Set depth=16 for 16 requests at a time, rate=1000 to send them \
         whether or not the last was answered.",
        [job],
    )
}

pub(super) fn tcp_connect() -> Workload {
    let job = Job {
        engine: Engine::TcpConnect,
        block_sizes: BlockSizes::Fixed(REQUEST_BYTES),
        ..Job::new("connections")
    };
    network(
        "tcp-connect",
        "A new TCP connection for each request of 64 bytes, answered with as many, one after the other: \
         how many connections a second, and the time from connecting to the answer. Connections \
         are closed by a reset, so that no port stays occupied. Set threads=4 for four at a time.",
        [job],
    )
}

pub(super) fn udp_stream() -> Workload {
    network(
        "udp-stream",
        "5,000 UDP datagrams of 1200 bytes a second to the peer, 48 Mbit/s: how many are lost, how \
         unevenly and in which order they come. Set rate=closed to send as fast as the near end can.",
        [datagrams(0)],
    )
}

pub(super) fn udp_stream_back() -> Workload {
    network(
        "udp-stream-back",
        "The same from the peer to here, as iperf3 --udp --reverse: the peer paces them, and they are \
         counted here.",
        [datagrams(100)],
    )
}

fn datagrams(read_percent: u8) -> Job {
    Job {
        engine: Engine::UdpStream,
        read_percent,
        block_sizes: BlockSizes::Fixed(DATAGRAM_BYTES),
        pace: Pace::Even { iops: DATAGRAMS_PER_S },
        ..Job::new("datagrams")
    }
}

fn stream(name: &str, read_percent: u8) -> Job {
    Job {
        engine: Engine::TcpStream,
        read_percent,
        block_sizes: BlockSizes::Fixed(STREAM_BLOCK_BYTES),
        ..Job::new(name)
    }
}

/// The first job is the primary one.
fn network<const N: usize>(name: &str, about: &str, jobs: [Job; N]) -> Workload {
    Workload {
        about: about.into(),
        // Long enough for a window to open on a path of some 100 ms.
        ramp_ns: SECOND_NS,
        time_ns: 3 * SECOND_NS,
        ..Workload::new(name, jobs.into())
    }
}
