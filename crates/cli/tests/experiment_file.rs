//! What an experiment file says of caps, and what options beside it change.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use insta::assert_snapshot;
use serde_json::{Value, json};
use support::{Desk, Said};

const ARMS: &str = "workload = \"randread-4k\"\n[arms]\na = \"mem\"\nb = \"mem + aes\"\n";

fn planned(head: &str, documented: &str, options: &[&str]) -> Said {
    let desk = Desk::new();
    let text = format!("{head}{ARMS}[documented]\n{documented}");
    std::fs::write(desk.path().join("x.toml"), text).unwrap();
    desk.run(&[&["plan", "compare", "x.toml", "--format", "json"], options].concat())
}

fn spec(said: &Said) -> Value {
    let value: Value = serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{said}"));
    value["spec"].clone()
}

#[test]
fn the_file_says_it_and_options_win() {
    let head = "drain = true\nbelow-cap = true\n";
    let documented = "vm = \"Standard_DS1_v2\"\ndisk = { b = \"P20\", a = \"P10\" }\n";
    let said = spec(&planned(head, documented, &[]));
    assert_eq!(said["cloud"], json!({ "vm": "Standard_DS1_v2", "disks": ["P10", "P20"] }));
    let side_runs =
        json!({ "depth_check": true, "below_cap": true, "drain_ns": 120_000_000_000_u64 });
    assert_eq!(said["side_runs"], side_runs);

    let options = ["--vm", "Standard_DS2_v2", "--disk", "P30", "--caching", "readonly"];
    let others = ["--drain=5s", "--no-depth-check"];
    let said = spec(&planned(head, documented, &[&options[..], &others].concat()));
    let cloud = json!({ "vm": "Standard_DS2_v2", "caching": "readonly", "disks": ["P30"] });
    assert_eq!(said["cloud"], cloud);
    let side_runs =
        json!({ "depth_check": false, "below_cap": false, "drain_ns": 5_000_000_000_u64 });
    assert_eq!(said["side_runs"], side_runs);

    let said = spec(&planned("depth-check = false\n", "", &["--below-cap"]));
    assert_eq!(said["side_runs"], json!({ "depth_check": true, "below_cap": true }));
}

#[test]
fn an_option_in_the_place_of_a_mistake_is_enough() {
    let said = planned("", "vm = \"DS1_v\"\n", &["--vm", "DS1_v2"]);
    assert_eq!(said.code, 0, "{said}");
}

#[test]
fn what_the_catalog_does_not_know_is_placed_on_its_line() {
    let refused = [
        planned("", "vm = \"DS1_v\"\n", &[]),
        planned("", "disk = \"P31\"\n", &[]),
        planned("", "vm = \"DS1_v2\"\nvariant = \"nvme\"\n", &[]),
        planned("", "vm = \"DS1_v2\"\ndisk = \"gp3:size=100G\"\n", &[]),
        planned("", "disk = \"P10\"\n", &["--vm", "DS1_v"]),
    ];
    assert_snapshot!(refused.map(|said| said.to_string()).join("\n"), @r#"
    error: x.toml:6:6: documented.vm: unknown VM size `DS1_v`: did you mean Standard_DS1_v2?
      6 | vm = "DS1_v"
        |      ^^^^^^^
    [exit 2]
    error: x.toml:6:8: documented.disk: unknown disk `P31`: did you mean P1, P3 or P30?
      6 | disk = "P31"
        |        ^^^^^
    [exit 2]
    error: x.toml:7:11: documented.variant: DS1_v2 has no variants; leave out the variant
      7 | variant = "nvme"
        |           ^^^^^^
    [exit 2]
    error: x.toml:5:2: documented: gp3:size=100G is a disk on AWS, but Standard_DS1_v2 belongs to Azure; use only one cloud
      5 | [documented]
        |  ^^^^^^^^^^
    [exit 2]
    error: unknown VM size `DS1_v`: did you mean Standard_DS1_v2?
    [exit 2]
    "#);
}
