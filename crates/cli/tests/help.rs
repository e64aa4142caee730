//! What a new user reads first, at 80 columns.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use insta::assert_snapshot;
use support::Desk;

fn printed(args: &[&str]) -> String {
    printed_with(0, args)
}

fn printed_with(code: i32, args: &[&str]) -> String {
    let said = Desk::new().run(args);
    assert_eq!(said.code, code, "{}", said.err);
    let wide: Vec<&str> = said.out.lines().filter(|line| line.chars().count() > 80).collect();
    assert_eq!(wide, Vec::<&str>::new(), "lines over 80 columns");
    said.out
}

#[test]
fn help_of_iotax() {
    assert_snapshot!(printed(&["--help"]));
}

#[test]
fn without_arguments_it_says_what_it_can_answer() {
    let said = printed(&[]);
    assert!(said.lines().count() <= 12 && said.contains("iotax check"), "{said}");
}

#[test]
#[cfg(not(feature = "kubernetes"))]
fn a_build_without_kubernetes_says_how_to_get_it() {
    let said = Desk::new().run(&["kube", "compare", "--workload", "randread-4k", "a=class:b"]);
    assert_eq!(said.code, 2, "{said}");
    assert!(said.err.contains("--features kubernetes"), "{said}");
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
fn help_of_doctor() {
    assert_snapshot!(printed(&["doctor", "-h"]));
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
    assert_snapshot!(printed_with(2, &[&args[..], &arms[..]].concat()));
}

#[test]
fn a_plan_of_a_peel_names_every_subset_of_layers() {
    assert_snapshot!(printed(&["plan", "peel", "--seed", "1"]));
}

#[test]
fn a_plan_says_why_trials_are_whole() {
    let whole = |options: &[&str]| {
        let args = ["plan", "compare", "-w", "randread-4k", "--seed", "1", "a=mem", "b=mem"];
        let text = printed(&[&args[..], options].concat());
        let schedule = text.split_once("Schedule, seed 1\n").unwrap().1;
        schedule.split_once("  block  1").unwrap().0.to_owned()
    };
    assert_snapshot!(whole(&["--time", "3s"]), @"
    The arms alternate in whole trials, not in short slices: the trial length of
    randread-4k is set (with --time or --ramp, or in a file).
    4 to 40 blocks of 2 trials, 40s to 400s, not including switching between arms
    ");
    assert_snapshot!(whole(&["--drain=90s"]), @"
    The arms alternate in whole trials, not in short slices: --drain spends burst
    credits before each trial.
    4 to 40 blocks of 2 trials, 56s to 560s, not including switching between arms
    ");
    let run = printed(&["plan", "run", "randread-4k", "mem", "-n", "7"]);
    assert!(!run.contains("slices"), "nothing is compared: {run}");
    let gate = printed(&["plan", "run", "randread-4k", "mem", "--fail-if", "p99 > 10ms"]);
    let why = "  Trials run at full length, not in slices, because there is only one arm.\n";
    assert!(gate.contains(why), "{gate}");
}

#[test]
fn a_plan_in_json_says_whether_trials_are_slices() {
    let plan = |options: &[&str]| -> serde_json::Value {
        let args = ["plan", "compare", "-w", "randread-4k", "a=mem", "b=mem", "--format", "json"];
        serde_json::from_str(&Desk::new().run(&[&args[..], options].concat()).out).unwrap()
    };
    let sliced = plan(&[]);
    assert_eq!(sliced["slices"]["max_blocks"], 5120);
    assert_eq!(sliced["slices"]["shortest_ns"], 2_800_000_000_u64);
    assert_eq!(sliced["spec"]["phases"][0]["slices"]["least_ns"], 50_000_000);
    assert!(sliced["whole_trials"].is_null());
    let whole = plan(&["--drain"]);
    assert!(whole["slices"].is_null());
    assert_eq!(whole["whole_trials"], "drained");
}

#[test]
fn a_plan_in_json_has_all_blocks() {
    let args = ["plan", "run", "randread-4k", "mem", "-n", "7", "--format", "json"];
    let plan: serde_json::Value = serde_json::from_str(&Desk::new().run(&args).out).unwrap();
    assert_eq!(plan["blocks"].as_array().unwrap().len(), 7);
    assert_eq!(plan["spec"]["phases"][0]["name"], "randread-4k");
}

#[test]
fn a_plan_says_how_long_arms_are_held_and_refuses_what_holds_none() {
    let plan = |options: &[&str]| {
        let args = ["plan", "compare", "-w", "randread-4k", "--seed", "1", "a=mem", "b=mem"];
        Desk::new().run(&[&args[..], options].concat())
    };
    let text = plan(&["--hold", "45s"]).out;
    let schedule = text.split_once("Schedule, seed 1\n").unwrap().1;
    assert_snapshot!(schedule.split_once("  pair  1").unwrap().0, @"
    The arms alternate in short slices, so that all of them see the same noise.
    Before the measurement, a pilot run on each arm sets the slice length.
    28 to 5,120 pairs of slices, at most 16 min. A verdict takes at least 94 s:
    28 pairs of the shortest slices, plus 45 s of continuous load on each arm, not
    counting the time to switch arms.
    ");
    let json: serde_json::Value =
        serde_json::from_str(&plan(&["--hold", "45s", "--format", "json"]).out).unwrap();
    assert_eq!(json["spec"]["hold_ns"], 45_000_000_000_u64);
    let refused = [
        &["--hold", "45s", "--time", "3s"][..],
        &["--hold", "1s"],
        &["--hold", "45s", "--max-time", "1m"],
        &["--hold", "45s", "--max-blocks", "20"],
        &["--hold", "long"],
    ];
    let each: Vec<String> = refused
        .map(|options| {
            let said = plan(options);
            assert_eq!(said.code, 2, "{said}");
            said.err
        })
        .into();
    assert_snapshot!(each.join("\n"), @"
    error: --hold needs arms that alternate in short slices. The arms alternate in whole trials, not in short slices: the trial length of randread-4k is set (with --time or --ramp, or in a file).

    error: hold: 1s is not longer than the longest slice (2500ms)
    use a time that is longer than any burst, for example 45s

    error: hold: loading each arm for 45s takes 90s in total, but max-time is 1m
    increase max-time, or reduce hold

    error: hold: requires max-blocks to be at least 34, not 20
    leave out max-blocks, or set it to 40

    error: option --hold: `long` is not a duration: it does not start with a digit
    specify a duration as 500ns, 200us, 2ms, 5s or 1m
    ");
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

#[test]
fn a_plan_announces_what_may_be_run_beside_it() {
    let arms = ["a=mem(size=64M)", "b=mem(size=64M) + aes"];
    let load = ["plan", "compare", "--quick", "-w", "randread-4k", "--set", "depth=8"];
    let beside = |options: &[&str]| {
        let text = printed(&[&load[..], options, &arms].concat());
        text.split_once("\nSide runs").map_or(String::new(), |(_, beside)| beside.to_owned())
    };
    assert_snapshot!(beside(&["--drain=90s", "--below-cap", "--max-time", "5m"]), @"
    (times do not include switching between arms)
     drain: first, until throughput falls; at most 3m, plus at most 30s before
       each trial
     depth-check: after the trials, if arms are equal; at most 3m
     below-cap: afterwards, if arms reach the same cap; at most 2m
     after the trials, a side run starts only if the whole run can end within 5m
    ");
    assert_eq!(beside(&["--no-depth-check"]), "");
    let one = printed(&["plan", "run", "randread-4k", "mem"]);
    assert!(!one.contains("Side runs"), "{one}");

    let json = [&load[..], &["--below-cap", "--format", "json"], &arms].concat();
    let plan: serde_json::Value = serde_json::from_str(&Desk::new().run(&json).out).unwrap();
    let names = [0, 1].map(|at| plan["side_runs"][at]["what"].as_str().unwrap());
    assert_eq!(names, ["depth-check", "below-cap"]);
    // Three depths of two arms, ten times three seconds.
    assert_eq!(plan["side_runs"][0]["longest_ns"], 180_000_000_000_u64);
}

#[test]
fn every_command_has_a_man_page() {
    let desk = Desk::new();
    let said = desk.run(&["man", "pages"]);
    assert_eq!(said.code, 0, "{said}");
    for command in ["", "-compare", "-plan-compare", "-disk-up", "-catalog-plan", "-doctor"] {
        let page = desk.path().join(format!("pages/iotax{command}.1"));
        let page = std::fs::read_to_string(page).unwrap();
        assert!(page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"), "{page}");
    }
    std::fs::write(desk.path().join("file"), "").unwrap();
    insta::assert_snapshot!(desk.run(&["man", "file/x"]), @"
    error: cannot write man pages to file/x: Not a directory (os error 20)
    [exit 3]
    ");
}
