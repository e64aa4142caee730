//! Equal throughput under a cap says nothing about a layer: that is noticed, and what the cap hides
//! is found.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use serde_json::Value;
use support::{Desk, Said};

/// Arms that differ by encryption. Four times, of large blocks: far above the noise of a busy
/// machine, and far below what the cap lets through.
const BASE: &str = "base=mem(size=32M) + throttle(iops=400)";
const AES: &str = "aes=mem(size=32M) + throttle(iops=400) + aes + aes + aes + aes";
const SHORT: [&str; 9] =
    ["compare", "-w", "randread-4k", "--set", "bs=256k", "--ramp", "100ms", "--time", "300ms"];

fn compare(desk: &Desk, more: &[&str]) -> Said {
    desk.run(&[&SHORT[..], &["--out", "out"], more].concat())
}

fn json(said: &Said) -> Value {
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error} in {said}"))
}

fn of<'a>(result: &'a Value, metric: &str) -> &'a Value {
    let comparisons = result["comparisons"].as_array().unwrap();
    comparisons.iter().find(|c| c["metric"] == metric).unwrap_or(&Value::Null)
}

#[test]
fn arms_under_one_cap_are_masked_and_the_tax_is_found_below_it() {
    let desk = Desk::new();
    let options = ["--quick", "--unmask", "--set", "depth=8", "--format", "json", BASE, AES];
    let said = compare(&desk, &options);
    assert_eq!(said.code, 0, "{said}");
    let result = json(&said);
    let throughput = of(&result, "throughput");
    assert_eq!(throughput["verdict"], "masked", "{said}");
    let iops = throughput["cap"]["iops"]["value"].as_f64().unwrap();
    assert!((392.0..408.0).contains(&iops), "{iops}");
    assert!(result["depths"].as_array().unwrap().iter().all(|arm| arm["response"] == "plateau"));

    let loads = result["unmasked"].as_array().unwrap();
    assert_eq!(loads.len(), 2, "{said}");
    assert_eq!(loads[1]["workload"], "randread-4k below the cap");
    // One I/O at a time reaches the cap, too: equal again, and no sign of equal cost.
    assert_ne!(of(&loads[0], "throughput")["verdict"], "equivalent", "{said}");
    let slower = |load: &Value, metric| of(load, metric)["verdict"] == "slower";
    let found = slower(&loads[1], "latency")
        || loads.iter().chain([&result]).any(|load| slower(load, "cpu_per_io"));
    assert!(found, "{said}");

    // The same from the record, and only there.
    let again = desk.run(&["report", "out", "--format", "json"]);
    assert_eq!(again.out, said.out);
    let text = desk.run(&["report", "out"]);
    assert!(text.out.contains("\nWhat the cap hides: below the cap\n"), "{text}");
    assert!(
        text.out.contains("  aes against base is masked: both sit on the same cap (4"),
        "{text}"
    );
}

#[test]
fn without_unmask_the_command_that_shows_the_tax_is_offered() {
    let desk = Desk::new();
    let said = compare(&desk, &["--quick", "--set", "depth=8", BASE, AES]);
    assert_eq!(said.code, 0, "{said}");
    let line: Vec<&str> = said.out.split_whitespace().collect();
    let line = line.join(" ");
    assert!(line.contains("To see what the cap hides: iotax compare -w randread-4k"), "{said}");
    assert!(line.contains(" --unmask Stopped:"), "{said}");
    assert!(!line.contains("--out out"), "{said}");
    assert!(desk.path().join("out/depth-check/trials.jsonl").exists());
    assert!(!desk.path().join("out/unmask").exists());

    // The place of such a record is taken, too.
    std::fs::remove_file(desk.path().join("out/experiment.json")).unwrap();
    for file in ["trials.jsonl", "end.json", "report.html"] {
        std::fs::remove_file(desk.path().join("out").join(file)).unwrap();
    }
    let said = compare(&desk, &["--quick", BASE, AES]);
    assert!(said.err.starts_with("error: out/depth-check holds a record already"), "{said}");
}

#[test]
fn equal_arms_that_follow_the_depth_are_not_masked() {
    let desk = Desk::new();
    let arms = ["a=mem(size=32M) + delay(latency=20ms)", "b=mem(size=32M) + delay(latency=20ms)"];
    let options = ["--quick", "--set", "depth=4", "--format", "json"];
    let said = compare(&desk, &[&options[..], &arms].concat());
    assert_eq!(said.code, 0, "{said}");
    let result = json(&said);
    assert_eq!(of(&result, "throughput")["verdict"], "equivalent", "{said}");
    assert_eq!(result["depths"][0]["response"], "scales", "{said}");
    assert!(result["verdict"].to_string().contains("No cap explains this"), "{said}");
}

#[test]
fn the_depth_check_can_be_left_out() {
    let desk = Desk::new();
    let options =
        ["--quick", "--no-depth-check", "--set", "depth=8", "--format", "json", BASE, AES];
    let said = compare(&desk, &options);
    let result = json(&said);
    assert_eq!(of(&result, "throughput")["verdict"], "equivalent", "{said}");
    assert!(result["open_questions"].to_string().contains("was not tested"), "{said}");
    let said = compare(&desk, &["--unmask", "--no-depth-check", BASE, AES]);
    assert_eq!(said.code, 2, "{said}");
}
