//! Trims from the command line to the report, the JSON and a bundle for fio.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::fs;

use serde_json::Value;
use support::Desk;

const LOAD: [&str; 8] =
    ["--set", "size=4M", "--set", "direct=false", "--time", "300ms", "--ramp", "0"];

fn desk() -> Desk {
    let desk = Desk::new();
    fs::create_dir(desk.path().join("d")).unwrap();
    desk
}

#[test]
fn trims_are_measured_and_told_apart_from_writes() {
    let desk = desk();
    for (rw, writes, bundle) in [("randtrim", false, "one"), ("trimwrite", true, "two")] {
        let rw = format!("rw={rw}");
        let options =
            ["run", "randwrite-4k", "d", "--set", &rw, "--out", "out", "--format", "json"];
        let rule = ["--fail-if", "trim.mean > 1h"];
        let said = desk.run(&[&options[..], &LOAD, &rule].concat());
        assert_eq!(said.code, 0, "{said}");
        let json: Value = serde_json::from_str(&said.out).unwrap();
        let job = &json["jobs"][0];
        let ios = |kind: &str| job[kind]["total_ios"].as_u64().unwrap();
        assert!(ios("trim") > 0 && ios("read") == 0, "{rw}: {job:#}");
        assert_eq!(ios("write") > 0, writes, "{rw}");
        assert!(job["trim"]["clat_ns"]["mean"].as_f64().unwrap() > 0.0);
        let report = desk.run(&["report", "out"]);
        assert_eq!(report.code, 0, "{report}");
        // A bundle says that fio trims devices alone.
        let said = desk.run(&["repro", "out", "--out", bundle]);
        assert_eq!(said.code, 0, "{said}");
        let readme = fs::read_to_string(desk.path().join(bundle).join("README.md")).unwrap();
        assert!(readme.contains("fio can trim only block devices"), "{readme}");
        let jobs = fs::read_dir(desk.path().join(bundle)).unwrap().flatten();
        let texts = jobs.filter_map(|entry| fs::read_to_string(entry.path()).ok());
        assert!(texts.into_iter().any(|text| text.contains(&rw)), "{rw}");
        fs::remove_dir_all(desk.path().join("out")).unwrap();
        fs::remove_dir_all(desk.path().join(bundle)).unwrap();
    }
}

#[test]
fn trims_are_refused_as_writes_are_and_where_there_are_none() {
    let desk = desk();
    fs::write(desk.path().join("their.img"), vec![7; 4 << 20]).unwrap();
    let of = |target: &str, rw: &str| {
        let rw = format!("rw={rw}");
        let said = desk.run(
            &[&["run", "randwrite-4k", target, "--set", &rw, "--out", "out"][..], &LOAD].concat(),
        );
        assert!(said.code != 0, "{said}");
        said.err
    };
    assert_eq!(of("./their.img", "randtrim"), of("./their.img", "randwrite"));
    assert_eq!(of("./their.img", "trimwrite"), of("./their.img", "randwrite"));
    assert!(fs::read(desk.path().join("their.img")).unwrap().iter().all(|byte| *byte == 7));
    insta::assert_snapshot!(of("mem(size=16M)", "trim"), @r#"
    error: arm `target`, job `io`: trim: mem(size=16M) is simulated inside iotax and does not support trims
    trim a file, a block device, or a file system on the stack: vdisk(stack="...") + ext4
    "#);
}
