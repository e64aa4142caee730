//! A record survives being written, cut off, and read back.

use std::fs;
use std::io::Write;
use std::path::Path;

use iotax_experiment::{
    Arm, Design, Draft, Origin, SidePhase, SideRole, Source, Stop, StopMode, Target, Workload,
};
use iotax_record::{
    End, EndReason, ExperimentHead, FORMAT, FioLatency, HostRecord, HostRole, LoadRecord, Outcome,
    Reader, SearchHead, SideRecord, Trial, Writer,
};

fn experiment() -> ExperimentHead {
    ExperimentHead {
        cloud: iotax_experiment::CloudChoice::default(),
        format: FORMAT,
        id: None,
        iotax_version: "0.0.0".into(),
        started: "2026-01-01T00:00:00Z".into(),
        command: vec!["iotax".into(), "run".into()],
        spec: Draft {
            stop: Stop {
                mode: StopMode::Default,
                margin: 0.05,
                alpha: 0.05,
                simultaneous: false,
                max_blocks: 1,
                max_blocks_asked: true,
                min_blocks: 1,
                max_time_ns: None,
            },
            seed: 1,
            ..Draft::new(
                vec![Workload {
                    time_ns: 1,
                    primary: "w".into(),
                    ..Workload::new("w", Vec::new())
                }],
                vec![Arm::new("a", Target::Path("/nowhere".into()))],
                Design::Single,
            )
        }
        .unchecked(),
        hosts: Vec::new(),
        sites: vec![],
    }
}

fn trial(slot: u32) -> Trial {
    Trial {
        phase: 0,
        block: 0,
        slot,
        arm: "a".into(),
        length: iotax_record::TrialLength::default(),
        started_ns: 1,
        switch_ns: 0,
        outcome: Outcome::Degraded { reasons: vec!["why\nnot".into()] },
        counters: None,
        load: Some(LoadRecord { window_ns: 5, ..LoadRecord::default() }),
    }
}

#[test]
fn what_is_written_is_read_back_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(dir.path(), &experiment()).unwrap();
    for slot in 0..5 {
        writer.append(&trial(slot)).unwrap();
    }
    let end = End {
        reasons: vec![EndReason::AllRun],
        wall_ns: 9,
        interrupted: false,
        gave_up: false,
        trials: Some(5),
        other_programs: None,
    };
    writer.finish(&end).unwrap();

    let reader = Reader::<ExperimentHead>::open(dir.path()).unwrap();
    assert_eq!(reader.head, experiment());
    assert_eq!(reader.end, Some(end));
    let back: Vec<Trial> = reader.lines().unwrap().map(Result::unwrap).collect();
    assert_eq!(back, (0..5).map(trial).collect::<Vec<_>>());
}

#[test]
fn a_record_cut_off_in_the_middle_of_a_trial_keeps_the_trials_before() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(dir.path(), &experiment()).unwrap();
    writer.append(&trial(0)).unwrap();
    let path = dir.path().join("trials.jsonl");
    fs::File::options().append(true).open(path).unwrap().write_all(b"{\"block\":0,\"sl").unwrap();

    let reader = Reader::<ExperimentHead>::open(dir.path()).unwrap();
    assert_eq!(reader.end, None);
    assert_eq!(reader.lines().unwrap().count(), 1);
}

#[test]
fn errors_name_the_file_and_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let shown = |text: String| text.replace(&dir.path().display().to_string(), "DIR");

    let error = Reader::<ExperimentHead>::open(dir.path()).unwrap_err();
    insta::assert_snapshot!(shown(error.to_string()), @"DIR is not an iotax results directory: it has no experiment.json; pass the directory that the run printed at the end");

    Writer::create(dir.path(), &experiment()).unwrap();
    let error = Writer::create(dir.path(), &experiment()).unwrap_err();
    insta::assert_snapshot!(shown(error.to_string()), @"DIR already contains a record (experiment.json), which iotax does not overwrite; choose another directory with --out");

    fs::write(dir.path().join("trials.jsonl"), "{}\n").unwrap();
    let error = Reader::<ExperimentHead>::open(dir.path())
        .unwrap()
        .lines()
        .unwrap()
        .next()
        .unwrap()
        .unwrap_err();
    insta::assert_snapshot!(shown(error.to_string()), @"DIR/trials.jsonl, line 1: not a valid record: missing field `block` at line 1 column 2");

    fs::write(dir.path().join("experiment.json"), "{\"format\": 99}").unwrap();
    let error = Reader::<ExperimentHead>::open(dir.path()).unwrap_err();
    insta::assert_snapshot!(shown(error.to_string()), @"DIR/experiment.json has record format 99, but this version of iotax reads formats only up to 3; use a newer version");
}

#[test]
fn no_file_of_someone_else_is_overwritten_not_even_through_a_link() {
    for name in ["experiment.json", "trials.jsonl", "end.json"] {
        let dir = tempfile::tempdir().unwrap();
        let nowhere = dir.path().join("nowhere");
        std::os::unix::fs::symlink(&nowhere, dir.path().join(name)).unwrap();
        let error = Writer::create(dir.path(), &experiment()).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
        assert!(!nowhere.exists());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}

/// Old records stay readable for ever: one fixture per version of the format, never edited.
#[test]
fn a_record_of_version_1_is_still_readable() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/v1");
    let reader = Reader::<ExperimentHead>::open(Path::new(dir)).unwrap();
    assert_eq!(reader.head.spec.workload().name, "driver-searcher");
    let [host] = reader.head.hosts.as_slice() else { panic!("{:?}", reader.head.hosts) };
    assert_eq!((host.role, host.environment.cpus), (HostRole::Local, 2));
    assert!(host.generator_ns_per_io.unwrap() > 0.0);
    let end = reader.end.as_ref().unwrap();
    assert!(!end.interrupted);
    assert_eq!(end.reasons, [EndReason::Said("all 2 trials were run".to_owned())]);
    let trials: Vec<Trial> = reader.lines().unwrap().map(Result::unwrap).collect();
    assert_eq!(trials.len(), 2);
    for trial in &trials {
        let load = trial.load.as_ref().unwrap();
        assert!(load.jobs.iter().all(|job| job.read.ios + job.write.ios > 0));
    }
    let done = trials[1].load.as_ref().unwrap().operations.iter().map(|done| {
        let max_us = done.latency.max_ns() / 1000;
        let attributes = format!("{:?} {:?} {:?}", done.slow, done.waited, done.first_error);
        format!(
            "{} {} to {max_us} us, {} failed, {attributes}",
            done.latency.count(),
            done.name,
            done.errors
        )
    });
    insta::assert_snapshot!(done.collect::<Vec<_>>().join("\n"), @r"
    4 publish to 19939 us, 0 failed, None None None
    4 load to 12025 us, 0 failed, Some(Slow { above_ns: 10000000, count: 1 }) None None
    940 query to 18022 us, 0 failed, None Some(17) None
    ");
}

/// Of the errors of an index a record of version 1 has the first.
#[test]
fn an_index_error_of_version_1_is_that_of_its_operation() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v1");
    let dir = tempfile::tempdir().unwrap();
    fs::copy(fixture.join("experiment.json"), dir.path().join("experiment.json")).unwrap();
    let lines = fs::read_to_string(fixture.join("trials.jsonl")).unwrap();
    let said = "\"index: answering a query: Input/output error (os error 5)\"";
    // The last of a line is that of the index.
    let failed =
        lines.lines().next().unwrap().rsplitn(2, "\"first_error\":null").collect::<Vec<_>>();
    let failed = format!("{}\"first_error\":{said}{}\n", failed[1], failed[0]);
    fs::write(dir.path().join("trials.jsonl"), failed).unwrap();
    let reader = Reader::<ExperimentHead>::open(dir.path()).unwrap();
    let trial = reader.lines().unwrap().next().unwrap().unwrap();
    let operations = trial.load.unwrap().operations;
    assert_eq!(operations.iter().map(|done| done.errors).collect::<Vec<_>>(), [0, 0, 1]);
    assert_eq!(
        operations[2].first_error.as_deref().map(|text| format!("\"{text}\"")).as_deref(),
        Some(said)
    );
}

fn head_of_version_2(name: &str) -> ExperimentHead {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v2");
    Reader::<ExperimentHead>::open(&fixtures.join(name)).expect("a record").head
}

#[test]
fn phases_of_version_2_are_still_readable() {
    let spec = head_of_version_2("phases").spec;
    let names: Vec<&str> = spec.phases().map(|phase| phase.name.as_str()).collect();
    assert_eq!((spec.name(), names.as_slice()), ("two", ["reads", "writes"].as_slice()));
    assert_eq!((spec.source, spec.workload().jobs.len()), (Source::Rig, 1));
}

#[test]
fn saved_results_of_version_2_are_still_readable() {
    let ExperimentHead { spec, sites, .. } = head_of_version_2("saved");
    let latencies: Vec<_> = sites.iter().map(|site| site.mean_latency).collect();
    assert_eq!(latencies, [Some(FioLatency::Clat); 2]);
    assert_eq!((sites[0].notes.len(), &sites[1].notes[..]), (3, &["fio 3.33".to_owned()][..]));
    let targets: Vec<String> = spec.arms.iter().map(|arm| arm.target.to_string()).collect();
    assert_eq!(targets, ["r/a.json,r/c.json", "r/b.json"]);
    assert_eq!((spec.is_of_results(), spec.phases().count()), (true, 1));
    let tools = vec!["fio 3.33".to_owned()];
    assert_eq!(spec.workload().origin, Some(Origin::Results { tools, are_ours: false }));
}

#[test]
fn a_search_of_version_1_is_still_readable() {
    let dir = tempfile::tempdir().unwrap();
    let head = r#"{
        "format": 1, "iotax_version": "0.1.0", "started": "", "command": [], "sites": [],
        "environment": { "cpus": 4 },
        "instance": { "cloud": "Azure", "vm": "Standard_DS1_v2", "region": null, "disks": [] },
        "limits": { "targets": [], "writes": false, "quick": true, "burst": null, "seed": 1 }
    }"#;
    fs::write(dir.path().join("limits.json"), head).unwrap();
    let head = Reader::<SearchHead>::open(dir.path()).unwrap().head;
    let HostRecord { environment, instance, .. } = head.host();
    assert_eq!(environment.cpus, 4);
    assert_eq!(instance.as_ref().unwrap().vm, "Standard_DS1_v2");
}

#[test]
fn what_a_search_of_version_2_found_of_targets_is_still_readable() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v2/limits");
    let opened = Reader::<SearchHead>::open(&fixture).unwrap().head.opened;
    assert_eq!(opened.cloud.disks, ["P30"]);
    assert_eq!(opened.targets[0].smallest_io_bytes, Some(512));
}

#[test]
fn a_pipe_in_place_of_a_file_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    Writer::create(dir.path(), &experiment()).unwrap();
    let trials = dir.path().join("trials.jsonl");
    fs::remove_file(&trials).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&trials).status().unwrap().success());
    let error =
        Reader::<ExperimentHead>::open(dir.path()).unwrap().lines().map(|_| ()).unwrap_err();
    assert!(error.to_string().ends_with("it is not a regular file"), "{error}");
}

#[test]
fn a_side_record_is_found_by_the_name_that_it_had_before() {
    let dir = tempfile::tempdir().unwrap();
    let open = || SideRecord::BelowCap.open(dir.path(), &experiment().spec).unwrap();
    assert!(open().is_none());
    Writer::create(&*dir.path().join("unmask"), &experiment()).unwrap();
    assert!(open().is_some());
}

/// A workload may be called as a side run calls its own.
#[test]
fn what_a_side_run_of_before_was_for_is_known_by_its_phases_names() {
    let phases = |names: &[&str]| {
        let experiment = experiment();
        let of = |name: &&str| Workload {
            name: (*name).to_owned(),
            ..experiment.spec.workload().clone()
        };
        let phases = names.iter().map(of).collect();
        let spec = experiment.spec.with(|spec| spec.phases = phases);
        ExperimentHead { spec, ..experiment }
    };
    let dir = tempfile::tempdir().unwrap();
    let main = phases(&["w", "w below the cap", "drain"]).spec;
    let side = phases(&["w one at a time", "w below the cap below the cap", "drain below the cap"]);
    Writer::create(&*dir.path().join("below-cap"), &side).unwrap();
    let read = || SideRecord::BelowCap.open(dir.path(), &main).unwrap().unwrap().head.spec;
    let [one, below] = [SideRole::OneAtATime, SideRole::BelowCap];
    let found: Vec<_> = read().side_phases.iter().map(|phase| (phase.of, phase.role)).collect();
    assert_eq!(found, [(0, one), (1, below), (2, below)]);
    // Those of today say it themselves.
    let given = vec![SidePhase { of: 2, role: one }; 3];
    let side =
        ExperimentHead { spec: side.spec.with(|spec| spec.side_phases = given.clone()), ..side };
    fs::remove_dir_all(dir.path().join("below-cap")).unwrap();
    Writer::create(&*dir.path().join("below-cap"), &side).unwrap();
    assert_eq!(read().side_phases, given);
}
