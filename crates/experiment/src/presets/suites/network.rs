//! What a network path is asked first: how long a round trip takes, and how much passes.

use super::Suite;
use crate::presets::network;
use crate::presets::scales::SECOND_NS;
use crate::workload::{BlockSizes, Pace, Workload};

/// What a stack of network layers is taken apart with.
pub(super) const PEEL: Suite = Suite {
    name: "network",
    about: "The two questions about a network path, one after the other: the bandwidth of a TCP \
            flow, and the time of a round trip.",
    source: "iotax's own: the workloads tcp-stream and tcp-rr",
    phases: || vec![network::tcp_stream(), network::tcp_rr()],
};

/// What a path between two machines is measured with.
pub(super) const BASELINE: Suite = Suite {
    name: "network-baseline",
    about: "A network path from all sides: the time of a round trip, the bandwidth of one TCP flow \
            and of four, each way and both ways at once, and what becomes of UDP at a rate.",
    source: "the questions that iperf3, netperf and the Kubernetes network benchmark (knb) are run \
             for, in iotax's own workloads",
    phases,
};

/// The network part of the comparison of Constellation v2.6 with AKS and GKE (Edgeless Systems, 2023),
/// which knb measured:
///
/// ```text
/// iperf3    -c $TARGET -O 1 -f m -t 10
/// iperf3 -u -b 0 -c $TARGET -O 1 -f m -t 10
/// ```
///
/// iperf3 fills a packet with each datagram, as its TCP does; 1400 bytes fit those of an encrypted pod
/// network too, whose MTU may be 1450 and less.
pub(super) const CONSTELLATION: Suite = Suite {
    name: "constellation-network",
    about: "Encrypted pod networks, as Constellation was compared with AKS and GKE: one TCP flow, and \
            UDP as fast as it can be sent, 10 seconds each. What it is about is the arm: a path from \
            node to node, from pod to pod, from pod to service.",
    source: "Edgeless Systems, performance of Constellation v2.6 (iperf3 through knb, the Kubernetes \
             network benchmark): \
             https://docs.edgeless.systems/constellation/overview/performance",
    phases: published,
};

const PUBLISHED_DATAGRAM_BYTES: u32 = 1400;

fn published() -> Vec<Workload> {
    let (mut tcp, mut udp) = (network::tcp_stream(), network::udp_stream());
    (tcp.name, udp.name) = ("tcp".into(), "udp".into());
    for workload in [&mut tcp, &mut udp] {
        workload.time_ns = 10 * SECOND_NS;
    }
    udp.about =
        "UDP datagrams of 1400 bytes as fast as the near end can send them: how much of it \
                 arrives."
            .into();
    for job in &mut udp.jobs {
        (job.pace, job.block_sizes) = (Pace::Closed, BlockSizes::Fixed(PUBLISHED_DATAGRAM_BYTES));
    }
    vec![tcp, udp]
}

fn phases() -> Vec<Workload> {
    let four = |mut workload: Workload, name: &str| {
        for job in &mut workload.jobs {
            job.threads = 4;
        }
        workload.name = name.into();
        workload
    };
    vec![
        network::tcp_rr(),
        network::tcp_stream(),
        network::tcp_stream_back(),
        four(network::tcp_stream(), "tcp-stream-4"),
        four(network::tcp_stream_back(), "tcp-stream-back-4"),
        network::tcp_stream_both(),
        network::udp_stream(),
        network::udp_stream_back(),
    ]
}
