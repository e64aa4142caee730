//! Bundles as they are handed on; `crates/cli/tests/repro.rs` runs one.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::analyses;
use iotax_experiment::{Engine, Workload};
use iotax_record::ExperimentHead;
use iotax_report::bundle::{Bundle, Error, Step, archive, bundle};
use iotax_report::{AnalyzedPhase, Redactor};

fn steps(experiment: &ExperimentHead) -> Vec<Step> {
    let phases = u32::try_from(experiment.spec.phases().count()).unwrap();
    let step = |phase| {
        let arms = experiment.spec.arms.iter();
        arms.map(move |arm| Step { block: 0, phase, arm: arm.name.clone(), seed: u64::MAX })
    };
    (0..phases).flat_map(step).collect()
}

fn parts(experiment: &ExperimentHead) -> Vec<AnalyzedPhase> {
    experiment.spec.phases().map(|_| (experiment.clone(), analyses::compare())).collect()
}

fn file<'a>(bundle: &'a Bundle, path: &str) -> &'a str {
    &bundle.files.iter().find(|file| file.path == path).unwrap().text
}

#[test]
fn each_phase_has_jobs_and_a_folder_of_its_own() {
    let mut experiment = common::compare();
    experiment.spec =
        experiment.spec.with(|spec| spec.phases[0] = Workload::preset("randread-4k").unwrap());
    experiment.spec =
        experiment.spec.with(|spec| spec.phases.push(Workload::preset("seqwrite-1m").unwrap()));
    let made = bundle(&experiment, &parts(&experiment), &steps(&experiment), &[]).unwrap();
    assert_eq!(
        file(&made, "phases.txt"),
        "01\tno\t1073741824\t01-randread-4k\trandread-4k\n\
         02\tyes\t1073741824\t02-seqwrite-1m\tseqwrite-1m\n"
    );
    let jobs = file(&made, "jobs/02-file.fio");
    for line in ["rw=write", "bs=1M", "filename=target", "size=${SIZE_1}", "offset=${OFFSET_1}"] {
        assert!(jobs.lines().any(|written| written == line), "{line} in {jobs}");
    }
    assert_eq!(file(&made, "jobs/02.spans"), "1 1073741824 0 1073741824 1 0\n");
    // The largest seed that fio takes.
    assert!(file(&made, "order.txt").contains(" 02 base 9223372036854775807\n"));
}

#[test]
fn the_ramp_of_a_job_that_starts_later_is_shorter() {
    let mut experiment = common::compare();
    experiment.spec =
        experiment.spec.with(|spec| spec.phases[0] = Workload::preset("driver-searcher").unwrap());
    let made = bundle(&experiment, &parts(&experiment), &steps(&experiment), &[]).unwrap();
    let text = file(&made, "jobs/01-directory.fio");
    let (download, reader) = text.split_once("[mmap_read]").unwrap();
    assert!(download.contains("runtime=60000000us\nramp_time=4000000us\n"), "{text}");
    assert!(reader.contains("runtime=60000000us\nramp_time=2000000us\n"), "{text}");
    assert!(made.without[0].contains("limit for slow loads"), "{:?}", made.without);
}

#[test]
fn the_same_record_gives_the_same_archive() {
    let experiment = common::compare();
    let once = || {
        let made = bundle(&experiment, &parts(&experiment), &steps(&experiment), &[]).unwrap();
        archive(&made, "top").unwrap()
    };
    assert_eq!(once(), once());
}

#[test]
fn what_cannot_be_repeated_says_why() {
    let mut experiment = common::compare();
    let nothing = bundle(&experiment, &parts(&experiment), &[], &[]).unwrap_err();
    assert_eq!(nothing, Error::NoTrials);
    insta::assert_snapshot!(nothing, @"this record has no completed trial, so there is nothing to repeat");
    let mut workload = Workload::preset("randread-4k").unwrap();
    workload.jobs[0].engine = Engine::Metadata;
    experiment.spec = experiment.spec.with(|spec| spec.phases[0] = workload);
    let nothing = bundle(&experiment, &parts(&experiment), &steps(&experiment), &[]).unwrap_err();
    insta::assert_snapshot!(nothing, @"
    fio cannot run any job in this record:
    job io: operations on file trees are left out
    ");
}

#[test]
fn names_of_a_vm_s_disks_stay_in_the_house() {
    let experiment = common::on_a_vm();
    let clean = Redactor::default().experiment(&experiment);
    let instance = clean.hosts[0].instance.clone().unwrap();
    assert_eq!(instance.vm, "Standard_DS1_v2");
    assert_eq!(instance.disks[0].name.as_deref(), Some("device-1"));
    assert_eq!(instance.disks[0].kind.as_deref(), Some("Premium_LRS"));
    assert_eq!(clean.spec, experiment.spec, "all of it is of the list");
}
