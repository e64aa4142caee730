//! Where each self-check begins to speak: silent just on one side, and not on the other. And where
//! rules, gates and the end of a run begin.

use iotax_analyze::{Check, Metric, Verdict};
use iotax_experiment::rule::RuleOutcome;
use iotax_experiment::{Design, Rule};
use iotax_record::{EndReason, Trial};

use crate::support::{Bed, SECOND_NS, SECONDS, failed, job, load, of};
use crate::warnings::pair;

/// Time of both CPUs in a trial.
const CPUS_NS: f64 = 2.0 * (SECONDS * SECOND_NS) as f64;

fn whole(value: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small, above 0")]
    let whole = value.round() as u64;
    whole
}

/// Whether the check warns if every trial of the second arm has this much of something.
fn speaks(mut bed: Bed, check: Check, change: impl Fn(&mut Trial)) -> bool {
    let mut trials = bed.blocks(4, &[500.0, 500.0], 0.002);
    trials.iter_mut().filter(|trial| trial.arm == "other").for_each(change);
    bed.analyze(&trials).warnings.iter().any(|doubt| doubt.check() == check)
}

/// A check, what it looks at, a value at which it is silent and one at which it speaks.
type Boundary = (Check, fn(&mut Trial, f64), f64, f64);

#[test]
fn of_trials_and_jobs() {
    let boundaries: [Boundary; 9] = [
        (
            Check::Steal,
            |it, share| load(it).system.cpu_steal_ns = Some(whole(share * CPUS_NS)),
            0.0199,
            0.0201,
        ),
        (
            Check::Precision,
            |it, share| {
                load(it).system.cpu_busy_ns = Some(whole(share * CPUS_NS));
                load(it).system.process_cpu_ns = Some(0);
            },
            0.199,
            0.201,
        ),
        (
            Check::GeneratorBound,
            |it, share| {
                load(it).system.cpu_busy_ns = Some(whole(share * CPUS_NS));
                load(it).system.process_cpu_ns = load(it).system.cpu_busy_ns;
            },
            0.949,
            0.951,
        ),
        (
            Check::Precision,
            |it, kept| {
                job(it).queue_depth = 8;
                job(it).in_flight_io_ns = whole(kept * 8.0 * CPUS_NS / 2.0);
            },
            0.76,
            0.74,
        ),
        (
            Check::Precision,
            |it, least| {
                let second = whole(4.0 * 500.0 * least / (5.0 - least));
                let mean: Vec<u32> =
                    [500, 500, second, 500, 500].map(|n| u32::try_from(n).unwrap()).into();
                job(it).read.per_second_ios = mean;
            },
            0.505,
            0.495,
        ),
        (
            Check::LittlesLaw,
            |it, more| job(it).in_flight_io_ns = whole(more * job(it).in_flight_io_ns as f64),
            1.04,
            1.07,
        ),
        (
            Check::ImpossibleSpeed,
            |it, speed| job(it).read.bytes = whole(speed * 1e10) * SECONDS,
            1.099,
            1.101,
        ),
        (Check::VerifyMismatch, |it, n| job(it).verify_mismatches = Some(whole(n)), 0.0, 1.0),
        (Check::IoErrors, |it, n| job(it).read.errors = whole(n), 0.0, 1.0),
    ];
    for (check, set, silent, loud) in boundaries {
        assert!(!speaks(pair(), check, |trial| set(trial, silent)), "{check:?} at {silent}");
        assert!(speaks(pair(), check, |trial| set(trial, loud)), "{check:?} at {loud}");
    }
}

#[test]
fn of_schedules_and_the_generator() {
    let offered = |achieved: f64| {
        let bed = || pair().offer(500.0);
        let offer = move |trial: &mut Trial| {
            job(trial).offered_ios = Some(whole(job(trial).read.ios as f64 / achieved));
        };
        speaks(bed(), Check::ScheduleSlip, offer)
    };
    assert!(!offered(0.991) && offered(0.989));
    let late = |slip_ns: u64| {
        speaks(pair().offer(500.0), Check::ScheduleSlip, move |trial| {
            job(trial).offered_ios = Some(job(trial).read.ios);
            job(trial).max_slip_ns = slip_ns;
        })
    };
    // The p99 is 2.98 ms, and half of it decides.
    assert!(!late(1_400_000) && late(1_560_000));
    let generator = |share: f64| {
        let mut bed = pair();
        bed.experiment.hosts[0].generator_ns_per_io = Some(share * 2e6);
        speaks(bed, Check::GeneratorBound, |_| ())
    };
    assert!(!generator(0.098) && generator(0.102));
}

#[test]
fn of_caches() {
    let answered = |share: f64| {
        let mut bed = pair().on_disk();
        bed.edit(|draft| draft.phases[0].jobs[0].direct = true);
        speaks(bed, Check::CacheAnswered, move |trial| {
            let read = job(trial).read.bytes as f64;
            load(trial).system.device_read_bytes = Some(whole(share * read));
        })
    };
    assert!(!answered(0.505) && answered(0.495));
    let cold = |share: f64| {
        let mut bed = pair().on_disk();
        bed.edit(|draft| draft.phases[0].jobs[0].invalidate = true);
        let mut trials = bed.blocks(4, &[500.0, 500.0], 0.002);
        for trial in &mut trials {
            let share = if trial.arm == "other" { share } else { 1.0 };
            let read = job(trial).read.bytes as f64;
            load(trial).system.device_read_bytes = Some(whole(share * read));
        }
        let found = bed.analyze(&trials);
        found.warnings.iter().any(|doubt| doubt.check() == Check::ColdCacheUnproven)
    };
    assert!(!cold(0.955) && cold(0.945));
    assert!(!cold(1.49) && cold(1.51));
}

/// Overload is a share of the offered rate that is not reached.
#[test]
fn of_the_gate_on_latencies() {
    let verdict = |achieved: f64| {
        let mut bed = pair().offer(3000.0);
        let mut trials = bed.blocks(4, &[3000.0, 3000.0], 0.0);
        for trial in &mut trials {
            job(trial).offered_ios = Some(whole(job(trial).read.ios as f64 / achieved));
        }
        of(&bed.analyze(&trials), "other", Metric::Latency).verdict
    };
    assert_eq!(verdict(0.989), Verdict::Overloaded);
    assert_ne!(verdict(0.991), Verdict::Overloaded);
}

/// A fifth of an arm's trials may be missing.
#[test]
fn of_what_may_be_missing() {
    let decides = |lost: u32| {
        let mut bed = pair();
        let mut trials = bed.blocks(10, &[500.0, 300.0], 0.002);
        let other = trials.iter_mut().filter(|trial| trial.arm == "other" && trial.block < lost);
        other.for_each(|trial| *trial = failed(trial.clone()));
        let found = bed.analyze(&trials);
        of(&found, "other", Metric::Throughput).missing.unwrap().decides
    };
    assert!(!decides(2), "two of ten");
    assert!(decides(3));
}

#[test]
fn of_the_end_of_a_run() {
    let mut bed = Bed::new(&[("only", &[])], Design::Single);
    bed.edit(|draft| draft.fail_if = vec![Rule::parse("iops < 100").unwrap()]);
    let trials = bed.blocks(40, &[500.0], 0.002);
    let after = |blocks: usize| bed.decide(&trials[..blocks]).stop;
    assert_eq!(after(7), [], "what goes wrong now and then has hardly been seen yet");
    assert_eq!(after(8), [EndReason::RulesDecided]);
    let outcome = |blocks: usize| bed.analyze(&trials[..blocks]).rules[0].outcome;
    assert_eq!((outcome(2), outcome(8)), (RuleOutcome::Undecided, RuleOutcome::Pass));

    let mut compare = pair();
    let trials = compare.blocks(40, &[500.0, 200.0], 0.002);
    let after = |blocks: usize| compare.decide(&trials[..2 * blocks]).stop;
    assert_eq!(after(3), [], "each order of the arms has to be there twice");
    assert_eq!(after(4), [EndReason::Resolved { besides: None }]);
    let fixed = pair().stop(|stop| (stop.min_blocks, stop.max_blocks) = (6, 7));
    let after = |blocks: usize| fixed.decide(&trials[..2 * blocks]);
    assert_eq!((after(5).stop, after(5).open), (vec![], vec![true, true]));
    assert_eq!(after(6).stop, [EndReason::Resolved { besides: None }]);
    assert_eq!(after(7).stop, [EndReason::AllRun]);
}

/// So many trials in a row that complete nothing end a run that can learn nothing from more.
#[test]
fn of_giving_up() {
    let mut bed = Bed::new(&[("only", &[])], Design::Single);
    let mut trials = bed.blocks(4, &[500.0], 0.0);
    for trial in &mut trials[1..] {
        let silent = job(trial);
        (silent.read.ios, silent.read.bytes) = (0, 0);
        silent.in_flight_io_ns = SECONDS * SECOND_NS;
    }
    assert_eq!(bed.decide(&trials[..3]).stop, []);
    let silent = EndReason::ArmSilent { arm: "only".to_owned(), trials: 3 };
    assert_eq!(bed.decide(&trials).stop, [silent]);
}
