//! What a new user reads first, at 80 columns.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use insta::assert_snapshot;
use support::Desk;

fn printed(args: &[&str]) -> String {
    let said = Desk::new().run(args);
    assert_eq!(said.code, 0, "{}", said.err);
    let wide: Vec<&str> = said.out.lines().filter(|line| line.chars().count() > 80).collect();
    assert_eq!(wide, Vec::<&str>::new(), "lines over 80 columns");
    said.out
}

#[test]
fn help_of_iotax() {
    assert_snapshot!(printed(&["--help"]));
}

#[test]
fn help_of_peel() {
    assert_snapshot!(printed(&["peel", "--help"]));
}

#[test]
fn help_of_compare() {
    assert_snapshot!(printed(&["compare", "-h"]));
}

#[test]
fn help_of_run() {
    assert_snapshot!(printed(&["run", "-h"]));
}

#[test]
fn help_of_limits() {
    assert_snapshot!(printed(&["limits", "-h"]));
}

#[test]
fn help_of_report() {
    assert_snapshot!(printed(&["report", "--help"]));
}

#[test]
fn help_of_disk_up() {
    assert_snapshot!(printed(&["disk", "up", "-h"]));
}

#[test]
fn workloads_are_listed() {
    assert_snapshot!(printed(&["workloads"]));
}

#[test]
fn one_workload_is_explained_with_everything_that_can_be_changed() {
    assert_snapshot!(printed(&["workloads", "driver-searcher"]));
}

#[test]
fn a_plan_is_printed_without_touching_anything() {
    let args = ["plan", "compare", "-w", "randread-4k", "--seed", "1"];
    let arms = ["base=mem(size=64M) + delay(latency=200us)", "slow=/no/such/directory"];
    assert_snapshot!(printed(&[&args[..], &arms[..]].concat()));
}

#[test]
fn a_plan_of_a_peel_names_every_subset_of_layers() {
    assert_snapshot!(printed(&["plan", "peel", "--seed", "1"]));
}

#[test]
fn a_plan_in_json_has_all_blocks() {
    let args = ["plan", "run", "randread-4k", "mem", "-n", "7", "--format", "json"];
    let plan: serde_json::Value = serde_json::from_str(&Desk::new().run(&args).out).unwrap();
    assert_eq!(plan["blocks"].as_array().unwrap().len(), 7);
    assert_eq!(plan["spec"]["workload"]["name"], "randread-4k");
}

#[test]
fn completions_know_the_subcommands() {
    for shell in ["bash", "zsh", "fish"] {
        let script = Desk::new().run(&["completions", shell]).out;
        assert!(script.contains("compare") && script.contains("peel"), "{shell}");
    }
}

#[test]
fn only_the_peel_without_any_option_is_held_to_two_minutes() {
    let limited = |more: &[&str]| {
        let said = Desk::new().run(&[&["plan", "peel", "--format", "json"], more].concat());
        let plan: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        plan["spec"]["stop"]["max_time_ns"].is_u64()
    };
    assert!(limited(&[]) && limited(&["--quick"]) && limited(&["--max-time", "5m"]));
    assert!(!limited(&["--tight"]) && !limited(&["--max-blocks", "20"]));
}
