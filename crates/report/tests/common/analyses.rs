//! What analysing the experiments of the parent module could show.

use iotax_analyze::{
    Analysis, ArmSummary, Attribution, Comparison, Doubt, DoubtKind, Ending, Estimate, FORMAT,
    Interaction, JobSummary, LatencySpread, LayerCost, Metric, NoAnswer, OpenQuestion,
    OperationSummary, Outlook, QuantilePoint, Regime, SyncSummary, TrialOutcome, TrialPoint,
    Verdict,
};
use iotax_experiment::Subject;
use iotax_record::{EndReason, ExperimentHead, Slow};

use super::noise;

const QUANTILES: [f64; 16] = [
    0.0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99995,
    0.99999,
];

/// Why it ended, in the words of an older record.
pub(super) fn said(reason: &str) -> Vec<EndReason> {
    vec![EndReason::Said(reason.to_owned())]
}

pub(super) fn arm(name: &str, target: &str, iops: f64) -> ArmSummary {
    let mean_latency_ns = 4e9 / iops;
    let curve = QUANTILES.iter().map(|q| {
        let nines = -(1.0 - q).log10();
        let latency_ns = (mean_latency_ns * (0.6 + 0.4 * nines + 0.05 * nines.powi(4))) as u64;
        QuantilePoint { q: *q, latency_ns }
    });
    ArmSummary {
        name: name.to_owned(),
        target: target.to_owned(),
        trials: 12,
        failed_trials: 0,
        stalled_trials: 0,
        iops,
        bytes_per_s: iops * 4096.0,
        requests_per_s: None,
        throughput_cv: 0.021,
        cpu_ns_per_io: 1_830.0 + 4e7 / iops,
        mean_latency_ns,
        latency: curve.collect(),
        latency_ios: (iops * 60.0) as u64,
        slow_mode: None,
        sync: None,
        network: None,
        operations: Vec::new(),
        other_jobs: Vec::new(),
        replay: None,
        found_depths: Vec::new(),
        targets: Vec::new(),
        together: None,
        counters: None,
    }
}

pub(crate) fn comparison(metric: Metric, [tax, lo, hi]: [f64; 3], verdict: Verdict) -> Comparison {
    Comparison {
        subject: Subject::Total,
        against: None,
        within: None,
        metric,
        tax: Some(tax),
        lo: Some(lo),
        hi: Some(hi),
        base: Some(85_312.0),
        with: Some(85_312.0 * (1.0 - tax)),
        difference_ns: None,
        verdict,
        sign: None,
        blocks: 12,
        p: Some(0.0004),
        holds_after_holm: matches!(verdict, Verdict::Slower | Verdict::Faster),
        blocks_needed: None,
        regime: None,
        change: None,
        missing: None,
        place: None,
        stalls: None,
        cap: None,
    }
}

pub(crate) fn of_arm(name: &str, c: Comparison) -> Comparison {
    Comparison { subject: Subject::Arm(name.to_owned()), ..c }
}

pub(super) fn estimate(value: f64, half_width: f64) -> Option<Estimate> {
    Some(Estimate { value, lo: value - half_width, hi: value + half_width })
}

/// `blocks` x all arms in a rotating order, `seconds` long each.
/// Around a mean, with a tail, a little different in each trial.
fn spread(mean_ns: f64, slot: u32) -> LatencySpread {
    let shape = [3.0, 40.0, 170.0, 260.0, 140.0, 60.0, 25.0, 9.0, 4.0, 2.0, 1.0];
    let counts = (0..)
        .zip(shape)
        .map(|(bin, ios)| (1e3 * ios * (1.0 + 0.5 * noise(u64::from(slot) * 31 + bin))) as u64);
    LatencySpread { first: ((0.5 * mean_ns).log2() * 4.0) as u32, counts: counts.collect() }
}

pub(crate) fn points(arms: &[ArmSummary], blocks: u32, seconds: u32) -> Vec<TrialPoint> {
    let per_block = u32::try_from(arms.len()).unwrap();
    (0..blocks * per_block)
        .map(|slot| {
            let block = slot / per_block;
            let arm = &arms[((slot * 7 + block * 3) % per_block) as usize];
            let second =
                |s: u32| arm.iops * (1.0 + 0.06 * noise(u64::from(slot) * 97 + u64::from(s)));
            TrialPoint {
                slot,
                block,
                arm: arm.name.clone(),
                started_ns: u64::from(slot) * (u64::from(seconds) + 2) * 1_000_000_000,
                switch_ns: 31_000_000,
                outcome: TrialOutcome::Completed,
                why: None,
                paused_ns: None,
                used: true,
                iops: Some(arm.iops),
                bytes_per_s: Some(arm.bytes_per_s),
                p50_ns: Some((4e9 / arm.iops * 0.8) as u64),
                p99_ns: Some((4e9 / arm.iops * 3.0) as u64),
                sync_mean_ns: None,
                sync_p99_ns: None,
                spread: (slot < 480).then(|| spread(4e9 / arm.iops, slot)),
                targets: Vec::new(),
                per_second_ios: (0..seconds).map(|s| second(s) as u32).collect(),
                counters: None,
            }
        })
        .collect()
}

pub(super) fn analysis(
    experiment: &ExperimentHead,
    arms: Vec<ArmSummary>,
    comparisons: Vec<Comparison>,
) -> Analysis {
    let trials = points(&arms, 12, 5);
    Analysis {
        format: FORMAT,
        workload: experiment.spec.workload().name.clone(),
        primary: experiment.spec.workload().primary.clone(),
        baseline: arms[0].name.clone(),
        margin: 0.05,
        alpha: 0.05,
        work: Vec::new(),
        comparisons,
        attribution: None,
        depths: Vec::new(),
        drained: Vec::new(),
        preconditioned: Vec::new(),
        rules: Vec::new(),
        requirements: Vec::new(),
        matrix: None,
        outliers: None,
        fleet: None,
        below_cap: Vec::new(),
        documented: Vec::new(),
        warnings: Vec::new(),
        open_questions: Vec::new(),
        ending: Ending {
            reasons: said("every arm has a verdict, precise enough"),
            blocks: 12,
            trials: u32::try_from(trials.len()).unwrap(),
            wall_ns: 340_000_000_000,
            switch_ns: 1_500_000_000,
            longest_load_ns: None,
            interrupted: false,
            gaps: Vec::new(),
        },
        trials,
        arms,
    }
}

/// So many operations, of which none failed.
pub(super) fn operation(name: &str, count: u64, mean_ns: f64) -> OperationSummary {
    OperationSummary {
        name: name.to_owned(),
        count,
        share: None,
        errors: 0,
        mean_ns,
        p99_ns: (mean_ns * 4.0) as u64,
        max_ns: (mean_ns * 9.0) as u64,
        latency: [(0.1, 0.4), (0.5, 0.8), (0.9, 1.9), (0.99, 4.0)]
            .map(|(q, factor)| QuantilePoint { q, latency_ns: (mean_ns * factor) as u64 })
            .to_vec(),
        slow: None,
        waited: None,
    }
}

/// Both AES layers cost, and more together than apart.
pub(crate) fn peel() -> Analysis {
    let experiment = super::peel();
    let index = |slow, load_ns: f64| {
        let slow = Some(Slow { above_ns: 10_000_000, count: slow });
        let loads = OperationSummary { slow, ..operation("load", 212, load_ns) };
        let waited = Some(318);
        let queries = OperationSummary { waited, ..operation("query", 42_318, 2.1e6) };
        vec![operation("publish", 213, 61e6), loads, queries]
    };
    let mut arms = vec![
        arm("bare", "file(size=2G)", 128_000.0),
        arm("aes", "file(size=2G) + aes", 112_600.0),
        arm("aes#2", "file(size=2G) + aes", 112_400.0),
        arm("aes + aes#2", "file(size=2G) + aes + aes", 97_300.0),
    ];
    for (i, arm) in arms.iter_mut().enumerate() {
        arm.operations = index(i as u64 * 9, 2.9e6 * (1.0 + 0.31 * i as f64));
        arm.other_jobs = vec![JobSummary {
            name: "driver".to_owned(),
            target: None,
            iops: 61.0,
            bytes_per_s: 61.0 * 4_194_304.0,
            mean_latency_ns: 16.1e6,
            p99_latency_ns: 31_000_000,
            p999_latency_ns: 62_000_000,
            sync: None,
        }];
    }
    let slower = Verdict::Slower;
    let of = |subject: &Subject, c| Comparison { subject: subject.clone(), ..c };
    let rate =
        |subject, interval, verdict| of(subject, comparison(Metric::Throughput, interval, verdict));
    let cpu = |subject, interval| of(subject, comparison(Metric::CpuPerIo, interval, slower));
    let [one, two] = ["aes", "aes#2"].map(|name| Subject::Layer(name.to_owned()));
    let both = Subject::Interaction(["aes", "aes#2"].map(str::to_owned));
    let comparisons = vec![
        rate(&one, [0.1284, 0.109, 0.147], slower),
        cpu(&one, [0.214, 0.190, 0.239]),
        rate(&two, [0.1278, 0.106, 0.149], slower),
        cpu(&two, [0.219, 0.194, 0.244]),
        rate(&Subject::Total, [0.2398, 0.2284, 0.2512], slower),
        cpu(&Subject::Total, [0.48, 0.45, 0.51]),
        rate(&both, [0.012, 0.004, 0.020], Verdict::Equivalent),
    ];
    let layer = |name: &str, [first, shapley, last]: [f64; 3]| LayerCost {
        layer: name.to_owned(),
        first_in_ns: estimate(first, 610.0),
        shapley_ns: estimate(shapley, 520.0),
        last_in_ns: estimate(last, 700.0),
        delta_p99_ns: estimate(11_900.0, 2_200.0),
    };
    let mut analysis = analysis(&experiment, arms, comparisons);
    analysis.attribution = Some(Attribution {
        bare_ns: 31_250.0,
        layers: vec![
            layer("aes", [4_280.0, 4_900.0, 5_530.0]),
            layer("aes#2", [4_340.0, 4_960.0, 5_590.0]),
        ],
        interactions: vec![Interaction {
            layers: ["aes".to_owned(), "aes#2".to_owned()],
            cost_ns: estimate(1_250.0, 830.0),
            verdict: Some(Verdict::Slower),
        }],
        total_ns: estimate(9_860.0, 560.0),
        blocks: 12,
    });
    let kind = DoubtKind::Steal { share: 0.021 };
    analysis.warnings = vec![Doubt { kind, of: None, trials: 3, of_trials: Some(48) }];
    analysis
}

/// One word of each kind.
pub(crate) fn compare() -> Analysis {
    let experiment = super::compare();
    let arms = vec![
        arm("base", "file(size=2G)", 85_312.0),
        arm("luks", "file(size=2G) + aes", 65_690.0),
        arm("queue", "file(size=2G) + queue(workers=2)", 81_900.0),
        arm("cap", "file(size=2G) + throttle(iops=40000)", 40_010.0),
        arm("same", "file(size=2G)", 86_240.0),
    ];
    let p99 = |name, interval: [f64; 3], ns, verdict| Comparison {
        difference_ns: estimate(ns, ns.abs() * 0.2),
        ..of_arm(name, comparison(Metric::P99, interval, verdict))
    };
    let rate =
        |name, interval, verdict| of_arm(name, comparison(Metric::Throughput, interval, verdict));
    let comparisons = vec![
        rate("luks", [0.2301, 0.2109, 0.249], Verdict::Slower),
        p99("luks", [0.31, 0.22, 0.40], 41_000.0, Verdict::Slower),
        Comparison {
            blocks_needed: Some(31),
            ..rate("queue", [0.039, -0.018, 0.094], Verdict::Undecided)
        },
        p99("queue", [0.08, -0.05, 0.22], 9_000.0, Verdict::Undecided),
        Comparison {
            regime: Some(Regime::Sustained),
            ..rate("cap", [0.5312, 0.5271, 0.5353], Verdict::Slower)
        },
        Comparison {
            tax: None,
            lo: None,
            hi: None,
            difference_ns: None,
            ..p99("cap", [0.0; 3], 0.0, Verdict::Overloaded)
        },
        Comparison {
            sign: Some(Verdict::Faster),
            ..rate("same", [-0.0109, -0.0193, -0.0026], Verdict::Equivalent)
        },
        p99("same", [-0.01, -0.04, 0.02], -1_000.0, Verdict::Equivalent),
    ];
    let mut analysis = analysis(&experiment, arms, comparisons);
    analysis.open_questions = vec![OpenQuestion::NoAnswer {
        metric: Metric::Throughput,
        of: vec![Subject::Arm("queue".to_owned())],
        why: NoAnswer::Noise { blocks: 12, outlook: Some(Outlook::Blocks([31, 31])) },
    }];
    analysis
}

/// Effects on both sides of a factor of two, and one whose interval is.
pub(crate) fn factors() -> Analysis {
    let mut analysis = compare();
    let effects = [
        ("luks", Metric::Throughput, [0.86, 0.71, 0.93], Verdict::Slower),
        ("luks", Metric::CpuPerIo, [1.5, 1.3, 1.7], Verdict::Slower),
        ("queue", Metric::Throughput, [-26.72, -118.64, -5.42], Verdict::Faster),
        ("queue", Metric::CpuPerIo, [1.19, -0.96, 113.45], Verdict::Undecided),
        ("cap", Metric::Throughput, [0.75, -0.2, 0.95], Verdict::Undecided),
        ("same", Metric::Throughput, [0.012, 0.004, 0.02], Verdict::Equivalent),
    ];
    let found =
        |(arm, metric, interval, verdict)| of_arm(arm, comparison(metric, interval, verdict));
    analysis.comparisons = effects.map(found).into();
    analysis.comparisons[5].sign = Some(Verdict::Slower);
    analysis
}

/// A plain run without trouble.
pub(crate) fn run() -> Analysis {
    let experiment = super::run();
    let arms = vec![arm("target", "mem(size=64M)", 412_000.0)];
    let mut analysis = analysis(&experiment, arms, Vec::new());
    analysis.trials.truncate(3);
    analysis.arms[0].trials = 3;
    analysis.ending.blocks = 3;
    analysis.ending.trials = 3;
    analysis.ending.reasons = said("all trials asked for are done");
    analysis
}

/// The same of a load that syncs after each write: of 4.67 us in the page cache and 175 us on the
/// disk, and more on later arms.
pub(crate) fn syncing(mut analysis: Analysis) -> Analysis {
    for (at, arm) in (1_u32..).zip(&mut analysis.arms) {
        let mean_ns = 175_000.0 * f64::from(at);
        let curve = arm.latency.iter().map(|p| QuantilePoint {
            latency_ns: (mean_ns * p.latency_ns as f64 / arm.mean_latency_ns) as u64,
            ..*p
        });
        let (leads, count, max_ns) = (true, 68_000, 9_100_000 * u64::from(at));
        arm.sync = Some(SyncSummary { leads, count, mean_ns, latency: curve.collect(), max_ns });
        arm.iops = 1e9 / (mean_ns + 4_670.0);
        (arm.bytes_per_s, arm.mean_latency_ns) = (2_300.0 * arm.iops, 4_670.0);
    }
    for comparison in &mut analysis.comparisons {
        if comparison.metric == Metric::Throughput {
            comparison.metric = Metric::SyncLatency;
        }
    }
    analysis
}

/// A load of operations on files, of which some fail on one arm.
pub(crate) fn on_files() -> Analysis {
    let mut analysis = compare();
    for (at, arm) in (1_u32..).zip(analysis.arms.iter_mut().take(2)) {
        let on_files = |name: &str, count: u64, errors, mean_ns: f64| OperationSummary {
            share: Some(count as f64 / 204_450.0),
            errors,
            max_ns: 4_200_000,
            ..operation(name, count, mean_ns * f64::from(at))
        };
        arm.operations = vec![
            on_files("create", 12_000, 0, 21_500.0),
            on_files("stat", 180_500, 0, 1_850.0),
            on_files("unlink", 11_950, u64::from(at - 1) * 3, 17_300.0),
        ];
    }
    analysis
}
