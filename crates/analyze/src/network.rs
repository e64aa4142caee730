//! What passed over a network path, as figures to show.

use iotax_record::{TcpRecord, UdpRecord};
use iotax_spec::Workload;
use iotax_stats::sample::mean;

use crate::analysis::{NetworkLoad, NetworkSummary};
use crate::facts::{JobFacts, TrialFacts};
use crate::metrics::Metric;

const GIB: f64 = 1_073_741_824.0;

/// The summary of an arm, if `workload` drives its primary job over a network path.
pub(crate) fn summary(workload: &Workload, trials: &[&TrialFacts]) -> Option<NetworkSummary> {
    let load = if workload.is_stream() {
        NetworkLoad::Stream
    } else if workload.is_round_trips() {
        NetworkLoad::RoundTrips
    } else if workload.is_connections() {
        NetworkLoad::Connections
    } else if workload.is_datagrams() {
        NetworkLoad::Datagrams
    } else {
        return None;
    };
    let jobs = || trials.iter().filter_map(|trial| trial.primary());
    let of = |figure: &dyn Fn(&JobFacts) -> Option<f64>| {
        let figures: Vec<f64> = jobs().filter_map(figure).collect();
        (!figures.is_empty()).then(|| mean(&figures))
    };
    let of_tcp = |figure: fn(&TcpRecord, &JobFacts) -> f64| {
        of(&|job| job.tcp.as_ref().map(|tcp| figure(tcp, job)))
    };
    let of_udp = |figure: fn(&UdpRecord) -> f64| {
        of(&|job| job.udp.as_ref().filter(|udp| udp.sent > 0).map(figure))
    };
    let metric = |metric: Metric| {
        let figures: Vec<f64> = trials.iter().filter_map(|trial| metric.of(trial)).collect();
        mean(&figures)
    };
    // To the peer, and from it.
    let ways = [false, true].map(|back| {
        let of_trial = |trial: &&TrialFacts| {
            let flows = trial.flows().filter(|job| (job.read_bytes > 0) == back);
            flows.map(JobFacts::bits_per_s).sum()
        };
        mean(&trials.iter().map(of_trial).collect::<Vec<f64>>())
    });
    let cpu = if load.moves_bytes() { Metric::CPU_PER_MIB } else { Metric::CPU_PER_REQUEST };
    Some(NetworkSummary {
        load,
        bits_per_s: ways.iter().sum(),
        each_way: workload.goes_both_ways().then_some(ways),
        cpu_ns: metric(cpu),
        retransmits_per_gib: of_tcp(|tcp, job| tcp.retransmits as f64 / (job.bytes() as f64 / GIB)),
        rtt_ns: of_tcp(|tcp, _| tcp.rtt_ns as f64),
        lost: of_udp(|udp| 1.0 - udp.received as f64 / udp.sent as f64),
        reordered: of_udp(|udp| udp.reordered as f64 / udp.received.max(1) as f64),
        jitter_ns: of_udp(|udp| udp.jitter_ns as f64),
        copied: of(&|job| {
            let zero_copy = job.tcp?.zero_copy?;
            Some(zero_copy.copied as f64 / zero_copy.sends.max(1) as f64)
        }),
    })
}
