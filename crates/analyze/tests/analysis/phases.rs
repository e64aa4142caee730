//! Experiments of several phases.

use iotax_analyze::Phases;
use iotax_experiment::Workload;
use iotax_record::Trial;

use crate::support::Bed;

/// Two phases, of which the second is noisier than the margin.
fn two_phases() -> (Bed, Vec<Trial>) {
    let mut bed = Bed::compare(&["base", "slow"]);
    let mut trials = bed.blocks(4, &[1000.0, 700.0], 0.005);
    let mut noisy = bed.blocks(4, &[1000.0, 990.0], 0.3);
    for trial in &mut noisy {
        trial.phase = 1;
    }
    trials.extend(noisy);
    let first = bed.experiment.spec.workload().clone();
    bed.edit(|spec| spec.phases.push(Workload { name: "second".to_owned(), ..first }));
    (bed, trials)
}

fn open(mut phases: Phases, trials: &[Trial]) -> Vec<Vec<bool>> {
    for trial in trials {
        phases.add(trial);
    }
    let progress = phases.decide();
    assert_eq!(progress.stop, []);
    phases.open(&progress)
}

#[test]
fn a_suite_is_driven_as_a_whole_until_each_phase_has_its_answer() {
    let (bed, trials) = two_phases();
    assert_eq!(open(Phases::new(&bed.experiment), &trials), [[true; 2]; 2]);
}

#[test]
fn a_load_below_a_cap_is_driven_until_it_has_its_own() {
    let (bed, trials) = two_phases();
    assert_eq!(open(Phases::of_loads(&bed.experiment), &trials), [[false; 2], [true; 2]]);
}
