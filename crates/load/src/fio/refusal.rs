//! Refuses what fio cannot do, or must not.

use std::fmt::Display;
use std::path::Path;

use iotax_dialects::fio::options::{Version, came};
use iotax_dialects::fio::reach::refused_by_driver;
use iotax_experiment::{FioOption, Form, Job, NamedTarget, Pattern, Target, Workload};

use crate::error::Error;
use crate::file_assignment::FileKind;
use crate::target::IoTarget;

/// Refuses, before anything is made, what fio cannot do to this target, or must not.
///
/// # Errors
/// As [`Fio`](crate::Fio) refuses it when it is to be driven.
pub fn refuse_with_fio(workload: &Workload, target: &Target) -> Result<(), Error> {
    let kind = match target {
        Target::Stack(stack) if stack.is_in_process() => return Err(refuse_disk(stack)),
        Target::Stack(stack) => match stack.form() {
            Form::Directory => FileKind::Directory,
            Form::Block => FileKind::Device,
            _ => FileKind::File,
        },
        Target::Path(path) => kind_at(path),
        Target::Several(targets) => {
            let refused =
                |named: &NamedTarget| refuse_with_fio(&workload.on(&named.name), &named.target);
            return targets.iter().try_for_each(refused);
        }
    };
    check_at(workload, kind)
}

fn kind_at(path: &Path) -> FileKind {
    path.metadata().ok().and_then(|facts| FileKind::of(&facts)).unwrap_or(FileKind::File)
}

/// As [`refuse_with_fio`], when the target and a fio of this version are there.
pub(super) fn refuse_at(
    workload: &Workload,
    target: IoTarget<'_>,
    version: Option<Version>,
) -> Result<(), Error> {
    let Some(path) = target.path() else { return Err(refuse_disk(target)) };
    check_at(workload, kind_at(path))?;
    check_versions(workload, version)
}

/// It is in this process, where fio cannot reach it.
fn refuse_disk(disk: impl Display) -> Error {
    Error::NotWithFio {
        why: format!(
            "fio cannot use {disk}, a virtual disk inside iotax; mount it (iotax disk up) and \
             name its mount point"
        ),
    }
}

fn check_at(workload: &Workload, kind: FileKind) -> Result<(), Error> {
    if workload.index.is_some() {
        let why = format!(
            "fio cannot publish and load the index of workload {}; choose a workload without an \
             index",
            workload.name
        );
        return Err(Error::NotWithFio { why });
    }
    if kind == FileKind::Directory {
        workload.jobs.iter().try_for_each(check_offsets)?;
    }
    if kind != FileKind::Device {
        workload.jobs.iter().try_for_each(check_trims)?;
    }
    workload.jobs.iter().try_for_each(check_job)
}

fn check_trims(job: &Job) -> Result<(), Error> {
    let is_foreign = |option: &FioOption| option.name == "ioengine" && option.beyond.is_some();
    if job.trims.is_none() || job.fio.iter().any(is_foreign) {
        return Ok(());
    }
    Err(Error::NotWithFio {
        why: format!("job `{}`: fio can trim only block devices; name a block device", job.name),
    })
}

/// What is newer than the fio that is there, if its version is known.
pub(super) fn check_versions(workload: &Workload, version: Option<Version>) -> Result<(), Error> {
    version.map_or(Ok(()), |version| {
        workload.jobs.iter().try_for_each(|job| check_version(job, version))
    })
}

/// What is newer than the fio that is there.
fn check_version(job: &Job, version: Version) -> Result<(), Error> {
    for FioOption { name, value, place, .. } in &job.fio {
        let value = value.as_deref().unwrap_or("");
        let Some(came) = came(name, value).filter(|came| *came > version) else { continue };
        let what = match value {
            "" => name.clone(),
            value => format!("{name}={value}"),
        };
        let problem = format!(
            "the installed fio is {version}, but `{what}` ({place}) was introduced {}; remove the \
             option, or install a newer fio",
            came.came()
        );
        return Err(Error::unsuitable(job, problem));
    }
    Ok(())
}

/// Files in a directory are laid out before fio looks for their size, one for each thread.
fn check_offsets(job: &Job) -> Result<(), Error> {
    let why = |option: &FioOption| match option.name.as_str() {
        "offset" if option.value.as_deref().is_some_and(|value| value.contains('%')) => {
            Some("is a percentage of the size of an existing file")
        }
        "offset_increment" => Some("gives threads different offsets in one file"),
        _ => None,
    };
    match job.fio.iter().find_map(|option| Some((option, why(option)?))) {
        None => Ok(()),
        Some((FioOption { name, place, .. }, why)) => Err(Error::unsuitable(
            job,
            format!("option {name} ({place}) {why}; name a file or device instead of a directory"),
        )),
    }
}

fn check_job(job: &Job) -> Result<(), Error> {
    let cannot = job.engine.info().fio.err();
    let cannot = cannot.or_else(|| {
        (job.verify && job.writes_data()).then_some(
            "fio verifies during the measurement, but iotax verifies after it; set \
                        verify=false",
        )
    });
    let cannot = cannot.or_else(|| {
        job.uncached.then_some("fio cannot drop pages from the page cache; set uncached=false")
    });
    let several = job.threads > 1;
    let cannot = cannot.or(match job.pattern {
        Pattern::Staggered { .. } if several => Some(
            "fio cannot start threads at different offsets in one file; leave out --engine fio",
        ),
        Pattern::Interlocked(_) if several => {
            Some("fio threads cannot take turns in one file; leave out --engine fio")
        }
        _ => None,
    });
    if let Some(what) = cannot {
        return Err(Error::unsuitable(job, what));
    }
    for option in &job.fio {
        let value = option.value.as_deref().unwrap_or("");
        if let Some(why) = refused_by_driver(&option.name, value) {
            let what = format!(
                "option {} ({}) is not passed to fio: {why}; remove it",
                option.name, option.place
            );
            return Err(Error::unsuitable(job, what));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    #[test]
    fn fio_trims_devices_alone_unless_an_engine_of_its_own_does() {
        let mut workload = Workload::preset("randread-4k").unwrap();
        workload.set("rw=trim").unwrap();
        insta::assert_snapshot!(check_at(&workload, FileKind::Directory).unwrap_err(), @"job `io`: fio can trim only block devices; name a block device, or use --engine native");
        check_at(&workload, FileKind::File).unwrap_err();
        check_at(&workload, FileKind::Device).unwrap();
        let option = |beyond: Option<&str>| FioOption {
            name: "ioengine".to_owned(),
            value: Some("falloc".to_owned()),
            place: "a.fio, line 2".to_owned(),
            beyond: beyond.map(str::to_owned),
        };
        workload.jobs[0].fio = vec![option(None)];
        check_at(&workload, FileKind::File).unwrap_err();
        workload.jobs[0].fio = vec![option(Some("an engine that exists only in fio"))];
        check_at(&workload, FileKind::File).unwrap();
    }

    #[test]
    fn what_is_newer_than_the_fio_that_is_there_is_named() {
        let text = "[a]\nsize=1g\nruntime=10\nfdp=1\n";
        let none = |name: &str| Err(name.to_owned());
        let workload =
            iotax_dialects::fio::from_job_file("job.fio", text, &none).unwrap().remove(0);
        let check = |minor| check_version(&workload.jobs[0], Version { major: 3, minor });
        assert_snapshot!(check(33).unwrap_err(), @"job `a`: the installed fio is 3.33, but `fdp=1` (job.fio, line 4) was introduced with fio 3.34; remove the option, or install a newer fio");
        check(34).unwrap();
    }
}
