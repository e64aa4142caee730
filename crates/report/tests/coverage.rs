//! Layers without rules are named in every form that the doctor's page has.
#![allow(clippy::unwrap_used)]

use iotax_diagnose::{coverage, findings};
use iotax_experiment::CloudChoice;
use iotax_record::{HostRole, Machine};
use iotax_report::{DoctorDetail, HostFindings, Style, doctor, doctor_json, html, markdown, text};

#[test]
fn a_layer_without_rules_is_named_in_text_markdown_html_and_json() {
    let file =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../diagnose/tests/machines/report-lvmcache-smr.json");
    let machine: Machine = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let choice = CloudChoice::default();
    let findings = findings(&machine, &choice);
    assert!(!findings.is_empty(), "it is told beside findings, too");
    let coverage = coverage(&machine, &choice);
    let hosts = [HostFindings { role: HostRole::Local, machine, findings, coverage }];
    let page = doctor(&hosts, None, DoctorDetail::Folded);
    let said = "dm-3 (device mapper cache): iotax has no rules for device mapper cache";
    for form in [text(&page, Style::default()), markdown(&page), html(&page)] {
        assert!(form.contains(said), "{form}");
    }
    let json: serde_json::Value = serde_json::from_str(&doctor_json(&hosts, None, &[])).unwrap();
    let layers = json["hosts"][0]["coverage"].as_array().unwrap();
    let layer = layers.iter().find(|layer| layer["layer"] == "dm-3 (device mapper cache)").unwrap();
    assert_eq!(layer["has_rules"], false);
    let drive = layers.iter().find(|layer| layer["layer"] == "sda (scsi disk)").unwrap();
    assert_eq!(drive["missing"][0], "its model, which shows whether the drive is shingled");
}
