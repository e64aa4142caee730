//! Comparisons and peels on a VM of a cloud know which it is.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use serde_json::{Value, json};
use support::{Desk, Said, azure};

const SHORT: [&str; 8] =
    ["-w", "randread-4k", "--set", "size=8M", "--ramp", "0s", "--time", "50ms"];

/// What came of a short run, and its report again.
fn told(desk: &Desk, command: &str, targets: &[&str], more: &[&str]) -> (Value, Said) {
    let address = azure::metadata_service(azure::VM).to_string();
    let cloud = ["--metadata-address", &address, "--format", "json", "-q", "--out", "out"];
    let few = ["--no-depth-check", "--max-blocks", "3"];
    let said = desk.run(&[&[command], targets, &SHORT, &few, &cloud, more].concat());
    assert_eq!(said.code, 0, "{said}");
    (serde_json::from_str(&said.out).unwrap(), desk.run(&["report", "out"]))
}

fn head(report: &Said) -> String {
    let paragraph = report.out.lines().take_while(|line| !line.is_empty());
    paragraph.collect::<Vec<&str>>().join(" ")
}

const TOLD: &str = "; on Standard_DS1_v2 (as Azure's metadata service says)";

#[test]
fn a_comparison_of_directories_says_which_vm_the_cloud_told() {
    let desk = Desk::new();
    for name in ["a", "b"] {
        std::fs::create_dir(desk.path().join(name)).unwrap();
    }
    let (found, report) = told(&desk, "compare", &["a", "b"], &[]);
    let vm = [&found["vm"], &found["vm_from"], &found["instance"]["region"]];
    assert_eq!(vm, [&json!("Standard_DS1_v2"), &json!("metadata"), &json!("westeurope")]);
    assert!(head(&report).ends_with(TOLD), "{report}");
}

#[test]
fn a_peel_on_a_file_does_so_too() {
    let (found, report) = told(&Desk::new(), "peel", &["file(size=16M) + aes"], &[]);
    assert_eq!(found["vm"], "Standard_DS1_v2");
    assert!(head(&report).ends_with(TOLD), "{report}");
}

#[test]
fn nobody_is_asked_where_that_makes_no_sense_or_is_not_wanted() {
    let (found, report) = told(&Desk::new(), "peel", &["mem(size=16M) + aes"], &[]);
    assert_eq!(found.get("vm"), None);
    assert!(!report.out.contains("metadata service"), "{report}");
    let (found, _) = told(&Desk::new(), "peel", &["file(size=16M) + aes"], &["--no-metadata"]);
    assert_eq!(found.get("instance"), None);
    let named = ["--vm", "Standard_DS2_v2"];
    let (found, report) = told(&Desk::new(), "peel", &["file(size=16M) + aes"], &named);
    assert_eq!((&found["vm"], &found["vm_from"]), (&json!("Standard_DS2_v2"), &json!("option")));
    assert!(!report.out.contains("metadata service"), "{report}");
}
