//! Refuses rules that do not apply to the experiment.

use iotax_layers::Error;

use crate::rule::Subject;
use crate::rule::{Condition, Figure, Rule, TimeKind};
use crate::search::SearchDraft;
use crate::spec::{Design, Draft};
use crate::workload::{Job, Workload};

impl Draft {
    /// Refuses a rule that nothing here can break or keep.
    pub fn validate_rules(&self) -> Result<(), Error> {
        self.fail_if.iter().try_for_each(|rule| self.validate_rule(rule))
    }

    fn validate_rule(&self, rule: &Rule) -> Result<(), Error> {
        if matches!(rule.condition, Condition::BelowDocumented(_)) {
            let problem =
                format!("`{rule}` applies to caps, which only `iotax limits` searches for");
            return Err(Error::syntax(problem, "use `iotax limits`"));
        }
        let subjects = self.subjects_of(rule);
        if subjects.is_empty() {
            let problem = format!("`{rule}`: a run has only one arm and no baseline");
            let advice = "set a limit, as in 'sync.p99 > 10ms', or use `iotax compare`";
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
        match &rule.condition {
            Condition::SlowerBy(slowdown)
                if slowdown.typical && self.phases().all(Workload::moves_bytes) =>
            {
                let problem =
                    format!("`{rule}`: this workload is measured in bytes, not in operations");
                Err(Error::syntax(problem, "use 'slower by 5%'"))
            }
            Condition::Figure { job, figure: figure @ Figure::Time(kind, _), .. }
                if !self.phases().any(|phase| phase.has_figure(job.as_deref(), figure)) =>
            {
                Err(self.without_times(rule, job.as_deref(), kind))
            }
            _ => Ok(()),
        }
    }

    /// The error for a rule about times that no trial has, which would always be kept.
    fn without_times(&self, rule: &Rule, job: Option<&str>, kind: &TimeKind) -> Error {
        if let TimeKind::Operation(_) = kind {
            let problem = format!("`{rule}`: the workload has no index");
            return Error::syntax(problem, "use a metric of a job, as in 'latency.p99 > 10ms'");
        }
        let (does_not, does) = match kind {
            TimeKind::Read => ("read", "reads"),
            TimeKind::Write => ("write", "writes"),
            TimeKind::Trim => ("trim", "trims"),
            _ => ("sync during the run", "syncs during the run"),
        };
        let job = job.unwrap_or(&self.workload().primary);
        let mut jobs = self.phases().flat_map(|phase| &phase.jobs);
        let advice = match jobs.find(|job| job.has_times(kind)) {
            Some(able) => {
                format!("before the metric, name a job that {does}, such as `{}`", able.name)
            }
            None => format!("no job {does}; use another metric"),
        };
        Error::syntax(format!("`{rule}`: job `{job}` does not {does_not}"), advice)
    }

    /// The possible subjects of a rule: arms, or those that are compared with a baseline.
    fn subjects_of(&self, rule: &Rule) -> Vec<&str> {
        let arms = self.arms.iter().map(|arm| arm.name.as_str());
        match (&rule.condition, &self.design) {
            (Condition::Figure { .. } | Condition::BelowDocumented(_), _)
            | (Condition::SlowerBy(_), Design::Fleet) => arms.collect(),
            (Condition::SlowerBy(_), Design::Single | Design::Compare) => arms.skip(1).collect(),
            (Condition::SlowerBy(_), Design::Peel { layers, .. }) => {
                layers.iter().map(String::as_str).chain([Subject::TOTAL]).collect()
            }
        }
    }
}

impl Workload {
    /// Whether trials have this metric, for a job or by default for the primary one.
    pub fn has_figure(&self, job: Option<&str>, figure: &Figure) -> bool {
        let name = job.unwrap_or(&self.primary);
        let Some(job) = self.jobs.iter().find(|job| job.name == name) else { return false };
        match figure {
            Figure::Iops | Figure::Bandwidth => true,
            Figure::Time(TimeKind::Operation(_), _) => self.index.is_some(),
            Figure::Time(kind, _) => job.has_times(kind),
        }
    }
}

impl Job {
    fn has_times(&self, kind: &TimeKind) -> bool {
        // fio options without an equivalent here may do anything, and trees do everything.
        let may_do_more = self.tree.is_some() || self.fio.iter().any(|o| o.beyond.is_some());
        may_do_more
            || match kind {
                TimeKind::Latency => true,
                TimeKind::Read => self.reads(),
                TimeKind::Write => self.writes_data(),
                TimeKind::Trim => self.trims.is_some(),
                TimeKind::Sync => self.fsync_every.is_some() && self.writes(),
                TimeKind::Operation(_) => false,
            }
    }
}

impl SearchDraft {
    /// Whether each rule is about a result of a search, on an existing target.
    ///
    /// # Errors
    /// If one is not, with the possible forms.
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
                    let problem = format!("`{rule}`: a search finds only caps");
                    let advice = "use 'iops < 5000', 'bandwidth < 100M' or 'below documented \
                                  by 5%', optionally preceded by a target and a colon";
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
    use crate::spec::Target;
    use crate::{Arm, Workload};

    fn refused(arms: &[&str], rule: &str) -> String {
        let arm = |name: &&str| Arm::new(*name, Target::parse("mem").unwrap());
        let workload = Workload::preset("randread-4k").unwrap();
        let arms: Vec<Arm> = arms.iter().map(arm).collect();
        let design = if arms.len() == 1 { Design::Single } else { Design::Compare };
        let mut spec = Draft::new(vec![workload], arms, design);
        spec.fail_if = vec![Rule::parse(rule).unwrap()];
        spec.validate_rules().map_or_else(|error| error.to_string(), |()| "kept".to_owned())
    }

    #[test]
    fn a_rule_is_about_what_there_is() {
        assert_eq!(refused(&["old", "new"], "new: slower by 5%"), "kept");
        assert_eq!(refused(&["old", "new"], "old: p99 > 1ms"), "kept");
        assert_eq!(refused(&["target"], "iops < 9"), "kept");
        assert_eq!(refused(&["old", "new"], "p50 slower by 5%"), "kept");
        assert_snapshot!(refused(&["target"], "slower by 5%"), @"
        `slower by 5%`: a run has only one arm and no baseline
        set a limit, as in 'sync.p99 > 10ms', or use `iotax compare`
        ");
        assert_snapshot!(refused(&["old", "new"], "old: slower by 5%"), @"
        unknown arm `old`
        known arms: new
        ");
        assert_snapshot!(refused(&["target"], "sync.p99 > 9ms"), @"
        `sync.p99 > 9ms`: job `io` does not sync during the run
        no job syncs during the run; use another metric
        ");
        assert_snapshot!(refused(&["target"], "io write.p99 > 9ms"), @"
        `io write.p99 > 9ms`: job `io` does not write
        no job writes; use another metric
        ");
        assert_snapshot!(refused(&["target"], "load > 9ms"), @"
        `load.mean > 9ms`: the workload has no index
        use a metric of a job, as in 'latency.p99 > 10ms'
        ");
        assert_snapshot!(refused(&["old", "new"], "wal sync.p99 > 9ms"), @"
        unknown job `wal`
        known jobs: io
        ");
    }
}
