//! The caps of a network path: bytes and packets per second, each way, and whether one flow may have all
//! of it. Depth has no meaning to a stream; what grows is the number of flows.

use iotax_spec::{Engine, Traffic};
use iotax_stats::levels::TwoLevels;
use iotax_stats::plateau::FLAT;

use crate::estimate::{Estimate, Series, again};
use crate::found::{Cap, CapKind, FlowStep, PathCap, PathQuantity, TargetCaps, Wire};
use crate::probe::{Ended, Observation};
use crate::processors::Busy;
use crate::scout::{Scout, Shape};
use crate::unstated::{Obstacle, STATED, Unreached, Unsteady, changes};
use crate::{ladder, soak};

/// More flows than this are not tried.
const MOST_FLOWS: u32 = 16;
/// As many as a cap on each leaves the cap on all to be reached.
const SOAK_FLOWS: u32 = 4;
/// Share of the plateau that as few flows as needed reach.
const NEARLY: f64 = 0.95;
/// All flows carry so many times as much as one, at least, where one is held by a cap of its own.
const MORE: f64 = 1.1;
/// So many times as much is more, and nothing that two measurements differ by.
const ODD: f64 = 1.02;
/// How often what is less than with fewer flows is measured again.
const TRIES: usize = 2;
/// An interval that is wider, of a load that had to wait for CPUs, is no cap of what is behind them.
const UNCERTAIN: f64 = 0.1;
/// A limiter holds its rate: from one measurement to the next it differs by less.
const STEADY: f64 = 0.02;
/// Of Ethernet, in which a frame's check sequence is not counted.
const ETHERNET_BYTES: u64 = 14;

/// What is measured, and with what.
#[derive(Debug, Clone, Copy)]
struct Row {
    quantity: PathQuantity,
    /// With one flow.
    traffic: Traffic,
    purpose: &'static str,
}

const STREAM: Traffic =
    Traffic { engine: Engine::TcpStream, is_back: false, flows: 1, block_bytes: 128 << 10 };

/// A packet of each is as small as a message of an application may be.
const ROWS: [Row; 4] = [
    Row { quantity: PathQuantity::BytesTo, traffic: STREAM, purpose: "streams to the peer" },
    Row {
        quantity: PathQuantity::BytesFrom,
        traffic: Traffic { is_back: true, ..STREAM },
        purpose: "streams from the peer",
    },
    Row {
        quantity: PathQuantity::PacketsTo,
        traffic: Traffic { engine: Engine::UdpStream, block_bytes: 64, ..STREAM },
        purpose: "small datagrams to the peer",
    },
    Row {
        quantity: PathQuantity::Requests,
        traffic: Traffic { engine: Engine::TcpRr, block_bytes: 64, ..STREAM },
        purpose: "small requests and answers",
    },
];

/// What is measured again and again.
struct Wanted {
    row: Row,
    flows: u32,
    is_per_flow: bool,
    climbed: Climbed,
}

/// Throughput over flows.
#[derive(Debug, Clone, Default)]
struct Climbed {
    steps: Vec<FlowStep>,
    is_plateau: bool,
}

/// Finds as many flows as are of use for each quantity, and measures the caps with these, and one
/// flow alone.
pub(crate) fn find(
    scout: &mut Scout<'_>,
    target: usize,
    found: &mut TargetCaps,
) -> Result<(), Ended> {
    soak(scout, target, found)?;
    let mut wanted = Vec::new();
    for row in ROWS {
        let climbed = climb(scout, target, row, found)?;
        let flows = climbed.useful_flows();
        wanted.push(Wanted { row, flows, is_per_flow: false, climbed });
        if flows > 1 {
            let climbed = Climbed::default();
            wanted.push(Wanted { row, flows: 1, is_per_flow: true, climbed });
        }
    }
    let purposes: Vec<String> = wanted.iter().map(|w| w.row.purpose(w.flows)).collect();
    let shapes: Vec<_> =
        wanted.iter().zip(&purposes).map(|(w, purpose)| w.row.shape(w.flows, purpose)).collect();
    let value = |at: usize, seen: &Observation| wanted[at].row.value(seen);
    let measured = again(scout, target, &shapes, value, found)?;
    for (wanted, series) in wanted.iter().zip(measured) {
        wanted.keep(&series, found);
    }
    let series = found.soak_bw_bytes.clone();
    let shape = ROWS[0].shape(SOAK_FLOWS, "");
    let unit = f64::from(shape.block_bytes);
    let burst = soak::burst(scout, target, shape, &series, (unit, found))?;
    let to_peer = |path: &&mut PathCap| path.quantity == PathQuantity::BytesTo && !path.is_per_flow;
    if let Some(path) = found.path.iter_mut().find(to_peer) {
        path.cap.burst = burst;
    }
    Ok(())
}

/// Waits for a burst of what goes to the peer to end, where that is asked: clouds give credits for what
/// leaves.
fn soak(scout: &mut Scout<'_>, target: usize, found: &mut TargetCaps) -> Result<(), Ended> {
    if scout.search().burst.is_none() {
        return Ok(());
    }
    // With a ramp: at the start it is the sender's buffers that fill.
    let shape = ROWS[0].shape(SOAK_FLOWS, "saturate: does a burst run out?");
    let series = soak::series(scout, target, shape, found)?;
    found.soak_bw_bytes = series.iter().map(|ios| ios * f64::from(shape.block_bytes)).collect();
    Ok(())
}

/// Twice as many flows until throughput stops to grow with them, or no CPU is left for more. What
/// is less than with fewer flows is measured again: it may have been disturbed.
fn climb(
    scout: &mut Scout<'_>,
    target: usize,
    row: Row,
    found: &mut TargetCaps,
) -> Result<Climbed, Ended> {
    let mut climbed = Climbed::default();
    let mut flows = 1;
    loop {
        let purpose = row.purpose(flows);
        let shape = row.shape(flows, &purpose);
        let mut seen = soak::measure(scout, target, shape, found)?;
        let before = climbed.steps.iter().map(|step| step.per_s).fold(0.0, f64::max);
        for _ in 0..TRIES {
            if row.value(&seen) * ODD >= before {
                break;
            }
            let again = soak::measure(scout, target, shape, found)?;
            if row.value(&again) > row.value(&seen) {
                seen = again;
            }
        }
        climbed.steps.push(FlowStep { flows, per_s: row.value(&seen) });
        climbed.is_plateau = climbed.slope().is_some_and(|slope| slope <= FLAT);
        let is_computed = Busy::of(&[seen], 0.0).is_limit().is_some() && climbed.steps.len() > 2;
        if climbed.is_plateau || is_computed || flows == MOST_FLOWS {
            return Ok(climbed);
        }
        flows *= 2;
    }
}

impl Climbed {
    /// Of the logarithms, over the three largest numbers of flows.
    fn slope(&self) -> Option<f64> {
        let upper = self.steps.last_chunk::<3>()?;
        Some(ladder::slope(&upper.map(|step| (f64::from(step.flows).ln(), step.per_s.ln()))))
    }

    fn useful_flows(&self) -> u32 {
        let best = self.steps.iter().map(|step| step.per_s).fold(0.0, f64::max);
        let useful = self.steps.iter().find(|step| step.per_s >= NEARLY * best);
        useful.map_or(1, |step| step.flows)
    }
}

impl Row {
    fn purpose(self, flows: u32) -> String {
        format!("{}, {flows} at once", self.purpose)
    }

    fn traffic(self, flows: u32) -> Traffic {
        Traffic { flows, ..self.traffic }
    }

    fn shape(self, flows: u32, purpose: &str) -> Shape<'_> {
        Shape {
            purpose,
            block_bytes: self.traffic.block_bytes,
            queue_depth: 1,
            traffic: Some(self.traffic(flows)),
            ..Shape::default()
        }
    }

    fn value(self, seen: &Observation) -> f64 {
        if self.quantity.is_bytes() { seen.bytes_per_s() } else { seen.iops() }
    }
}

impl Wanted {
    /// Takes a cap, or says why there is none to be stated. One flow's is none if all flows have no more.
    fn keep(&self, series: &Series, found: &mut TargetCaps) {
        let Some(estimate) = series.estimate() else { return };
        let all = found.path.last().filter(|path| path.quantity == self.row.quantity);
        if self.is_per_flow && all.is_none_or(|all| all.cap.lo < MORE * estimate.hi) {
            return;
        }
        let busy = Busy::of(&series.seen, 0.0);
        let quantity = self.row.quantity.name(self.is_per_flow);
        let in_the_way =
            busy.taken().filter(|_| !estimate.is_ceiling && estimate.width() > UNCERTAIN);
        if let Some(why) = in_the_way.filter(|_| busy.is_limit().is_none()) {
            found.unreached.push(Unreached {
                quantity: quantity.to_owned(),
                at_least: series.reached(),
                block_bytes: self.row.traffic.block_bytes,
                obstacle: Obstacle::ThisMachine,
                why,
            });
        } else if let Some(levels) = changes(&series.windows).filter(|levels| levels.is_tight) {
            // Measurements have pauses between them, which are in no period.
            let levels = TwoLevels { period: None, ..levels };
            found.unsteady.push(Unsteady::between(quantity, &series.windows, levels));
        } else if estimate.width() > STATED {
            found.unsteady.push(Unsteady::scattered(quantity, &series.windows));
        } else {
            found.path.push(self.cap(series, estimate, &busy));
        }
    }

    fn cap(&self, series: &Series, estimate: Estimate, busy: &Busy) -> PathCap {
        let (per_s, traffic) = (estimate.rate, self.row.traffic(self.flows));
        let (kind, why) = self.kind(series, estimate, busy);
        PathCap {
            quantity: self.row.quantity,
            is_per_flow: self.is_per_flow,
            traffic,
            wire: wire(self.row, &series.seen, per_s),
            is_plateau: self.climbed.is_plateau,
            flows: self.climbed.steps.clone(),
            cap: Cap {
                cap: per_s,
                lo: estimate.lo,
                hi: estimate.hi,
                measurements: series.measurements(),
                block_bytes: traffic.block_bytes,
                queue_depth: 1,
                kind,
                why,
                burst: None,
            },
        }
    }

    /// What sets it: CPUs of either end, a limiter, or what the measurements do not tell.
    fn kind(&self, series: &Series, estimate: Estimate, busy: &Busy) -> (CapKind, String) {
        let spread = series.spread();
        let is_steady = estimate.is_ceiling || spread <= STEADY;
        if let Some(why) = busy.is_limit() {
            return (CapKind::ThisMachine, why);
        }
        if let Some(why) = busy.far_is_limit() {
            return (CapKind::External, why);
        }
        let others = busy.others().map_or_else(String::new, |others| format!("; {others}"));
        let spread = iotax_words::percent(spread);
        match (self.is_per_flow, self.climbed.is_plateau, is_steady) {
            (true, _, true) => (
                CapKind::Throttle,
                format!(
                    "one flow carries the same every time, and several carry more: a limit on a flow, \
                     or what the window of one connection holds{others}"
                ),
            ),
            (false, true, true) => (
                CapKind::Throttle,
                format!(
                    "more flows carry no more, each time the same, and CPUs are left: a limiter, or \
                     what the link itself carries{others}"
                ),
            ),
            (false, false, _) => (
                CapKind::External,
                format!(
                    "no plateau: throughput still changes with the number of flows, so this is what was \
                     reached and no cap{others}"
                ),
            ),
            (.., false) => (
                CapKind::External,
                format!(
                    "it was not the same twice (by {spread}), and a limiter holds its rate{others}"
                ),
            ),
        }
    }
}

/// How much of the frames is data, as TCP has it.
fn wire(row: Row, seen: &[Observation], per_s: f64) -> Option<Wire> {
    let tcp = seen.first()?.tcp.filter(|tcp| tcp.header_bytes > 0 && tcp.mss_bytes > 0)?;
    let mtu_bytes = tcp.mss_bytes + tcp.header_bytes;
    let frame_bytes = mtu_bytes + ETHERNET_BYTES;
    let share = frame_bytes as f64 / tcp.mss_bytes as f64;
    row.quantity.is_bytes().then_some(Wire {
        frame_bytes,
        data_bytes: tcp.mss_bytes,
        mtu_bytes,
        per_s: per_s * share,
    })
}

#[cfg(test)]
mod tests {
    use iotax_catalog::Direction;
    use iotax_spec::{
        Arm, CloudChoice, KnownLimit, Probe, Search, SearchTarget, Target, parse_arms,
    };

    use super::*;
    use crate::{Caps, Prober, find};

    /// A path in no time: what all flows have, what one has, and how much of a CPU a Gbit/s costs.
    struct Path {
        bytes_per_s: f64,
        flow_bytes_per_s: f64,
        cpus_per_gbit: f64,
        probes: u32,
        /// What is left of a probe, by its number.
        left: fn(u32) -> f64,
        cpu_wait: Option<f64>,
    }

    impl Prober for Path {
        fn probe(&mut self, probe: &Probe) -> Result<Vec<Observation>, Ended> {
            self.probes += 1;
            let traffic = probe.traffic.unwrap();
            let flows = f64::from(traffic.flows);
            let bytes_per_s = self.bytes_per_s.min(flows * self.flow_bytes_per_s);
            // As much uneven as a token bucket is.
            let bytes_per_s = bytes_per_s * (1.0 + 0.002 * f64::from(self.probes % 3));
            let bytes_per_s = bytes_per_s * (self.left)(self.probes);
            let ios = bytes_per_s / f64::from(traffic.block_bytes) * probe.time_ns as f64 / 1e9;
            let busy = bytes_per_s * 8e-9 * self.cpus_per_gbit / flows;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
            let ios = ios as u64;
            let seen = Observation {
                ios,
                bytes: ios * u64::from(traffic.block_bytes),
                active_ns: probe.time_ns,
                busy: Some(busy),
                cpu_wait: self.cpu_wait,
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
        let path = Path {
            bytes_per_s,
            flow_bytes_per_s,
            cpus_per_gbit,
            probes: 0,
            left: |_| 1.0,
            cpu_wait: None,
        };
        searched_on(known, path)
    }

    fn searched_on(known: Vec<KnownLimit>, mut path: Path) -> Caps {
        let arm: Arm = parse_arms(["netns"]).unwrap().remove(0);
        assert!(matches!(arm.target, Target::Stack(_)));
        let search = Search {
            targets: vec![SearchTarget {
                arm,
                span_bytes: 1 << 30,
                smallest_io_bytes: None,
                known,
            }],
            writes: false,
            quick: true,
            burst: None,
            cloud: CloudChoice { vm: Some("m5.xlarge".to_owned()), ..CloudChoice::default() },
            fail_if: vec![iotax_spec::Rule::parse("bandwidth < 1G").unwrap()],
            seed: 1,
        };
        find(&search, &mut path)
    }

    /// 60 MB/s for all flows, of which probes lose something.
    fn disturbed(left: fn(u32) -> f64, cpu_wait: Option<f64>) -> Caps {
        let (bytes_per_s, flow_bytes_per_s, cpus_per_gbit) = (60e6, 1e9, 0.1);
        let path = Path { bytes_per_s, flow_bytes_per_s, cpus_per_gbit, probes: 0, left, cpu_wait };
        searched_on(Vec::new(), path)
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
        let levels: Vec<f64> =
            to_peer.levels.iter().map(|level| (level.per_s / 1e6).round()).collect();
        assert_eq!(levels, [18.0, 60.0], "{target:#?}");
        let outcomes: Vec<_> = caps.rules.iter().map(|rule| rule.outcome).collect();
        assert!(!outcomes.contains(&iotax_spec::rule::RuleOutcome::Pass), "{:?}", caps.rules);
    }

    #[test]
    fn a_load_on_a_path_that_gets_no_cpu_names_no_cap() {
        let caps = disturbed(|probe| 0.2 + f64::from(probe * 37 % 100) / 130.0, Some(0.4));
        let target = &caps.targets[0];
        assert!(target.path.is_empty(), "{target:#?}");
        let to_peer = target.unreached.iter().find(|cap| cap.quantity == "bw_bytes_to").unwrap();
        assert_eq!(to_peer.obstacle, Obstacle::ThisMachine);
        assert!(to_peer.at_least < 61e6 && to_peer.why.contains("waited 40 %"), "{to_peer:?}");
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
        assert_eq!(outcomes, [iotax_spec::rule::RuleOutcome::Fail; 2]);
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
        insta::assert_snapshot!(path[0].cap.why, @"the load's thread computed 90 % of the time: fewer, larger I/Os or more CPUs show what is behind");
    }

    #[test]
    fn a_documented_network_stands_beside_what_is_on_the_wire() {
        let caps = searched(1.25e9 / 8.0 * 1448.0 / 1514.0, 1e9, 0.1);
        let said: Vec<_> =
            caps.documented.iter().map(|row| format!("{}: {}", row.quantity, row.says)).collect();
        insta::assert_snapshot!(said.join("\n"), @"
        bw_bytes_to: the network limit of m5.xlarge binds, to the point.
        bw_bytes_from: the network limit of m5.xlarge binds, to the point.
        ");
    }
    #[test]
    fn a_shaper_holds_what_passes_it_and_no_single_flow() {
        let of = "eth0".to_owned();
        let shaper = KnownLimit {
            scope: "tbf".to_owned(),
            of,
            direction: Some(Direction::Write),
            iops: None,
            bw_bytes: Some(250e6),
        };
        let caps = searched_with(vec![shaper], 250e6 * 1448.0 / 1514.0, 100e6, 0.1);
        let of_eth0 = |row: &&iotax_documented::Documented| row.says.contains("eth0");
        let said = caps.documented.iter().filter(of_eth0);
        let said: Vec<_> = said.map(|row| format!("{}: {}", row.quantity, row.says)).collect();
        assert_eq!(said, ["bw_bytes_to: the tbf limit of eth0 binds, to the point."]);
    }
}
