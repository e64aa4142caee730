//! Little's law in every row that the results and records of all fixtures give: rate x mean latency
//! of several trials together lies between those of the trials, and never above what can be in
//! flight.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};

use iotax_analyze::{Analysis, Phases};
use iotax_dialects::results::{self, SavedArm};
use iotax_experiment::Stop;
use iotax_record::{ExperimentHead, JobRecord, Reader, Trial};

/// What the rounding of other tools' figures, and of histograms, comes to.
const ROUNDING: f64 = 0.02;

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        match entry.path() {
            path if path.is_dir() => files(&path, found),
            path => found.push(path),
        }
    }
}

/// All files under the fixtures of all crates.
fn fixtures() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    for krate in std::fs::read_dir(crates).unwrap().flatten() {
        let fixtures = krate.path().join("tests/fixtures");
        if fixtures.is_dir() {
            files(&fixtures, &mut found);
        }
    }
    found.sort();
    found
}

/// I/Os in flight by the law, of one job of one trial.
fn in_flight(record: &JobRecord) -> Option<f64> {
    let ios = record.ios();
    let times = |part: &iotax_record::DirectionRecord| {
        let latency = part.latency();
        let described = part.summary.as_ref().map(|summary| summary.mean_ns);
        match latency.count() {
            0 => Some((described? * part.ios as f64, part.ios)),
            count => Some((latency.mean_ns() * count as f64, count)),
        }
    };
    let parts = record.directions().filter(|part| part.ios > 0);
    let each: Vec<(f64, u64)> = parts.map(times).collect::<Option<_>>()?;
    let sum_ns: f64 = each.iter().map(|(sum, _)| sum).sum();
    let counted: u64 = each.iter().map(|(_, count)| count).sum();
    let is_known = counted > 0 && record.active_ns > 0;
    is_known.then(|| sum_ns / counted as f64 * ios as f64 / record.active_ns as f64)
}

/// How many rows keep the law, of an experiment and its trials.
fn check(what: &str, head: &ExperimentHead, trials: &[Trial]) -> usize {
    let mut phases = Phases::new(head);
    for trial in trials {
        phases.add(trial);
    }
    let parts = phases.finish(None);
    (0..).zip(&parts).map(|(phase, (_, analysis))| rows(what, phase, analysis, trials)).sum()
}

fn rows(what: &str, phase: u32, analysis: &Analysis, trials: &[Trial]) -> usize {
    let mut rows = 0;
    for arm in &analysis.arms {
        let primary = [(&analysis.primary, arm.iops, arm.mean_latency_ns)];
        let others = arm.other_jobs.iter().map(|job| (&job.name, job.iops, job.mean_latency_ns));
        for (name, iops, latency_ns) in primary.into_iter().chain(others) {
            let records = trials.iter().filter(|t| t.arm == arm.name && t.phase == phase);
            let records = records.filter_map(|trial| trial.load.as_ref()).flat_map(|l| &l.jobs);
            let each: Vec<f64> =
                records.filter(|job| job.name == *name).filter_map(in_flight).collect();
            if each.is_empty() || latency_ns == 0.0 {
                continue;
            }
            let together = iops * latency_ns / 1e9;
            let least = each.iter().copied().fold(f64::INFINITY, f64::min);
            let most = each.iter().copied().fold(0.0, f64::max);
            let is_between =
                (least * (1.0 - ROUNDING)..=most * (1.0 + ROUNDING)).contains(&together);
            assert!(is_between, "{what}, {name} of {}: {together} of {each:?}", arm.name);
            rows += 1;
        }
    }
    rows
}

#[test]
fn every_row_of_every_fixture_obeys_littles_law() {
    let arm = |files: Vec<PathBuf>| SavedArm::named("a", files);
    let read = |files: Vec<PathBuf>| {
        results::read_results(vec![arm(files)], Stop::default(), Vec::new(), "0").ok()
    };
    let all = fixtures();
    let mut rows = 0;
    for file in &all {
        if let Some(found) = read(vec![file.clone()]) {
            rows += check(&file.display().to_string(), &found.experiment, &found.trials);
        }
        // Some fixtures are heads alone.
        if file.ends_with("experiment.json") && file.with_file_name("trials.jsonl").exists() {
            let reader = Reader::<ExperimentHead>::open(file.parent().unwrap()).unwrap();
            let trials: Vec<Trial> = reader.lines().unwrap().map(Result::unwrap).collect();
            rows += check(&file.display().to_string(), &reader.head, &trials);
        }
    }
    // Several results as one arm: unlike each other, so that means of means would show.
    let is_of = |path: &&PathBuf, what: &str| path.to_string_lossy().contains(what);
    for what in ["fio/before", "fio/after"] {
        let several: Vec<PathBuf> = all.iter().filter(|path| is_of(path, what)).cloned().collect();
        let found = read(several).unwrap();
        assert!(found.trials.len() > 2);
        rows += check(what, &found.experiment, &found.trials);
    }
    assert!(rows > 20, "{rows} rows");
}
