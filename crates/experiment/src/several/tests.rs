use insta::assert_snapshot;

use super::*;
use crate::spec::{Design, Target};
use crate::workload::{Job, Workload};

/// Random reads by jobs of these names, each with what it calls its target.
fn workload(jobs: &[(&str, Option<&str>)]) -> Workload {
    let mut workload = Workload::preset("randread-4k").unwrap();
    let like = workload.jobs.remove(0);
    workload.jobs.extend(jobs.iter().map(|(name, target)| Job {
        name: (*name).to_owned(),
        target: target.map(str::to_owned),
        ..like.clone()
    }));
    workload.primary = jobs[0].0.to_owned();
    workload
}

fn draft(jobs: &[(&str, Option<&str>)], targets: &[&str]) -> Draft {
    let target = Target::parse_all(targets.iter().copied()).unwrap();
    Draft::new(vec![workload(jobs)], vec![Arm::new("target", target)], Design::Single)
}

fn bound(
    jobs: &[(&str, Option<&str>)],
    targets: &[&str],
) -> Result<(Draft, Option<String>), Error> {
    let mut spec = draft(jobs, targets);
    let told = spec.bind_targets()?;
    Ok((spec, told))
}

const DRIVES: [(&str, Option<&str>); 3] = [("a", Some("e")), ("b", Some("f")), ("c", Some("f"))];

#[test]
fn each_job_gets_the_target_that_it_names() {
    let (spec, told) = bound(&DRIVES, &["e=/mnt/e", "f=mem(size=1M) + throttle(iops=5)"]).unwrap();
    assert_eq!(told, None);
    let (apart, places) = spec.arms_by_target();
    assert_eq!(places.len(), 1);
    assert_eq!(places[0], 0..2);
    let of_arm = |arm: &Arm| {
        let jobs: Vec<String> =
            spec.all_at_once_on(arm).jobs.into_iter().map(|job| job.name).collect();
        format!("{} {}: {}", arm.name, arm.target, jobs.join(", "))
    };
    assert_snapshot!(apart.iter().map(of_arm).collect::<Vec<_>>().join("\n"), @"
    e /mnt/e: a
    f mem(size=1M) + throttle(iops=5): b, c
    ");
    assert_snapshot!(spec.arms[0].target, @"e=/mnt/e, f=mem(size=1M) + throttle(iops=5)");
}

#[test]
fn jobs_that_name_no_target_have_the_name_of_theirs() {
    let (spec, _) = bound(&[("a", None), ("b", Some("x"))], &["b=/mnt/b", "a=/mnt/a"]).unwrap();
    let targets: Vec<_> =
        spec.workload().jobs.iter().map(|job| job.target.clone().unwrap()).collect();
    assert_eq!(targets, ["a", "b"]);
}

#[test]
fn one_target_is_for_all_jobs_and_that_is_said_where_they_name_several() {
    let (spec, told) = bound(&DRIVES, &["/mnt/a"]).unwrap();
    assert_eq!(spec.arms[0].target, Target::Path("/mnt/a".into()));
    assert!(spec.workload().jobs.iter().all(|job| job.target.is_none()));
    assert_snapshot!(told.clone().unwrap(), @"the jobs name 2 targets (e, f), but all jobs use the only target given; give a target for each name: e=TARGET f=TARGET");
    assert_eq!(spec.workload().notes, [told.unwrap()]);
    let (_, told) = bound(&[("a", Some("e")), ("b", Some("e"))], &["/mnt/a"]).unwrap();
    assert_eq!(told, None);
}

#[test]
fn the_one_target_that_all_jobs_name_may_be_given_by_its_name() {
    let (spec, _) = bound(&[("a", Some("e")), ("b", Some("e"))], &["e=/mnt/e"]).unwrap();
    assert_eq!(spec.arms[0].target, Target::Path("/mnt/e".into()));
}

#[test]
fn what_does_not_fit_together_is_said() {
    let error = |targets: &[&str]| bound(&DRIVES, targets).unwrap_err();
    assert_snapshot!(error(&["e=/mnt/e"]), @"
    job `b` has no target: `f` is not given
    add f=TARGET, or give one target for all jobs
    ");
    assert_snapshot!(error(&["e=/mnt/e", "f=/mnt/f", "g=/mnt/g"]), @"
    unknown target `g`
    known targets: e, f, a, b, c
    ");
    let plain = bound(&[("a", None), ("b", None)], &["e=/mnt/e"]);
    assert_snapshot!(plain.unwrap_err(), @"
    no job of this workload has a target called `e`
    give one target without NAME= for all jobs, or give JOB=TARGET for each of these jobs: a, b; if a path contains `=`, specify it as ./a=b
    ");
    let parsed = |texts: &[&str]| Target::parse_all(texts.iter().copied()).unwrap_err();
    assert_snapshot!(parsed(&["/mnt/e", "/mnt/f"]), @"
    `/mnt/e` is one of several targets, but has no name
    give each target the name that its jobs use, as in e=/mnt/e f=/mnt/f, or give only one target for all jobs
    ");
    assert_snapshot!(parsed(&["e=/mnt/e", "e=/mnt/f"]), @"target `e` is given twice");
    assert_snapshot!(parsed(&["my e=/mnt/e", "f=/mnt/f"]), @"
    `my e` is not a valid target name
    use letters, digits, `.`, `_` and `-`, as in base=/mnt/a
    ");
    assert_snapshot!(parsed(&["e=mem(size=1MB)", "f=/mnt/f"]), @"
    `1MB` is not a size: `MB` is ambiguous: fio reads it as 2^20 bytes, disk vendors as 10^6
      e=mem(size=1MB)
                 ^^^ column 12
    use 1M or 1000000
    ");
}

#[test]
fn an_index_is_in_one_place() {
    let target = Target::parse_all(["download=/mnt/e", "mmap_read=/mnt/f"]).unwrap();
    let workload = Workload::preset("driver-searcher").unwrap();
    let arms = vec![Arm::new("target", target)];
    let mut draft = Draft::new(vec![workload], arms, Design::Single);
    assert_snapshot!(draft.bind_targets().unwrap_err(), @"
    index: target: an index needs exactly one target, but there are several
    give one target for the whole workload
    ");
}

#[test]
fn preconditioning_is_of_one_target() {
    let (mut spec, _) = bound(&DRIVES, &["e=/mnt/e", "f=/mnt/f"]).unwrap();
    spec.side_runs.precondition = true;
    assert_snapshot!(spec.validate_precondition().unwrap_err(), @"
    preconditioning supports only one target per trial, but there are several
    precondition each target in a separate run, and leave `precondition` out of this one
    ");
}

#[test]
fn arms_of_several_targets_are_taken_apart_by_both_names() {
    let arm = |name: &str, texts: [&str; 2]| Arm::new(name, Target::parse_all(texts).unwrap());
    let arms = vec![arm("near", ["e=/mnt/1", "f=/mnt/2"]), arm("far", ["e=/mnt/3", "f=/mnt/4"])];
    let mut spec = Draft::compare(vec![workload(&DRIVES)], arms).unwrap();
    spec.bind_targets().unwrap();
    let names: Vec<String> = spec.arms_by_target().0.into_iter().map(|a| a.name).collect();
    assert_eq!(names, ["near/e", "near/f", "far/e", "far/f"]);
}
