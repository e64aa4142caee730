//! Whatever is printed has one unit of bandwidth, which heads say: no table makes its reader
//! convert.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use common::{analyses, troubled};
use iotax_analyze::Analysis;
use iotax_catalog::{Caching, Cloud, Setup, attached_disk, disk, disk_names, expect, vms_like};
use iotax_diagnose::{coverage, findings};
use iotax_experiment::CloudChoice;
use iotax_record::{ExperimentHead, HostRole};
use iotax_report::bundle::{Step, bundle};
use iotax_report::{
    DoctorDetail, Document, HostFindings, SearchResult, Style, catalog_disks, catalog_plan,
    catalog_vms, doctor, experiments, html, markdown, search, text,
};
use regex::Regex;

/// The units of bandwidth in a text; the letters before them are those of iostat's heads.
fn units(text: &str) -> BTreeSet<String> {
    static UNIT: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?:^|[^A-Za-z])[rwd]?([kKMGT]?i?B/s)").unwrap());
    UNIT.captures_iter(text).map(|found| found[1].to_owned()).collect()
}

/// What people read of a page: without scripts, their data and styles.
fn shown(page: &str) -> String {
    Regex::new(r"(?s)<(script|style)\b.*?</(script|style)>").unwrap().replace_all(page, "").into()
}

/// Text, Markdown and HTML.
fn rendered(document: &Document) -> [String; 3] {
    let text = text(document, Style::default());
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    [text, markdown(document), shown(&html(document))]
}

/// All of a report is in this unit, and no cell of a table repeats it beside its figure.
fn assert_in(unit: &str, report: &str) {
    assert_eq!(units(report).into_iter().collect::<Vec<_>>(), [unit], "{report}");
    let cell = Regex::new(r"(\| |<td[^>]*>)[0-9.,]+ [kKMGT]?i?B/s( \||</td>)").unwrap();
    assert!(!cell.is_match(report), "{report}");
}

/// With rates from a slow disk's to memory's.
fn measured() -> Vec<(ExperimentHead, Analysis)> {
    let mut parts = vec![
        (common::run(), analyses::run()),
        (common::peel(), analyses::peel()),
        (common::compare(), analyses::compare()),
        (common::compare(), troubled::masked()),
        (common::compare(), common::machine::compare()),
    ];
    for (_, analysis) in &mut parts {
        let jobs = analysis.arms.iter_mut().flat_map(|arm| &mut arm.other_jobs);
        jobs.for_each(|job| job.bytes_per_s = 4.1e3);
        if let [first, .., last] = analysis.arms.as_mut_slice() {
            (first.bytes_per_s, last.bytes_per_s) = (20e9, 512.0);
        }
    }
    parts
}

#[test]
fn what_was_measured_is_in_mib_per_s() {
    let parts = measured();
    for one in parts.chunks(1).chain([parts.as_slice()]) {
        for report in rendered(&experiments("all", one)) {
            assert_in("MiB/s", &report);
        }
    }
}

#[test]
fn a_bundle_is_in_the_unit_of_the_report_it_is_from() {
    let (experiment, analysis) = measured().swap_remove(2);
    let arms = experiment.spec.arms.iter();
    let step = |arm: String| Step { block: 0, phase: 0, arm, seed: 1 };
    let steps: Vec<_> = arms.map(|arm| step(arm.name.clone())).collect();
    let made = bundle(&experiment, &[(experiment.clone(), analysis)], &steps, &[]).unwrap();
    for path in ["expected.txt", "run.sh"] {
        let file = made.files.iter().find(|file| file.path == path).unwrap();
        assert_in("MiB/s", &file.text);
    }
}

#[test]
fn caps_are_in_the_unit_of_the_limits_beside_them() {
    const MIB: f64 = 1_048_576.0;
    for (known, unit) in [
        (&[][..], "MiB/s"),
        (&[100e6, 32_768_000.0], "MB/s"),
        (&[125.0 * MIB, 250.0 * MIB], "MiB/s"),
        (&[125.0 * MIB, 593.75e6], "MB/s"),
    ] {
        let (head, caps) = &common::search::search(known);
        for report in rendered(&search(SearchResult { head, caps, end: None })) {
            assert_in(unit, &report);
        }
    }
}

/// The tables and lists of a page.
fn blocks(page: &str) -> impl Iterator<Item = &str> {
    page.split("\n\n")
}

/// Fails if a table or a list of the page has several units.
fn assert_each_in_one(page: &str) {
    for block in blocks(page) {
        assert!(units(block).len() <= 1, "{block}\n\nof\n\n{page}");
    }
}

#[test]
fn a_table_of_the_catalog_has_one_unit() {
    for cloud in Cloud::ALL {
        for vm in vms_like(cloud, "") {
            assert_each_in_one(&text(&catalog_vms(&[vm]), Style::default()));
        }
        for name in disk_names(cloud) {
            assert_each_in_one(&text(&catalog_disks(&[disk(&name).unwrap()]), Style::default()));
        }
    }
    let plans: [(Option<&str>, &[&str]); 4] = [
        (Some("m5.large"), &["gp3:size=500G,iops=6000,bw=250M", "st1:size=2T"]),
        (Some("Standard_E16ds_v4"), &["P30", "E10"]),
        (Some("n1-standard-16"), &["pd-ssd:size=333G", "pd-standard:size=100G"]),
        (None, &["gp3:size=500G", "io2:size=1T,iops=16000"]),
    ];
    for (vm, disks) in plans {
        let disks = disks.iter().map(|disk| attached_disk(disk, Caching::None).unwrap());
        let vm = vm.map(str::to_owned);
        let setup = Setup { vm, variant: None, disks: disks.collect() };
        let page = text(&catalog_plan(&expect(&setup).unwrap()), Style::default());
        let tables = blocks(&page).filter(|block| block.contains("sustained"));
        let all: BTreeSet<String> = tables.flat_map(units).collect();
        assert_eq!(all.len(), 1, "{page}");
    }
}

#[test]
fn the_doctor_has_one_unit() {
    let machines = Path::new(env!("CARGO_MANIFEST_DIR")).join("../diagnose/tests/machines");
    let mut with_rates = 0;
    for entry in std::fs::read_dir(machines).unwrap().map(Result::unwrap) {
        if entry.path().extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let machine = std::fs::read(entry.path()).unwrap();
        let machine = serde_json::from_slice(&machine).unwrap();
        let findings = findings(&machine, &CloudChoice::default());
        let coverage = coverage(&machine, &CloudChoice::default());
        let host = HostFindings { role: HostRole::Local, machine, findings, coverage };
        let page = doctor(&[host], None, DoctorDetail::Whole);
        let page = text(&page, Style::default());
        let units = units(&page);
        assert!(units.len() <= 1, "{units:?} in {page}");
        with_rates += units.len();
    }
    assert!(with_rates > 5, "machines with rates: {with_rates}");
}
