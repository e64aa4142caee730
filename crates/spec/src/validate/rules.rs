//! Rules that are about nothing there is.

use crate::error::Error;
use crate::rule::{Condition, Figure, Rule};
use crate::search::Search;
use crate::spec::{Design, Spec};

impl Spec {
    /// Refuses a rule that nothing here could break or keep.
    pub fn validate_rules(&self) -> Result<(), Error> {
        self.fail_if.iter().try_for_each(|rule| self.validate_rule(rule))
    }

    fn validate_rule(&self, rule: &Rule) -> Result<(), Error> {
        if matches!(rule.condition, Condition::BelowDocumented(_)) {
            let problem = format!("`{rule}` is about caps, and these are searched for elsewhere");
            return Err(Error::syntax(problem, "use `iotax limits`"));
        }
        let subjects = self.subjects_of(rule);
        if subjects.is_empty() {
            let problem = format!("`{rule}`: there is no baseline to be slower than");
            let advice = "a run has one arm: write a limit, as in 'sync.p99 > 10ms', or use \
                          `iotax compare`";
            return Err(Error::syntax(problem, advice));
        }
        if let Some(of) = &rule.of
            && !subjects.contains(&of.as_str())
        {
            return Err(Error::unknown("arm", of, subjects));
        }
        if let Condition::Figure { job: Some(job), .. } = &rule.condition {
            let jobs = || self.phases().flat_map(|phase| &phase.jobs).map(|job| job.name.as_str());
            if !jobs().any(|known| known == job) {
                return Err(Error::unknown("job", job, jobs()));
            }
        }
        Ok(())
    }

    /// What a rule may be about: arms, or what is compared with a baseline.
    fn subjects_of(&self, rule: &Rule) -> Vec<&str> {
        let arms = self.arms.iter().map(|arm| arm.name.as_str());
        match (&rule.condition, &self.design) {
            (Condition::Figure { .. } | Condition::BelowDocumented(_), _) => arms.collect(),
            (Condition::SlowerBy(_), Design::Single | Design::Compare) => arms.skip(1).collect(),
            (Condition::SlowerBy(_), Design::Peel { layers, .. }) => {
                layers.iter().map(String::as_str).chain(["total"]).collect()
            }
        }
    }
}

impl Search {
    /// Whether each rule is about what a search finds, in a target that there is.
    ///
    /// # Errors
    /// If one is not, with what could stand there.
    pub fn validate_rules(&self) -> Result<(), Error> {
        self.fail_if.iter().try_for_each(|rule| {
            let names = || self.targets.iter().map(|target| target.arm.name.as_str());
            if let Some(of) = &rule.of
                && !names().any(|name| name == of)
            {
                return Err(Error::unknown("target", of, names()));
            }
            match &rule.condition {
                Condition::BelowDocumented(_)
                | Condition::Figure {
                    job: None, figure: Figure::Iops | Figure::Bandwidth, ..
                } => Ok(()),
                Condition::SlowerBy(_) | Condition::Figure { .. } => {
                    let problem = format!("`{rule}`: a search finds caps, and that is none");
                    let advice = "write 'iops < 5000', 'bandwidth < 100M' or 'below documented by \
                                  5%', with or without a target and a colon before it";
                    Err(Error::syntax(problem, advice))
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::spec::{Stop, Target};
    use crate::{Arm, Workload};

    fn refused(arms: &[&str], rule: &str) -> String {
        let arm = |name: &&str| Arm::new(*name, Target::parse("mem").unwrap());
        let workload = Workload::preset("randread-4k").unwrap();
        let arms: Vec<Arm> = arms.iter().map(arm).collect();
        let stop = Stop::default();
        let mut spec = match <[Arm; 1]>::try_from(arms) {
            Ok([one]) => Spec::single(workload, one, stop, 1).unwrap(),
            Err(arms) => Spec::compare(workload, arms, stop, 1).unwrap(),
        };
        spec.fail_if = vec![Rule::parse(rule).unwrap()];
        spec.validate_rules().map_or_else(|error| error.to_string(), |()| "kept".to_owned())
    }

    #[test]
    fn a_rule_is_about_what_there_is() {
        assert_eq!(refused(&["old", "new"], "new: slower by 5%"), "kept");
        assert_eq!(refused(&["old", "new"], "old: p99 > 1ms"), "kept");
        assert_eq!(refused(&["target"], "iops < 9"), "kept");
        assert_snapshot!(refused(&["target"], "slower by 5%"), @"
        `slower by 5%`: there is no baseline to be slower than
        a run has one arm: write a limit, as in 'sync.p99 > 10ms', or use `iotax compare`
        ");
        assert_snapshot!(refused(&["old", "new"], "old: slower by 5%"), @"
        unknown arm `old`
        known arms: new
        ");
        assert_snapshot!(refused(&["old", "new"], "wal sync.p99 > 9ms"), @"
        unknown job `wal`
        known jobs: io
        ");
    }
}
