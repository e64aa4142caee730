//! Equal throughput under a cap says nothing about a layer: that is noticed, and what the cap hides
//! is found.

use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::support::{Desk, Said};

/// Arms that differ by encryption, many times over and of large blocks: far above the noise of a
/// busy machine, and far below what the cap lets through.
const BASE: &str = "base=mem(size=32M) + throttle(iops=400)";

fn aes() -> String {
    format!("aes=mem(size=32M) + throttle(iops=400){}", " + aes".repeat(8))
}

const SHORT: [&str; 10] = [
    "compare", "--quick", "-w", "randread-4k", "--set", "bs=128k", "--ramp", "100ms", "--time",
    "300ms",
];

/// One test at a time: they would take each other's CPU.
static ALONE: Mutex<()> = Mutex::new(());

fn compare(desk: &Desk, more: &[&str]) -> Said {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    desk.run(&[&SHORT[..], &["--max-blocks", "8", "--out", "out"], more].concat())
}

/// [`compare`], as JSON from the record, and again where other programs disturbed the depth check
/// so much that it says so.
fn checked(more: &[&str]) -> (Desk, Said, Value) {
    for _ in 0..5 {
        let desk = Desk::new();
        let said = compare(&desk, more);
        assert_eq!(said.code, 0, "{said}");
        let result = json(&desk.run(&["report", "out", "--format", "json"]));
        let depths = result["depths"].as_array().map_or(&[][..], Vec::as_slice);
        if !depths.is_empty() && depths.iter().all(|arm| arm["response"] != "unclear") {
            return (desk, said, result);
        }
    }
    panic!("five depth checks were unclear")
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
    let (desk, said, result) = checked(&["--below-cap", "--set", "depth=8", BASE, &aes()]);
    let throughput = of(&result, "throughput");
    assert_eq!(throughput["verdict"], "masked", "{said}");
    let iops = throughput["cap"]["iops"]["value"].as_f64().unwrap();
    assert!((392.0..408.0).contains(&iops), "{iops}");
    assert!(result["depths"].as_array().unwrap().iter().all(|arm| arm["response"] == "plateau"));
    assert!(
        said.out.contains("  aes against base is masked: both sit on the same cap ("),
        "{said}"
    );
    assert!(said.out.contains("\nTax (below the cap)\n"), "{said}");

    let loads = result["below_cap"].as_array().unwrap();
    assert_eq!(loads.len(), 2, "{said}");
    assert_eq!(loads[1]["workload"], "randread-4k below the cap");
    // One I/O at a time reaches the cap, too: equal again, and no sign of equal cost.
    assert_ne!(of(&loads[0], "throughput")["verdict"], "equivalent", "{said}");
    let slower = |load: &Value, metric| of(load, metric)["verdict"] == "slower";
    let found = slower(&loads[1], "latency")
        || loads.iter().chain([&result]).any(|load| slower(load, "cpu_per_io"));
    assert!(found, "{said}");

    // From the record without what was measured below the cap: the command that would.
    std::fs::remove_dir_all(desk.path().join("out/below-cap")).unwrap();
    let offered = desk.run(&["report", "out"]);
    let line = offered.out.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(
        line.contains(
            "the difference that the cap hides, run: iotax compare --quick -w randread-4k"
        ),
        "{offered}"
    );
    assert!(line.contains(" --below-cap") && !line.contains("--out out"), "{offered}");
}

#[test]
fn equal_arms_that_follow_the_depth_are_not_masked() {
    let arms = ["a=mem(size=32M) + delay(latency=5ms)", "b=mem(size=32M) + delay(latency=5ms)"];
    let options = ["--margin", "20%", "--set", "depth=4", "--set", "bs=4k"];
    let (_, said, result) = checked(&[&options[..], &arms].concat());
    assert_eq!(of(&result, "throughput")["verdict"], "equivalent", "{said}");
    assert_eq!(result["depths"][0]["response"], "scales", "{said}");
    assert!(result["verdict"].to_string().contains("No cap explains the equal results"), "{said}");
}

#[test]
fn the_depth_check_can_be_left_out() {
    let (desk, aes) = (Desk::new(), aes());
    let options = ["--no-depth-check", "--set", "depth=8", "--format", "json", BASE, &aes];
    let said = compare(&desk, &options);
    let result = json(&said);
    assert_eq!(of(&result, "throughput")["verdict"], "equivalent", "{said}");
    let questions = result["open_questions"].as_array().unwrap();
    let kinds: Vec<&Value> = questions.iter().map(|open| &open["finding"]["kind"]).collect();
    assert!(kinds.contains(&&"cap_not_tested".into()), "{said}");
    assert!(!desk.path().join("out/depth-check").exists());
}

/// A busy machine may reach less than the cap once, and it says nothing then.
#[test]
fn a_cap_that_is_documented_has_a_name() {
    let reached = |desk: &Desk| {
        let stacks =
            ["base=mem(size=32M) + throttle(iops=500)", "same=mem(size=32M) + throttle(iops=500)"];
        let named = ["--vm", "Standard_DS1_v2", "--disk", "P10", "--no-depth-check"];
        let said = desk.run(
            &[
                &SHORT[..],
                &["--max-blocks", "3", "--out", "out", "--set", "depth=8"],
                &stacks,
                &named,
            ]
            .concat(),
        );
        assert_eq!(said.code, 0, "{said}");
        said
    };
    let found = (0..5).any(|_| {
        let desk = Desk::new();
        let said = reached(&desk);
        let result = json(&desk.run(&["report", "out", "--format", "json"]));
        let says = "base: IOPS: the disk limit of P10 binds";
        let row = &result["documented"][0];
        said.out.contains(says) && row["quantity"] == "iops" && row["limits"][0]["of"] == "P10"
    });
    assert!(found);
}
