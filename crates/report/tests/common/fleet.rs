//! Twenty made-up arms, of which two lie outside of the others.

use iotax_analyze::{Analysis, Metric, Outlier, Outliers, Verdict};
use iotax_record::Experiment;
use iotax_spec::{Design, Workload};

use super::analyses::{analysis, arm, comparison, of_arm};
use super::experiment;

fn names() -> impl Iterator<Item = String> {
    (1..=20).map(|node| format!("node-{node}"))
}

pub(crate) fn compare() -> Experiment {
    let arms = names().map(|name| super::arm(&name, &[])).collect();
    let workload = Workload::preset("randread-4k").unwrap();
    experiment(workload, arms, Design::Compare, &["iotax", "compare", "..."])
}

pub(crate) fn found() -> Analysis {
    let experiment = compare();
    let slow = |name: &str, tax, p| Outlier { arm: name.to_owned(), tax, shrunken: tax * 0.8, p };
    let slow = vec![slow("node-7", 0.34, 2e-9), slow("node-13", 0.18, 4e-4)];
    let tax_of = |name: &str| slow.iter().find(|s| s.arm == name).map_or(0.003, |slow| slow.tax);
    let arms = names().map(|name| arm(&name, "file", 85_000.0 * (1.0 - tax_of(&name)))).collect();
    let against_first = names().skip(1).map(|name| {
        let tax = tax_of(&name);
        let word = if tax > 0.1 { Verdict::Slower } else { Verdict::Equivalent };
        of_arm(&name, comparison(Metric::THROUGHPUT, [tax, tax - 0.02, tax + 0.02], word))
    });
    let outliers = Outliers {
        metric: Metric::THROUGHPUT,
        arms: 20,
        median: 84_745.0,
        spread: 0.025,
        rate: 0.05,
        slow: slow.clone(),
        left_out: Vec::new(),
    };
    Analysis { outliers: Some(outliers), ..analysis(&experiment, arms, against_first.collect()) }
}
