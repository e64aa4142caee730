//! What passed over a network path, as figures to show.

use std::collections::BTreeSet;

use iotax_experiment::Workload;
use iotax_record::{TcpRecord, UdpRecord};

use crate::analysis::{NetworkLoad, NetworkSummary};
use crate::facts::{JobFacts, TrialFacts};
use crate::metrics::Metric;
use crate::pooled;

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
    let jobs = || pooled::primary(trials);
    let tcp = || jobs().filter_map(|job| Some((job.tcp.as_ref()?, job)));
    let of_tcp = |part: fn(&(&TcpRecord, &JobFacts)) -> f64, whole: fn(&JobFacts) -> f64| {
        tcp().next().is_some().then(|| pooled::ratio(tcp(), part, |(_, job)| whole(job)))
    };
    let udp = || jobs().filter_map(|job| job.udp.as_ref()).filter(|udp| udp.sent > 0);
    let of_udp = |part: fn(&&UdpRecord) -> f64, whole: fn(&&UdpRecord) -> f64| {
        udp().next().is_some().then(|| pooled::ratio(udp(), part, whole))
    };
    // To the peer, and from it.
    let ways = [false, true].map(|back| {
        let flows = || trials.iter().flat_map(|trial| trial.flows());
        let own = || flows().filter(|job| (job.read_bytes > 0) == back);
        let indices: BTreeSet<usize> = own().map(|job| job.job).collect();
        let rate = |index| pooled::rate(own().filter(|job| job.job == index), JobFacts::bits);
        indices.into_iter().map(rate).sum()
    });
    let zero_copy = || jobs().filter_map(|job| job.tcp?.zero_copy);
    let cpu_ns = if load.moves_bytes() {
        let bytes = |trial: &TrialFacts| trial.flows().map(JobFacts::bits).sum();
        pooled::mean(trials, Metric::CpuPerMib, bytes)
    } else {
        let requests = |trial: &TrialFacts| trial.primary().map_or(0.0, |job| job.ios as f64);
        pooled::mean(trials, Metric::CpuPerRequest, requests)
    };
    Some(NetworkSummary {
        load,
        bits_per_s: ways.iter().sum(),
        each_way: workload.goes_both_ways().then_some(ways),
        cpu_ns,
        retransmits_per_gib: of_tcp(
            |(tcp, _)| tcp.retransmits as f64,
            |job| job.bytes() as f64 / GIB,
        ),
        rtt_ns: of_tcp(|(tcp, _)| tcp.rtt_ns as f64, |_| 1.0),
        lost: of_udp(|udp| udp.sent as f64 - udp.received as f64, |udp| udp.sent as f64),
        reordered: of_udp(|udp| udp.reordered as f64, |udp| udp.received as f64),
        jitter_ns: of_udp(|udp| udp.jitter_ns as f64, |_| 1.0),
        copied: zero_copy().next().is_some().then(|| {
            pooled::ratio(zero_copy(), |copies| copies.copied as f64, |copies| copies.sends as f64)
        }),
    })
}
