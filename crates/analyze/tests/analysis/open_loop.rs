//! Records of loads at an offered rate.

use iotax_analyze::{Check, Comparison, Metric, Verdict};
use iotax_experiment::{Driver, IndexLoads};
use iotax_record::{EndReason, LatencyHistogram, OperationRecord, Slow, Trial};

use crate::support::{Bed, load, of};
use crate::warnings::asked;

/// Both arms get `offered` I/Os per second and answer in these mean latencies.
fn offered(offered: f64, blocks: u32, latency_us: [f64; 2]) -> (Bed, Vec<Trial>) {
    let mut bed = Bed::compare(&["base", "slow"]).offer(offered);
    let mut trials = Vec::new();
    for block in 0..blocks {
        for arm in bed.order(block) {
            let latency_us = latency_us[arm];
            let wobble = 1.0 + 0.01 * f64::from((block * 7 + u32::from(arm == 1) * 3) % 5);
            trials.push(bed.trial_with(block, arm, offered, latency_us * 1e3 * wobble));
        }
    }
    (bed, trials)
}

#[test]
fn p99_at_the_offered_rate_is_the_primary_metric() {
    let (bed, trials) = offered(2100.0, 5, [100.0, 130.0]);
    let analysis = bed.analyze(&trials);
    let metrics: Vec<Metric> = analysis.comparisons.iter().map(|c| c.metric).collect();
    let all = [Metric::P99, Metric::Latency, Metric::P50, Metric::ServiceTime, Metric::CpuPerIo];
    assert_eq!(metrics, all);
    let p99 = of(&analysis, "slow", Metric::P99);
    assert_eq!(p99.verdict, Verdict::Slower);
    assert!((p99.tax.unwrap() - 0.3).abs() < 0.05, "{p99:?}");
    let difference = p99.difference_ns.unwrap();
    assert!((difference.value - 1.49 * 30e3).abs() < 6e3, "{difference:?}");
    assert!((p99.base.unwrap() - 1.49 * 101e3).abs() < 5e3);
    assert_eq!(bed.decide(&trials).stop, [EndReason::Resolved { besides: None }]);
}

#[test]
fn a_tail_without_enough_ios_gets_no_verdict_and_the_mean_decides() {
    let (bed, trials) = offered(500.0, 5, [100.0, 130.0]);
    let analysis = bed.analyze(&trials);
    let p99 = of(&analysis, "slow", Metric::P99);
    assert_eq!((p99.verdict, p99.tax), (Verdict::InsufficientTailSamples, None));
    assert_eq!(of(&analysis, "slow", Metric::Latency).verdict, Verdict::Slower);
    assert_eq!(bed.decide(&trials).stop, [EndReason::Resolved { besides: None }]);
}

#[test]
fn an_arm_that_does_not_keep_up_is_overloaded() {
    let (bed, mut trials) = offered(2100.0, 5, [100.0, 130.0]);
    for trial in trials.iter_mut().filter(|trial| trial.arm == "slow") {
        load(trial).jobs[0].offered_ios = Some(10_800);
    }
    let analysis = bed.analyze(&trials);
    for metric in [Metric::P99, Metric::Latency, Metric::ServiceTime] {
        let comparison = of(&analysis, "slow", metric);
        assert_eq!((comparison.verdict, comparison.tax), (Verdict::Overloaded, None));
    }
    let stop = bed.decide(&trials).stop;
    assert_eq!(stop, [EndReason::NoneKeepsUp]);
}

/// Those that came back short are among those completed.
#[test]
fn short_ios_do_not_hide_an_overload() {
    let (bed, mut trials) = offered(2100.0, 5, [100.0, 130.0]);
    for trial in trials.iter_mut().filter(|trial| trial.arm == "slow") {
        let job = &mut load(trial).jobs[0];
        job.offered_ios = Some(10_800);
        job.read.short_ios = job.read.ios;
    }
    let analysis = bed.analyze(&trials);
    assert_eq!(of(&analysis, "slow", Metric::Latency).verdict, Verdict::Overloaded);
    let slip = crate::warnings::said(&analysis, Check::ScheduleSlip);
    assert!(slip.contains("completed only 97 % of the offered I/Os"), "{slip}");
}

/// fio knows no due time: latencies of all arms count from submission if it drives one, else a wait
/// that only the native arm counts would be the difference.
#[test]
fn native_and_fio_are_compared_from_submission() {
    let (mut bed, mut trials) = offered(2100.0, 5, [100.0, 100.0]);
    bed.edit(|spec| spec.arms[1].driver = Driver::Fio);
    for trial in &mut trials {
        let is_native = trial.arm == "base";
        let waited: LatencyHistogram = {
            let mut waited = LatencyHistogram::new();
            (0..10_500).for_each(|i| waited.record(20_000_000 + i * 10));
            waited
        };
        load(trial).jobs[0].read.response = is_native.then_some(waited);
    }
    let analysis = bed.analyze(&trials);
    for metric in [Metric::P99, Metric::Latency] {
        let tax = of(&analysis, "slow", metric).tax.unwrap();
        assert!(tax.abs() < 0.05, "{metric:?}: {tax}");
    }
    let is_of_service = |c: &Comparison| c.metric == Metric::ServiceTime;
    assert!(!analysis.comparisons.iter().any(is_of_service), "it would be the latency again");
    let said = asked(&analysis).into_iter().filter(|q| q.starts_with("Latencies are"));
    insta::assert_snapshot!(said.collect::<String>(), @"Latencies are measured from submission in all arms, because fio drives some arms and does not know when an I/O was due. These latencies do not include the wait before submission. To include this wait, let iotax drive all arms (without --engine fio).");
    let p99 =
        |arm: usize| analysis.arms[arm].latency.iter().find(|p| p.q == 0.99).unwrap().latency_ns;
    assert!(p99(0) < 200_000, "the descriptive figures count alike: {}", p99(0));
}

#[test]
fn response_counts_from_the_intended_start() {
    let (bed, mut trials) = offered(2100.0, 4, [100.0, 100.0]);
    for trial in trials.iter_mut().filter(|trial| trial.arm == "slow") {
        // Service is as fast as ever; the I/Os had waited for it.
        let mut late = LatencyHistogram::new();
        for i in 0..10_500 {
            late.record(200_000 + i * 10);
        }
        load(trial).jobs[0].read.response = Some(late);
    }
    let mean = of(&bed.analyze(&trials), "slow", Metric::Latency).tax.unwrap();
    assert!(mean > 1.0, "{mean}");
}

const INDEX: IndexLoads = IndexLoads {
    versions_per_second: 4.0,
    index_bytes: 1 << 24,
    slow_load_ns: 10_000_000,
    queries_per_second: 100.0,
    query_bytes: 4096,
};

#[test]
fn index_loads_are_compared_and_described() {
    let mut bed = Bed::compare(&["base", "slow"]);
    bed.edit(|spec| spec.phases[0].index = Some(INDEX));
    let mut trials = bed.blocks(4, &[400.0, 400.0], 0.01);
    // Without any load that could be counted nothing would come of more blocks.
    let twice_as_slow = bed.blocks(4, &[400.0, 200.0], 0.01);
    assert!(!bed.decide(&twice_as_slow).stop.is_empty());
    for trial in &mut trials {
        let mean_ns = if trial.arm == "slow" { 12_000_000 } else { 6_000_000 };
        let mut loads = operation(IndexLoads::LOAD);
        for i in 0..20 {
            loads.latency.record(mean_ns + u64::from(trial.block) * 100_000 + i * 1_000);
        }
        let slow = if mean_ns > 10_000_000 { 20 } else { 0 };
        loads.slow = Some(Slow { above_ns: 10_000_000, count: slow });
        let mut queries = operation("query");
        queries.latency.record_many(50_000, 500);
        queries.waited = Some(40);
        load(trial).operations = vec![loads, queries];
    }
    let analysis = bed.analyze(&trials);
    let loads = of(&analysis, "slow", Metric::LoadTime);
    assert_eq!(loads.verdict, Verdict::Slower);
    assert!((loads.tax.unwrap() - 0.98).abs() < 0.05, "{loads:?}");
    let [loads, queries] = analysis.arms[1].operations.as_slice() else { panic!() };
    assert_eq!((loads.name.as_str(), queries.name.as_str()), ("load", "query"));
    let slow = Some(Slow { above_ns: 10_000_000, count: 80 });
    assert_eq!((loads.count, loads.slow, loads.waited), (80, slow, None));
    assert_eq!((queries.count, queries.slow, queries.waited), (2000, None, Some(160)));
    assert!(loads.max_ns > 12_000_000 && loads.mean_ns > 12e6);
    assert_eq!((loads.share, queries.share), (None, None), "they are none of the primary job");
}

/// Nothing done yet.
fn operation(name: &str) -> OperationRecord {
    OperationRecord { name: name.to_owned(), ..OperationRecord::default() }
}

/// What a load of an index does is no job's: neither its I/Os nor its errors are counted as such.
#[test]
fn an_error_beside_the_jobs_is_told_and_counted_in_no_rate() {
    let mut bed = Bed::compare(&["base", "slow"]);
    let mut trials = bed.blocks(4, &[400.0, 400.0], 0.01);
    let rates = |trials: &[Trial]| -> Vec<f64> {
        bed.analyze(trials).arms.iter().map(|arm| arm.iops).collect()
    };
    let before = rates(&trials);
    let mut loads = operation(IndexLoads::LOAD);
    (loads.errors, loads.first_error) = (2, Some("index: load: Input/output error".to_owned()));
    let base = trials.iter().position(|trial| trial.arm == "base").unwrap();
    load(&mut trials[base]).operations = vec![loads];
    assert_eq!(rates(&trials), before);
    let said = crate::warnings::said(&bed.analyze(&trials), Check::IoErrors);
    let message = "something other than the counted I/Os failed; the first error: index: load: \
                   Input/output error";
    assert!(said.starts_with(&format!("[base, 1 trials] {message}\n")), "{said}");
}

#[test]
fn a_run_goes_on_until_index_loads_have_a_verdict_too() {
    let mut bed = Bed::compare(&["base", "slow"]);
    bed.edit(|spec| spec.phases[0].index = Some(INDEX));
    // Reads are twice as slow, beyond doubt; loads three times as slow, but for every third block.
    let mut trials = bed.blocks(20, &[400.0, 200.0], 0.01);
    for trial in &mut trials {
        let slow = trial.arm == "slow" && trial.block % 3 != 0;
        let mut loads = operation(IndexLoads::LOAD);
        loads.latency.record(if slow { 18_000_000 } else { 6_000_000 });
        load(trial).operations = vec![loads];
    }
    let so_far = |blocks: u32| -> Vec<_> {
        trials.iter().filter(|trial| trial.block < blocks).cloned().collect()
    };
    let verdict = |blocks| of(&bed.analyze(&so_far(blocks)), "slow", Metric::LoadTime).verdict;
    let stops = |blocks| !bed.decide(&so_far(blocks)).stop.is_empty();
    assert_eq!(verdict(3), Verdict::Undecided);
    let first = (3..=20).find(|blocks| stops(*blocks)).unwrap();
    assert_eq!(verdict(first), Verdict::Slower, "after {first} blocks");
    assert!(first > 3);
    bed.edit(|spec| spec.stop.mode = iotax_experiment::StopMode::Default);
    assert!(!bed.decide(&so_far(first)).stop.is_empty(), "their precision is not asked for");
}
