//! An experiment of several workloads, run one after the other on each arm.
//!
//! A phase is like a group after `stonewall` in fio: it starts when the one before has ended. Each
//! phase has its own trials and verdicts; a block is one trial of every phase on every open arm.

use iotax_layers::Error;

use crate::overrides::Changes;
use crate::spec::{Draft, Spec};
use crate::workload::Workload;

impl Draft {
    /// The phases, in order; at least one.
    pub fn phases(&self) -> impl Iterator<Item = &Workload> {
        self.phases.iter()
    }

    /// Name of the whole: of the suite, or of the workload if there is only one phase.
    pub fn name(&self) -> &str {
        self.suite.as_deref().unwrap_or(&self.workload().name)
    }

    /// The jobs of all phases as one workload, for questions about all of them, such as the space
    /// for files, or whether any of them writes.
    pub fn all_at_once(&self) -> Workload {
        let mut all = self.workload().clone();
        for phase in &self.phases[1..] {
            all.jobs.extend(phase.jobs.iter().cloned());
            all.index = all.index.or(phase.index);
        }
        all
    }

    /// The error of the first invalid phase.
    pub(crate) fn validate_phases(&self) -> Result<(), Error> {
        for (i, phase) in self.phases.iter().enumerate() {
            phase.validate()?;
            // Phases of a side run are distinguished by their role.
            let is_named = self.side_phases.is_empty();
            if is_named && self.phases[..i].iter().any(|other| other.name == phase.name) {
                return Err(Error::Duplicate { what: "phase", name: phase.name.clone() });
            }
        }
        Ok(())
    }
}

impl Spec {
    /// The experiment with only phase `index`; `None` beyond the last.
    pub fn phase(&self, index: usize) -> Option<Self> {
        let phase = self.phases.get(index)?.clone();
        let side_phase = self.side_phases.get(index).copied();
        Some(self.with(|draft| {
            draft.phases = vec![phase];
            draft.side_phases = side_phase.into_iter().collect();
            draft.suite = None;
        }))
    }
}

impl Changes {
    /// Applies all changes to every phase. A key for one job applies to the phases that have it.
    ///
    /// # Errors
    /// As [`Changes::apply`]; a job that no phase has.
    pub fn apply_to(&self, phases: &mut [Workload]) -> Result<(), Error> {
        if let [phase] = phases {
            return self.apply(phase);
        }
        let (own, common): (Vec<_>, Vec<_>) =
            self.set.iter().cloned().partition(|text| job_of(text).is_some());
        let common = Self { set: common, ..self.clone() };
        phases.iter_mut().try_for_each(|phase| common.apply(phase))?;
        for text in &own {
            let has = |phase: &Workload| {
                job_of(text).is_some_and(|name| phase.jobs.iter().any(|job| job.name == name))
            };
            if !phases.iter().any(has) {
                let names: Vec<String> =
                    phases.iter().flat_map(|p| &p.jobs).map(|job| job.name.clone()).collect();
                let name = job_of(text).unwrap_or_default();
                let unknown = Error::unknown("job", name, names.iter().map(String::as_str));
                return Err(unknown.at(text, 0..name.len()));
            }
            phases.iter_mut().filter(|p| has(p)).try_for_each(|phase| phase.set(text))?;
        }
        Ok(())
    }
}

/// The job that an override is for, if any.
fn job_of(text: &str) -> Option<&str> {
    let (path, _) = text.split_once('=')?;
    path.rsplit_once('.').map(|(job, _)| job.trim())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::spec::{Arm, Design, Target};

    fn presets(names: &[&str]) -> Vec<Workload> {
        names.iter().map(|name| Workload::preset(name).unwrap()).collect()
    }

    fn spec(names: &[&str]) -> Result<Spec, Error> {
        let arm = Arm::new("target", Target::Path("/mnt/a".into()));
        let draft = Draft::new(presets(names), vec![arm], Design::Single);
        Draft { suite: Some("both".into()), ..draft }.resolve()
    }

    #[test]
    fn a_record_without_a_phase_cannot_be_read() {
        let mut spec =
            serde_json::to_value(spec(&["randread-4k", "seqwrite-1m"]).unwrap()).unwrap();
        spec["phases"] = serde_json::json!([]);
        let error = serde_json::from_value::<Spec>(spec).unwrap_err();
        assert_snapshot!(error, @"invalid length 0, expected at least one phase");
    }

    #[test]
    fn a_phase_is_an_experiment_of_its_own() {
        let spec = spec(&["randread-4k", "seqwrite-1m"]).unwrap();
        assert_eq!(spec.name(), "both");
        let second = spec.phase(1).unwrap();
        assert_eq!((second.name(), second.phases().count()), ("seqwrite-1m", 1));
        assert!(spec.phase(2).is_none());
        assert!(spec.all_at_once().writes());
    }

    #[test]
    fn phases_differ_in_their_names() {
        assert_snapshot!(spec(&["randread-4k", "randread-4k"]).unwrap_err(), @"phase `randread-4k` is given twice");
    }

    #[test]
    fn a_change_of_one_job_holds_where_there_is_such_a_job() {
        let mut phases = presets(&["randread-4k", "driver-searcher"]);
        let set = |text: &str| Changes { set: vec![text.into()], ..Changes::default() };
        set("mmap_read.threads=3").apply_to(&mut phases).unwrap();
        assert_eq!((phases[0].jobs[0].threads, phases[1].jobs[1].threads), (1, 3));
        assert_snapshot!(set("mmap.threads=3").apply_to(&mut phases).unwrap_err(), @"
        unknown job `mmap`
          mmap.threads=3
          ^^^^ column 1
        known jobs: io, download, mmap_read
        ");
    }
}
