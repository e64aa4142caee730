//! The median operation beside throughput.

use iotax_analyze::{Metric, Verdict};
use iotax_experiment::rule::RuleOutcome;
use iotax_experiment::{Driver, Rule};
use iotax_record::{DirectionRecord, LatencyHistogram, Trial};

use crate::support::{Bed, job, of};

/// Twelve blocks of arms whose reads take these mean latencies, at rates that vary by this much.
fn noisy(bed: &mut Bed, latency_us: [f64; 2], sd: f64) -> Vec<Trial> {
    let rates = bed.blocks(12, &[1000.0; 2], sd);
    let ns = |arm: usize| latency_us[arm] * 1e3;
    let arm = |trial: &Trial| usize::from(trial.arm == bed.experiment.spec.arms[1].name);
    let rates: Vec<(u32, usize, f64)> = rates
        .iter()
        .map(|trial| {
            let rate = trial.load.as_ref().unwrap().jobs[0].read.ios as f64 / 5.0;
            (trial.block, arm(trial), rate)
        })
        .collect();
    rates.into_iter().map(|(block, arm, rate)| bed.trial_with(block, arm, rate, ns(arm))).collect()
}

fn all_at(trial: &mut Trial, ns: u64) {
    let mut service = LatencyHistogram::new();
    service.record_many(ns, 5000);
    job(trial).read =
        DirectionRecord { ios: 5000, bytes: 5000 << 12, service, ..Default::default() };
}

#[test]
fn a_median_is_known_where_throughput_is_too_noisy() {
    let mut bed = Bed::compare(&["old", "new"]).stop(|stop| stop.max_blocks = 400);
    let trials = noisy(&mut bed, [100.0, 130.0], 0.6);
    let analysis = bed.analyze(&trials);
    assert_eq!(of(&analysis, "new", Metric::Throughput).verdict, Verdict::Undecided);
    let p50 = of(&analysis, "new", Metric::P50);
    assert_eq!(p50.verdict, Verdict::Slower);
    assert!(p50.lo.unwrap() < 0.3 && 0.3 < p50.hi.unwrap() && p50.lo.unwrap() > 0.25, "{p50:?}");
    assert!((p50.base.unwrap() - 100e3).abs() < 2e3, "{p50:?}");
    assert!((p50.difference_ns.unwrap().value - 30e3).abs() < 2e3, "{p50:?}");
    assert!(bed.decide(&trials).stop.is_empty(), "it does not end a run");
    let medians = analysis.trials.iter().filter(|t| t.arm == "new").map(|t| t.p50_ns.unwrap());
    assert!(medians.into_iter().all(|ns| (125_000..135_000).contains(&ns)));
}

#[test]
fn a_rule_about_the_median_is_decided_by_it() {
    let mut bed = Bed::compare(&["old", "new"]).stop(|stop| stop.max_blocks = 400);
    let rules = ["p50 slower by 5%", "p50 slower by 50%", "slower by 5%"];
    bed.edit(|spec| spec.fail_if = rules.map(|rule| Rule::parse(rule).unwrap()).into());
    let trials = noisy(&mut bed, [100.0, 130.0], 0.2);
    let judged = bed.analyze(&trials).analysis.rules;
    let outcomes: Vec<RuleOutcome> = judged.iter().map(|judged| judged.outcome).collect();
    assert_eq!(outcomes, [RuleOutcome::Fail, RuleOutcome::Pass, RuleOutcome::Undecided]);
    assert_eq!(judged[0].metric, Some(Metric::P50));
    let found = judged[0].found.unwrap();
    assert!(found.lo < 0.3 && 0.3 < found.hi && found.hi - found.lo < 0.05, "{found:?}");
    // The run goes on for the third alone.
    assert!(bed.decide(&trials).stop.is_empty());
    bed.edit(|spec| spec.fail_if.truncate(2));
    assert!(!bed.decide(&trials).stop.is_empty());
}

/// Throughput has its verdict long before.
#[test]
fn a_run_goes_on_until_a_rule_about_the_median_is_decided() {
    let mut bed = Bed::compare(&["old", "new"]);
    let mut trials = bed.blocks(8, &[1000.0, 700.0], 0.01);
    assert!(!bed.decide(&trials).stop.is_empty());
    for (at, trial) in trials.iter_mut().enumerate() {
        all_at(trial, 100_000 + 60_000 * (at as u64 * 7 % 5));
    }
    bed.edit(|spec| spec.fail_if = vec![Rule::parse("p50 slower by 5%").unwrap()]);
    assert_eq!(of(&bed.analyze(&trials), "new", Metric::P50).verdict, Verdict::Undecided);
    assert!(bed.decide(&trials).stop.is_empty());
}

#[test]
fn a_trial_that_completes_nothing_breaks_a_rule_about_the_median() {
    let mut bed = Bed::compare(&["old", "new"]);
    bed.edit(|spec| spec.fail_if = vec![Rule::parse("p50 slower by 50%").unwrap()]);
    let mut trials = bed.blocks(8, &[400.0; 2], 0.02);
    for trial in trials.iter_mut().filter(|trial| trial.arm == "new") {
        let job = job(trial);
        job.read = DirectionRecord::default();
        (job.cpu_user_ns, job.in_flight_io_ns) = (1_000, 5_000_000_000);
    }
    assert_eq!(bed.analyze(&trials).analysis.rules[0].outcome, RuleOutcome::Fail);
}

#[test]
fn signs_of_throughput_are_none_of_the_median_where_one_trial_stalled() {
    let mut bed = Bed::compare(&["old", "new"]);
    bed.edit(|spec| spec.fail_if = vec![Rule::parse("p50 slower by 5%").unwrap()]);
    let mut trials = bed.blocks(10, &[400.0, 500.0], 0.02);
    let stalled = trials.iter_mut().find(|trial| trial.arm == "old").unwrap();
    let job = job(stalled);
    job.read = DirectionRecord::default();
    (job.cpu_user_ns, job.in_flight_io_ns) = (1_000, 5_000_000_000);
    let analysis = bed.analyze(&trials);
    assert_eq!(of(&analysis, "new", Metric::Throughput).verdict, Verdict::Faster);
    assert_eq!(of(&analysis, "new", Metric::P50).verdict, Verdict::Undecided);
    assert_eq!(analysis.analysis.rules[0].outcome, RuleOutcome::Undecided);
}

/// All operations of an arm are in one bucket of 64 ns, on either side of an edge.
#[test]
fn neighbouring_buckets_are_no_difference_however_many_blocks_there_are() {
    let mut bed = Bed::compare(&["old", "new"]).stop(|stop| stop.max_blocks = 400);
    let mut trials = bed.blocks(400, &[1000.0; 2], 0.01);
    for trial in &mut trials {
        let ns = if trial.arm == "old" { 100_031 } else { 100_033 };
        all_at(trial, ns);
    }
    let analysis = bed.analyze(&trials);
    let p50 = of(&analysis, "new", Metric::P50);
    assert_eq!((p50.verdict, p50.sign), (Verdict::Equivalent, None), "{p50:?}");
    assert!(p50.hi.unwrap() - p50.lo.unwrap() > 6.4e-4, "{p50:?}");
    // The buckets of fio are 1 % wide there.
    for trial in &mut trials {
        trial.load.as_mut().unwrap().driver = "fio 3.33".into();
        let ns = if trial.arm == "old" { 99_840 } else { 100_864 };
        all_at(trial, ns);
    }
    let analysis = bed.analyze(&trials);
    let p50 = of(&analysis, "new", Metric::P50);
    assert_eq!((p50.verdict, p50.sign), (Verdict::Equivalent, None), "{p50:?}");
    assert!(p50.hi.unwrap() - p50.lo.unwrap() > 0.01, "{p50:?}");
}

#[test]
fn a_difference_within_a_bucket_is_seen_where_latencies_vary() {
    let mut bed = Bed::compare(&["old", "new"]);
    let trials = noisy(&mut bed, [100.0, 100.0], 0.01);
    let p50 = of(&bed.analyze(&trials), "new", Metric::P50).clone();
    assert_eq!(p50.verdict, Verdict::Equivalent);
    assert!(p50.tax.unwrap().abs() < 0.01 && p50.hi.unwrap() - p50.lo.unwrap() > 1e-3, "{p50:?}");
}

#[test]
fn it_is_of_the_kind_that_the_job_is_about() {
    let mut bed = Bed::compare(&["old", "new"]);
    let mut trials = bed.blocks(8, &[1000.0; 2], 0.01);
    for trial in &mut trials {
        let is_new = trial.arm == "new";
        let at = |ns: u64| {
            let mut latency = LatencyHistogram::new();
            (0..999).for_each(|i| latency.record(ns + i * ns / 10_000));
            latency
        };
        let record = job(trial);
        record.write = DirectionRecord { ios: 999, ..Default::default() };
        record.write.service = at(if is_new { 2_000_000 } else { 1_000_000 });
        record.read.service = at(if is_new { 150_000 } else { 100_000 });
        record.sync = at(if is_new { 3_000_000 } else { 1_000_000 });
    }
    let tax = |bed: &Bed| {
        let p50 = of(&bed.analyze(&trials), "new", Metric::P50).clone();
        (p50.verdict, (10.0 * p50.tax.unwrap()).round() / 10.0)
    };
    for (read_percent, found) in [(100, 0.5), (70, 0.5), (30, 1.0), (0, 1.0)] {
        bed.edit(|spec| spec.phases[0].jobs[0].read_percent = read_percent);
        assert_eq!(tax(&bed), (Verdict::Slower, found), "{read_percent} % of reads");
    }
    bed.edit(|spec| spec.phases[0].jobs[0].fsync_every = Some(1));
    assert_eq!(tax(&bed), (Verdict::Slower, 2.0));
    let metrics = bed.analyze(&trials).comparisons.iter().map(|c| c.metric).collect::<Vec<_>>();
    assert_eq!(metrics[0], Metric::SyncLatency, "the mean decides");
}

/// From the intended start, unless fio drives an arm.
#[test]
fn at_a_rate_it_counts_as_the_others_do() {
    let mut bed = Bed::compare(&["old", "new"]).offer(1000.0);
    let mut trials = noisy(&mut bed, [100.0, 100.0], 0.0);
    for trial in trials.iter_mut().filter(|trial| trial.arm == "new") {
        let mut waited = LatencyHistogram::new();
        (0..5000).for_each(|i| waited.record(190_000 + 4 * i));
        job(trial).read.response = Some(waited);
    }
    let tax = of(&bed.analyze(&trials), "new", Metric::P50).tax.unwrap();
    assert!((tax - 1.0).abs() < 0.05, "{tax}");
    bed.edit(|spec| spec.arms[0].driver = Driver::Fio);
    let tax = of(&bed.analyze(&trials), "new", Metric::P50).tax.unwrap();
    assert!(tax.abs() < 0.05, "{tax}");
}
