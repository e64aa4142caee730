//! Records that lack what was run: every command that reads one says so, and goes on.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;
use support::Desk;

/// A desk with a whole record of two arms and three blocks.
fn desk() -> Desk {
    let desk = Desk::new();
    for arm in ["a", "b"] {
        fs::create_dir(desk.path().join(arm)).unwrap();
    }
    let load = ["--time", "100ms", "--ramp", "50ms", "--max-blocks", "3", "--seed", "7"];
    let job = ["-w", "mixed-70-30", "--set", "engine=psync", "--set", "size=4M"];
    let options = ["compare", "a", "b", "--set", "direct=false", "--out", "whole"];
    let said = desk.run(&[&options[..], &load, &job].concat());
    assert_eq!(said.code, 0, "{said}");
    for copy in ["half-line", "lines", "no-end"] {
        let to = desk.path().join(copy);
        fs::create_dir(&to).unwrap();
        for file in ["experiment.json", "trials.jsonl", "end.json"] {
            fs::copy(desk.path().join("whole").join(file), to.join(file)).unwrap();
        }
    }
    let trials = |record: &str| desk.path().join(record).join("trials.jsonl");
    let text = fs::read_to_string(trials("whole")).unwrap();
    assert_eq!(text.lines().count(), 6);
    fs::write(trials("half-line"), &text[..text.len() - 100]).unwrap();
    let first: Vec<&str> = text.split_inclusive('\n').take(4).collect();
    fs::write(trials("lines"), first.concat()).unwrap();
    fs::remove_file(desk.path().join("no-end/end.json")).unwrap();
    desk
}

/// What a command says on stderr, and the gaps that its JSON names.
fn told(desk: &Desk, command: &[&str], gaps: &str) -> (String, Vec<String>) {
    let said = desk.run(&[command, &["--format", "json"]].concat());
    assert_eq!(said.code, 0, "{said}");
    let json: Value = serde_json::from_str(&said.out).unwrap();
    let gaps = json.pointer(gaps).and_then(Value::as_array).cloned().unwrap_or_default();
    (said.err, gaps.iter().map(|gap| gap.as_str().unwrap().to_owned()).collect())
}

#[test]
fn every_command_that_reads_a_record_tells_what_it_lacks() {
    let desk = desk();
    let commands = |record: &str| {
        let bundle = format!("bundle-{record}");
        let command = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let commands: [(Vec<String>, &str); 3] = [
            (command(&["report", record]), "/ending/gaps"),
            (command(&["doctor", "--record", record]), "/gaps"),
            (command(&["repro", record, "--out", &bundle]), "/gaps"),
        ];
        commands
    };
    let mut warnings = String::new();
    for record in ["whole", "half-line", "lines", "no-end"] {
        let mut all = Vec::new();
        for (command, gaps) in commands(record) {
            let command: Vec<&str> = command.iter().map(String::as_str).collect();
            let (err, gaps) = told(&desk, &command, gaps);
            assert_eq!(gaps.is_empty(), record == "whole", "{command:?}: {err}");
            for gap in gaps {
                assert!(err.contains(&gap), "{command:?}: {err}");
            }
            all.push(err);
        }
        assert!(all.iter().all(|err| *err == all[0]), "{all:#?}");
        warnings.push_str(&all[0]);
    }
    assert_snapshot!(warnings, @"
    warning: half-line: the record ends in the middle of a trial and contains 5 of the 6 trials that were run; the results below use only what the record contains
    warning: lines: the record contains 4 of the 6 trials that were run; the results below use only what the record contains
    warning: no-end: the record has no end marker (iotax was killed or is still running); the results below use only what the record contains
    ");
    let text = desk.run(&["report", "half-line"]);
    assert!(text.out.contains("Warning: the record ends in the middle"), "{text}");
    assert!(desk.run(&["report", "whole"]).err.is_empty());
}

#[test]
fn what_was_run_beside_an_experiment_is_looked_at_as_well() {
    let desk = desk();
    let beside = desk.path().join("whole/drain");
    fs::create_dir(&beside).unwrap();
    let copy = |file: &str| fs::copy(desk.path().join("lines").join(file), beside.join(file));
    for file in ["experiment.json", "trials.jsonl", "end.json"] {
        copy(file).unwrap();
    }
    let (err, gaps) = told(&desk, &["report", "whole"], "/ending/gaps");
    assert_eq!(gaps.len(), 1, "{err}");
    assert!(
        err.starts_with("warning: whole/drain: the record contains 4 of the 6 trials"),
        "{err}"
    );
}
