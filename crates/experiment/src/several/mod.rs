//! Several targets in one trial: each job works on one of them, all at the same time.
//!
//! A workload of another tool names its own places: a directory in fio, a drive in `DiskSpd`. The
//! user maps them to targets of this machine: `e=/mnt/e f=/mnt/f`.

use indexmap::IndexSet;
use iotax_layers::{About, Error};

use crate::spec::{Arm, Design, Draft, NamedTarget, Spec, Target};
use crate::target::split_name;
use crate::workload::Workload;

impl Target {
    /// Reads the targets of one trial: one for all jobs, or `NAME=TARGET` for jobs that name their
    /// target.
    ///
    /// # Errors
    /// An invalid target; several without names, or with the same name.
    pub fn parse_all<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, Error> {
        let texts: Vec<&str> = texts.into_iter().map(str::trim).collect();
        let mut named: Vec<NamedTarget> = Vec::new();
        for text in &texts {
            let (name, rest) = split_name(text, "target")?;
            let Some(name) = name else {
                if let [text] = texts.as_slice() {
                    return Self::parse(text);
                }
                return Err(Error::syntax(
                    format!("`{text}` is one of several targets, but has no name"),
                    "give each target the name that its jobs use, as in e=/mnt/e f=/mnt/f, or \
                     give only one target for all jobs",
                ));
            };
            // `text` is trimmed, so the target is its end.
            let start = text.len() - rest.trim_start().len();
            let target = Self::parse(rest).map_err(|error| error.shifted(text, start))?;
            if named.iter().any(|other| other.name == name) {
                return Err(Error::Duplicate { what: "target", name: name.to_owned() });
            }
            named.push(NamedTarget { name: name.to_owned(), target });
        }
        Ok(Self::Several(named))
    }

    /// The targets of one trial, if there are several.
    pub fn several(&self) -> Option<&[NamedTarget]> {
        match self {
            Self::Several(targets) => Some(targets),
            Self::Path(_) | Self::Stack(_) => None,
        }
    }

    /// Each of them; itself if it is a single one.
    pub fn each(&self) -> Vec<&Self> {
        match self {
            Self::Several(targets) => targets.iter().map(|named| &named.target).collect(),
            one => vec![one],
        }
    }
}

impl Workload {
    /// The names that its jobs use for targets, each once, in order.
    pub fn targets(&self) -> IndexSet<&str> {
        self.jobs.iter().filter_map(|job| job.target.as_deref()).collect()
    }

    /// With only the jobs for the target with this name.
    #[must_use]
    pub fn on(&self, target: &str) -> Self {
        let mut part = self.clone();
        part.jobs.retain(|job| job.target.as_deref() == Some(target));
        part
    }
}

impl Arm {
    /// An arm for each of its targets, for code that brings up one at a time; itself if it has only
    /// one.
    fn target_by_target(&self, alone: bool) -> Vec<Self> {
        let Some(targets) = self.target.several() else { return vec![self.clone()] };
        let part = |named: &NamedTarget| Self {
            name: if alone { named.name.clone() } else { format!("{}/{}", self.name, named.name) },
            target: named.target.clone(),
            part: Some(named.name.clone()),
            ..self.clone()
        };
        targets.iter().map(part).collect()
    }
}

impl Spec {
    /// The experiment on [`Draft::arms_by_target`].
    pub fn target_by_target(&self) -> (Self, Vec<std::ops::Range<usize>>) {
        let (arms, places) = self.arms_by_target();
        (self.with(|draft| draft.arms = arms), places)
    }
}

impl Draft {
    /// Assigns the targets of the arms to jobs. The name of a target is the one that jobs use, or
    /// the name of a job. If arms have one target each, all jobs use it. Returns a note for the
    /// user, if needed.
    ///
    /// # Errors
    /// Targets without a job, jobs without a target; an experiment that cannot run.
    pub fn bind_targets(&mut self) -> Result<Option<String>, Error> {
        self.bind_by_name_of_job();
        self.take_one_for_all();
        if self.has_several_targets() {
            self.arms.iter().try_for_each(|arm| self.validate_targets(arm))?;
            self.validate()?;
            return Ok(None);
        }
        let told = self.told_of_one_target();
        for phase in &mut self.phases {
            phase.notes.extend(told.clone());
            phase.jobs.iter_mut().for_each(|job| job.target = None);
        }
        Ok(told)
    }

    fn bind_by_name_of_job(&mut self) {
        let targets = self.arms.iter().filter_map(|arm| arm.target.several()).flatten();
        let names: IndexSet<String> = targets.map(|named| named.name.clone()).collect();
        for job in self.phases.iter_mut().flat_map(|phase| &mut phase.jobs) {
            let has = job.target.as_ref().is_some_and(|target| names.contains(target));
            if !has && names.contains(&job.name) {
                job.target = Some(job.name.clone());
            }
        }
    }

    /// A single target with the name that all jobs use is the target of the arm.
    fn take_one_for_all(&mut self) {
        let jobs = self.phases().flat_map(|phase| &phase.jobs);
        let called: IndexSet<Option<&str>> = jobs.map(|job| job.target.as_deref()).collect();
        let name = match called.first() {
            Some(Some(name)) if called.len() == 1 => (*name).to_owned(),
            _ => return,
        };
        for arm in &mut self.arms {
            if let Some([one]) = arm.target.several()
                && one.name == name
            {
                arm.target = one.target.clone();
            }
        }
    }

    fn told_of_one_target(&self) -> Option<String> {
        let called: IndexSet<&str> = self.phases().flat_map(Workload::targets).collect();
        if called.len() < 2 {
            return None;
        }
        let called: Vec<&str> = called.into_iter().collect();
        let each: Vec<String> = called.iter().map(|name| format!("{name}=TARGET")).collect();
        let (one, own) = if self.arms.len() == 1 {
            ("the only target given", format!("give a target for each name: {}", each.join(" ")))
        } else {
            let own = each.join(", ").replace("=TARGET", " = \"TARGET\"");
            (
                "the only target of each arm",
                format!("in an experiment file, specify each arm as {{ {own} }}"),
            )
        };
        Some(format!(
            "the jobs name {} targets ({}), but all jobs use {one}; {own}",
            called.len(),
            called.join(", "),
        ))
    }

    /// Splits arms into targets: an arm for each target of each arm, and for each arm of this spec
    /// the range of its targets. If there is only one arm, they have the names of its targets.
    pub fn arms_by_target(&self) -> (Vec<Arm>, Vec<std::ops::Range<usize>>) {
        let mut arms: Vec<Arm> = Vec::new();
        let mut places = Vec::new();
        let alone = self.arms.len() == 1;
        for arm in &self.arms {
            let start = arms.len();
            arms.extend(arm.target_by_target(alone));
            places.push(start..arms.len());
        }
        (arms, places)
    }

    /// Every target of every arm, in order.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.arms.iter().flat_map(|arm| arm.target.each())
    }

    /// The owner of the VMs of this arm's cloud disks: targets of one arm with the same VM size are
    /// on one VM. The same holds for all arms if no arms are compared.
    pub fn owner<'a>(&self, arm: &'a Arm) -> &'a str {
        match (&self.design, &arm.part) {
            (Design::Single, _) => "",
            (_, None) => &arm.name,
            (_, Some(part)) => arm.name.strip_suffix(part.as_str()).unwrap_or(&arm.name),
        }
    }

    /// Whether some arm has several targets.
    pub fn has_several_targets(&self) -> bool {
        self.arms.iter().any(|arm| arm.target.several().is_some())
    }

    /// The jobs of all phases that run on an arm as one workload; only those for its target if the
    /// arm is one of several targets.
    pub fn all_at_once_on(&self, arm: &Arm) -> Workload {
        let all = self.all_at_once();
        arm.part.as_ref().map_or_else(|| all.clone(), |target| all.on(target))
    }

    /// Total bytes of the test files of all phases in a directory that is an arm's target.
    pub fn bytes_of_files_on(&self, arm: &Arm) -> u64 {
        self.all_at_once_on(arm).bytes_of_files()
    }

    /// Refuses jobs without a target, and targets without a job.
    pub(crate) fn validate_targets(&self, arm: &Arm) -> Result<(), Error> {
        let Some(targets) = arm.target.several() else { return Ok(()) };
        let names: Vec<&str> = targets.iter().map(|named| named.name.as_str()).collect();
        let called: IndexSet<&str> = self.phases().flat_map(Workload::targets).collect();
        let jobs = || self.phases().flat_map(|phase| &phase.jobs);
        for name in &names {
            if called.contains(name) {
                continue;
            }
            let known: IndexSet<&str> =
                called.iter().copied().chain(jobs().map(|job| job.name.as_str())).collect();
            if called.is_empty() {
                let jobs: IndexSet<&str> = jobs().map(|job| job.name.as_str()).collect();
                let jobs: Vec<&str> = jobs.into_iter().collect();
                return Err(Error::syntax(
                    format!("no job of this workload has a target called `{name}`"),
                    format!(
                        "give one target without NAME= for all jobs, or give JOB=TARGET for each \
                         of these jobs: {}; if a path contains `=`, specify it as ./a=b",
                        jobs.join(", ")
                    ),
                ));
            }
            return Err(Error::unknown("target", name, known));
        }
        for job in jobs() {
            let has = job.target.as_deref().is_some_and(|target| names.contains(&target));
            if has {
                continue;
            }
            let wanted = job.target.as_deref().unwrap_or(&job.name);
            return Err(Error::syntax(
                format!("job `{}` has no target: `{wanted}` is not given", job.name),
                format!("add {wanted}=TARGET, or give one target for all jobs"),
            ));
        }
        if self.phases().any(|phase| phase.index.is_some()) {
            return Err(Error::impossible(
                About::Index,
                "target",
                "an index needs exactly one target, but there are several",
                "give one target for the whole workload",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
