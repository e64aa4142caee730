//! Screening a fleet against vectors of an independent implementation (numpy / scipy), stored in
//! `screening.json`.

use iotax_stats::sample::median;
use iotax_stats::screening::{FIRST, LATER, Screening};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    /// Rounds of all nodes.
    first: Vec<Vec<f64>>,
    /// Later ones, of some.
    rounds: Vec<Vec<(usize, f64)>>,
    /// Of each later stage.
    suspects: Vec<Vec<usize>>,
    centre: f64,
    tau: f64,
    s2_within: f64,
    raw: Vec<f64>,
    p: Vec<f64>,
    slow: Vec<usize>,
}

fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("screening.json")).expect("cases")
}

/// After the rounds of all nodes.
fn begun(case: &Case) -> Screening {
    let levels: Vec<f64> = case.first.iter().map(|round| median(round)).collect();
    let of = |node: usize| -> Vec<f64> {
        case.first.iter().zip(&levels).map(|(round, level)| round[node] - level).collect()
    };
    Screening::of(&(0..case.first[0].len()).map(of).collect::<Vec<_>>()).expect("enough nodes")
}

#[track_caller]
fn assert_close(found: f64, expected: f64) {
    let tolerance = 1e-8 * expected.abs() + 1e-12;
    assert!((found - expected).abs() <= tolerance, "{found} instead of {expected}");
}

#[test]
fn stages_and_verdicts_are_those_of_the_reference() {
    let cases = cases();
    assert!(cases.iter().any(|case| !case.slow.is_empty()));
    assert!(cases.iter().any(|case| case.slow.is_empty()));
    for case in cases {
        let nodes = case.first[0].len();
        let mut screening = begun(&case);
        let mut later = case.rounds.iter();
        let mut begin = FIRST;
        for ((end, _), expected) in LATER.iter().zip(&case.suspects) {
            let suspects = screening.suspects();
            assert_eq!(&suspects, expected);
            if suspects.is_empty() {
                break;
            }
            let rounds: Vec<_> = later.by_ref().take(end - begin).collect();
            let others = rounds[0].iter().map(|(node, _)| *node);
            let controls: Vec<usize> = others.filter(|node| !suspects.contains(node)).collect();
            assert_eq!(controls.len(), screening.controls());
            let row = |round: &&Vec<(usize, f64)>| {
                let mut row = vec![None; nodes];
                for (node, log) in *round {
                    row[*node] = Some(*log);
                }
                row
            };
            screening.take_in(&rounds.iter().map(row).collect::<Vec<_>>(), &controls);
            begin = *end;
        }
        assert_eq!(later.next(), None);

        let fleet = screening.finish(0.05);
        assert_close(fleet.centre, case.centre);
        assert_close(fleet.spread, case.tau);
        assert_close(fleet.within, case.s2_within);
        for (at, node) in fleet.nodes.iter().enumerate() {
            assert_close(node.raw, case.raw[at]);
            assert_close(node.p, case.p[at]);
            assert_eq!(node.is_slow, case.slow.contains(&at));
        }
    }
}
