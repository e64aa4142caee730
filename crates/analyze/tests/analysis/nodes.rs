//! Nodes of a fleet: which of them is slow.

use iotax_analyze::{Against, Analysis, Analyzer, Verdict};
use iotax_experiment::{Design, Layer};

use crate::support::Bed;

fn bed(nodes: usize) -> Bed {
    let names: Vec<String> = (0..nodes).map(|node| format!("n{node}")).collect();
    let arms: Vec<(&str, &[Layer])> = names.iter().map(|name| (name.as_str(), &[][..])).collect();
    Bed::new(&arms, Design::Fleet)
}

fn rates(nodes: usize, slow: &[usize]) -> Vec<f64> {
    (0..nodes).map(|node| if slow.contains(&node) { 700.0 } else { 1000.0 }).collect()
}

fn slow(analysis: &Analysis) -> Vec<&str> {
    let slow = analysis.comparisons.iter().filter(|c| c.verdict == Verdict::Slower);
    let mut names: Vec<&str> = slow.filter_map(|c| c.subject.arm()).collect();
    names.dedup();
    names
}

#[test]
fn the_slow_one_of_few_is_held_against_the_others() {
    for nodes in [2, 4] {
        let mut bed = bed(nodes).seed(3);
        let trials = bed.blocks(10, &rates(nodes, &[1]), 0.02);
        let analysis = bed.analyze(&trials);
        assert_eq!(slow(&analysis), ["n1"], "{nodes}");
        let found = analysis.comparisons.iter().find(|c| c.subject.arm() == Some("n1")).unwrap();
        assert!((found.tax.unwrap() - 0.3).abs() < 0.05, "{found:?}");
        let others = if nodes == 2 { Against::Arm("n0".to_owned()) } else { Against::Others(3) };
        assert_eq!(found.against, Some(others));
    }
}

#[test]
fn of_two_there_is_one_question_and_both_answers_are_one() {
    let mut bed = bed(2).seed(5);
    let trials = bed.blocks(12, &rates(2, &[0]), 0.05);
    let analysis = bed.analyze(&trials);
    let [a, b] = ["n0", "n1"].map(|name| {
        let first = analysis.comparisons.iter().find(|c| c.subject.arm() == Some(name));
        first.unwrap().clone()
    });
    assert_eq!((a.verdict, b.verdict), (Verdict::Slower, Verdict::Faster));
    assert!((a.p.unwrap() - b.p.unwrap()).abs() < 1e-9);
    let ratios = (1.0 - a.tax.unwrap()) * (1.0 - b.tax.unwrap());
    assert!((ratios - 1.0).abs() < 1e-9, "{ratios}");
}

/// All verdicts of a fleet hold at once, at 5 %: of 40 fleets without a slow node, at most 5 may
/// have one.
#[test]
fn nobody_is_named_among_equals() {
    let named = (0..40).filter(|seed| {
        let mut bed = bed(4).seed(*seed);
        let trials = bed.blocks(10, &rates(4, &[]), 0.05);
        !slow(&bed.analyze(&trials)).is_empty()
    });
    let named = named.count();
    assert!(named <= 5, "{named} of 40");
}

/// Runs a fleet as the trial loop does: rounds of the nodes that are open, until there is a reason
/// to stop.
fn run(nodes: usize, slow: &[usize], seed: u64) -> (Analysis, usize) {
    let mut bed = bed(nodes).seed(seed).stop(|stop| (stop.min_blocks, stop.max_blocks) = (4, 16));
    let rates = rates(nodes, slow);
    let experiment = bed.experiment.clone();
    let mut analyzer = Analyzer::new(&experiment);
    let (mut open, mut trials) = (vec![true; nodes], 0);
    for block in 0..16 {
        for trial in bed.blocks(1, &rates, 0.05) {
            let node: usize = trial.arm[1..].parse().expect("a number");
            if open[node] {
                analyzer.add(&iotax_record::Trial { block, ..trial });
                trials += 1;
            }
        }
        let progress = analyzer.decide();
        if !progress.stop.is_empty() {
            break;
        }
        open = progress.open;
    }
    (analyzer.finish(None), trials)
}

#[test]
fn many_nodes_are_looked_at_in_stages() {
    let (analysis, trials) = run(50, &[7, 31], 1);
    let outliers = analysis.outliers.unwrap();
    let mut slow: Vec<&str> = outliers.slow.iter().map(|slow| slow.arm.as_str()).collect();
    slow.sort_unstable();
    assert_eq!(slow, ["n31", "n7"]);
    for slow in &outliers.slow {
        assert!((slow.tax - 0.3).abs() < 0.05 && slow.shrunken < slow.tax, "{slow:?}");
    }
    assert!((50 * 4 + 2 * 12..50 * 9).contains(&trials), "{trials} trials");
    assert_eq!(analysis.comparisons, []);
}

#[test]
fn a_fleet_that_is_cut_short_is_not_judged() {
    let mut bed = bed(30).stop(|stop| (stop.min_blocks, stop.max_blocks) = (4, 16));
    let trials = bed.blocks(6, &rates(30, &[3]), 0.05);
    let analysis = bed.analyze(&trials);
    assert_eq!(analysis.outliers, None);
    assert!(analysis.fleet.unwrap().is_population);
}
