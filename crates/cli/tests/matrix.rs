//! Arms that are all combinations of some factors' levels, on the command line and in a file.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::fs;

use serde_json::Value;
use support::Desk;

const STACK: &str = "mem(size=4M) + delay(latency={latency}) + queue";
const FACTORS: [&str; 4] = ["--matrix", "latency=10us,30us", "--matrix", "workers=1,2"];

fn compare<'a>(start: &[&'a str], end: &[&'a str]) -> Vec<&'a str> {
    [start, &["compare", "-w", "randread-4k", STACK], &FACTORS, end].concat()
}

#[test]
fn a_plan_names_every_combination_but_those_left_out() {
    let desk = Desk::new();
    let said = desk.run(&compare(&["plan"], &["--exclude", "latency=30us,workers=2"]));
    let (_, arms) = said.out.split_once("Arms\n").unwrap();
    insta::assert_snapshot!(arms.split("\n\n").next().unwrap(), @"
    10us/1  mem(size=4M) + delay(latency=10us) + queue(workers=1)  (baseline)
    10us/2  mem(size=4M) + delay(latency=10us) + queue
    30us/1  mem(size=4M) + delay(latency=30us) + queue(workers=1)
    ");
    fs::write(
        desk.path().join("x.toml"),
        format!(
            "workload = \"randread-4k\"\nexclude = [\"latency=30us,workers=2\"]\n[arms]\nall = \"{STACK}\"\n\
             [matrix]\nlatency = [\"10us\", \"30us\"]\nworkers = [1, 2]\n"
        ),
    )
    .unwrap();
    let from_file = desk.run(&["plan", "compare", "x.toml"]);
    let (_, of_file) = from_file.out.split_once("Arms\n").unwrap();
    assert_eq!(of_file.split("\n\n").next(), arms.split("\n\n").next(), "{from_file}");
}

#[test]
fn factors_of_the_workload_are_phases_in_each_of_which_the_arms_take_turns() {
    let desk = Desk::new();
    let factors = ["--matrix", "bs=4k,16k", "--matrix", "workers=1,2"];
    let stack = "mem(size=4M) + delay(latency=300us) + queue";
    let options = ["-w", "randread-4k", "--time", "100ms", "--ramp", "0s", "--max-blocks", "3"];
    let command = [&["compare", stack][..], &factors, &options].concat();
    let plan = desk.run(&[&["plan"], command.as_slice()].concat());
    assert_eq!(plan.code, 0, "{plan}");
    let said = desk.run(&[&command[..], &["--format", "json", "--out", "out"]].concat());
    assert_eq!(said.code, 0, "{said}");
    let result: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(result["suite"], "randread-4k");
    for (phase, bs) in [(0, "4k"), (1, "16k")] {
        let phase = &result["phases"][phase];
        assert_eq!(phase["workload"], format!("randread-4k bs={bs}"), "{said}");
        assert_eq!(phase["arms"].as_array().unwrap().len(), 2);
        assert_eq!(phase["matrix"]["factors"][0]["name"], "workers");
    }
    let text = desk.run(&["report", "out"]);
    assert!(text.out.contains("\nPhases compared with 1\n  phase "), "{text}");
    let file = format!(
        "workload = \"randread-4k\"\n[arms]\na = \"{stack}\"\nb = \"{stack}\"\n\
         [matrix]\nbs = [\"4k\", \"16k\"]\n"
    );
    fs::write(desk.path().join("x.toml"), file).unwrap();
    let from_file = desk.run(&["plan", "compare", "x.toml"]);
    assert!(from_file.out.contains("randread-4k bs=16k"), "{from_file}");
    let one = desk.run(&["plan", "compare", "mem", "-w", "randread-4k", "--matrix", "bs=4k,16k"]);
    insta::assert_snapshot!(one, @"
    error: workload factors create phases, not arms, and there is only one arm; give two arms, or add a target factor
    [exit 2]
    ");
}

/// What comes out is simulated from the catalog, at rates that this machine may not reach.
#[test]
fn documented_vms_and_disks_are_factors() {
    let desk = Desk::new();
    let factors = ["--matrix", "vm=DS1_v2,DS2_v2", "--matrix", "disk=P10,gp3:size=1G"];
    let exclude = ["--exclude", "disk=gp3:size=1G"];
    let command = [&["compare", "-w", "randread-4k", "cloud(size=4M)"][..], &factors].concat();
    let plan = desk.run(&[&["plan"], &command[..], &exclude].concat());
    let (_, plan) = plan.out.split_once("Arms\n").unwrap();
    insta::assert_snapshot!(plan.split("\nStops").next().unwrap(), @"
      DS1_v2/P10  cloud(vm=DS1_v2, disk=P10, size=4M)  (baseline)
      DS2_v2/P10  cloud(vm=DS2_v2, disk=P10, size=4M)

    Cloud disks
      cloud(vm=DS1_v2, disk=P10, size=4M); layers from bottom to top
        file(size=4M, thin)
            requested size
        delay(latency=1ms)
            latency (an assumption, not documented)
        throttle(iops=500, bw=100000000, burst_iops=3500, burst_bw=170000000,
            credits=30m, unit=256k)
            disk limit of P10 [1]
        throttle(iops=3200, bw=46875k, group=Standard_DS1_v2-uncached)
            VM uncached limit of Standard_DS1_v2 [2]
      cloud(vm=DS2_v2, disk=P10, size=4M); layers from bottom to top
        file(size=4M, thin)
            requested size
        delay(latency=1ms)
            latency (an assumption, not documented)
        throttle(iops=500, bw=100000000, burst_iops=3500, burst_bw=170000000,
            credits=30m, unit=256k)
            disk limit of P10 [1]
        throttle(iops=6400, bw=93750k, group=Standard_DS2_v2-uncached)
            VM uncached limit of Standard_DS2_v2 [2]
      Note: the temporary disk and cached disks share one bucket
      Note: the series page lists no burst limits
      [1] kubernetes-sigs/azuredisk-csi-driver:pkg/optimization/
          azure_skus_map.go@3ccc92fab197 ; MicrosoftDocs/
          azure-compute-docs:articles/virtual-machines/includes/
          managed-disks-bursting-2.md@2e4af98705e2 (2024-12-12)
      [2] flexera-public/policy_templates:data/azure/
          azure_compute_instance_types.json@5bb88c4b80bf (2026-08-17)
    ");
    insta::assert_snapshot!(desk.run(&command), @r#"
    error: option --matrix: gp3:size=1G is a disk on AWS, but Standard_DS1_v2 belongs to Azure; use only one cloud
      cloud(disk="gp3:size=1G", vm=DS1_v2, size=4M)
                 ^^^^^^^^^^^^^ column 12
    Standard_DS1_v2 supports P1 to P80, E1 to E80, S4 to S80, premium-v2, ultra, local
    [exit 2]
    "#);

    let factors = ["--matrix", "vm=DS1_v2,DS2_v2", "--matrix", "disk=P10,P20"];
    let short = ["--max-blocks", "3", "--time", "50ms", "--ramp", "0", "--no-depth-check"];
    let command = [&command[..4], &factors, &short, &["--out", "out", "--format", "json"]].concat();
    let said = desk.run(&command);
    assert_eq!(said.code, 0, "{said}");
    let shown: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(shown["matrix"]["cells"], serde_json::json!([[0, 0], [0, 1], [1, 0], [1, 1]]));
    let text = desk.run(&["report", "out"]);
    assert!(text.out.contains("By factor\n  vm "), "{text}");
}

#[test]
fn what_makes_no_matrix_is_refused() {
    let desk = Desk::new();
    let refused = |arguments: &[&str]| {
        desk.run(&[&["plan", "compare", "-w", "randread-4k"], arguments].concat())
    };
    insta::assert_snapshot!(refused(&["mem", "mem", "--matrix", "size=1M,2M"]), @"
    error: --matrix creates its arms from one target, but several are given; make the targets levels of a factor, as in --matrix disk=/mnt/a,/mnt/b {disk}
    [exit 2]
    ");
    insta::assert_snapshot!(refused(&["mem", "--matrix", "sise=1M,2M"]), @"
    error: option --matrix: no layer in `mem` has a parameter `sise`
    put {sise} where its levels belong, or use one of: size
    [exit 2]
    ");
    insta::assert_snapshot!(refused(&["x=mem(size={size})", "--matrix", "size=1M,2M"]), @"
    error: --matrix names each arm after its levels; leave out `x=` before the target
    [exit 2]
    ");
    insta::assert_snapshot!(refused(&["mem", "--exclude", "size=1M"]), @"
    error: the following required arguments were not provided:
      --matrix <NAME=LEVEL,LEVEL...>

    Usage: iotax plan compare --matrix <NAME=LEVEL,LEVEL...> --workload <WORKLOAD> --exclude <NAME=LEVEL,...> <ARM>...

    For more information, try '--help'.
    [exit 2]
    ");
    fs::write(
        desk.path().join("x.toml"),
        "workload = \"randread-4k\"\n[matrix]\nsize = [1]\n[arms]\na = \"mem\"\n",
    )
    .unwrap();
    insta::assert_snapshot!(desk.run(&["plan", "compare", "x.toml"]), @"
    error: x.toml:2:2: matrix: `size` has only one level
      2 | [matrix]
        |  ^^^^^^
    specify a factor and its levels, as in sec=sys,krb5,krb5p
    [exit 2]
    ");
    insta::assert_snapshot!(desk.run(&["plan", "compare", "x.toml", "--matrix", "size=1M,2M"]), @"
    error: --matrix does not apply to an experiment file; specify the factors in its [matrix] table
    [exit 2]
    ");
}

/// What comes out depends on this machine; that it is there does not.
#[test]
fn the_effects_are_in_every_report_and_in_the_record() {
    let desk = Desk::new();
    let short = ["--max-blocks", "3", "--time", "50ms", "--ramp", "0", "--no-depth-check"];
    let said =
        desk.run(&compare(&[], &[&short[..], &["--out", "out", "--format", "json"]].concat()));
    assert_eq!(said.code, 0, "{said}");
    let shown: Value = serde_json::from_str(&said.out).unwrap();
    let effects = shown["matrix"]["effects"].as_array().unwrap();
    let levels: Vec<&str> =
        effects.iter().map(|effect| effect["setting"]["level"].as_str().unwrap()).collect();
    assert!(levels.starts_with(&["30us"]) && levels.ends_with(&["2"]), "{levels:?}");
    assert_eq!(shown["matrix"]["cells"], serde_json::json!([[0, 0], [0, 1], [1, 0], [1, 1]]));
    let again = desk.run(&["report", "out"]);
    assert!(
        again.out.contains("By factor\n  latency") && again.out.contains("Effects\n"),
        "{again}"
    );
    let page = fs::read_to_string(desk.path().join("out/report.html")).unwrap();
    assert!(page.contains("By factor") && page.contains("latency=30us"), "in the page");
}
