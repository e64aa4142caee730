//! What all steps of the search share.

use iotax_experiment::{Opened, Probe, ProbePurpose, Purpose, Region, Search, Traffic};

use crate::found::{Level, TargetCaps};
use crate::probe::{Ended, Observation, Prober};
use crate::soak;

const SECOND_NS: u64 = 1_000_000_000;
const MIB: u64 = 1 << 20;

/// Smallest block that any device takes.
const LEAST_BYTES: u32 = 512;
/// Smallest block, unless the cap on bytes binds with it.
pub(crate) const SMALL_BYTES: u32 = 4 << 10;
/// Largest block.
pub(crate) const LARGE_BYTES: u32 = 1 << 20;

/// Shortest window, longest, and I/Os wanted in it: two edges may each be off by one I/O.
const THOROUGH: Pace =
    Pace { shortest_s: 2.0, longest_s: 15.0, ios: 500.0, ramp_s: 0.25, path_ramp_s: 1.0 };
const QUICK: Pace =
    Pace { shortest_s: 1.0, longest_s: 6.0, ios: 250.0, ramp_s: 0.15, path_ramp_s: 0.5 };

#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub shortest_s: f64,
    longest_s: f64,
    ios: f64,
    pub ramp_s: f64,
    /// A window opens over many round trips, and a sender's buffer grows with it.
    pub path_ramp_s: f64,
}

impl Pace {
    pub(crate) fn of(search: &Search) -> Self {
        if search.quick { QUICK } else { THOROUGH }
    }
}

/// How long a search will probably take, in nanoseconds, pauses and waiting for bursts included at
/// their longest. A limit on its time shortens only what comes after that.
pub fn expected_ns(search: &Search) -> u64 {
    let pace = Pace::of(search);
    let probe_s = pace.shortest_s + pace.ramp_s;
    let targets = search.targets.len() as f64;
    let pairs = targets * (targets - 1.0) / 2.0;
    // The soak, then about 22 probes; for each pair 3 blocks of 3 for each of two quantities.
    let steps_s = targets * (soak::least_s(search) + 22.0 * probe_s) + pairs * 18.0 * probe_s;
    let watch_ns = search.burst.as_ref().map_or(0, |watch| {
        let pauses_ns: u64 = watch.pauses_ns.iter().sum();
        2 * search.targets.len() as u64 * (watch.longest_ns + 2 * pauses_ns)
    });
    nanos(steps_s).saturating_add(watch_ns)
}

/// What to measure.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shape {
    pub purpose: Purpose,
    pub block_bytes: u32,
    pub queue_depth: u32,
    /// I/Os per second to expect, for the lengths of ramp and window.
    pub expected_iops: Option<f64>,
    /// I/Os per second that it will not exceed, for the part of the target to read: what is read
    /// twice may come from a cache.
    pub most_iops: Option<f64>,
    /// Without a ramp: what is there at the start is what it is about.
    pub from_start: bool,
    /// What goes over network paths.
    pub traffic: Option<Traffic>,
}

pub(crate) struct Scout<'a> {
    prober: &'a mut dyn Prober,
    pub search: &'a Search,
    opened: &'a Opened,
    /// Per target: where it was not read yet.
    cursors: Vec<u64>,
    /// Per target: bytes of all parts that were to be read.
    allotted: Vec<u64>,
    /// Per target: I/Os per second of the last probe. A limiter may still be paying for the last
    /// of them.
    last_iops: Vec<f64>,
    draws: u64,
    /// Time of the probes since the clock was restarted, in nanoseconds.
    spent_ns: u64,
    /// Whether something was left out because the time was up.
    pub left_out: bool,
    /// All that were measured.
    pub levels: Vec<Level>,
    /// Per target: windows since it was last told to forget them, in the order of time.
    pub windows: Vec<Vec<Window>>,
}

/// A short part of a measurement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    pub block_bytes: u32,
    pub queue_depth: u32,
    pub iops: f64,
    /// Share of the rate that an I/O at its edges makes.
    pub grain: f64,
    /// Share of its time that the load waited for a CPU, as far as known.
    pub cpu_wait: f64,
}

impl<'a> Scout<'a> {
    pub(crate) fn new(search: &'a Search, opened: &'a Opened, prober: &'a mut dyn Prober) -> Self {
        let cursors = vec![0; search.targets.len()];
        let last_iops = vec![f64::INFINITY; cursors.len()];
        let allotted = cursors.clone();
        let windows = vec![Vec::new(); cursors.len()];
        Self {
            prober,
            search,
            opened,
            cursors,
            allotted,
            last_iops,
            draws: search.seed,
            spent_ns: 0,
            left_out: false,
            levels: Vec::new(),
            windows,
        }
    }

    /// Takes a measurement of a level that lasts into what is known of the target's windows.
    pub(crate) fn note_windows(&mut self, target: usize, shape: Shape, seen: &Observation) {
        self.windows[target].extend(seen.windows().into_iter().map(|iops| Window {
            block_bytes: shape.block_bytes,
            queue_depth: shape.queue_depth,
            iops,
            grain: seen.grain(),
            cpu_wait: seen.cpu_wait.unwrap_or(0.0),
        }));
    }

    /// The smallest I/Os that are of use here: those of a page tell enough, as long as they come to
    /// the cap on I/Os.
    pub(crate) fn smallest_bytes(&self, target: usize) -> u32 {
        let takes = self.opened.targets.get(target).and_then(|target| target.smallest_io_bytes);
        let takes = takes.unwrap_or(SMALL_BYTES);
        takes.next_power_of_two().clamp(LEAST_BYTES, SMALL_BYTES)
    }

    /// Whether a part of this length was not read yet.
    pub(crate) fn has_fresh(&self, target: usize, bytes: f64) -> bool {
        self.cursors[target] as f64 + bytes <= self.search.targets[target].span_bytes as f64
            && self.allotted[target] <= self.cursors[target]
    }

    /// Measures several targets at the same time, each where it was not read before.
    pub(crate) fn measure_all(
        &mut self,
        targets: &[usize],
        shape: Shape,
        window_s: f64,
    ) -> Result<Vec<Observation>, Ended> {
        let owed_s = targets.iter().map(|target| 2.0 / self.last_iops[*target]).fold(0.0, f64::max);
        let ramp_s = if shape.from_start { 0.0 } else { self.ramp_s(shape) + owed_s };
        let region = |scout: &mut Self, target: usize| {
            let most = shape.most_iops.map(|iops| iops * f64::from(shape.block_bytes));
            // Besides what is completed, what is in flight at the end.
            let in_flight = f64::from(shape.queue_depth) * f64::from(shape.block_bytes);
            let bytes = most.map(|rate| rate * (ramp_s + window_s) + in_flight);
            (target, scout.fresh(target, bytes, shape.block_bytes))
        };
        let places: Vec<_> = targets.iter().map(|target| region(self, *target)).collect();
        self.run(places, shape, ramp_s, window_s)
    }

    /// Measures one target in this part of it.
    pub(crate) fn measure_at(
        &mut self,
        target: usize,
        region: Region,
        shape: Shape,
        window_s: f64,
    ) -> Result<Observation, Ended> {
        let seen = self.run(vec![(target, region)], shape, 0.0, window_s)?;
        Ok(seen.into_iter().next().expect("one place, one observation"))
    }

    /// Whether time is left for what refines the result; if not, remembers that it was left out.
    /// The time of the probes counts, not the clock, so that a replay decides the same.
    pub(crate) fn may_refine(&mut self) -> bool {
        let may = self.left_ns() > 0;
        self.left_out |= !may;
        may
    }

    /// Gives what is measured next the whole time limit.
    pub(crate) const fn restart_clock(&mut self) {
        self.spent_ns = 0;
    }

    /// Time left for probes, in nanoseconds.
    pub(crate) fn left_ns(&self) -> u64 {
        self.search.max_time_ns.map_or(u64::MAX, |most| most.saturating_sub(self.spent_ns))
    }

    pub(crate) fn pause(&mut self, seconds: f64) -> Result<(), Ended> {
        self.prober.pause(nanos(seconds))
    }

    fn run(
        &mut self,
        places: Vec<(usize, Region)>,
        shape: Shape,
        ramp_s: f64,
        window_s: f64,
    ) -> Result<Vec<Observation>, Ended> {
        let probe = Probe {
            purpose: ProbePurpose::Known(shape.purpose),
            places,
            block_bytes: shape.block_bytes,
            queue_depth: shape.queue_depth,
            ramp_ns: nanos(ramp_s),
            time_ns: nanos(window_s),
            traffic: shape.traffic,
        };
        let seen = self.prober.probe(&probe)?;
        self.spent_ns += probe.ramp_ns + probe.time_ns;
        for ((target, _), seen) in probe.places.iter().zip(&seen) {
            if seen.ios == 0 {
                let name = &self.search.targets[*target].arm.name;
                return Err(match &seen.first_error {
                    Some(why) => Ended::Failed(format!("{name}: {why}")),
                    None => Ended::Silent { target: name.clone() },
                });
            }
            self.last_iops[*target] = seen.iops();
            self.levels.push(Level {
                target: *target,
                purpose: probe.purpose.clone(),
                block_bytes: shape.block_bytes,
                queue_depth: shape.queue_depth,
                iops: seen.iops(),
                bw_bytes: seen.bytes_per_s(),
                mean_latency_ns: seen.mean_latency_ns,
            });
        }
        Ok(seen)
    }

    /// A part of the target that was not read yet, as far as there is one: an eighth of it where
    /// it is not known how much will be read.
    pub(crate) fn fresh(&mut self, target: usize, bytes: Option<f64>, block_bytes: u32) -> Region {
        let span = self.search.targets[target].span_bytes;
        let bytes = bytes.map_or(span / 8, |bytes| whole(bytes.ceil()));
        let least = (16 * MIB).max(4 * u64::from(block_bytes));
        let bytes = bytes.max(least).next_multiple_of(MIB).min(span);
        let start = self.cursors[target];
        let start = if start + bytes > span { 0 } else { start };
        self.cursors[target] = start + bytes;
        self.allotted[target] += bytes;
        Region { offset_bytes: start, bytes }
    }

    /// A window that is long enough for this rate.
    pub(crate) fn window_s(&self, expected_iops: Option<f64>) -> f64 {
        let pace = self.pace();
        let wanted_s = expected_iops.map_or(0.0, |iops| pace.ios / iops.max(1e-3));
        wanted_s.clamp(pace.shortest_s, pace.longest_s)
    }

    /// Whether a window can be long enough for this rate.
    pub(crate) fn can_count(&self, expected_iops: f64) -> bool {
        const LEAST_IOS: f64 = 30.0;
        expected_iops * self.pace().longest_s >= LEAST_IOS
    }

    /// Whether a target is a network path.
    pub(crate) fn is_network(&self, target: usize) -> bool {
        self.search.targets[target].arm.target.is_network()
    }

    /// The queue has filled, and what was saved up while nobody asked is spent.
    fn ramp_s(&self, shape: Shape) -> f64 {
        let fill_s = |iops: f64| 2.0 * f64::from(shape.queue_depth) / iops.max(1e-3);
        let fill_s = shape.expected_iops.map_or(0.0, fill_s);
        let least_s = shape.traffic.map_or(self.pace().ramp_s, |_| self.pace().path_ramp_s);
        least_s.max(fill_s.min(self.pace().longest_s))
    }

    fn pace(&self) -> Pace {
        Pace::of(self.search)
    }

    /// The indices below `n` in random order.
    pub(crate) fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for last in (1..n).rev() {
            let at = self.draw() % (last as u64 + 1);
            order.swap(last, usize::try_from(at).expect("below a usize"));
        }
        order
    }

    /// `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014).
    fn draw(&mut self) -> u64 {
        self.draws = self.draws.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.draws;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}

/// One target, and what is found of it step by step.
pub(crate) struct TargetSearch<'s, 'a> {
    pub scout: &'s mut Scout<'a>,
    pub target: usize,
    pub found: &'s mut TargetCaps,
}

impl TargetSearch<'_, '_> {
    /// Measures what there is at the moment, for this many seconds.
    pub(crate) fn measure_for(
        &mut self,
        shape: Shape,
        window_s: f64,
    ) -> Result<Observation, Ended> {
        let Self { scout, target, found } = self;
        let before = scout.allotted[*target];
        let seen = scout.measure_all(&[*target], shape, window_s)?.swap_remove(0);
        let allotted = (scout.allotted[*target] - before) as f64;
        found.passes += allotted / scout.search.targets[*target].span_bytes.max(1) as f64;
        found.errors += seen.errors;
        if found.first_error.is_none() {
            found.first_error.clone_from(&seen.first_error);
        }
        Ok(seen)
    }
}

/// Rounded to whole milliseconds, so that records say what was asked for.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds, not below 0")]
pub(crate) fn nanos(seconds: f64) -> u64 {
    (seconds * 1e3).round() as u64 * (SECOND_NS / 1000)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes, not below 0")]
fn whole(bytes: f64) -> u64 {
    bytes as u64
}

#[cfg(test)]
mod tests {
    use iotax_experiment::{Arm, BurstWatch, CloudChoice, SearchDraft, SearchTarget, Target};

    use super::*;

    #[test]
    fn a_search_takes_as_long_as_its_soaks_probes_pairs_and_pauses() {
        let expected_s = |targets: usize, quick: bool, burst: Option<BurstWatch>| {
            let target = |at: usize| SearchTarget {
                arm: Arm::new(format!("disk {at}"), Target::Path("/".into())),
                span_bytes: 1 << 30,
            };
            let search = SearchDraft {
                targets: (0..targets).map(target).collect(),
                writes: false,
                quick,
                max_time_ns: None,
                burst,
                cloud: CloudChoice::default(),
                fail_if: Vec::new(),
                undecided: None,
                seed: 1,
            };
            expected_ns(&search.resolve().unwrap()) as f64 / 1e9
        };
        // 12 s of soak and 22 probes of 2.25 s; with a second target a pair of 18 probes.
        assert_eq!(expected_s(1, false, None), 61.5);
        assert_eq!(expected_s(2, false, None), 123.0 + 40.5);
        assert_eq!(expected_s(3, false, None), 184.5 + 121.5);
        assert_eq!(expected_s(1, true, None), 29.3);
        let watch = BurstWatch { longest_ns: 60_000_000_000, pauses_ns: vec![5_000_000_000; 2] };
        assert_eq!(expected_s(2, false, Some(watch)), 163.5 + 4.0 * 80.0);
    }
}
