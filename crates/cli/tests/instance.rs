//! Comparisons and peels on a VM of a cloud know which it is.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use iotax_testing::skipped;
use serde_json::{Value, json};
use support::{Desk, Said, azure};

const SHORT: [&str; 8] =
    ["-w", "randread-4k", "--set", "size=8M", "--ramp", "0s", "--time", "300ms"];

/// What came of a short run, and its report again.
fn told(desk: &Desk, command: &str, targets: &[&str], more: &[&str]) -> (Value, Said) {
    told_of(azure::VM, desk, command, targets, more)
}

fn told_of(
    vm: &'static str,
    desk: &Desk,
    command: &str,
    targets: &[&str],
    more: &[&str],
) -> (Value, Said) {
    let address = azure::metadata_service(vm).to_string();
    let cloud = ["--metadata-address", &address, "--format", "json", "--out", "out"];
    let few = ["--no-depth-check", "--max-blocks", "3"];
    let said = desk.run(&[&[command], targets, &SHORT, &few, &cloud, more].concat());
    assert_eq!(said.code, 0, "{said}");
    (serde_json::from_str(&said.out).unwrap(), desk.run(&["report", "out"]))
}

fn head(report: &Said) -> String {
    let paragraph = report.out.lines().take_while(|line| !line.is_empty());
    paragraph.collect::<Vec<&str>>().join(" ")
}

const TOLD: &str = "; on Standard_DS1_v2 (from Azure's metadata service)";

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

#[test]
fn the_disk_under_a_directory_is_known_by_its_link() {
    let desk = Desk::new();
    if !azure::link(desk.path(), "scsi1/lun4") {
        return skipped(&format!("no disk under {}", desk.path().display()));
    }
    std::fs::create_dir(desk.path().join("a")).unwrap();
    let links = ["--disk-links", "links"];
    let targets = ["a", "file(size=16M)"];
    let (found, report) = told_of(azure::VM_WITH_DISK, &desk, "compare", &targets, &links);
    let each = json!(["P10:caching=readonly", "P10:caching=readonly"]);
    assert_eq!((&found["disks"], &found["disks_from"]), (&each, &json!("metadata")));
    assert_eq!(found["instance"]["disks"][1]["targets"], json!([0, 1]));
    let told = "; on Standard_DS1_v2 with P10 (from Azure's metadata service)";
    assert!(head(&report).ends_with(told), "{report}");

    let desk = Desk::new();
    let named = ["--disk", "P30", "--disk-links", "links"];
    let peeled = ["file(size=16M) + aes"];
    let (found, _) = told_of(azure::VM_WITH_DISK, &desk, "peel", &peeled, &named);
    assert_eq!((&found["disks"], &found["disks_from"]), (&json!(["P30"]), &json!("option")));
}

#[test]
fn an_ephemeral_os_disk_is_not_taken_for_the_kind_of_its_image() {
    let desk = Desk::new();
    if !azure::link(desk.path(), "root") {
        return skipped(&format!("no disk under {}", desk.path().display()));
    }
    let links = ["--disk-links", "links"];
    let (found, _) = told_of(azure::VM_ON_HOST, &desk, "peel", &["file(size=16M) + aes"], &links);
    assert_eq!((found.get("disks"), &found["vm"]), (None, &json!("Standard_D2s_v3")));
    assert_eq!(found["instance"]["disks"][0]["targets"], json!([0, 1]));
    let recorded = std::fs::read(desk.path().join("out/experiment.json")).unwrap();
    let recorded: Value = serde_json::from_slice(&recorded).unwrap();
    let roles = json!(["ephemeral_os", "ephemeral_os"]);
    assert_eq!(recorded["cloud"]["roles"], roles);
}
