//! Anything saved compares with anything saved: directories, JSON of runs, files of other tools.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::{Value, json};
use support::{Desk, Said};

const DISKSPD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dialects/tests/fixtures/diskspd");
const UPDATE: &str = "UPDATE_EXAMPLES";

/// A result of fio: name, order, block size and I/Os per second of each job.
fn fio(desk: &Desk, name: &str, jobs: &[(&str, &str, u64, u64)]) {
    let jobs: Vec<Value> = jobs
        .iter()
        .enumerate()
        .map(|(group, (name, order, block, iops))| {
            let done = json!({
                "io_kbytes": iops * 60 * block / 1024, "io_bytes": iops * 60 * block,
                "bw_bytes": iops * block, "iops": iops, "runtime": 60_000, "total_ios": iops * 60
            });
            let none = json!({ "io_kbytes": 0, "io_bytes": 0, "iops": 0, "total_ios": 0 });
            let is_read = order.ends_with("read");
            let (read, write) = if is_read { (&done, &none) } else { (&none, &done) };
            json!({
                "jobname": name, "groupid": group, "error": 0, "job_runtime": 60_000,
                "job options": { "rw": order, "bs": block.to_string(), "iodepth": "32" },
                "read": read, "write": write
            })
        })
        .collect();
    let text = json!({ "fio version": "fio-3.35", "jobs": jobs }).to_string();
    fs::write(desk.path().join(name), text).unwrap();
}

/// Runs a workload in memory for a moment, and keeps the results in `out`.
fn run(desk: &Desk, out: &str, more: &[&str]) -> Said {
    let args = ["run", "randread-4k", "mem(size=16M)", "--time", "100ms", "--ramp", "0ms", "-q"];
    let said = desk.run(&[&args[..], &["--out", out], more].concat());
    assert_eq!(said.code, 0, "{said}");
    said
}

fn compared(said: &Said) -> Value {
    assert!(said.code < 2, "{said}");
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error} in {said}"))
}

/// The beginning of a report: what is said of all jobs together.
fn head(said: &Said) -> String {
    assert!(said.code < 2, "{said}");
    said.out.split("\nJob 1 of").next().unwrap().to_owned()
}

#[test]
fn directories_runs_and_files_of_other_tools_are_compared_with_each_other() {
    let desk = Desk::new();
    run(&desk, "monday", &["-n", "2"]);
    let json = run(&desk, "tuesday", &["--format", "json"]).out;
    fs::write(desk.path().join("tuesday.json"), json).unwrap();
    fio(&desk, "fio.json", &[("reads", "randread", 4096, 1000)]);
    fs::copy(Path::new(DISKSPD).join("before.xml"), desk.path().join("diskspd.xml")).unwrap();
    let arms = ["old=monday", "old=tuesday.json", "new=fio.json,diskspd.xml"];
    let said = desk.run(&[&["compare", "--format", "json", "--out", "out"], &arms[..]].concat());
    let result = compared(&said);
    assert_eq!(result["comparisons"].as_array().unwrap().len(), 1, "{result:#}");
    let first = &result["comparisons"][0];
    assert_eq!((&first["arm"], &first["blocks"]), (&"new".into(), &2.into()), "{result:#}");
    // Three trials of the old ones are two results.
    assert_eq!(result["trials"].as_array().unwrap().len(), 5);
    let again = desk.run(&["report", "out", "--format", "json"]);
    assert_eq!(compared(&again)["comparisons"], result["comparisons"]);

    // What was compared can be compared again, the trials of one arm with those of another too.
    let said = desk.run(&["compare", "out#old", "out#new", "--out", "again", "--format", "json"]);
    let again = compared(&said);
    assert_eq!(again["comparisons"][0]["tax"], first["tax"], "{again:#}");
    let directories = desk.run(&["compare", "monday", "tuesday", "--out", "both"]);
    assert!(directories.out.contains("2 results of iotax"), "{directories}");
    let twice = desk.run(&["compare", "a=tuesday,tuesday.json", "b=monday", "--out", "no"]);
    assert_snapshot!(twice, @"");
}

#[test]
fn trials_within_one_result_each_tell_only_of_these_two() {
    let desk = Desk::new();
    run(&desk, "one", &["-n", "3"]);
    run(&desk, "two", &["-n", "3"]);
    let said = desk.run(&["compare", "one", "two", "--out", "out"]);
    assert!(said.out.contains("and nothing says what another run would"), "{said}");
    let result = compared(&desk.run(&["report", "out", "--format", "json"]));
    let first = &result["comparisons"][0];
    assert!(first["lo"].is_null() && first["within"]["lo"].is_number(), "{first:#}");
    assert_eq!((&first["verdict"], &first["blocks"]), (&"undecided".into(), &1.into()));
}

#[test]
fn every_job_has_its_verdict_and_the_gate_looks_at_all_of_them() {
    let desk = Desk::new();
    for (name, writes) in [("old", 1000), ("new", 700)] {
        for day in 1..4 {
            let jobs = [
                ("read", "randread", 4096, 2000 + day),
                ("write", "randwrite", 4096, writes + day),
                (if name == "old" { "trim" } else { "verify" }, "randwrite", 512, 10),
            ];
            fio(&desk, &format!("{name}{day}.json"), &jobs);
        }
    }
    let args = ["compare", "old=old1.json,old2.json,old3.json", "--out", "out"];
    let args = [&args[..], &["new=new1.json", "new=new2.json", "new=new3.json"]].concat();
    let said = desk.run(&[&args[..], &["--fail-if", "slower by 5%"]].concat());
    assert_eq!(said.code, 1, "{said}");
    assert_snapshot!(head(&said), @"");
    let page = fs::read_to_string(desk.path().join("out/report.html")).unwrap();
    assert!(page.contains("report-2.html") && page.contains("only old has it: trim"), "{page}");
    let markdown = desk.run(&["report", "out", "--format", "markdown"]).out;
    assert!(markdown.contains("| write "), "{markdown}");
}

#[test]
fn jobs_of_other_names_are_matched_by_what_they_do() {
    let desk = Desk::new();
    fio(&desk, "a.json", &[("r", "randread", 4096, 100), ("w", "write", 65_536, 50)]);
    fio(&desk, "b.json", &[("seq", "write", 65_536, 40), ("rnd", "randread", 4096, 100)]);
    let said = desk.run(&["compare", "a.json", "b.json", "--out", "out"]);
    assert_snapshot!(head(&said), @"");
}

#[test]
fn each_group_has_a_baseline_of_its_own() {
    let desk = Desk::new();
    for (name, iops) in [("aks", 586), ("c-azure", 588), ("gke", 5949), ("c-gcp", 5344)] {
        fio(&desk, &format!("{name}.json"), &[("read", "randread", 4096, iops)]);
    }
    let files = ["aks.json", "c-azure.json", "gke.json", "c-gcp.json", "--out", "out"];
    let paired = |pairs: &[&str]| desk.run(&[&["compare"], &files[..], pairs].concat());
    let said = paired(&["--pair", "aks,c-azure", "--pair", "gke,c-gcp"]);
    assert_eq!(said.code, 0, "{said}");
    assert_snapshot!(said.out.split("Arms").next().unwrap(), @"");
    let result = compared(&desk.run(&["report", "out", "--format", "json"]));
    assert_eq!(result["comparisons"][1]["against"], "gke", "{result:#}");
    fs::remove_dir_all(desk.path().join("out")).unwrap();
    assert_snapshot!(paired(&["--pair", "aks,azure"]), @"");
    let live = ["compare", "-w", "randread-4k", "a=mem(size=1M)", "b=mem(size=1M)", "--pair", "a,b"];
    assert_snapshot!(desk.run(&live), @"");
}

#[test]
fn recorded_cells_make_a_matrix() {
    let desk = Desk::new();
    for (sec, share) in [("sys", 100), ("krb5", 70), ("krb5p", 30)] {
        for (connections, factor) in [("1", 10), ("4", 16)] {
            for day in 0..3 {
                let iops = share * factor + day * 2;
                let name = format!("{sec}-{connections}-{day}.json");
                if name != "krb5p-4-0.json" {
                    fio(&desk, &name, &[("read", "randread", 4096, iops)]);
                }
            }
        }
    }
    for day in 1..3 {
        fs::remove_file(desk.path().join(format!("krb5p-4-{day}.json"))).unwrap();
    }
    let factors = ["--matrix", "sec=sys,krb5,krb5p", "--matrix", "nconnect=1,4"];
    let files = "{sec}-{nconnect}-0.json,{sec}-{nconnect}-1.json,{sec}-{nconnect}-2.json";
    let said = desk.run(&[&["compare", "--out", "out", files], &factors[..]].concat());
    assert_eq!(said.code, 0, "{said}");
    assert_snapshot!(said.out.split("Tax").next().unwrap(), @"");
    let excluded = ["compare", "--out", "out2", files, "--exclude", "sec=krb5p,nconnect=4"];
    let said = desk.run(&[&excluded[..], &factors].concat());
    assert!(said.code == 0 && !said.out.contains("no result of"), "{said}");
}

#[test]
fn results_are_never_driven_at() {
    let desk = Desk::new();
    run(&desk, "saved", &[]);
    let before = desk.names();
    let files = || fs::read_dir(desk.path().join("saved")).unwrap().count();
    let held = files();
    fs::create_dir(desk.path().join("saved/sub")).unwrap();
    let said = |args: &[&str]| desk.run(args).to_string();
    assert_snapshot!(said(&["run", "randread-4k", "saved"]), @"");
    assert_snapshot!(said(&["run", "randread-4k", "saved/sub/file"]), @"");
    assert_snapshot!(said(&["compare", "-w", "randread-4k", "saved", "saved/"]), @"");
    assert_snapshot!(said(&["compare", "-w", "randread-4k", "saved/sub", "mem(size=1M)"]), @"");
    assert_snapshot!(said(&["compare", "saved/experiment.json", "saved"]), @"");
    for args in [
        &["run", "randread-4k", "saved/trials.jsonl"][..],
        &["run", "randread-4k", "file(path=saved/x, size=1M)"],
        &["run", "randread-4k", "dir(path=saved)"],
        &["run", "randread-4k", "file(size=1M) + aes", "--dir", "saved"],
        &["peel", "file(path=saved/x, size=1M) + aes"],
        &["peel", "file(size=1M) + aes", "--dir", "saved/sub"],
        &["limits", "saved"],
        &["limits", "saved/sub"],
        &["plan", "run", "randread-4k", "saved"],
        &["disk", "up", "--dir", "saved", "at=file(size=1M)"],
        &["disk", "up", "saved/sub=mem(size=1M)"],
    ] {
        let said = desk.run(args);
        assert!(said.code == 2 && said.err.contains("no load is driven there"), "{args:?} {said}");
    }
    fs::remove_dir(desk.path().join("saved/sub")).unwrap();
    assert_eq!((desk.names(), files()), (before, held));
}

/// Runs the command of an example in `docs/examples`, on its files, and compares what it prints with
/// what is kept there.
fn example(name: &str, args: &[&str], cells: &[&str]) {
    let desk = Desk::new();
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples").join(name);
    for entry in fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            fs::copy(&path, desk.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    let said = desk.run(&[args, &["--out", "out"]].concat());
    assert_eq!(said.code, 0, "{said}");
    for (format, file) in [("text", "summary.txt"), ("markdown", "summary.md")] {
        let said = desk.run(&["report", "out", "--format", format]);
        let shown = said.out.split("\nReport: ").next().unwrap().to_owned();
        let kept = dir.join(file);
        if std::env::var_os(UPDATE).is_some() {
            fs::write(&kept, &shown).unwrap();
        }
        assert!(
            fs::read_to_string(&kept).unwrap_or_default() == shown,
            "{} is out of date: {UPDATE}=1 cargo test -p iotax --test saved_results",
            kept.display()
        );
    }
    let page = fs::read_to_string(desk.path().join("out/report.html")).unwrap();
    let missing: Vec<&&str> = cells.iter().filter(|cell| !page.contains(**cell)).collect();
    assert!(missing.is_empty(), "{missing:?} are not in the page");
}

#[test]
fn eight_cells_of_encrypted_volumes_come_from_four_results() {
    let args = ["compare", "--pair", "aks,c-azure", "--pair", "gke,c-gcp"];
    let files = ["aks.json", "c-azure.json", "gke.json", "c-gcp.json"];
    let cells = [
        "588 / 586 IOPS (+0.3 %)",
        "5,344 / 5,949 IOPS (−10 %)",
        "579 / 566 IOPS (+2.3 %)",
        "5,251 / 5,931 IOPS (−11 %)",
        "120 / 145 MiB/s (−17 %)",
        "240 / 241 MiB/s (−0.4 %)",
        "121 / 143 MiB/s (−15 %)",
        "238 / 241 MiB/s (−1.2 %)",
    ];
    example("encrypted-volumes", &[&args[..], &files].concat(), &cells);
}

#[test]
fn the_matrix_of_nfs_with_kerberos_comes_from_recorded_results() {
    let args = ["compare", "--matrix", "sec=sys,krb5,krb5i,krb5p", "{sec}.json"];
    let cells = ["−53 %", "−55 %", "−77 %", "+200 µs", "+600 µs", "+1.60 ms", "−85 %"];
    example("nfs-kerberos", &args, &cells);
}
