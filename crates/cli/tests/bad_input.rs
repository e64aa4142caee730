//! Bad input: each error names what and where, and says what to do. Nothing is touched.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;

use insta::assert_snapshot;
use support::Desk;

fn refused(args: &[&str]) -> String {
    let desk = Desk::new();
    let said = desk.run(args);
    assert_eq!(said.out, "", "errors go to stderr");
    assert_eq!(said.code, 2, "{said}");
    assert_eq!(desk.names(), Vec::<String>::new(), "a refused command leaves nothing behind");
    said.to_string()
}

#[test]
fn a_misspelt_layer_is_pointed_at() {
    assert_snapshot!(refused(&["run", "randread-4k", "mem(size=64M) + aess"]));
}

#[test]
fn a_misspelt_workload_is_corrected() {
    assert_snapshot!(refused(&["run", "randred-4k", "."]));
}

#[test]
fn a_size_without_meaning_is_pointed_at() {
    assert_snapshot!(refused(&["compare", "-w", "randread-4k", "a=mem(size=64X)", "b=mem"]));
}

#[test]
fn an_ambiguous_size_is_refused() {
    assert_snapshot!(refused(&["run", "randread-4k", "mem(size=64MB)"]));
}

#[test]
fn a_disk_smaller_than_a_block_is_refused() {
    assert_snapshot!(refused(&["run", "seqread-1m", "mem(size=64k)"]));
}

#[test]
fn a_size_of_no_whole_sectors_is_refused() {
    assert_snapshot!(refused(&["run", "randread-4k", "mem(size=100)"]));
}

#[test]
fn missing_targets_are_named_all_at_once() {
    assert_snapshot!(refused(&["compare", "-w", "randread-4k", "a=/no/such", "b=/nor/such"]));
}

#[test]
fn a_stack_without_layers_cannot_be_peeled() {
    assert_snapshot!(refused(&["peel", "mem(size=1M)"]));
}

#[test]
fn a_path_cannot_be_peeled() {
    assert_snapshot!(refused(&["peel", "/tmp"]));
}

#[test]
fn an_unknown_key_is_corrected() {
    assert_snapshot!(refused(&["run", "randread-4k", ".", "--set", "dpth=3"]));
}

#[test]
fn a_time_without_unit_is_refused() {
    assert_snapshot!(refused(&["run", "randread-4k", ".", "--time", "5"]));
}

#[test]
fn a_comparison_needs_a_workload() {
    assert_snapshot!(refused(&["compare", "base=/tmp", "other=/var"]));
}

#[test]
fn a_comparison_needs_two_arms() {
    assert_snapshot!(refused(&["compare", "-w", "randread-4k", "base=."]));
}

#[test]
fn a_missing_experiment_file_is_named() {
    assert_snapshot!(refused(&["compare", "no-such.toml"]));
}

#[test]
fn a_directory_without_record_is_named() {
    assert_snapshot!(refused(&["report", "."]));
}

#[test]
fn an_unknown_option_is_corrected() {
    assert_snapshot!(refused(&["peel", "--quik"]));
}

#[test]
fn a_mistake_in_an_experiment_file_is_placed_on_its_line() {
    let desk = Desk::new();
    let text = "workload = \"randread-4k\"\n\n[arms]\nbase = \"mem\"\nslow = \"mem(size=64M) + dely(latency=1ms)\"\n";
    fs::write(desk.path().join("experiment.toml"), text).unwrap();
    assert_snapshot!(desk.run(&["compare", "experiment.toml"]));
}

#[test]
fn an_unknown_key_in_an_experiment_file_is_placed_on_its_line() {
    let desk = Desk::new();
    fs::write(desk.path().join("experiment.toml"), "workload = \"randread-4k\"\nmargn = \"5%\"\n")
        .unwrap();
    assert_snapshot!(desk.run(&["compare", "experiment.toml"]));
}

#[test]
fn a_file_with_data_is_never_written() {
    let desk = Desk::new();
    let file = desk.path().join("precious");
    fs::write(&file, vec![7u8; 1 << 20]).unwrap();
    let said = desk.run(&["run", "randwrite-4k", "./precious"]);
    assert_snapshot!(said);
    assert!(fs::read(&file).unwrap().iter().all(|byte| *byte == 7));
}

#[test]
fn results_are_never_overwritten() {
    let desk = Desk::new();
    fs::create_dir(desk.path().join("results")).unwrap();
    fs::write(desk.path().join("results/experiment.json"), "{}").unwrap();
    let said = desk.run(&["run", "randread-4k", "mem(size=4M)", "--out", "results"]);
    assert_snapshot!(said);
    assert_eq!(fs::read_to_string(desk.path().join("results/experiment.json")).unwrap(), "{}");
}

#[test]
fn a_report_of_someone_else_is_never_overwritten() {
    let desk = Desk::new();
    let report = desk.path().join("report.html");
    fs::write(&report, "mine").unwrap();
    let said = desk.run(&["run", "randread-4k", "mem(size=4M)", "--out", "."]);
    assert_eq!(said.code, 2, "{said}");
    assert!(said.err.contains("report.html already exists"), "{said}");
    assert_eq!(fs::read_to_string(report).unwrap(), "mine");
    assert_eq!(desk.names(), ["report.html"]);
}

#[test]
fn a_negative_value_is_refused_in_its_own_words() {
    let said = Desk::new().run(&["run", "randread-4k", "mem(size=4M)", "--time", "-1s"]);
    assert_eq!(said.code, 2, "{said}");
    assert!(said.err.contains("it is negative"), "{said}");
}

#[test]
fn a_name_cannot_drive_the_terminal_through_an_error() {
    let said = Desk::new().run(&["run", "randread-4k", "/no/\x1b[31mred"]);
    assert_eq!(said.code, 2, "{said}");
    assert!(!said.err.contains('\x1b'), "{said}");
}

#[test]
fn an_error_that_cannot_be_printed_still_has_its_exit_code() {
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let status = Desk::new().command(&["run", "randread-4k", "mem("]).stderr(full).status();
    assert_eq!(status.unwrap().code(), Some(2));
}

#[test]
fn an_experiment_file_in_the_working_directory_needs_no_path() {
    let desk = Desk::new();
    let text = "workload = \"randread-4k\"\n[arms]\na = \"mem(size=4M)\"\nb = \"mem(size=4M)\"\n";
    fs::write(desk.path().join("e.toml"), text).unwrap();
    let said = desk.run(&["plan", "compare", "e.toml"]);
    assert_eq!(said.code, 0, "{said}");
}

#[test]
fn no_trials_are_refused_by_the_option_s_own_name() {
    let desk = Desk::new();
    let said = desk.run(&["run", "randread-4k", "mem(size=4M)", "-n", "0"]);
    assert!(said.code == 2 && said.err.contains("--trials"), "{said}");
    let said = desk.run(&["plan", "peel", "--max-blocks", "0"]);
    assert!(said.code == 2 && said.err.contains("--max-blocks"), "{said}");
}

#[test]
fn a_target_before_its_workload_is_answered_with_the_command() {
    assert_snapshot!(refused(&["run", "/tmp", "randread-4k"]));
}
