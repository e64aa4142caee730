//! Whole searches, on disks that are formulas: what each has comes back, and nothing else.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "made-up figures, all known to fit"
)]

mod probes;

use iotax_caps::{
    BlockEnd, BusySign, CapKind, CapNote, CapSign, Caps, Ended, Observation, Obstacle, Prober,
    Processors, Shared, TargetCaps, Undecided, search_caps,
};
use iotax_experiment::rule::RuleOutcome;
use iotax_experiment::{
    Arm, BurstWatch, CloudChoice, Opened, OpenedTarget, Probe, Purpose, Rule, SearchDraft,
    SearchTarget, Target,
};

const MIB: f64 = 1_048_576.0;

/// What one target has, without anything that disturbs it.
#[derive(Clone, Copy)]
struct Disk {
    /// Time of an I/O alone.
    alone_s: f64,
    iops: f64,
    bytes_per_s: f64,
    /// A device's curve instead of the two caps: seconds per I/O, and per byte.
    curve: Option<[f64; 2]>,
    /// Share of its time that the load's thread computes.
    busy: f64,
    /// I/Os above the cap that a burst allows at the start, at this factor.
    credits: f64,
    /// A second read is faster by this factor, up to this many bytes.
    cache_bytes: f64,
    /// What is left of the rate in a second.
    left: fn(u64) -> f64,
    /// What is left of the rate of I/Os of a size.
    left_of_size: fn(u32) -> f64,
    /// What the CPUs do at this many I/Os per second of this size.
    processors: fn(f64, u32) -> Option<Processors>,
    /// Share of its time that the load waits for a CPU.
    cpu_wait: Option<f64>,
    span_bytes: u64,
    smallest_io_bytes: u32,
    /// I/Os of each probe that fail.
    errors: u64,
}

const DISK: Disk = Disk {
    alone_s: 200e-6,
    iops: 4000.0,
    bytes_per_s: 64.0 * MIB,
    curve: None,
    busy: 0.1,
    credits: 0.0,
    cache_bytes: 0.0,
    left: |_| 1.0,
    left_of_size: |_| 1.0,
    processors: |_, _| None,
    cpu_wait: None,
    span_bytes: 64 << 30,
    smallest_io_bytes: 512,
    errors: 0,
};

struct Disks {
    each: Vec<Disk>,
    /// Credits that are left of each.
    credits: Vec<f64>,
    are_one: bool,
    second: u64,
    probes_left: u32,
    silent: Option<&'static str>,
    /// What was asked for, a line for each probe and pause.
    log: Vec<String>,
}

impl Disks {
    fn of(each: &[Disk]) -> Self {
        let credits = each.iter().map(|disk| disk.credits).collect();
        Self {
            each: each.to_vec(),
            credits,
            are_one: false,
            second: 0,
            probes_left: u32::MAX,
            silent: None,
            log: Vec::new(),
        }
    }

    /// I/Os in one second.
    fn in_second(&mut self, at: usize, probe: &Probe, sharers: usize) -> f64 {
        let disk = self.each[at];
        let size = f64::from(probe.block_bytes);
        let by_depth = f64::from(probe.queue_depth) / disk.alone_s;
        let sharers = if self.are_one { sharers as f64 } else { 1.0 };
        let by_bytes = disk.bytes_per_s / size;
        let most = match disk.curve {
            Some([io_s, byte_s]) => 1.0 / (io_s + byte_s * size),
            None => (disk.iops + self.credits[at].min(disk.iops)).min(by_bytes) / sharers,
        };
        self.credits[at] -= (most - disk.iops).clamp(0.0, self.credits[at]);
        let is_again =
            matches!(&probe.purpose, iotax_experiment::ProbePurpose::Known(Purpose::ReadAgain));
        let hits = is_again && probe.places[0].1.bytes as f64 <= disk.cache_bytes;
        let faster = if hits { 5.0 } else { 1.0 };
        // As uneven as a token bucket is.
        let uneven = 1.0 + 1e-3 * (self.second % 3) as f64;
        let left = (disk.left)(self.second) * (disk.left_of_size)(probe.block_bytes);
        most.min(by_depth) * faster * uneven * left
    }
}

impl Prober for Disks {
    fn probe(&mut self, probe: &Probe) -> Result<Vec<Observation>, Ended> {
        self.probes_left = self.probes_left.checked_sub(1).ok_or(Ended::Interrupted)?;
        let seconds = |ns: u64| (ns as f64 / 1e9).ceil() as u64;
        let (ramp, window) = (seconds(probe.ramp_ns), seconds(probe.time_ns).max(1));
        let mut seen = vec![Observation::default(); probe.places.len()];
        for second in 0..ramp + window {
            self.second += 1;
            for (place, seen) in probe.places.iter().zip(&mut seen) {
                let ios = self.in_second(place.0, probe, probe.places.len());
                if second >= ramp {
                    seen.per_second_ios.push(ios.round() as u32);
                }
            }
        }
        for (place, seen) in probe.places.iter().zip(&mut seen) {
            seen.ios = seen.per_second_ios.iter().map(|ios| u64::from(*ios)).sum();
            seen.bytes = seen.ios * u64::from(probe.block_bytes);
            seen.active_ns = window * 1_000_000_000;
            seen.in_flight = f64::from(probe.queue_depth);
            seen.mean_latency_ns = seen.in_flight * 1e9 / seen.iops();
            let disk = &self.each[place.0];
            (seen.busy, seen.cpu_wait) = (Some(disk.busy), disk.cpu_wait);
            seen.errors = disk.errors;
            seen.processors = (disk.processors)(seen.iops(), probe.block_bytes);
            if let Some(error) = self.silent {
                seen.ios = 0;
                seen.first_error = Some(error.to_owned()).filter(|error| !error.is_empty());
            }
        }
        self.log.push(probes::line(probe, &seen));
        Ok(seen)
    }

    fn pause(&mut self, pause_ns: u64) -> Result<(), Ended> {
        self.log.push(format!("pause {} s", pause_ns as f64 / 1e9));
        for (disk, credits) in self.each.iter().zip(&mut self.credits) {
            *credits = (*credits + disk.iops * pause_ns as f64 / 1e9).min(disk.credits);
        }
        Ok(())
    }
}

fn search_with(disks: &mut Disks, change: impl FnOnce(&mut SearchDraft)) -> Caps {
    let target = |at: usize| SearchTarget {
        arm: Arm::new(format!("disk {at}"), Target::Path("/".into())),
        span_bytes: disks.each[at].span_bytes,
    };
    let mut search = SearchDraft {
        targets: (0..disks.each.len()).map(target).collect(),
        writes: false,
        quick: false,
        max_time_ns: None,
        burst: None,
        cloud: CloudChoice::default(),
        fail_if: Vec::new(),
        undecided: None,
        seed: 7,
    };
    change(&mut search);
    let search = search.resolve().unwrap();
    let opened = |disk: &Disk| OpenedTarget {
        smallest_io_bytes: Some(disk.smallest_io_bytes),
        known: Vec::new(),
    };
    let targets = disks.each.iter().map(opened).collect();
    search_caps(&search, &Opened { targets, ..Opened::default() }, disks)
}

fn searched(disk: Disk) -> TargetCaps {
    let mut caps = search_with(&mut Disks::of(&[disk]), |_| ());
    assert_eq!(caps.ended, None);
    caps.targets.remove(0)
}

fn is_near(found: f64, is: f64) -> bool {
    (found / is - 1.0).abs() < 0.01
}

#[test]
fn a_limiter_has_two_caps_and_a_kink() {
    let found = searched(DISK);
    let (iops, bytes) = (found.iops.unwrap(), found.bw_bytes.unwrap());
    assert!(is_near(iops.cap, DISK.iops) && is_near(bytes.cap, DISK.bytes_per_s), "{iops:?}");
    assert!(iops.lo <= iops.cap && iops.cap <= iops.hi && iops.hi / iops.lo < 1.01, "{iops:?}");
    assert_eq!([iops.kind, bytes.kind], [CapKind::Throttle; 2]);
    assert!(matches!(iops.reason.sign, CapSign::Kink { off, .. } if off < 0.01), "{iops:?}");
    assert!(iops.block_bytes <= 4096 && bytes.block_bytes >= 32 << 10);
    assert!(found.plateau.is_plateau && found.plateau.littles_law_off < 0.01);
    assert!((found.plateau.latency_slope - 1.0).abs() < 0.01);
    assert!(is_near(found.unloaded_latency_ns.unwrap(), 2.5e5));
    assert_eq!(found.useful_depth, Some(1));
    assert!(found.unreached.is_empty() && found.unsteady.is_empty());
    assert_eq!(found.second_pass.map(|pass| pass.hits), Some(false));
    assert!(found.passes > 0.0 && found.errors == 0 && !found.fell_during_search);
}

#[test]
fn the_plateau_begins_where_the_depth_is_enough() {
    let slow = Disk { alone_s: 4e-3, ..DISK };
    let found = searched(slow);
    assert_eq!(found.useful_depth, Some(16), "4000 I/Os per second of 4 ms each");
    let depths: Vec<u32> = found.ladder.iter().map(|step| step.queue_depth).collect();
    assert!(depths.is_sorted() && depths.first() == Some(&1) && depths.contains(&64));
    assert!(found.plateau.is_plateau);
}

#[test]
fn a_device_has_a_curve() {
    let found = searched(Disk { curve: Some([40e-6, 2e-9]), alone_s: 100e-6, ..DISK });
    let kinds = [&found.iops, &found.bw_bytes].map(|cap| cap.as_ref().map(|cap| cap.kind));
    assert!(kinds.contains(&Some(CapKind::SaturatedDevice)), "{found:#?}");
    let sizes = found.sizes.unwrap();
    assert!(sizes.device.rms < 0.01 && sizes.throttle.rms > 0.04, "{sizes:?}");
    assert!(is_near(sizes.device.iops.unwrap(), 25_000.0), "{sizes:?}");
    assert!(is_near(sizes.device.bw_bytes.unwrap(), 5e8), "{sizes:?}");
}

#[test]
fn a_busy_thread_sets_the_rate_and_below_that_share_it_does_not() {
    let kind = |busy: f64| {
        let found = searched(Disk { busy, curve: Some([40e-6, 2e-9]), ..DISK });
        let cap = found.iops.or(found.bw_bytes);
        cap.map(|cap| (cap.kind, cap.reason.sign))
    };
    let (kind_of_busy, sign) = kind(0.97).unwrap();
    assert_eq!(kind_of_busy, CapKind::ThisMachine);
    assert!(matches!(sign, CapSign::Busy(BusySign::Thread { share }) if is_near(share, 0.97)));
    assert_ne!(kind(0.5).unwrap().0, CapKind::ThisMachine);
}

#[test]
fn one_cap_alone_leaves_the_other_unreached() {
    let of_bytes = searched(Disk { iops: 1e9, alone_s: 1e-6, ..DISK });
    assert!(is_near(of_bytes.bw_bytes.unwrap().cap, DISK.bytes_per_s));
    let unreached = &of_bytes.unreached[0];
    assert_eq!((unreached.quantity.as_str(), of_bytes.iops), ("iops", None));
    assert_eq!(unreached.obstacle, Obstacle::OtherCap(BlockEnd::Smallest));
    let of_ios = searched(Disk { bytes_per_s: 1e12, ..DISK });
    assert!(is_near(of_ios.iops.unwrap().cap, DISK.iops));
    let unreached = &of_ios.unreached[0];
    assert_eq!((unreached.quantity.as_str(), of_ios.bw_bytes), ("bw_bytes", None));
    assert_eq!(unreached.obstacle, Obstacle::OtherCap(BlockEnd::Largest));
    assert!(is_near(unreached.at_least, DISK.iops * MIB), "{unreached:?}");
}

#[test]
fn what_is_remembered_is_faster_up_to_what_is_held() {
    let pass = searched(Disk { cache_bytes: 300.0 * MIB, ..DISK }).second_pass.unwrap();
    assert!(pass.hits && is_near(pass.ratio, 5.0), "{pass:?}");
    let (held, lost) = (pass.holds_bytes.unwrap() as f64, pass.evicts_bytes.unwrap() as f64);
    assert!(held <= 300.0 * MIB && lost > 300.0 * MIB && is_near(lost / held, 4.0), "{pass:?}");
}

#[test]
fn targets_that_share_are_told_from_those_that_do_not() {
    let verdict = |are_one: bool| {
        let mut disks = Disks { are_one, ..Disks::of(&[DISK, DISK]) };
        let caps = search_with(&mut disks, |search| search.quick = true);
        let sharing = caps.sharing.into_iter().map(|pair| (pair.quantity, pair.verdict, pair.phi));
        sharing.collect::<Vec<_>>()
    };
    let shared = verdict(true);
    assert_eq!(shared.len(), 2, "{shared:?}");
    assert!(shared.iter().all(|(_, verdict, phi)| *verdict == Shared::Shared && *phi > 0.9));
    let apart = verdict(false);
    assert!(apart.iter().all(|(_, verdict, phi)| *verdict == Shared::Separate && *phi < 0.1));
}

#[test]
fn a_rate_that_alternates_has_no_cap() {
    let alternates = Disk { left: |second| if second / 7 % 2 == 0 { 0.4 } else { 1.0 }, ..DISK };
    let caps = search_with(&mut Disks::of(&[alternates, DISK]), |_| ());
    let found = &caps.targets[0];
    assert_eq!((&found.iops, &found.bw_bytes), (&None, &None), "{found:#?}");
    let rate = &found.unsteady[0];
    let levels: Vec<f64> = rate.levels.iter().map(|level| level.per_s).collect();
    assert!(is_near(levels[0], 1600.0) && is_near(levels[1], 4000.0), "{rate:?}");
    assert!(rate.lo < 1650.0 && rate.hi > 3950.0);
    let untested = |note: &CapNote| matches!(note, CapNote::SharingUntested { unsteady, .. } if unsteady == "disk 0");
    assert!(caps.notes.iter().any(untested) && caps.sharing.is_empty(), "{:?}", caps.notes);
}

#[test]
fn a_burst_is_told_with_its_size_and_what_comes_back() {
    let bursting = Disk { credits: 60_000.0, ..DISK };
    let watch =
        BurstWatch { longest_ns: 120_000_000_000, pauses_ns: vec![4_000_000_000, 8_000_000_000] };
    let caps = search_with(&mut Disks::of(&[bursting]), |search| search.burst = Some(watch));
    let found = &caps.targets[0];
    assert!(found.soak_iops[0] > 7_900.0, "{found:#?}");
    let cap = found.iops.as_ref().unwrap();
    assert!(is_near(cap.cap, DISK.iops), "{cap:?}");
    let burst = cap.burst.as_ref().unwrap();
    assert!(is_near(burst.per_s, 8000.0), "{burst:?}");
    assert!((burst.size / 60_000.0 - 1.0).abs() < 0.15, "{burst:?}");
    assert_eq!(burst.recoveries.len(), 2);
    assert!((burst.refill_per_s.unwrap() / 4000.0 - 1.0).abs() < 0.3, "{burst:?}");
}

#[test]
fn ios_that_fail_are_counted_of_each_probe() {
    let mut disks = Disks::of(&[Disk { errors: 3, ..DISK }]);
    let caps = search_with(&mut disks, |search| search.quick = true);
    let probes = disks.log.iter().filter(|line| !line.starts_with("Read")).count();
    assert_eq!(caps.targets[0].errors, 3 * probes as u64);
}

#[test]
fn rules_are_broken_kept_or_open() {
    let rules = ["iops < 3900", "iops < 4100", "bandwidth < 60M", "below documented by 5%"];
    let rules = rules.map(|rule| Rule::parse(rule).unwrap());
    let caps = search_with(&mut Disks::of(&[DISK]), |search| search.fail_if = rules.into());
    let outcomes: Vec<RuleOutcome> = caps.rules.iter().map(|rule| rule.outcome).collect();
    let (pass, fail) = (RuleOutcome::Pass, RuleOutcome::Fail);
    assert_eq!(outcomes, [pass, fail, pass, RuleOutcome::Undecided], "{:#?}", caps.rules);
    assert_eq!(caps.rules[3].why, Some(Undecided::NothingDocumented));
}

#[test]
fn what_ends_a_search_is_told_and_what_was_found_stands() {
    let ended = |change: fn(&mut Disks)| {
        let mut disks = Disks::of(&[DISK]);
        change(&mut disks);
        search_with(&mut disks, |_| ())
    };
    let cut = ended(|disks| disks.probes_left = 3);
    assert_eq!(cut.ended, Some(Ended::Interrupted));
    assert_eq!((cut.levels.len(), cut.targets[0].soak_iops.is_empty()), (3, false));
    let silent = ended(|disks| disks.silent = Some(""));
    assert_eq!(silent.ended, Some(Ended::Silent { target: "disk 0".to_owned() }));
    let failed = ended(|disks| disks.silent = Some("no such device"));
    assert_eq!(failed.ended, Some(Ended::Failed("disk 0: no such device".to_owned())));
}
