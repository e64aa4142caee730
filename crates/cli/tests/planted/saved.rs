//! Saved results of fio, of which the slow ones of the new arm are no results.

use std::path::Path;

use serde_json::{Value, json};

use super::storage::{Disk, Turn};
use crate::support::Desk;

pub(super) fn write(desk: &Desk, storage: &mut Disk) {
    for (arm, name) in ["old", "new"].into_iter().enumerate() {
        for number in 0..storage.results() {
            let mut result = fixture();
            result["timestamp"] = json!(1_700_000_000 + 1000 * arm + number);
            match storage.trial(arm, 1, 60.0) {
                Turn::Rate(iops) => scale(&mut result, [storage.noisy(), iops / 1000.0]),
                Turn::Dies if storage.coin() => scale(&mut result, [storage.noisy(), 0.0]),
                // It stopped before its second job, which is the one to compare.
                Turn::Dies => {
                    scale(&mut result, [storage.noisy(), 1.0]);
                    result["jobs"].as_array_mut().unwrap().truncate(1);
                }
            }
            let path = desk.path().join(format!("{name}{number}.json"));
            std::fs::write(path, result.to_string()).unwrap();
        }
    }
}

/// `compare old=old0.json,old1.json new=...`
pub(super) fn arguments(desk: &Desk) -> Vec<&'static str> {
    let files = |arm: &str| {
        let files = (0..).map(|number| format!("{arm}{number}.json"));
        let files = files.take_while(|file| desk.path().join(file).exists());
        format!("{arm}={}", files.collect::<Vec<_>>().join(","))
    };
    let arms = ["old", "new"].map(|arm| &*Box::leak(files(arm).into_boxed_str()));
    vec!["compare", arms[0], arms[1], "--fail-if", "slower by 5%"]
}

/// A result with a job to warm up before the one of the fixture.
fn fixture() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/fio/before1.json");
    let mut result: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let jobs = result["jobs"].as_array_mut().unwrap();
    let mut warm_up = jobs[0].clone();
    warm_up["jobname"] = json!("warm-up");
    jobs.insert(0, warm_up);
    result
}

/// Makes both jobs faster by these factors.
fn scale(result: &mut Value, factors: [f64; 2]) {
    for (job, factor) in result["jobs"].as_array_mut().unwrap().iter_mut().zip(factors) {
        for direction in ["read", "write"] {
            let figures = job[direction].as_object_mut().unwrap();
            for (name, figure) in figures.iter_mut() {
                let is_rate =
                    ["iops", "bw", "io_", "total_ios"].iter().any(|p| name.starts_with(p));
                let (true, Some(value)) = (is_rate, figure.as_f64()) else { continue };
                *figure = if figure.is_u64() {
                    json!((value * factor).round() as u64)
                } else {
                    json!(value * factor)
                };
            }
            for times in ["clat_ns", "lat_ns", "slat_ns"] {
                let Some(times) = figures.get_mut(times) else { continue };
                if factor == 0.0 {
                    *times = json!({ "min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0 });
                } else {
                    times["mean"] = json!(times["mean"].as_f64().unwrap() / factor);
                }
            }
        }
    }
}
