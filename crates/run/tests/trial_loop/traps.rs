//! What slices could be fooled by, planted in virtual time: the run finds out and says so.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use iotax_analyze::{Analysis, DoubtKind, Phases, SlicesOutcome, Sustained, Verdict};
use iotax_experiment::plan::{Phase, Plan};
use iotax_experiment::{Arm, Driver, Spec, Stop, Target, Workload};
use iotax_load::LayoutProgress;
use iotax_record::{EndReason, ExperimentHead, Reader, Site, Trial, TrialLength, Writer};
use iotax_run::{Arms, Clock as _, Error, Files, Measured, Runner, Setup, TrialRequest};

use crate::scripted::{Silent, Time, experiment, load};

/// What it takes to switch from one arm to another.
const SWITCH: Duration = Duration::from_millis(5);
const SECOND_NS: u64 = 1_000_000_000;

/// What an arm does in a moment: I/Os per second, by the arm, the trial's number and the time.
type Disk<'a> = dyn FnMut(Moment) -> f64 + 'a;

#[derive(Debug, Clone, Copy)]
struct Moment {
    arm: usize,
    /// How many trials there were before.
    trial: u32,
    /// Since the trial began.
    since_ns: u64,
    now_ns: u64,
}

/// Steps in which virtual disks are asked.
const STEP_NS: u64 = 10_000_000;

struct Host<'a> {
    time: Time,
    disk: &'a mut Disk<'a>,
    trials: u32,
    site: Site,
}

impl Arms for Host<'_> {
    fn up(&mut self, _: usize) -> Result<Files, Error> {
        self.time.passes(SWITCH);
        Ok(Files::AreThere)
    }

    fn site(&self, _: usize) -> &Site {
        &self.site
    }

    fn is_made_anew(&self, _: usize) -> bool {
        false
    }

    fn down(self: Box<Self>) -> Result<(), Error> {
        Ok(())
    }
}

impl Runner for Host<'_> {
    fn prepare(
        &mut self,
        _: usize,
        _: Driver,
        _: &[&Workload],
        _: &LayoutProgress<'_>,
    ) -> Result<(), Error> {
        Ok(())
    }

    fn trial(&mut self, request: &TrialRequest) -> Result<Measured, Error> {
        let whole_ns = request.ramp_ns + request.time_ns;
        let mut ios = 0.0;
        for since_ns in (0..whole_ns).step_by(usize::try_from(STEP_NS).unwrap()) {
            let now_ns = u64::try_from(self.time.now().as_nanos()).unwrap();
            let (arm, trial) = (request.arm, self.trials);
            let rate = (self.disk)(Moment { arm, trial, since_ns, now_ns });
            if since_ns >= request.ramp_ns {
                ios += rate * STEP_NS as f64 / SECOND_NS as f64;
            }
            self.time.passes(Duration::from_nanos(STEP_NS));
        }
        self.trials += 1;
        let rate = ios * SECOND_NS as f64 / request.time_ns as f64;
        Ok(Measured { drained_ns: 0, load: Ok(load(rate, request.time_ns)), counters: None })
    }
}

struct Ran {
    analysis: Analysis,
    trials: Vec<Trial>,
    reasons: Vec<EndReason>,
}

impl Ran {
    fn verdict(&self) -> (Verdict, f64) {
        let primary = &self.analysis.comparisons[0];
        (primary.verdict, primary.tax.unwrap_or(f64::NAN))
    }

    fn doubts(&self, is: impl Fn(&DoubtKind) -> bool) -> usize {
        self.analysis.warnings.iter().filter(|doubt| is(&doubt.kind)).count()
    }

    fn usual(&self) -> usize {
        self.trials.iter().filter(|trial| trial.length == TrialLength::Usual).count()
    }
}

/// Two arms in slices of 100 ms, for ten minutes at most.
fn run(disk: &mut Disk<'_>) -> Ran {
    run_with(Stop::default(), 7, disk)
}

fn run_with(stop: Stop, seed: u64, disk: &mut Disk<'_>) -> Ran {
    run_held(stop, seed, None, disk)
}

/// With arms held under load for so long.
fn run_held(stop: Stop, seed: u64, hold_ns: Option<u64>, disk: &mut Disk<'_>) -> Ran {
    let mut workload = Workload::preset("randread-4k").unwrap();
    "read".clone_into(&mut workload.jobs[0].name);
    "read".clone_into(&mut workload.primary);
    let arm = |name: &str| Arm::new(name, Target::Path("/".into()));
    let spec = Spec::compare(workload, vec![arm("a"), arm("b")], stop, seed).unwrap();
    let times = [Phase { ramp_ns: 20_000_000, time_ns: 100_000_000 }];
    let spec = spec.with(|draft| {
        draft.hold_ns = hold_ns;
        draft.settle(Some(&times));
    });
    let (time, stop) = (Time::default(), AtomicBool::new(false));
    let mut host = Host { time: time.clone(), disk, trials: 0, site: Site::default() };
    let head = experiment(spec);
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("record");
    let mut writer = Writer::create(&dir, &head).unwrap();
    let mut phases = Phases::new(&head);
    let end = iotax_run::trials(Setup {
        experiment: &head,
        plan: &Plan::new(&head.spec),
        host: &mut host,
        stop: &stop,
        clock: &time,
        sustained: &Sustained::default(),
        spent: Duration::ZERO,
        writer: &mut writer,
        phases: &mut phases,
        observer: &mut Silent,
    })
    .unwrap();
    let reader = Reader::<ExperimentHead>::open(&dir).unwrap();
    let trials: Vec<Trial> = reader.lines().unwrap().map(Result::unwrap).collect();
    // A record read back says the same.
    let mut again = Phases::new(&head);
    trials.iter().rev().for_each(|trial| again.add(trial));
    let analysis = again.finish(Some(&end)).remove(0).1;
    let live = phases.finish(Some(&end)).remove(0).1;
    assert_eq!(analysis.comparisons[0].tax, live.comparisons[0].tax);
    Ran { analysis, trials, reasons: end.reasons }
}

/// Between 0.97 and 1.03, fixed for each trial.
fn wobble(trial: u32) -> f64 {
    0.97 + 0.06 * f64::from(trial.wrapping_mul(2_654_435_761) >> 16) / 65_536.0
}

/// Credits that pay for `full_ns` nanoseconds at twice the sustained rate, and come back while
/// nothing is done.
struct Bucket {
    /// At most so many, each for a nanosecond.
    room: f64,
    credits: f64,
    last_ns: u64,
    /// Credits that come back in a nanosecond without work.
    refill: f64,
}

impl Bucket {
    fn new(full_ns: u64) -> Self {
        Self { room: full_ns as f64, credits: full_ns as f64, last_ns: 0, refill: 1.0 }
    }

    /// 10,000 IOPS while there are credits, 5,000 for ever.
    fn rate(&mut self, now_ns: u64) -> f64 {
        let idle_ns = now_ns.saturating_sub(self.last_ns + STEP_NS) as f64;
        self.last_ns = now_ns;
        self.credits = (self.credits + self.refill * idle_ns).min(self.room);
        if self.credits >= STEP_NS as f64 {
            self.credits -= STEP_NS as f64;
            10_000.0
        } else {
            5_000.0
        }
    }
}

#[test]
fn equal_disks_are_equivalent_within_seconds() {
    let ran = run(&mut |at| 10_000.0 * wobble(at.trial));
    assert_eq!(ran.verdict().0, Verdict::Equivalent, "{:?}", ran.reasons);
    assert!(ran.trials.len() < 130, "{}", ran.trials.len());
    assert_eq!(ran.usual(), 0);
}

/// Slices were given up for what does not last.
fn is_burst(kind: &DoubtKind) -> bool {
    matches!(kind, DoubtKind::ShortSlices { ratio, outcome: SlicesOutcome::GivenUp, .. } if *ratio < 0.95)
}

/// Short slices alone would call them equal.
#[test]
fn a_bucket_worth_two_slices_ends_the_slices() {
    let mut bucket = Bucket::new(300_000_000);
    let ran = run(&mut |at| {
        let most = if at.arm == 0 { 10_000.0 } else { bucket.rate(at.now_ns) };
        most * wobble(at.trial)
    });
    assert!(ran.usual() > 0, "{:?} after {}", ran.reasons, ran.trials.len());
    let (verdict, tax) = ran.verdict();
    assert_eq!(verdict, Verdict::Slower);
    assert!((tax - 0.5).abs() < 0.03, "{tax}");
    assert_eq!(ran.doubts(is_burst), 1, "{:?}", ran.analysis.warnings);
}

/// Short slices alternate between two speeds, as the other arm had its turn before or not.
#[test]
fn a_bucket_worth_about_a_slice_ends_the_slices_however_slowly_it_refills() {
    let cases = [80, 130, 200].into_iter().flat_map(|full_ms| [(full_ms, 1.0), (full_ms, 0.3)]);
    for ((full_ms, refill), seed) in cases.flat_map(|case| (0..4).map(move |seed| (case, seed))) {
        let mut bucket = Bucket { refill, ..Bucket::new(full_ms * 1_000_000) };
        let ran = run_with(Stop::default(), seed, &mut |at| {
            let most = if at.arm == 0 { 10_000.0 } else { bucket.rate(at.now_ns) };
            most * wobble(at.trial)
        });
        let what = format!("{full_ms} ms, refilled at {refill}, seed {seed}");
        assert!(ran.usual() > 0, "{what}: {:?} after {}", ran.reasons, ran.trials.len());
        let (verdict, tax) = ran.verdict();
        assert_eq!(verdict, Verdict::Slower, "{what}");
        assert!((tax - 0.5).abs() < 0.03, "{what}: {tax}");
        assert_eq!(ran.doubts(is_burst), 1, "{what}: {:?}", ran.analysis.warnings);
    }
}

/// A device whose 30 s of credits both arms use up: the level changes, and what is between them
/// does not.
#[test]
fn credits_that_both_arms_share_are_named_once_they_are_spent() {
    let stop = Stop { max_blocks: 400, min_blocks: 400, ..Stop::default() };
    for (tax, verdict) in [(0.0, Verdict::Equivalent), (0.2, Verdict::Slower)] {
        let mut bucket = Bucket::new(30 * SECOND_NS);
        let ran = run_with(stop, 7, &mut |at| {
            bucket.rate(at.now_ns) * wobble(at.trial) * [1.0, 1.0 - tax][at.arm]
        });
        assert_eq!(ran.verdict().0, verdict);
        assert!((ran.verdict().1 - tax).abs() < 0.02, "{:?}", ran.verdict());
        let is_named = |kind: &DoubtKind| matches!(kind, DoubtKind::LevelChanged { ratio, .. } if *ratio < 0.6);
        assert_eq!(ran.doubts(is_named), 1, "{:?}", ran.analysis.warnings);
        assert_eq!(ran.usual(), 0);
    }
}

/// 30 s of credits that come back at less than half of what slices spend.
#[test]
fn credits_of_one_arm_are_named_once_slices_have_spent_them() {
    let stop = Stop { max_blocks: 600, min_blocks: 600, ..Stop::default() };
    for seed in 0..4 {
        let mut bucket = Bucket { refill: 0.3, ..Bucket::new(30 * SECOND_NS) };
        let ran = run_with(stop, seed, &mut |at| {
            let most = if at.arm == 0 { 10_000.0 } else { bucket.rate(at.now_ns) };
            most * wobble(at.trial)
        });
        let changes =
            ran.doubts(|kind| matches!(kind, DoubtKind::EffectChanged { change, .. } if change.before != change.since));
        assert_eq!(ran.doubts(is_burst) + changes, 1, "{seed}: {:?}", ran.analysis.warnings);
        let (verdict, _) = ran.verdict();
        assert!(
            [Verdict::Slower, Verdict::EffectChanged].contains(&verdict),
            "{seed}: {verdict:?}"
        );
    }
}

/// The first of two arms without limits, the other with 30 s of credits that come back while it
/// rests.
fn with_full_bucket(hold_ns: Option<u64>, seed: u64) -> Ran {
    let mut bucket = Bucket::new(30 * SECOND_NS);
    run_held(Stop::default(), seed, hold_ns, &mut |at| {
        let most = if at.arm == 0 { 10_000.0 } else { bucket.rate(at.now_ns) };
        most * wobble(at.trial)
    })
}

/// The longest stretches of load, each in seconds.
fn held_seconds(ran: &Ran) -> Vec<u64> {
    let windows = ran.trials.iter().filter_map(|trial| trial.load.as_ref());
    windows.map(|load| load.window_ns / SECOND_NS).filter(|seconds| *seconds > 10).collect()
}

#[test]
fn credits_that_no_slice_spends_are_found_where_arms_are_held() {
    for seed in 0..4 {
        let unseen = with_full_bucket(None, seed);
        assert_eq!(unseen.verdict().0, Verdict::Equivalent, "they are, for a second");
        assert_eq!(unseen.analysis.ending.longest_load_ns, Some(1_020_000_000));
        let ran = with_full_bucket(Some(60 * SECOND_NS), seed);
        assert_eq!(held_seconds(&ran), [60; 6], "{seed}: three times each");
        assert_eq!(ran.verdict().0, Verdict::Undecided, "{seed}");
        assert_eq!(ran.reasons, [EndReason::NotKeptUp], "{seed}");
        assert_eq!(ran.analysis.ending.longest_load_ns, Some(60_020_000_000));
        let is_named = |kind: &DoubtKind| {
            let DoubtKind::ShortSlices { ratio, long_ns, outcome, .. } = kind else { return false };
            let is_withheld = *outcome == SlicesOutcome::Withheld && *long_ns == 60 * SECOND_NS;
            is_withheld && (*ratio - 0.75).abs() < 0.06
        };
        assert_eq!(ran.doubts(is_named), 1, "{seed}: {:?}", ran.analysis.warnings);
    }
}

#[test]
fn equal_arms_are_held_once_and_stay_equivalent() {
    for seed in 0..4 {
        let hold_ns = Some(60 * SECOND_NS);
        let ran = run_held(Stop::default(), seed, hold_ns, &mut |at| 10_000.0 * wobble(at.trial));
        assert_eq!(ran.verdict().0, Verdict::Equivalent, "{:?}", ran.reasons);
        assert_eq!(held_seconds(&ran), [60; 2]);
        assert_eq!(ran.doubts(|_| true), 0, "{:?}", ran.analysis.warnings);
    }
}

/// Where the time is up before, the run says how long arms were loaded.
#[test]
fn arms_that_there_was_no_time_to_hold_are_not_said_to_have_been() {
    let stop = Stop { max_time_ns: Some(40 * SECOND_NS), ..Stop::default() };
    let hold_ns = Some(60 * SECOND_NS);
    let ran = run_held(stop, 7, hold_ns, &mut |at| 10_000.0 * wobble(at.trial));
    assert!(held_seconds(&ran).is_empty());
    assert_eq!(ran.reasons, [EndReason::TimeUp]);
    assert!(ran.analysis.ending.longest_load_ns < Some(3 * SECOND_NS));
}

/// A cache that takes half a second of writes, and has written them away after as long.
#[test]
fn a_small_write_cache_in_both_arms_is_seen_where_short_slices_agree() {
    let mut caches = [Bucket::new(500_000_000), Bucket::new(500_000_000)];
    let ran = run(&mut |at| caches[at.arm].rate(at.now_ns) * wobble(at.trial));
    assert!(ran.usual() > 0, "{:?} after {}", ran.reasons, ran.trials.len());
    assert_eq!(ran.verdict().0, Verdict::Equivalent);
    assert_eq!(ran.doubts(|kind| matches!(kind, DoubtKind::ShortSlices { .. })), 2);
}

/// A throttle that halves the rate for as long as a trial takes, and lets go as long.
#[test]
fn a_throttle_in_step_with_the_pairs_is_no_difference() {
    let period_ns = 250_000_000;
    let ran = run(&mut |at| {
        let is_low = at.now_ns % period_ns >= period_ns / 2;
        if is_low { 5_000.0 } else { 10_000.0 }
    });
    assert!(!ran.verdict().0.is_signed(), "{:?}", ran.verdict());
}

#[test]
fn a_disk_that_drifts_does_not_pass_for_a_difference_and_hides_none() {
    let drift = |now_ns: u64| 0.98_f64.powf(now_ns as f64 / SECOND_NS as f64);
    let equal = run(&mut |at| 10_000.0 * wobble(at.trial) * drift(at.now_ns));
    assert_eq!(equal.verdict().0, Verdict::Equivalent, "{:?}", equal.verdict());
    let unlike = run(&mut |at| [10_000.0, 8_000.0][at.arm] * wobble(at.trial) * drift(at.now_ns));
    let (verdict, tax) = unlike.verdict();
    assert_eq!(verdict, Verdict::Slower);
    assert!((tax - 0.2).abs() < 0.02, "{tax}");
}

/// It neither decides nor hides: it is told, and what is left of the pairs still says 20 %.
#[test]
fn one_stall_of_thirty_seconds_is_told() {
    let stalled = 3 * SECOND_NS..33 * SECOND_NS;
    let stop = Stop { max_blocks: 400, min_blocks: 400, ..Stop::default() };
    let ran = run_with(stop, 7, &mut |at| {
        let rate = [10_000.0, 8_000.0][at.arm] * wobble(at.trial);
        if stalled.contains(&at.now_ns) { 0.0 } else { rate }
    });
    let told = |kind: &DoubtKind| matches!(kind, DoubtKind::StalledTrials { .. });
    assert!(ran.doubts(told) > 0, "{:?}", ran.analysis.warnings);
    assert_ne!(ran.verdict().0, Verdict::Faster);
}

/// Whoever comes second in a block is slower by a tenth.
#[test]
fn an_effect_of_the_order_is_none_of_the_arms() {
    let ran = run(&mut |at| {
        let is_second = at.trial % 2 == 1;
        10_000.0 * wobble(at.trial) * if is_second { 0.9 } else { 1.0 }
    });
    assert_eq!(ran.verdict().0, Verdict::Equivalent, "{:?}", ran.verdict());
    assert_eq!(ran.doubts(|kind| matches!(kind, DoubtKind::OrderMatters(_))), 1);
}

/// Slow for the first tenth of a second after each switch, as a device that wakes up.
#[test]
fn a_slow_start_ends_the_slices() {
    let ran = run(&mut |at| {
        let is_awake = at.since_ns >= 100_000_000;
        wobble(at.trial) * if is_awake { 10_000.0 } else { 4_000.0 }
    });
    assert!(ran.usual() > 0, "{:?} after {}", ran.reasons, ran.trials.len());
    let is_named =
        |kind: &DoubtKind| matches!(kind, DoubtKind::ShortSlices { ratio, .. } if *ratio > 1.1);
    assert_eq!(ran.doubts(is_named), 2, "{:?}", ran.analysis.warnings);
}
