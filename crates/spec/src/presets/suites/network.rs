//! What a network path is asked first: how long a round trip takes, and how much passes.

use super::suite::Suite;
use crate::presets::network;
use crate::workload::Workload;

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
            and of four, both ways, and what becomes of UDP at a rate.",
    source: "the questions that iperf3, netperf and the Kubernetes network benchmark (knb) are run \
             for, in iotax's own workloads",
    phases,
};

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
        network::udp_stream(),
    ]
}
