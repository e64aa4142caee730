//! `iotax catalog`: what it prints, and what it says to what it does not know.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;
use support::{Desk, Said};

fn run(args: &[&str]) -> Said {
    Desk::new().run(&[&["catalog"], args].concat())
}

/// Text of a command that succeeds, within 80 columns.
fn text(args: &[&str]) -> String {
    let said = run(args);
    assert_eq!(said.code, 0, "{said}");
    fits(&said);
    said.out
}

fn fits(said: &Said) {
    let wide: Vec<_> = said.out.lines().filter(|line| line.chars().count() > 80).collect();
    assert_eq!(wide, Vec::<&str>::new());
    assert!(said.out.lines().all(|line| line.trim_end() == line), "{said}");
    assert!(!said.out.contains('\x1b'), "no colours without a terminal");
}

fn json(args: &[&str]) -> Value {
    let said = run(&[args, &["--format", "json"]].concat());
    assert!(said.code < 2, "{said}");
    serde_json::from_str(&said.out).unwrap()
}

#[test]
fn a_size_with_bursts_and_a_temporary_disk() {
    assert_snapshot!(text(&["azure", "Standard_E16d_v5"]));
}

#[test]
fn a_size_of_which_wrong_figures_were_published() {
    assert_snapshot!(text(&["azure", "dc4as_v5"]));
}

#[test]
fn figures_that_were_published_otherwise_are_shown_with_both_sources() {
    let conflicts = |args: &[&str]| {
        let said = text(args);
        let (_, conflict) = said.split_once("Conflict: ").unwrap();
        conflict.to_owned()
    };
    let told = [
        conflicts(&["azure", "disk", "E20"]),
        conflicts(&["gcp", "disk", "pd-balanced:size=400G"]),
        conflicts(&["azure", "GS5"]),
    ];
    assert_snapshot!(told.join("----\n"));
    assert!(!text(&["gcp", "disk", "pd-balanced:size=500G"]).contains("Conflict"));
    assert!(text(&["plan", "--disk", "E20", "--disk", "E20"]).contains("Conflict"));
}

#[test]
fn a_size_with_two_disk_controllers() {
    assert_snapshot!(text(&["azure", "E8bds_v5"]));
}

#[test]
fn a_size_whose_sources_disagree() {
    assert_snapshot!(text(&["azure", "E64ds_v5"]));
}

#[test]
fn instance_types_and_machine_types() {
    let both = [text(&["aws", "r6i.4xlarge"]), text(&["gcp", "n1-standard-8"])];
    assert_snapshot!(both.join("----\n"));
}

#[test]
fn an_old_instance_has_nothing_documented() {
    assert_snapshot!(text(&["aws", "t2.micro"]));
}

#[test]
fn disks_and_what_was_provisioned() {
    assert_snapshot!(text(&["azure", "disk", "P30", "P10", "premium-v2:size=200G,iops=20000"]));
    let aws = text(&["aws", "disk", "gp2:size=100G", "gp2:size=200G", "gp3", "io2:iops=90000"]);
    assert_snapshot!("volumes_of_aws", aws);
    let gcp = text(&["gcp", "disk", "pd-ssd:size=500G", "pd-standard", "hyperdisk-balanced"]);
    assert_snapshot!("disks_of_google_cloud", gcp);
}

#[test]
fn disks_on_a_vm() {
    let aws = text(&["aws", "r6i.4xlarge", "gp3:size=500G,iops=6000,bw=250M"]);
    let gcp = text(&["gcp", "n2-standard-8", "pd-ssd"]);
    assert_snapshot!([aws, gcp].join("----\n"));
}

#[test]
fn part_of_a_name_is_a_list() {
    assert_snapshot!(text(&["azure", "E16d"]));
    let all = text(&["azure"]);
    assert!(all.starts_with("1,517 sizes\n"), "{}", &all[..80]);
    assert_eq!(json(&["aws"])["vms"].as_array().unwrap().len(), 1_378);
    assert_eq!(json(&["gcp", "disk"])["disks"][0], "pd-standard");
}

#[test]
fn a_plan_says_what_binds_and_for_how_long() {
    let disks = ["--disk", "P30", "--disk", "P30", "--disk", "P10:caching=none"];
    let args = [&["plan", "--vm", "E16ds_v4", "--caching", "readonly"], &disks[..]].concat();
    assert_snapshot!(text(&args));
    let all = json(&args);
    assert_eq!(all["together"][0]["iops"]["sustained"], 10_500.0);
    assert_eq!(all["buckets"][0]["scope"], "vm_cached");
    assert_eq!(all["disks"][2]["effective"][0]["iops"]["burst"]["lasts_s"], 1_800.0);
    let capped = text(&["plan", "--vm", "DS1_v2", "--disk", "P10", "--disk", "P30:burst=on"]);
    assert_snapshot!("a_plan_that_the_vm_caps", capped);
    let alone = text(&["plan", "--disk", "st1:size=1T", "--disk", "gp2:size=750G"]);
    assert_snapshot!("a_plan_without_a_vm", alone);
}

#[test]
fn long_names_and_limits_by_direction_fit() {
    let long = "hyperdisk-balanced-high-availability:iops=5000,bw=200M,size=500G";
    let disks = ["--disk", long, "--disk", "pd-standard:size=10T"];
    assert_snapshot!(text(&[&["plan", "--vm", "n1-standard-8"], &disks[..]].concat()));
    let colored = run(&["azure", "DS1_v2", "--color", "always"]);
    assert!(colored.out.contains('\x1b'), "{colored}");
}

#[test]
fn a_users_table_is_checked() {
    let desk = Desk::new();
    let table = "name,scope,iops,mbps,burst_iops,burst_mbps,source,as_of\n\
                 DC4as_v5,,6400,144,20000,600,a blog,2023-03-14\n\
                 P30,disk,5000,200,,,,\n\
                 D4as_v9,,1,,,,,\n\
                 D4as_v4,uncached,6400,96,9000,,,\n";
    fs::write(desk.path().join("own.csv"), table).unwrap();
    let said = desk.run(&["catalog", "check", "own.csv"]);
    fits(&said);
    assert_eq!(said.code, 1, "{said}");
    assert_snapshot!(said.out);
    let said = desk.run(&["catalog", "check", "own.csv", "--format", "json"]);
    let all: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(all["rows"][0]["agreement"], "differs");
    assert_eq!(all["rows"][0]["belongs_to"][0], "Standard_D4as_v5");
    fs::write(desk.path().join("good.csv"), "tier,provisioned_iops\nP30,5000\n").unwrap();
    let said = desk.run(&["catalog", "check", "good.csv"]);
    assert_eq!((said.code, said.out.as_str()), (0, "1 limit: 1 the same\n"));
}

#[test]
fn what_is_wrong_is_said() {
    let desk = Desk::new();
    fs::write(desk.path().join("bad.csv"), "name,iops\nP30,5000\nP10,lots\n").unwrap();
    let cases: [&[&str]; 13] = [
        &["azure", "E16d_v9"],
        &["azure", "P30"],
        &["azure", "r6i.4xlarge"],
        &["azure", "disk", "gp3"],
        &["azure", "disk", "P31"],
        &["azure", "E16d_v5", "P30"],
        &["aws", "disk", "gp3:iops=1"],
        &["plan", "--vm", "DS1_v2", "--disk", "P50", "--caching", "readonly"],
        &["plan", "--vm", "E8bds_v5", "--disk", "P30"],
        &["plan", "--vm", "r6i.4xlarge", "--disk", "P30"],
        &["check", "bad.csv"],
        &["check", "missing.csv"],
        &["check", "/dev/zero"],
    ];
    let all = cases.map(|args| {
        let said = desk.run(&[&["catalog"], args].concat());
        assert_eq!(said.out, "", "{said}");
        format!("{}[exit {}]\n", said.err, said.code)
    });
    assert_snapshot!(all.concat());
}

#[test]
fn help_shows_how() {
    let pages = [&["--help"][..], &["azure", "-h"], &["plan", "-h"], &["check", "-h"]];
    assert_snapshot!(pages.map(text).join("----\n"));
}
