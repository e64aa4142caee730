//! Comparisons of two arms, from few figures to as many as there can be.

use iotax_analyze::Analysis;
use iotax_experiment::{Source, Subject};
use iotax_record::{CloudInstance, ExperimentHead};

use super::{analyses, machine, troubled};

/// Intervals of counters that an analysis keeps.
const MOST_INTERVALS: u32 = 1_500;

/// So many blocks, whose trials take so many seconds each.
fn of(blocks: u32, seconds: u32) -> (ExperimentHead, Analysis) {
    let mut head = super::compare();
    head.spec = head.spec.with(|spec| spec.arms.truncate(2));
    head.sites.truncate(2);
    let mut analysis = troubled::warned();
    analysis.arms.truncate(2);
    let names: Vec<String> = analysis.arms.iter().map(|arm| arm.name.clone()).collect();
    let is_there = |name: Option<&str>| name.is_none_or(|name| names.iter().any(|it| it == name));
    analysis.comparisons.retain(|comparison| is_there(comparison.subject.arm()));
    analysis.warnings.retain(|warning| is_there(warning.of.as_ref().and_then(Subject::arm)));
    analysis.trials = analyses::points(&analysis.arms, blocks, seconds);
    for (i, arm) in analysis.arms.iter_mut().enumerate() {
        arm.counters = Some(machine::summary(arm.iops, i == 1));
    }
    for trial in &mut analysis.trials {
        if trial.slot * seconds < MOST_INTERVALS {
            let is_last = trial.arm == names[1];
            trial.counters = Some(machine::series(trial.slot, 8e4, is_last, seconds));
        }
    }
    (head, analysis)
}

/// What a comparison takes that is decided soon.
pub(crate) fn quick() -> (ExperimentHead, Analysis) {
    of(12, 10)
}

/// As many blocks as there are without a request for more, each trial a minute long.
pub(crate) fn usual() -> (ExperimentHead, Analysis) {
    of(40, 60)
}

/// Days.
pub(crate) fn longest() -> (ExperimentHead, Analysis) {
    of(2_000, 60)
}

/// Trials too short to have seconds.
pub(crate) fn shortest() -> (ExperimentHead, Analysis) {
    of(20_000, 1)
}

/// Saved results of two arms, made on machines that differ.
pub(crate) fn saved() -> (ExperimentHead, Analysis) {
    let (mut head, analysis) = of(12, 10);
    head.spec = head.spec.with(|spec| spec.source = Source::SavedResults);
    let vm = |vm: &str| CloudInstance { vm: vm.to_owned(), ..CloudInstance::default() };
    let mut hosts = vec![head.hosts[0].clone(), head.hosts[0].clone()];
    hosts[0].instance = Some(vm("Standard_DS1_v2"));
    hosts[1].instance = Some(vm("Standard_DS2_v2"));
    hosts[1].environment.kernel = Some("6.12.3-amd64".to_owned());
    head.hosts = hosts;
    for (place, site) in head.sites.iter_mut().enumerate() {
        site.host = place;
    }
    (head, analysis)
}
