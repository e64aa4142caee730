//! The jobs of a workload by the target that they work on: one part, or one for each of several.

use std::borrow::Cow;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use iotax_experiment::{Job, Workload};

use crate::error::Error;
use crate::file_assignment::{FilePlace, Places};
use crate::layout;
use crate::target::IoTarget;

/// The jobs that work on one target.
pub(crate) struct TargetPart<'a> {
    /// Where they work.
    pub target: IoTarget<'a>,
    /// The workload with these jobs alone.
    pub workload: Cow<'a, Workload>,
    /// Their positions in the whole workload.
    jobs: Vec<usize>,
}

/// Divides a workload; parts without a job are left out.
///
/// # Errors
/// If a job calls its target by a name that none has.
pub(crate) fn parts<'a>(
    workload: &'a Workload,
    target: IoTarget<'a>,
) -> Result<Vec<TargetPart<'a>>, Error> {
    let IoTarget::Several(targets) = target else {
        let jobs = (0..workload.jobs.len()).collect();
        return Ok(vec![TargetPart { target, workload: Cow::Borrowed(workload), jobs }]);
    };
    let names: Vec<&str> = targets.iter().map(|(name, _)| *name).collect();
    let is_known = |job: &Job| job.target.as_deref().is_some_and(|name| names.contains(&name));
    if let Some(job) = workload.jobs.iter().find(|job| !is_known(job)) {
        let what = format!(
            "it has none of the targets, which are {}; give it one of them, as in target = \"{}\"",
            names.join(", "),
            names.first().unwrap_or(&"e")
        );
        return Err(Error::unsuitable(job, what));
    }
    let part = |(name, target): &(&str, IoTarget<'a>)| {
        let at = |(at, job): (usize, &Job)| (job.target.as_deref() == Some(name)).then_some(at);
        let jobs = workload.jobs.iter().enumerate().filter_map(at).collect();
        TargetPart { target: *target, workload: Cow::Owned(workload.on(name)), jobs }
    };
    Ok(targets.iter().map(part).filter(|part| !part.jobs.is_empty()).collect())
}

/// A part, and who works where in it.
pub(crate) struct PlacedPart<'a> {
    pub part: TargetPart<'a>,
    /// Its files and places.
    pub places: Places,
}

/// All parts of a workload.
pub(crate) struct PlacedParts<'a>(pub Vec<PlacedPart<'a>>);

impl<'a> PlacedParts<'a> {
    /// Looks at all targets, and decides who works where. Touches nothing.
    pub(crate) fn resolve(workload: &'a Workload, target: IoTarget<'a>) -> Result<Self, Error> {
        let placed = |part: TargetPart<'a>| {
            Ok(PlacedPart { places: Places::resolve(&part.workload, part.target)?, part })
        };
        Ok(Self(parts(workload, target)?.into_iter().map(placed).collect::<Result<_, Error>>()?))
    }

    /// One part, with these places.
    pub(crate) fn of(workload: &'a Workload, target: IoTarget<'a>, places: Places) -> Self {
        let jobs = (0..workload.jobs.len()).collect();
        let part = TargetPart { target, workload: Cow::Borrowed(workload), jobs };
        Self(vec![PlacedPart { part, places }])
    }

    /// The target of a job of the whole workload, by its position there, and where its threads work
    /// on it.
    pub(crate) fn of_job(&self, job: usize) -> (IoTarget<'a>, &Places, &[FilePlace]) {
        let found = self.0.iter().find_map(|PlacedPart { part, places }| {
            let at = part.jobs.iter().position(|other| *other == job)?;
            Some((part.target, places, places.by_job[at].as_slice()))
        });
        found.expect("every job is in a part")
    }

    /// The first directory in which files are laid out, if there is one.
    pub(crate) fn directory(&self) -> Option<&'a Path> {
        self.0.iter().find_map(|PlacedPart { part, places }| places.directory(part.target))
    }

    /// Refuses to write to files in directories that this crate did not lay out.
    pub(crate) fn refuse_foreign_files(&self) -> Result<(), Error> {
        self.0.iter().try_for_each(|PlacedPart { part, places }| {
            layout::refuse_foreign_files(&part.workload, part.target, places)
        })
    }

    /// Files that want to be new, new; those that are trimmed, whole; pages that want to be cold,
    /// cold.
    pub(crate) fn make_ready(&self, stop: &AtomicBool) -> Result<(), Error> {
        self.0.iter().try_for_each(|PlacedPart { part, places }| {
            layout::refill(part.target, places, stop)?;
            layout::renew(part.target, places)?;
            layout::invalidate(part.target, places)
        })
    }

    /// See [`layout::mark_again`].
    pub(crate) fn mark_again(&self) -> Result<(), Error> {
        self.0.iter().try_for_each(|PlacedPart { places, .. }| layout::mark_again(places))
    }
}
