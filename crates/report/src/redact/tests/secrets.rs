//! Secrets planted in every field that takes any text.

use std::sync::LazyLock;

use iotax_record::{ExperimentHead, Trial};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::{Redactor, fields, words};
use super::full;

/// A record: its head and its trials.
fn record() -> Value {
    json!([full::experiment(), full::trials()])
}

/// Where strings stand.
fn strings(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(at.to_owned()),
        Value::Array(all) => {
            all.iter().enumerate().for_each(|(n, one)| strings(one, &format!("{at}/{n}"), found));
        }
        Value::Object(all) => {
            all.iter().for_each(|(key, one)| strings(one, &format!("{at}/{key}"), found));
        }
        _ => {}
    }
}

fn read(record: &Value) -> Option<(ExperimentHead, Vec<Trial>)> {
    serde_json::from_value(record.clone()).ok()
}

/// The strings that may say anything; others are words of the format.
fn free(record: &Value) -> Vec<String> {
    let mut all = Vec::new();
    strings(record, "", &mut all);
    let is_free = |at: &String| {
        let mut changed = record.clone();
        *changed.pointer_mut(at).unwrap() = "anything".into();
        read(&changed).is_some()
    };
    all.into_iter().filter(is_free).collect()
}

/// What is told of the record with this text in each free field, and the key.
fn told(record: &Value, free: &[String], text: &str) -> (String, String) {
    let mut planted = record.clone();
    for at in free {
        *planted.pointer_mut(at).unwrap() = text.into();
    }
    let (experiment, trials) = read(&planted).unwrap();
    let mut redactor = Redactor::default();
    let mut told = vec![json!(redactor.experiment(&experiment))];
    told.extend(trials.into_iter().map(|trial| json!(redactor.trial(trial))));
    let mut said = String::new();
    for value in &told {
        let mut all = Vec::new();
        strings(value, "", &mut all);
        // As it is read, not as JSON writes it.
        for at in all {
            said.push_str(value.pointer(&at).and_then(Value::as_str).unwrap());
            said.push('\n');
        }
    }
    (said, redactor.key().into_values().collect::<Vec<_>>().join("\n"))
}

/// Parts of a secret that would give it away.
fn parts(secret: &str) -> impl Iterator<Item = &str> {
    let parts = secret.split(|c: char| !c.is_alphanumeric());
    parts.filter(|part| part.len() > 4 && !words::is_name(part)).chain([secret])
}

#[test]
fn every_text_of_the_format_has_a_rule() {
    let record = record();
    let mut all = Vec::new();
    strings(&record[0], "", &mut all);
    for at in all {
        let names: Vec<&str> =
            at.split('/').skip(1).filter(|name| name.parse::<usize>().is_err()).collect();
        let parent = names.len().checked_sub(2).map_or("experiment", |n| names[n]);
        let field = names[names.len() - 1];
        let is_ruled = (parent, field) == ("fio", "value") || fields::rule(parent, field).is_some();
        assert!(is_ruled, "{at} has no rule in fields.rs: may it leave the house?");
    }
}

#[test]
fn eighty_secrets_of_forty_kinds_stay_in_the_house() {
    let record = record();
    let free = free(&record);
    assert!(free.len() > 100, "{} fields", free.len());
    let lines = include_str!("secrets.txt").lines().filter(|line| !line.starts_with('#'));
    let (mut kinds, mut secrets) = (0, 0);
    let mut leaks = Vec::new();
    for line in lines {
        let (kind, of_kind) = line.split_once('\t').unwrap();
        kinds += 1;
        for secret in of_kind.split('\t') {
            secrets += 1;
            for text in [
                secret.to_owned(),
                format!("cannot open {secret}: no such file"),
                format!("/mnt/{secret}/data"),
                format!("rw,password={secret},data=ordered"),
                format!("server={secret}:/export ({secret})"),
                format!("5.15.0-{secret}"),
                format!("SAMSUNG {secret}"),
            ] {
                let (said, key) = told(&record, &free, &text);
                for part in parts(secret).map(str::to_lowercase) {
                    let out = said.lines().find(|line| line.to_lowercase().contains(&part));
                    leaks.extend(out.map(|line| format!("{kind}: {part} of {text} in {line}")));
                }
                assert!(parts(secret).all(|part| part == secret || key.contains(part)), "{text}");
            }
        }
    }
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
    assert!(kinds >= 40 && secrets >= 80, "{kinds} kinds, {secrets} secrets");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_other_text_leaves(text in "[!-~]{12,40}|\\PC{12,40}|[a-z0-9._/@:-]{12,30}") {
        static RECORD: LazyLock<(Value, Vec<String>)> = LazyLock::new(|| {
            let record = record();
            let free = free(&record);
            (record, free)
        });
        let (said, _) = told(&RECORD.0, &RECORD.1, &text);
        prop_assert!(!said.contains(&text), "{text} in {said}");
    }

    #[test]
    fn different_names_stay_different(a in "[ -~]{1,12}", b in "[ -~]{1,12}") {
        let mut names = super::Names::default();
        let told = [&a, &b].map(|text| names.text(super::Kind::Arm, text));
        prop_assert_eq!(a == b, told[0] == told[1], "{:?}", told);
    }
}
