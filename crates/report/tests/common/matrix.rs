//! A made-up experiment on all combinations of two factors.

use iotax_analyze::{
    Analysis, Comparison, Estimate, FactorEffect, FactorEffects, FactorInteraction, FactorShift,
    Metric, Verdict,
};
use iotax_experiment::layers::Aes;
use iotax_experiment::{Design, Factor, Layer, Matrix, Setting, Subject, Workload};
use iotax_record::ExperimentHead;

use super::analyses::{analysis, arm, comparison, of_arm};
use super::experiment;

const RATES: [f64; 6] = [85_312.0, 88_100.0, 70_020.0, 71_300.0, 41_050.0, 24_240.0];

fn factors() -> Vec<Factor> {
    let factor = |name: &str, levels: &[&str]| Factor {
        name: name.to_owned(),
        levels: levels.iter().map(|level| (*level).to_owned()).collect(),
    };
    vec![factor("sec", &["sys", "krb5", "krb5p"]), factor("nconnect", &["1", "4"])]
}

pub(crate) fn compare() -> ExperimentHead {
    let matrix = Matrix::new(factors()).unwrap();
    let arms = matrix.cells.iter().map(|cell| {
        let levels: Vec<Setting> = (matrix.factors.iter().zip(cell))
            .map(|(factor, level)| Setting {
                factor: factor.name.clone(),
                level: factor.levels[*level].clone(),
            })
            .collect();
        let name = format!("{}/{}", levels[0].level, levels[1].level);
        let aes = Layer::Aes(Aes { sector_bytes: 512 << cell[1], key_bits: 256 });
        let own = super::arm(&name, &vec![aes; cell[0]]);
        iotax_experiment::Arm { levels, ..own }
    });
    let workload = Workload::preset("randread-4k").unwrap();
    let command = ["iotax", "compare", "--workload", "randread-4k", "--matrix", "..."];
    experiment(workload, arms.collect(), Design::Compare, &command)
}

pub(crate) fn found() -> Analysis {
    let experiment = compare();
    let names: Vec<&str> = experiment.spec.arms.iter().map(|arm| arm.name.as_str()).collect();
    let arms = names.iter().zip(RATES).map(|(name, rate)| arm(name, "nfs", rate)).collect();
    let rate =
        |tax: f64, verdict| comparison(Metric::Throughput, [tax, tax - 0.02, tax + 0.02], verdict);
    let against_first = names.iter().zip(RATES).skip(1).map(|(name, own)| {
        let tax = 1.0 - own / RATES[0];
        of_arm(name, rate(tax, if tax > 0.0 { Verdict::Slower } else { Verdict::Undecided }))
    });
    let setting =
        |factor: &str, level: &str| Setting { factor: factor.into(), level: level.into() };
    let effect = |factor: &str, level: &str, against: &str, pairs, tax, verdict| FactorEffect {
        setting: setting(factor, level),
        against: against.to_owned(),
        pairs,
        stalled_pairs: 0,
        comparison: Comparison {
            subject: Subject::Level(setting(factor, level)),
            with: None,
            ..rate(tax, verdict)
        },
    };
    let estimate = |value: f64| Estimate { value, lo: value - 0.03, hi: value + 0.03 };
    let effects = FactorEffects {
        shifts: vec![shift()],
        factors: factors(),
        cells: Matrix::of_arms(&experiment.spec.arms).unwrap().cells,
        effects: vec![
            effect("sec", "krb5", "sys", 2, 0.185, Verdict::Slower),
            effect("sec", "krb5p", "sys", 2, 0.64, Verdict::Slower),
            effect("nconnect", "4", "1", 3, 0.01, Verdict::Equivalent),
        ],
        interactions: vec![FactorInteraction {
            setting: setting("sec", "krb5p"),
            against: "sys".to_owned(),
            with: setting("nconnect", "4"),
            first: "1".to_owned(),
            metric: Metric::Throughput,
            at: estimate(0.72),
            at_first: estimate(0.41),
            difference: estimate(0.5),
            blocks: 12,
        }],
        unpaired: Vec::new(),
    };
    Analysis { matrix: Some(effects), ..analysis(&experiment, arms, against_first.collect()) }
}

fn shift() -> FactorShift {
    FactorShift {
        setting: Setting { factor: "sec".into(), level: "krb5p".into() },
        against: "sys".to_owned(),
        iops: 0.4,
        iops_interval: Some([0.36, 0.44]),
        bytes_per_s: 0.4,
        bytes_per_s_interval: Some([0.36, 0.44]),
        latency_ns: Some(1_600_000.0),
        latency_interval_ns: Some([1_520_000.0, 1_680_000.0]),
        pairs: 2,
    }
}
