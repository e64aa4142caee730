use insta::assert_snapshot;
use iotax_record::machine::PathSeen;
use iotax_record::{Environment, Machine};

use super::*;

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn arm(name: &str, files: &[&str]) -> SavedArm {
    SavedArm::named(name, files.iter().map(|file| fixture(file)).collect())
}

fn try_read(arms: &[SavedArm]) -> Result<Results, String> {
    let fixtures = fixture("").display().to_string();
    read_results(arms.to_vec(), Stop::default(), Vec::new(), "0.0.0")
        .map_err(|error| error.to_string().replace(&fixtures, ""))
}

fn notes(arms: &[SavedArm]) -> String {
    let results = try_read(arms).unwrap();
    let fixtures = fixture("").display().to_string();
    results.experiment.spec.workload().notes.join("\n").replace(&fixtures, "")
}

const CLONES: &str = "fio/fio-3.33-clones.json";
const CLONES_PLUS: &str = "fio/fio-3.33-clones-json-plus.json";
const MIXED: &str = "fio/fio-3.33-json-plus.json";
const TWO_JOBS: &str = "fio/fio-3.33-stonewall.json";

#[test]
fn files_become_trials_and_their_jobs_the_workload() {
    let arms = [arm("before", &[CLONES]), arm("after", &[CLONES_PLUS])];
    let Results { experiment, trials, end } = try_read(&arms).unwrap();
    let spec = &experiment.spec;
    let load = spec.workload();
    assert_eq!((load.name.as_str(), load.primary.as_str()), ("clones", "clones"));
    assert_eq!(spec.design, Design::Compare);
    assert!(spec.is_of_results() && load.notes.is_empty(), "{:?}", load.notes);
    assert_eq!(experiment.hosts, []);
    let site = &experiment.sites[0];
    assert_eq!((site.notes[0].as_str(), site.mean_latency), ("fio 3.33", Some(FioLatency::Clat)));
    assert_eq!((trials.len(), end.trials), (2, Some(2)));
    let job = &spec.workload().jobs[0];
    assert_eq!(
        (job.threads, job.queue_depth, &job.pattern),
        (3, 1, &iotax_experiment::Pattern::Random)
    );
    assert!(job.fio.iter().any(|o| o.name == "bs" && o.value.as_deref() == Some("4k")));
    assert!(trials.iter().all(|trial| trial.load.as_ref().unwrap().jobs[0].read.ios == 300));
    let slots: Vec<u32> = trials.iter().map(|trial| trial.slot).collect();
    assert_eq!(slots, [0, 1]);
}

#[test]
fn a_record_of_it_can_be_written_and_read() {
    let dir = tempfile::tempdir().unwrap();
    let results = try_read(&[arm("a", &["diskspd/before.xml"])]).unwrap();
    write(dir.path(), &results);
    let reader = iotax_record::Reader::<ExperimentHead>::open(dir.path()).unwrap();
    assert_eq!(reader.head, results.experiment);
    let trials: Vec<Trial> = reader.lines().unwrap().collect::<Result<_, _>>().unwrap();
    let p99 = |trials: &[Trial]| {
        let summary = trials[0].load.as_ref().unwrap().jobs[0].read.summary.clone().unwrap();
        summary.quantiles.iter().find(|(q, _)| (q - 0.99).abs() < 1e-9).map(|(_, ns)| *ns)
    };
    assert_eq!((p99(&trials), p99(&results.trials)), (Some(3_954_000), Some(3_954_000)));
}

fn write(directory: &Path, results: &Results) {
    let mut writer = iotax_record::Writer::create(directory, &results.experiment).unwrap();
    for trial in &results.trials {
        writer.append(trial).unwrap();
    }
    writer.finish(&results.end).unwrap();
}

#[test]
fn the_clusters_that_records_were_made_in_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let mut results = try_read(&[arm("a", &["diskspd/before.xml"])]).unwrap();
    let cluster = "7ae4b69388bc9b3ba296aabf97921f47".to_owned();
    let placed = Placed { cluster, class: Some("fast".to_owned()), ..Placed::default() };
    results.experiment.sites[0].placed = Some(placed.clone());
    write(dir.path(), &results);
    let there = SavedArm::named("there", vec![dir.path().to_owned()]);
    let read = try_read(&[there, arm("here", &["diskspd/after.xml"])]).unwrap();
    let [there, here] = read.experiment.sites.as_slice() else { panic!("two arms") };
    assert_eq!(there.notes[1], "in Kubernetes: cluster 7ae4b693, class fast");
    assert_eq!((&there.placed, &here.placed), (&Some(placed), &None));
}

#[test]
fn the_machine_of_a_record_is_kept_with_the_layers_under_its_arm() {
    let dir = tempfile::tempdir().unwrap();
    let mut results = try_read(&[arm("a", &["diskspd/before.xml"])]).unwrap();
    let target = results.experiment.spec.arms[0].target.to_string();
    let path = |path: &str| PathSeen { path: path.to_owned(), ..PathSeen::default() };
    let machine = Machine { paths: vec![path("/other"), path(&target)], ..Machine::default() };
    let environment = Environment { kernel: Some("6.1.0".to_owned()), ..Environment::default() };
    let machine = Some(Box::new(machine));
    results.experiment.hosts = vec![HostRecord { environment, machine, ..HostRecord::default() }];
    write(dir.path(), &results);
    let there = SavedArm::named("there", vec![dir.path().to_owned()]);
    let read = try_read(&[arm("here", &["diskspd/after.xml"]), there]).unwrap().experiment;
    assert_eq!(read.host(1).environment.kernel.as_deref(), Some("6.1.0"));
    assert_eq!(read.host(1).machine.as_ref().unwrap().paths, [path(&target)]);
    assert_eq!(read.host(0), &HostRecord::default(), "another tool tells nothing of its machine");
}

#[test]
fn another_load_is_named() {
    let diskspd = |a: &str, b: &str| notes(&[arm("before", &[a]), arm("after", &[b])]);
    assert_snapshot!(diskspd("diskspd/before.xml", "diskspd/after.xml"), @"");
    assert_snapshot!(diskspd("diskspd/before.xml", "diskspd/without_latency.xml"), @"the results are not from the same job: bs 4096 in before, 8192 in after");
    assert_snapshot!(diskspd(CLONES, "diskspd/before.xml"), @"
    job diskspd of diskspd/before.xml is compared with clones of fio/fio-3.33-clones.json, because each result has only one job
    the results are not from the same job: iodepth 1 in before, 8 in after; numjobs 3 in before, 2 in after; direct 0 in before, 1 in after; sync 0 in before, 1 in after; runtime none in before, 10 in after
    ");
}

/// A result of before.json as JSON in another form: keys in another order, no white space, another
/// day.
fn rewritten(directory: &Path, change: impl Fn(&mut serde_json::Value)) -> PathBuf {
    let text = std::fs::read_to_string(fixture(CLONES_PLUS)).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    change(&mut json);
    let path = directory.join("copy.json");
    std::fs::write(&path, serde_json::to_vec(&json).unwrap()).unwrap();
    path
}

#[test]
fn a_result_is_not_compared_with_its_own_copy() {
    let dir = tempfile::tempdir().unwrap();
    let against = |path: &Path| {
        let after = SavedArm::named("after", vec![path.to_owned()]);
        let read = try_read(&[arm("before", &[CLONES_PLUS]), after]);
        read.map(drop).map_err(|error| error.replace(&dir.path().display().to_string(), ""))
    };
    let copied = |change: &dyn Fn(&mut serde_json::Value)| {
        against(&rewritten(dir.path(), change)).unwrap_err()
    };
    assert_snapshot!(copied(&|_| ()), @"fio/fio-3.33-clones-json-plus.json of arm before and /copy.json of arm after are the same measurement; give results from different runs");
    let same = copied(&|_| ());
    assert_eq!(copied(&|json| json["timestamp"] = 1_700_000_000.into()), same, "another day");
    let renamed = |json: &mut serde_json::Value| {
        for job in json["jobs"].as_array_mut().unwrap() {
            job["jobname"] = "x".into();
        }
    };
    assert_eq!(copied(&renamed), same, "another name");
    // A record of it, the same record twice, and a copy of it.
    let results = try_read(&[arm("a", &[CLONES_PLUS])]).unwrap();
    let (one, other) = (dir.path().join("one"), dir.path().join("other"));
    for dir in [&one, &other] {
        write(dir, &results);
    }
    assert!(against(&one).is_err());
    let records = |a: &Path, b: &Path| {
        let arm = |name, path: &Path| SavedArm::named(name, vec![path.to_owned()]);
        try_read(&[arm("a", a), arm("b", b)])
    };
    assert!(records(&one, &one).is_err() && records(&one, &other).is_err());
    // Another run of the same size has the same totals, but other times.
    let another = |name: &str, mean_ns: f64| {
        let made = rewritten(dir.path(), |json| {
            for job in json["jobs"].as_array_mut().unwrap() {
                for direction in ["read", "write"] {
                    job[direction].as_object_mut().unwrap().remove("clat_ns");
                    job[direction]["lat_ns"]["mean"] = mean_ns.into();
                }
            }
        });
        let path = dir.path().join(name);
        std::fs::rename(made, &path).unwrap();
        path
    };
    assert!(against(&another("another.json", 1234.5)).is_ok());
    // Among other results, repeated values at another time cause a warning.
    let before = vec![fixture(CLONES_PLUS), another("third.json", 2345.5)];
    let at_date = |date: Option<u64>| {
        let copy = rewritten(dir.path(), |json| {
            if let Some(date) = date {
                json["timestamp"] = date.into();
                json["timestamp_ms"] = (1000 * date).into();
            }
        });
        let after = vec![dir.path().join("another.json"), copy];
        let arm = |name, files: &[PathBuf]| SavedArm::named(name, files.to_vec());
        try_read(&[arm("before", &before), arm("after", &after)])
    };
    let warned = at_date(Some(1_700_000_000)).unwrap().experiment.sites[1].notes.join("\n");
    assert!(warned.contains("copy.json of arm after has exactly the same figures as"), "{warned}");
    assert!(at_date(None).is_err(), "the same date");
}

#[test]
fn a_result_that_lacks_a_job_of_its_arm_is_a_failed_trial_of_it() {
    let dir = tempfile::tempdir().unwrap();
    // Other runs of the same two jobs.
    let another = |name: &str, change: &dyn Fn(&mut Vec<serde_json::Value>)| {
        let text = std::fs::read_to_string(fixture(TWO_JOBS)).unwrap();
        let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let jobs = json["jobs"].as_array_mut().unwrap();
        for job in jobs.iter_mut() {
            job["job_runtime"] = 1234.into();
            job["read"]["runtime"] = (1000 + name.len()).into();
            job["write"]["runtime"] = (1000 + name.len()).into();
        }
        change(jobs);
        let path = dir.path().join(name);
        std::fs::write(&path, serde_json::to_vec(&json).unwrap()).unwrap();
        path
    };
    let lacks = another("lacks", &|jobs| drop(jobs.pop()));
    let whole = another("is-whole", &|_| ());
    let before = SavedArm::named("before", vec![fixture(TWO_JOBS), lacks]);
    let after = SavedArm::named("after", vec![whole]);
    let results = try_read(&[before, after]).unwrap();
    let failed: Vec<&Trial> = (results.trials.iter())
        .filter(|trial| matches!(trial.outcome, Outcome::Failed { .. }))
        .collect();
    let [failed] = failed.as_slice() else { panic!("{failed:?}") };
    assert_eq!((failed.arm.as_str(), failed.block, failed.phase), ("before", 1, 1));
    assert_eq!(results.end.trials, Some(6));
}

#[test]
fn what_cannot_be_compared_says_why() {
    let error = |arms: &[SavedArm]| try_read(arms).unwrap_err();
    assert_snapshot!(error(&[arm("a", &[MIXED, MIXED])]), @"arm a lists fio/fio-3.33-json-plus.json twice; give each file only once; a copy is not a second measurement");
    assert_snapshot!(error(&[arm("a", &[CLONES]), arm("b", &[TWO_JOBS])]), @"the two sides have no job in common: fio/fio-3.33-clones.json has clones, but fio/fio-3.33-stonewall.json has first, second; compare results of the same job file, or give the jobs the same name");
    assert_snapshot!(error(&[arm("a", &["diskspd/README.md"])]), @"diskspd/README.md is not a result file from iotax run (--format json), fio (--output-format=json or json+), DiskSpd (-Rxml), iperf3 (-J), knb (-o json) or k8s-netperf (--json): it starts with `# Results of DiskSpd in XML`");
    assert_snapshot!(error(&[arm("a", &["diskspd/interrupted.xml"])]), @"diskspd/interrupted.xml: it contains no DiskSpd measurement: The test was interrupted before the measurements began. No results are displayed.");
}

/// Writes a record of the slices of one job, with the I/Os of each and their length.
fn sliced(directory: &Path, slices: &[(u64, iotax_record::TrialLength)]) {
    use iotax_experiment::plan::Phase;
    use iotax_record::{DirectionRecord, LoadRecord, TrialLength};

    const MS: u64 = 1_000_000;
    let read = try_read(&[arm("a", &["diskspd/before.xml"])]).unwrap();
    let target = Target::parse("mem").unwrap();
    let arms = ["a", "b"].map(|name| Arm::new(name, target.clone())).to_vec();
    let draft = Draft::compare(vec![Workload::preset("randread-4k").unwrap()], arms).unwrap();
    let times = Phase { ramp_ns: 20 * MS, time_ns: 100 * MS };
    let spec = draft.resolve().unwrap().with(|draft| draft.settle(Some(&[times])));
    let head = ExperimentHead { spec, ..read.experiment };
    let mut writer = iotax_record::Writer::create(directory, &head).unwrap();
    for (slot, (ios, length)) in (0..).zip(slices) {
        let window_ns = match length {
            TrialLength::Planned => 100 * MS,
            TrialLength::LongSlice => 1000 * MS,
            TrialLength::Usual => 5000 * MS,
        };
        let job = JobRecord {
            name: "io".into(),
            active_ns: window_ns,
            read: DirectionRecord { ios: *ios, ..DirectionRecord::default() },
            in_flight_io_ns: window_ns,
            ..JobRecord::default()
        };
        let load = LoadRecord {
            driver: "native".into(),
            window_ns,
            jobs: vec![job],
            ..LoadRecord::default()
        };
        let trial = Trial {
            block: slot,
            slot,
            arm: "a".into(),
            phase: 0,
            length: *length,
            started_ns: u64::from(slot),
            switch_ns: 0,
            outcome: Outcome::Completed,
            load: Some(load),
            counters: None,
        };
        writer.append(&trial).unwrap();
    }
    writer.finish(&read.end).unwrap();
}

#[test]
fn slices_of_a_record_are_trials_of_the_usual_length() {
    use iotax_record::TrialLength::{LongSlice, Planned, Usual};
    let dir = tempfile::tempdir().unwrap();
    let read = |name: &str, slices: &[(u64, iotax_record::TrialLength)]| -> Vec<(u64, u64)> {
        let path = dir.path().join(name);
        sliced(&path, slices);
        let arm = SavedArm::named("a", vec![PathBuf::from(format!("{}#a", path.display()))]);
        let results = read_results(vec![arm], Stop::default(), Vec::new(), "0.0.0").unwrap();
        let load = |trial: &Trial| trial.load.clone().unwrap();
        let shape = |trial: &Trial| (load(trial).window_ns, load(trial).jobs[0].read.ios);
        results.trials.iter().map(shape).collect()
    };
    // Fifty slices make five seconds; the longer one was not compared.
    let mut slices = vec![(10, Planned); 60];
    slices.insert(20, (7, LongSlice));
    assert_eq!(read("all", &slices), [(5_000_000_000, 500), (1_000_000_000, 100)]);
    // Slices were given up: only later trials count.
    slices.extend([(400, Usual), (401, Usual)]);
    assert_eq!(read("given-up", &slices), [(5_000_000_000, 400), (5_000_000_000, 401)]);
}
