//! Twenty made-up arms, of which two lie outside of the others; and fleets of nodes.

use iotax_analyze::{Against, Analysis, ArmTax, FleetCost, Metric, Outlier, Outliers, Verdict};
use iotax_experiment::{Design, Workload};
use iotax_record::{ExperimentHead, Placed};

use super::analyses::{analysis, arm, comparison, of_arm};
use super::experiment;

fn names() -> impl Iterator<Item = String> {
    (1..=20).map(|node| format!("node-{node}"))
}

pub(crate) fn compare() -> ExperimentHead {
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
        of_arm(&name, comparison(Metric::Throughput, [tax, tax - 0.02, tax + 0.02], word))
    });
    let outliers = Outliers {
        metric: Metric::Throughput,
        arms: 20,
        median: 84_745.0,
        spread: 0.025,
        rate: 0.05,
        slow: slow.clone(),
        others: Vec::new(),
        left_out: Vec::new(),
    };
    Analysis { outliers: Some(outliers), ..analysis(&experiment, arms, against_first.collect()) }
}

/// A fleet of so many nodes in three zones, of which two are slow, or one where they are few. The
/// last one of many has too few trials, of few no verdict.
pub(crate) fn nodes(count: usize) -> (ExperimentHead, Analysis) {
    let names: Vec<String> = (1..=count).map(|n| format!("gke-eu-disks-7f3a-n{n}")).collect();
    of_names(&names)
}

pub(crate) fn of_names(names: &[String]) -> (ExperimentHead, Analysis) {
    let count = names.len();
    let arms = names.iter().map(|name| super::arm(name, &[])).collect();
    let workload = Workload::preset("randread-4k").unwrap();
    let command = ["iotax", "kube", "fleet", "--class", "fast"];
    let mut experiment = experiment(workload, arms, Design::Fleet, &command);
    for (at, site) in experiment.sites.iter_mut().enumerate() {
        let zone = if count > 2 { at % 3 } else { 0 };
        site.placed = Some(Placed {
            cluster: "7ae4b693c0ffee".to_owned(),
            node: Some(format!("{at:08x}")),
            zone: Some(format!("eu-west-{zone}")),
            class: Some(if zone == 1 { "fast-v1" } else { "fast" }.to_owned()),
        });
    }
    let slow: &[usize] = if count > 5 { &[1, 4] } else { &[1] };
    let tax = |at: usize| {
        let healthy = 0.14 * super::noise(at as u64);
        if slow.contains(&at) { 0.34 - 0.03 * at as f64 } else { healthy }
    };
    let summaries = (0..count).map(|at| arm(&names[at], "class:fast", 85_000.0 * (1.0 - tax(at))));
    let mut summaries: Vec<_> = summaries.collect();
    let is_population = count >= 20;
    let cost = FleetCost { nodes: count as u32, is_population, node_minutes: 62.0 };
    if count > 2 {
        let last = summaries.last_mut().unwrap();
        (last.trials, last.failed_trials) = (1, 3);
    }
    let outliers = is_population.then(|| Outliers {
        metric: Metric::Throughput,
        arms: count as u32 - 1,
        median: 84_745.0,
        spread: 0.025,
        rate: 0.05,
        slow: (slow.iter())
            .map(|at| Outlier {
                arm: names[*at].clone(),
                tax: tax(*at),
                shrunken: tax(*at) * 0.8,
                p: 4e-4,
            })
            .collect(),
        others: (0..count - 1)
            .filter(|at| !slow.contains(at))
            .map(|at| ArmTax { arm: names[at].clone(), tax: tax(at) })
            .collect(),
        left_out: vec![names[count - 1].clone()],
    });
    let compared = (0..count).filter(|_| !is_population).map(|at| {
        let word = match at {
            _ if slow.contains(&at) => Verdict::Slower,
            0 if count == 2 => Verdict::Faster,
            _ if at == count - 1 => Verdict::Undecided,
            _ => Verdict::Equivalent,
        };
        let tax = if count == 2 && at == 0 { 1.0 - 1.0 / (1.0 - tax(1)) } else { tax(at) };
        let mut c = comparison(Metric::Throughput, [tax, tax - 0.02, tax + 0.02], word);
        c.against = Some(match count {
            2 => Against::Arm(names[1 - at].clone()),
            _ => Against::Others(u32::try_from(count - 1).unwrap()),
        });
        of_arm(&names[at], c)
    });
    let compared = compared.collect();
    let found = analysis(&experiment, summaries, compared);
    (experiment, Analysis { outliers, fleet: Some(cost), ..found })
}
