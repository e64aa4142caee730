//! The caps of a network path: bytes and packets per second, each way, and whether one flow may
//! have all of it. Depth has no meaning to a stream; what grows is the number of flows.

use iotax_experiment::{Engine, Purpose, Traffic};
use iotax_stats::levels::TwoLevels;
use iotax_stats::plateau::FLAT;

use crate::estimate::{Estimate, Series, again};
use crate::found::{CapKind, FlowStep, PathCap, PathQuantity, TargetCaps, Wire};
use crate::probe::{Ended, Observation};
use crate::processors::Busy;
use crate::reason::{CapDoubt, CapReason, CapSign};
use crate::scout::{Shape, TargetSearch};
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
/// If the load had to wait for CPUs, a wider interval does not show a cap of the storage or path.
const UNCERTAIN: f64 = 0.1;
/// A limiter holds its rate: from one measurement to the next it differs by less.
const STEADY: f64 = 0.02;
/// Of Ethernet, in which a frame's check sequence is not counted.
const ETHERNET_BYTES: u64 = 14;

/// What is measured, and with what.
#[derive(Debug, Clone, Copy)]
struct PathMeasure {
    quantity: PathQuantity,
    /// With one flow.
    traffic: Traffic,
    purpose: fn(u32) -> Purpose,
}

const STREAM: Traffic =
    Traffic { engine: Engine::TcpStream, is_back: false, flows: 1, block_bytes: 128 << 10 };

/// A packet of each is as small as a message of an application may be.
const MEASURES: [PathMeasure; 4] = [
    PathMeasure { quantity: PathQuantity::BytesTo, traffic: STREAM, purpose: Purpose::StreamsTo },
    PathMeasure {
        quantity: PathQuantity::BytesFrom,
        traffic: Traffic { is_back: true, ..STREAM },
        purpose: Purpose::StreamsFrom,
    },
    PathMeasure {
        quantity: PathQuantity::PacketsTo,
        traffic: Traffic { engine: Engine::UdpStream, block_bytes: 64, ..STREAM },
        purpose: Purpose::DatagramsTo,
    },
    PathMeasure {
        quantity: PathQuantity::Requests,
        traffic: Traffic { engine: Engine::TcpRr, block_bytes: 64, ..STREAM },
        purpose: Purpose::Requests,
    },
];

/// What is measured again and again.
struct Wanted {
    measure: PathMeasure,
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
pub(crate) fn caps(on: &mut TargetSearch<'_, '_>) -> Result<(), Ended> {
    soak(on)?;
    let mut wanted = Vec::new();
    for measure in MEASURES {
        let climbed = climb(on, measure)?;
        let flows = climbed.useful_flows();
        wanted.push(Wanted { measure, flows, is_per_flow: false, climbed });
        if flows > 1 {
            let climbed = Climbed::default();
            wanted.push(Wanted { measure, flows: 1, is_per_flow: true, climbed });
        }
    }
    let shapes: Vec<_> = wanted.iter().map(|w| w.measure.shape(w.flows)).collect();
    let value = |at: usize, seen: &Observation| wanted[at].measure.value(seen);
    let measured = again(on, &shapes, value)?;
    for (wanted, series) in wanted.iter().zip(measured) {
        wanted.keep(&series, on.found);
    }
    let series = on.found.soak_bw_bytes.clone();
    let shape = MEASURES[0].shape(SOAK_FLOWS);
    let unit = f64::from(shape.block_bytes);
    let burst = soak::burst(on, shape, &series, unit)?;
    let to_peer = |path: &&mut PathCap| path.quantity == PathQuantity::BytesTo && !path.is_per_flow;
    if let Some(path) = on.found.path.iter_mut().find(to_peer) {
        path.cap.burst = burst;
    }
    Ok(())
}

/// Waits for a burst of what goes to the peer to end, where that is asked: clouds give credits for
/// what leaves.
fn soak(on: &mut TargetSearch<'_, '_>) -> Result<(), Ended> {
    if on.scout.search.burst.is_none() {
        return Ok(());
    }
    // With a ramp: at the start it is the sender's buffers that fill.
    let shape = Shape { purpose: Purpose::Saturate, ..MEASURES[0].shape(SOAK_FLOWS) };
    let series = soak::series(on, shape)?;
    on.found.soak_bw_bytes = series.iter().map(|ios| ios * f64::from(shape.block_bytes)).collect();
    Ok(())
}

/// Twice as many flows until throughput stops to grow with them, or no CPU is left for more. What
/// is less than with fewer flows is measured again: it may have been disturbed.
fn climb(on: &mut TargetSearch<'_, '_>, measure: PathMeasure) -> Result<Climbed, Ended> {
    let mut climbed = Climbed::default();
    let mut flows = 1;
    loop {
        let shape = measure.shape(flows);
        let mut seen = soak::measure(on, shape)?;
        let before = climbed.steps.iter().map(|step| step.per_s).fold(0.0, f64::max);
        for _ in 0..TRIES {
            if measure.value(&seen) * ODD >= before {
                break;
            }
            let again = soak::measure(on, shape)?;
            if measure.value(&again) > measure.value(&seen) {
                seen = again;
            }
        }
        climbed.steps.push(FlowStep { flows, per_s: measure.value(&seen) });
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

impl PathMeasure {
    fn traffic(self, flows: u32) -> Traffic {
        Traffic { flows, ..self.traffic }
    }

    fn shape(self, flows: u32) -> Shape {
        Shape {
            purpose: (self.purpose)(flows),
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
    /// Takes a cap, or says why there is none to be stated. One flow's is none if all flows have no
    /// more.
    fn keep(&self, series: &Series, found: &mut TargetCaps) {
        let Some(estimate) = series.estimate() else { return };
        let all = found.path.last().filter(|path| path.quantity == self.measure.quantity);
        if self.is_per_flow && all.is_none_or(|all| all.cap.lo < MORE * estimate.hi) {
            return;
        }
        let busy = Busy::of(&series.seen, 0.0);
        let quantity = self.measure.quantity.name(self.is_per_flow);
        let in_the_way =
            busy.taken().filter(|_| !estimate.is_ceiling && estimate.width() > UNCERTAIN);
        if let Some(busy) = in_the_way.filter(|_| busy.is_limit().is_none()) {
            found.unreached.push(Unreached {
                quantity: quantity.to_owned(),
                at_least: series.reached(),
                block_bytes: self.measure.traffic.block_bytes,
                obstacle: Obstacle::ThisMachine(busy),
            });
        } else if series.is_cut && estimate.width() > STATED {
            found.unreached.push(Unreached {
                quantity: quantity.to_owned(),
                at_least: series.reached(),
                block_bytes: self.measure.traffic.block_bytes,
                obstacle: Obstacle::Time,
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
        let (per_s, traffic) = (estimate.rate, self.measure.traffic(self.flows));
        let (kind, reason) = self.kind(series, estimate, busy);
        PathCap {
            quantity: self.measure.quantity,
            is_per_flow: self.is_per_flow,
            traffic,
            wire: wire(self.measure, &series.seen, per_s),
            is_plateau: self.climbed.is_plateau,
            flows: self.climbed.steps.clone(),
            cap: estimate.cap(series, self.measure.shape(self.flows), kind, reason),
        }
    }

    /// What sets it: CPUs of either end, a limiter, or what the measurements do not tell.
    fn kind(&self, series: &Series, estimate: Estimate, busy: &Busy) -> (CapKind, CapReason) {
        let spread = series.spread();
        let is_steady = estimate.is_ceiling || spread <= STEADY;
        if let Some(busy) = busy.is_limit() {
            return (CapKind::ThisMachine, CapSign::Busy(busy).into());
        }
        if let Some(busy) = busy.far_is_limit() {
            return (CapKind::External, CapSign::Busy(busy).into());
        }
        let (kind, sign) = match (self.is_per_flow, self.climbed.is_plateau, is_steady) {
            (true, _, true) => (CapKind::Throttle, CapSign::OneFlowHeld),
            (false, true, true) => (CapKind::Throttle, CapSign::FlowsHeld),
            (false, false, _) => (CapKind::External, CapSign::NoPlateauOfFlows),
            (.., false) => (CapKind::External, CapSign::NotTwice { spread }),
        };
        let doubts = busy.others().map(CapDoubt::Busy).into_iter().collect();
        (kind, CapReason { sign, doubts })
    }
}

/// How much of the frames is data, as TCP has it.
fn wire(measure: PathMeasure, seen: &[Observation], per_s: f64) -> Option<Wire> {
    let tcp = seen.first()?.tcp.filter(|tcp| tcp.header_bytes > 0 && tcp.mss_bytes > 0)?;
    let mtu_bytes = tcp.mss_bytes + tcp.header_bytes;
    let frame_bytes = mtu_bytes + ETHERNET_BYTES;
    let share = frame_bytes as f64 / tcp.mss_bytes as f64;
    measure.quantity.is_bytes().then_some(Wire {
        frame_bytes,
        data_bytes: tcp.mss_bytes,
        mtu_bytes,
        per_s: per_s * share,
    })
}

#[cfg(test)]
mod tests;
