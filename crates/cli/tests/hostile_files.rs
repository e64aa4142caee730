//! Files and names made to harm: what a size claims, what a message quotes, what a spreadsheet or a
//! terminal makes of a name.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;
use support::Desk;

/// A record of two short trials of each of two arms, which have other names afterwards.
fn record(names: [&str; 2]) -> Desk {
    let desk = Desk::new();
    let load = ["--time", "500ms", "--ramp", "0", "--max-blocks", "2", "--no-depth-check"];
    let args = [&["compare", "-w", "randread-4k", "--out", "rec"], &load[..]].concat();
    let said = desk.run(&[&args[..], &["first=mem(size=1M)", "second=mem(size=1M)"]].concat());
    assert_eq!(said.code, 0, "{said}");
    for file in ["experiment.json", "trials.jsonl"] {
        let path = desk.path().join("rec").join(file);
        let mut text = fs::read_to_string(&path).unwrap();
        for (old, new) in ["\"first\"", "\"second\""].into_iter().zip(names) {
            assert!(text.contains(old), "{file} has no {old}");
            text = text.replace(old, &serde_json::to_string(new).unwrap());
        }
        fs::write(path, text).unwrap();
    }
    desk
}

fn change(desk: &Desk, file: &str, from: &str, to: &str) {
    let path = desk.path().join("rec").join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{file} has no {from}");
    fs::write(&path, text.replacen(from, to, 1)).unwrap();
}

#[test]
fn what_an_error_quotes_of_a_file_is_cut() {
    let desk = record(["a", "b"]);
    let long = "x\\n\\u001b]0;evil\\u0007".repeat(100_000);
    change(&desk, "experiment.json", "\"closed\"", &format!("\"{long}\""));
    let said = desk.run(&["report", "rec"]);
    assert_eq!(said.code, 2);
    assert!(said.err.len() < 1000 && said.err.lines().count() < 4, "{}", said.err.len());

    fs::write(desk.path().join("e.toml"), format!("workload = \"{}\"\n", "y".repeat(1 << 20)))
        .unwrap();
    let said = desk.run(&["plan", "compare", "e.toml"]);
    assert!(said.code != 0 && said.err.len() < 3000, "{} {}", said.code, said.err.len());

    let fio =
        format!("{{\"fio version\" : \"fio-3.33\", \"jobs\" : [{{\"{}\": }}]}}", "z".repeat(9999));
    fs::write(desk.path().join("result.json"), fio).unwrap();
    let said = desk.run(&["report", "result.json"]);
    assert!(said.code != 0 && said.err.len() < 1000, "{} {}", said.code, said.err.len());
}

#[test]
fn ten_thousand_layers_are_refused_at_once() {
    let desk = Desk::new();
    let stack = format!("mem(size=1M){}", " + aes".repeat(9_999));
    assert_snapshot!(desk.run(&["run", "randread-4k", &stack]), @"
    error: the stack has 10000 layers, but the maximum is 64
    remove some layers
    [exit 2]
    ");
    fs::write(
        desk.path().join("e.toml"),
        format!("workload = \"randread-4k\"\n[arms]\na = \"mem(size=1M)\"\nb = \"{stack}\"\n"),
    )
    .unwrap();
    let said = desk.run(&["plan", "compare", "e.toml"]);
    assert!(said.err.contains("the stack has 10000 layers, but the maximum is 64"), "{said}");
}

#[test]
fn a_spreadsheet_takes_no_name_for_a_formula() {
    let desk = record(["@SUM(A1)", "-5"]);
    let csv = desk.run(&["report", "rec", "--format", "csv"]).out;
    let cells = csv.lines().skip(1).flat_map(|line| line.split(','));
    let formulas: Vec<&str> = cells.filter(|cell| cell.starts_with(['=', '+', '@'])).collect();
    assert_eq!(formulas, Vec::<&str>::new(), "{csv}");
    assert!(csv.contains(",'@SUM(A1),") && csv.contains(",-5,"), "{csv}");
}

#[test]
fn what_drives_a_terminal_is_escaped_in_json_as_in_text() {
    let desk = record(["a\u{9b}31m", "b\u{202e}c"]);
    for format in ["json", "text", "markdown", "csv"] {
        let out = desk.run(&["report", "rec", "--format", format]).out;
        let bad = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
        assert!(!out.chars().any(bad), "{format}");
    }
    let json = desk.run(&["report", "rec", "--format", "json"]).out;
    let read: Value = serde_json::from_str(&json).unwrap();
    let text = read.to_string();
    assert!(text.contains("a\u{9b}31m") && text.contains("b\u{202e}c"));
}
