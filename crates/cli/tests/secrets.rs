//! Eighty secrets planted in a record, and the bundle that is handed on: none is in it, its key
//! knows them, and it still runs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use iotax_record::ExperimentHead;
use iotax_testing::needs_program;
use serde_json::Value;
use support::Desk;

fn secrets() -> impl Iterator<Item = &'static str> + Clone {
    let text = include_str!("../../report/src/redact/tests/secrets.txt");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(|line| line.split('\t').skip(1))
}

/// Where strings stand that may say anything.
fn free(head: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => {
            let mut changed = head.clone();
            *changed.pointer_mut(at).unwrap() = "anything".into();
            if serde_json::from_value::<ExperimentHead>(changed).is_ok() {
                found.push(at.to_owned());
            }
        }
        Value::Array(all) => {
            all.iter()
                .enumerate()
                .for_each(|(n, one)| free(head, one, &format!("{at}/{n}"), found));
        }
        Value::Object(all) => {
            all.iter().for_each(|(key, one)| free(head, one, &format!("{at}/{key}"), found));
        }
        _ => {}
    }
}

/// A secret in each text of the head of a record, all of them in the lists that take any number;
/// arms and jobs are called by secrets, too.
fn plant(record: &Path) {
    let path = record.join("experiment.json");
    let mut head: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let mut places = Vec::new();
    free(&head, &head, "", &mut places);
    assert!(places.len() > 30, "{places:?}");
    for (at, secret) in places.iter().zip(secrets().cycle()) {
        *head.pointer_mut(at).unwrap() = secret.into();
    }
    let all: Value = secrets().collect();
    head["command"] = all.clone();
    head["spec"]["phases"][0]["notes"] = all.clone();
    head["sites"][0]["notes"] = all.clone();
    head["sites"][1]["caches"] = all;
    head["spec"]["phases"][0]["jobs"][0]["name"] = "orion-payroll".into();
    head["spec"]["phases"][0]["primary"] = "orion-payroll".into();
    let arms = ["vg_tradingdesk", "db7.prod.acme.voyage"];
    for (n, arm) in arms.into_iter().enumerate() {
        head["spec"]["arms"][n]["name"] = arm.into();
    }
    fs::write(&path, head.to_string()).unwrap();
    let path = record.join("trials.jsonl");
    let rename = |line: &str| {
        let mut trial: Value = serde_json::from_str(line).unwrap();
        trial["arm"] = arms[usize::from(trial["arm"] == "other")].into();
        trial["load"]["jobs"][0]["name"] = "orion-payroll".into();
        trial["load"]["jobs"][0]["first_error"] = "read of /srv/customers/Muster-GmbH: EIO".into();
        trial["load"]["warnings"] = secrets().collect();
        format!("{trial}\n")
    };
    let trials: String = fs::read_to_string(&path).unwrap().lines().map(rename).collect();
    fs::write(path, trials).unwrap();
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// A text as it stands there, and as it reads when JSON, percent signs or base64 are undone.
fn readings(text: &str) -> Vec<String> {
    let mut readings = vec![text.to_owned()];
    readings.push(text.replace("\\\"", "\"").replace("\\\\", "\\").replace("\\/", "/"));
    readings.push(percent_decoded(text));
    let coded = text.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '/'));
    for word in coded.filter(|word| word.len() > 6) {
        for start in 0..4 {
            let end = word.len() - (word.len() - start) % 4;
            if let Ok(bytes) = STANDARD_NO_PAD.decode(&word[start..end]) {
                readings.push(String::from_utf8_lossy(&bytes).into_owned());
            }
        }
    }
    readings.iter().map(|text| text.to_lowercase()).collect()
}

fn percent_decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut decoded = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        match part.get(..2).map(|hex| u8::from_str_radix(hex, 16)) {
            Some(Ok(byte)) => {
                decoded.push(byte);
                decoded.extend_from_slice(&part.as_bytes()[2..]);
            }
            _ => decoded.extend([b"%", part.as_bytes()].concat()),
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

fn unpacked(archive: &Path) -> String {
    let output = Command::new("gzip").arg("-dc").arg(archive).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn none_of_eighty_secrets_is_in_a_bundle_that_still_runs() {
    let desk = Desk::new();
    for arm in ["a", "b"] {
        fs::create_dir(desk.path().join(arm)).unwrap();
    }
    let load = ["--time", "200ms", "--ramp", "50ms", "--max-blocks", "2", "--seed", "7"];
    let job = ["-w", "mixed-70-30", "--set", "engine=psync", "--set", "size=4M"];
    let options = ["compare", "base=a", "other=b", "--set", "direct=false", "--out", "rec"];
    let said = desk.run(&[&options[..], &load, &job].concat());
    assert_eq!(said.code, 0, "{said}");
    plant(&desk.path().join("rec"));

    let said = desk.run(&["repro", "rec", "--out", "bundle", "--format", "json"]);
    assert_eq!(said.code, 0, "{said}");
    let told: Value = serde_json::from_str(&said.out).unwrap();
    let mut texts = vec![("the archive".to_owned(), unpacked(&desk.path().join("bundle.tar.gz")))];
    for path in files_below(&desk.path().join("bundle")) {
        texts.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
    }
    let mut planted = 0;
    let read: Vec<_> = texts.iter().map(|(of, text)| (of, readings(text))).collect();
    for secret in secrets() {
        planted += 1;
        for (of, readings) in &read {
            let is_out = readings.iter().any(|text| text.contains(&secret.to_lowercase()));
            assert!(!is_out, "{secret} in {of}");
        }
    }
    assert!(planted >= 80, "{planted}");

    let key = desk.path().join(told["key"].as_str().unwrap());
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    let key: Value = serde_json::from_slice(&fs::read(&key).unwrap()).unwrap();
    let arms = told["arms"].as_array().unwrap();
    let names: Vec<&str> =
        arms.iter().map(|arm| key[arm["name"].as_str().unwrap()].as_str().unwrap()).collect();
    assert_eq!(names, ["vg_tradingdesk", "db7.prod.acme.voyage"]);

    if !needs_program("fio") {
        return;
    }
    let given = arms
        .iter()
        .zip(["a", "b"])
        .map(|(arm, dir)| format!("{}={dir}", arm["id"].as_str().unwrap()));
    let mut script = Command::new("sh");
    script.arg(desk.path().join("bundle/run.sh")).args(given).current_dir(desk.path());
    let output = script.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let summary = fs::read_to_string(desk.path().join("out/summary.txt")).unwrap();
    assert!(summary.contains("arm-1 ") && summary.contains("job-1 "), "{summary}");
}
