use iotax_catalog::{Direction, Scope};
use iotax_experiment::documented::{Documented, LimitBy, Standing};
use iotax_experiment::{
    Arm, BurstWatch, CloudChoice, KnownLimit, Opened, OpenedTarget, Probe, ProbePurpose,
    SearchDraft, SearchTarget, Target, parse_arms,
};

use super::*;
use crate::reason::BusySign;
use crate::{Caps, Prober, search_caps};

/// A path in no time: what all flows have, what one has, and how much of a CPU a Gbit/s costs.
struct Path {
    bytes_per_s: f64,
    flow_bytes_per_s: f64,
    cpus_per_gbit: f64,
    probes: u32,
    /// What is left of a probe, by its number.
    left: fn(u32) -> f64,
    cpu_wait: Option<f64>,
    far_busy: Option<f64>,
    /// Whether a burst is waited for.
    is_watched: bool,
    /// Seconds for which twice as much goes to the peer.
    burst_s: f64,
}

const PATH: Path = Path {
    bytes_per_s: 60e6,
    flow_bytes_per_s: 1e9,
    cpus_per_gbit: 0.1,
    probes: 0,
    left: |_| 1.0,
    cpu_wait: None,
    far_busy: None,
    is_watched: false,
    burst_s: 0.0,
};

impl Prober for Path {
    fn probe(&mut self, probe: &Probe) -> Result<Vec<Observation>, Ended> {
        self.probes += 1;
        let traffic = probe.traffic.unwrap();
        let flows = f64::from(traffic.flows);
        assert_eq!(probe.block_bytes, traffic.block_bytes);
        assert_eq!(traffic.block_bytes, if traffic.engine.is_stream() { 128 << 10 } else { 64 });
        let ProbePurpose::Known(purpose) = probe.purpose else { panic!("{probe:?}") };
        let of_row = match (traffic.engine, traffic.is_back) {
            (Engine::TcpStream, false) => Purpose::StreamsTo(traffic.flows),
            (Engine::TcpStream, true) => Purpose::StreamsFrom(traffic.flows),
            (Engine::UdpStream, _) => Purpose::DatagramsTo(traffic.flows),
            _ => Purpose::Requests(traffic.flows),
        };
        let of_bursts = [Purpose::Saturate, Purpose::SpendCredits, Purpose::AfterPause];
        let is_of_row = purpose == of_row && probe.queue_depth == 1;
        assert!(is_of_row || self.is_watched && of_bursts.contains(&purpose), "{probe:?}");
        let bytes_per_s = self.bytes_per_s.min(flows * self.flow_bytes_per_s);
        // As much uneven as a token bucket is.
        let bytes_per_s = bytes_per_s * (1.0 + 0.002 * f64::from(self.probes % 3));
        let bytes_per_s = bytes_per_s * (self.left)(self.probes);
        let seconds = probe.time_ns as f64 / 1e9;
        let per_s = bytes_per_s / f64::from(traffic.block_bytes);
        let bursts = of_row == Purpose::StreamsTo(traffic.flows);
        let twice_s = if bursts { self.burst_s.min(seconds) } else { 0.0 };
        self.burst_s -= twice_s;
        let in_second = |second: u32| if f64::from(second) < twice_s { 2.0 * per_s } else { per_s };
        let ios = per_s * (seconds + twice_s);
        let busy = bytes_per_s * 8e-9 * self.cpus_per_gbit / flows;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
        let (ios, seconds) = (ios as u64, seconds as u32);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
        let per_second_ios = (0..seconds).map(|second| in_second(second) as u32).collect();
        let seen = Observation {
            ios,
            bytes: ios * u64::from(traffic.block_bytes),
            active_ns: probe.time_ns,
            busy: Some(busy),
            cpu_wait: self.cpu_wait,
            far_busy: self.far_busy,
            per_second_ios,
            tcp: Some(iotax_record::TcpRecord {
                mss_bytes: 1448,
                header_bytes: 52,
                ..iotax_record::TcpRecord::default()
            }),
            ..Observation::default()
        };
        Ok(vec![seen; probe.places.len()])
    }

    fn pause(&mut self, _: u64) -> Result<(), Ended> {
        Ok(())
    }
}

fn searched(bytes_per_s: f64, flow_bytes_per_s: f64, cpus_per_gbit: f64) -> Caps {
    searched_with(Vec::new(), bytes_per_s, flow_bytes_per_s, cpus_per_gbit)
}

fn searched_with(
    known: Vec<KnownLimit>,
    bytes_per_s: f64,
    flow_bytes_per_s: f64,
    cpus_per_gbit: f64,
) -> Caps {
    searched_on(known, &mut Path { bytes_per_s, flow_bytes_per_s, cpus_per_gbit, ..PATH })
}

fn searched_on(known: Vec<KnownLimit>, path: &mut Path) -> Caps {
    let arm: Arm = parse_arms(["netns"]).unwrap().remove(0);
    assert!(matches!(arm.target, Target::Stack(_)));
    let search = SearchDraft {
        targets: vec![SearchTarget { arm, span_bytes: 1 << 30 }],
        writes: false,
        quick: true,
        max_time_ns: None,
        burst: path
            .is_watched
            .then(|| BurstWatch { longest_ns: 60_000_000_000, pauses_ns: Vec::new() }),
        cloud: CloudChoice { vm: Some("m5.xlarge".to_owned()), ..CloudChoice::default() },
        fail_if: vec![iotax_experiment::Rule::parse("bandwidth < 1G").unwrap()],
        undecided: None,
        seed: 1,
    }
    .resolve()
    .unwrap();
    let found = OpenedTarget { smallest_io_bytes: None, known };
    let opened = Opened { cloud: search.cloud.clone(), targets: vec![found] };
    search_caps(&search, &opened, path)
}

/// 60 MB/s for all flows, of which probes lose something.
fn disturbed(left: fn(u32) -> f64, cpu_wait: Option<f64>) -> Caps {
    searched_on(Vec::new(), &mut Path { left, cpu_wait, ..PATH })
}

#[test]
fn a_measurement_that_was_disturbed_does_not_move_a_cap() {
    let caps = disturbed(|probe| [1.0, 1.0, 1.0, 0.3, 1.0, 1.0, 0.7][probe as usize % 7], None);
    let path = &caps.targets[0].path;
    assert_eq!(told(&path[0]), (PathQuantity::BytesTo, false, 1, 48, CapKind::Throttle));
    assert_eq!(told(&path[1]), (PathQuantity::BytesFrom, false, 1, 48, CapKind::Throttle));
    assert!(caps.targets[0].unsteady.is_empty(), "{caps:#?}");
}

#[test]
fn a_path_that_alternates_between_two_rates_is_unsteady() {
    let caps = disturbed(
        |probe| if probe.wrapping_mul(2_654_435_769) >> 31 == 0 { 0.3 } else { 1.0 },
        None,
    );
    let target = &caps.targets[0];
    assert!(!target.path.iter().any(|path| path.quantity.is_bytes()), "{target:#?}");
    let to_peer = target.unsteady.iter().find(|rate| rate.quantity == "bw_bytes_to").unwrap();
    let levels: Vec<f64> = to_peer.levels.iter().map(|level| (level.per_s / 1e6).round()).collect();
    assert_eq!(levels, [18.0, 60.0], "{target:#?}");
    let outcomes: Vec<_> = caps.rules.iter().map(|rule| rule.outcome).collect();
    assert!(!outcomes.contains(&iotax_experiment::rule::RuleOutcome::Pass), "{:?}", caps.rules);
}

#[test]
fn a_ceiling_is_a_cap_though_the_load_waited_for_cpus() {
    let caps = disturbed(|probe| if probe % 4 == 0 { 0.6 } else { 1.0 }, Some(0.4));
    assert_eq!(told(&caps.targets[0].path[0]).4, CapKind::Throttle, "{caps:#?}");
}

#[test]
fn the_peers_cpus_are_not_this_machines() {
    let caps = searched_on(Vec::new(), &mut Path { far_busy: Some(0.95), ..PATH });
    let cap = &caps.targets[0].path[0].cap;
    assert_eq!(cap.kind, CapKind::External);
    assert!(matches!(cap.reason.sign, CapSign::Busy(BusySign::Peer { .. })), "{cap:?}");
}

#[test]
fn credits_of_what_leaves_are_watched_running_out() {
    let caps = searched_on(Vec::new(), &mut Path { is_watched: true, burst_s: 15.0, ..PATH });
    let target = &caps.targets[0];
    assert!((target.soak_bw_bytes[0] / 120e6 - 1.0).abs() < 0.01, "{:?}", target.soak_bw_bytes);
    let burst = |path: &PathCap| path.cap.burst.as_ref().map(|b| (b.per_s / 1e6).round());
    let bursts: Vec<_> = target.path.iter().map(burst).collect();
    assert_eq!(bursts, [Some(120.0), None, None, None]);
    let cap = &target.path[0].cap;
    assert!((cap.burst.as_ref().unwrap().size / (15.0 * 60e6) - 1.0).abs() < 0.1, "{cap:?}");
}

#[test]
fn a_flow_with_nearly_all_has_no_cap_of_its_own() {
    let caps = searched(108e6, 100e6, 0.1);
    let path = &caps.targets[0].path;
    assert_eq!((path.len(), path[0].traffic.flows), (4, 2));
    assert!(path.iter().all(|path| !path.is_per_flow), "{path:#?}");
    let mut steady = Path { bytes_per_s: 108e6, ..PATH };
    searched_on(Vec::new(), &mut steady);
    assert_eq!(steady.probes, 24, "none is repeated that is not less than before");
}

#[test]
fn frames_are_told_of_bytes_whose_headers_are_known() {
    let of = |row: PathMeasure, mss_bytes, header_bytes| {
        let tcp = iotax_record::TcpRecord { mss_bytes, header_bytes, ..Default::default() };
        wire(row, &[Observation { tcp: Some(tcp), ..Observation::default() }], 1.0).is_some()
    };
    assert!(of(MEASURES[0], 1448, 52) && of(MEASURES[1], 1448, 52) && !of(MEASURES[3], 1448, 52));
    assert!(!of(MEASURES[0], 0, 52) && !of(MEASURES[0], 1448, 0));
}

#[test]
fn a_load_on_a_path_that_gets_no_cpu_names_no_cap() {
    let caps = disturbed(|probe| 0.2 + f64::from(probe * 37 % 100) / 130.0, Some(0.4));
    let target = &caps.targets[0];
    assert!(target.path.is_empty(), "{target:#?}");
    let to_peer = target.unreached.iter().find(|cap| cap.quantity == "bw_bytes_to").unwrap();
    let Obstacle::ThisMachine(BusySign::Waited { share }) = to_peer.obstacle else {
        panic!("{to_peer:?}");
    };
    assert!((share - 0.4).abs() < 1e-9, "{share}");
    assert!(to_peer.at_least < 61e6, "{to_peer:?}");
}

fn told(path: &PathCap) -> (PathQuantity, bool, u32, u32, CapKind) {
    let mbit = path.cap.cap * 8e-6;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
    (
        path.quantity,
        path.is_per_flow,
        path.traffic.flows,
        (mbit / 10.0).round() as u32,
        path.cap.kind,
    )
}

#[test]
fn a_cap_on_all_flows_is_one_flows_too() {
    let caps = searched(60e6, 1e9, 0.1);
    let path = &caps.targets[0].path;
    assert_eq!(told(&path[0]), (PathQuantity::BytesTo, false, 1, 48, CapKind::Throttle));
    assert_eq!(told(&path[1]), (PathQuantity::BytesFrom, false, 1, 48, CapKind::Throttle));
    assert_eq!(path.len(), 4, "{path:#?}");
    let wire = path[0].wire.unwrap();
    assert_eq!((wire.mtu_bytes, wire.frame_bytes, wire.data_bytes), (1500, 1514, 1448));
    assert!((wire.per_s / path[0].cap.cap - 1514.0 / 1448.0).abs() < 1e-9);
    // 1 GiB/s was asked for, each way.
    let outcomes: Vec<_> = caps.rules.iter().map(|rule| rule.outcome).collect();
    assert_eq!(outcomes, [iotax_experiment::rule::RuleOutcome::Fail; 2]);
}

#[test]
fn a_cap_on_a_flow_is_told_from_the_cap_on_all() {
    let caps = searched(250e6, 100e6, 0.1);
    let path = &caps.targets[0].path;
    assert_eq!(told(&path[0]), (PathQuantity::BytesTo, false, 4, 200, CapKind::Throttle));
    assert_eq!(told(&path[1]), (PathQuantity::BytesTo, true, 1, 80, CapKind::Throttle));
}

#[test]
fn flows_that_a_cpu_holds_are_no_cap_of_the_path() {
    let caps = searched(10e9, 125e6, 0.9);
    let path = &caps.targets[0].path;
    assert!(path.iter().all(|path| path.cap.kind == CapKind::ThisMachine), "{path:#?}");
    assert!(!path[0].is_plateau);
    let flows: Vec<u32> = path[0].flows.iter().map(|step| step.flows).collect();
    assert_eq!(flows, [1, 2, 4], "no CPU is left for more");
    let CapSign::Busy(BusySign::Thread { share }) = path[0].cap.reason.sign else {
        panic!("{path:#?}");
    };
    assert!((share - 0.9).abs() < 0.01, "{share}");
}

#[test]
fn a_documented_network_stands_beside_what_is_on_the_wire() {
    let caps = searched(1.25e9 / 8.0 * 1448.0 / 1514.0, 1e9, 0.1);
    let of_vm = LimitBy::Documented(Scope::Network);
    let bound = |quantity| (quantity, of_vm.clone(), Standing::Binds(0));
    assert_eq!(stand(&caps), [bound("bw_bytes_to"), bound("bw_bytes_from")]);
}

#[test]
fn a_shaper_holds_what_passes_it_and_no_single_flow() {
    let of = "eth0".to_owned();
    let shaper = KnownLimit {
        by: LimitBy::Shaper("tbf".to_owned()),
        of,
        direction: Some(Direction::Write),
        iops: None,
        bw_bytes: Some(250e6),
    };
    let caps = searched_with(vec![shaper], 250e6 * 1448.0 / 1514.0, 100e6, 0.1);
    let mut held = stand(&caps);
    held.retain(|(_, by, _)| matches!(by, LimitBy::Shaper(_)));
    let shaper = LimitBy::Shaper("tbf".to_owned());
    assert_eq!(held, [("bw_bytes_to", shaper, Standing::Binds(0))]);
}

/// Each row, with what binds there.
fn stand(caps: &Caps) -> Vec<(&str, LimitBy, Standing)> {
    let row = |row| -> Option<(&str, LimitBy, Standing)> {
        let row: &Documented = row;
        Some((&row.quantity, row.binding()?.by.clone(), row.standing()?))
    };
    caps.documented.iter().filter_map(row).collect()
}
