//! The search for caps, as a user runs it: what is refused, recorded and told again. What it finds
//! is decided in virtual time in `crates/run`, and in real time by `cargo xtask measure`.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::ffi::OsString;
use std::fs;
use std::sync::LazyLock;

use insta::assert_snapshot;
use serde_json::Value;
use support::{Desk, Said, azure};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A record's files, and what was found.
type Searched = (Vec<(OsString, Vec<u8>)>, Value);

/// A desk with the record of a search in `out`, which is made once, and what was found.
fn searched() -> (Desk, &'static Value) {
    static SEARCHED: LazyLock<Searched> = LazyLock::new(|| {
        let desk = Desk::new();
        let stack = "disk=mem(size=64M) + throttle(iops=2000)";
        let said = desk.run(&["limits", stack, "--quick", "--format", "json", "-o", "out"]);
        assert_told(&said);
        let files = fs::read_dir(desk.path().join("out")).unwrap().map(Result::unwrap);
        let files = files.map(|file| (file.file_name(), fs::read(file.path()).unwrap()));
        (files.collect(), json(&said.out))
    });
    let (files, found) = &*SEARCHED;
    let desk = Desk::new();
    fs::create_dir(desk.path().join("out")).unwrap();
    for (name, bytes) in files {
        fs::write(desk.path().join("out").join(name), bytes).unwrap();
    }
    (desk, found)
}

/// A busy machine may end a search early: that has an exit code of its own, and results.
fn assert_told(said: &Said) {
    assert!([0, 3].contains(&said.code) && said.err.is_empty(), "{said}");
}

#[test]
fn what_was_found_is_recorded_and_reported_again() {
    let (desk, found) = searched();
    let again = desk.run(&["report", "out", "--format", "json"]);
    assert_eq!(json(&again.out), *found, "{}", again.err);
    let page = fs::read_to_string(desk.path().join("out/report.html")).unwrap();
    for part in ["By queue depth", "ladder-iops", "Content-Security-Policy", "default-src 'none'"] {
        assert!(page.contains(part), "{part}");
    }
    let text = desk.run(&["report", "out"]);
    assert!(text.out.lines().all(|line| line.chars().count() <= 80), "{}", text.out);
    let csv = desk.run(&["report", "out", "--format", "csv"]);
    assert!(csv.out.starts_with("target,purpose,block_bytes"), "{}", csv.out);
    let markdown = desk.run(&["report", "out", "--format", "markdown"]);
    assert!(markdown.out.contains("| cap | "), "{}", markdown.out);
}

#[test]
fn a_cap_that_breaks_a_rule_is_told_first_and_is_exit_code_1() {
    let (desk, found) = searched();
    // A busy machine may have ended the search before it came to this cap.
    if found["targets"][0]["iops"]["kind"] != "throttle" {
        return;
    }
    let report = |more: &[&str]| desk.run(&[&["report", "out"], more].concat());
    let broken = ["--fail-if", "iops < 1M", "--fail-if", "disk: iops > 1M"];
    let said = report(&broken);
    assert_eq!(said.code, 1, "{said}");
    let told: Vec<&str> = said.out.lines().filter(|line| line.contains("Rule ")).collect();
    assert!(told[0].starts_with("  Rule broken: `iops < 1000000`: disk reaches "), "{said}");
    assert!(told[1].starts_with("  Rule passed: `disk: iops > 1000000`: disk reaches "), "{said}");
    let said = report(&[&broken[..], &["--format", "junit"]].concat());
    assert_eq!(said.code, 1, "{said}");
    assert!(said.out.contains("tests=\"2\"") && said.out.contains("failures=\"1\""), "{said}");
    assert!(said.err.starts_with("Rule broken: "), "{said}");
    let said = report(&[&broken[2..], &["--format", "github"]].concat());
    assert!(
        said.code == 0 && said.out.starts_with("::notice title=iotax::Rule passed: "),
        "{said}"
    );

    // Nothing is documented of a stack in memory, and of other disks something is.
    let below = ["--fail-if", "below documented by 5%"];
    let said = report(&below);
    assert!(said.code == 6 && said.out.contains("Rule undecided: "), "{said}");
    for (undecided, code) in [("pass", 0), ("fail", 1)] {
        let said = report(&[&below[..], &["--undecided", undecided, "--format", "json"]].concat());
        assert_eq!((said.code, &json(&said.out)["undecided"]), (code, &1.into()), "{said}");
    }
    for (disk, code) in [("P30", 1), ("P10", 0)] {
        let path = desk.path().join("out/limits.json");
        let mut head = json(&fs::read_to_string(&path).unwrap());
        head["opened"]["cloud"]["disks"] = serde_json::json!([disk]);
        head["limits"]["fail_if"] = serde_json::json!(["below documented by 5%"]);
        fs::write(&path, head.to_string()).unwrap();
        let said = report(&["--format", "json"]);
        assert_eq!(said.code, code, "{disk}: {said}");
        let rules = &json(&said.out)["rules"];
        assert_eq!(rules[0]["quantity"], "iops", "{rules:#}");
    }
}

#[test]
fn rules_that_no_cap_can_break_are_refused_before_anything_is_measured() {
    let desk = Desk::new();
    let refused = |more: &[&str]| {
        let said = desk.run(&[&["limits", "disk=mem(size=64M)"], more].concat());
        assert!(said.out.is_empty(), "{}", said.out);
        format!("{}\n{}", said.code, said.err)
    };
    assert_snapshot!(refused(&["--fail-if", "sync.p99 > 10ms"]), @"
    2
    error: option --fail-if: `sync.p99 > 10ms`: a search finds only caps
    use 'iops < 5000', 'bandwidth < 100M' or 'below documented by 5%', optionally preceded by a target and a colon
    ");
    assert_snapshot!(refused(&["--fail-if", "slower by 5%"]), @"
    2
    error: option --fail-if: `slower by 5%`: a search finds only caps
    use 'iops < 5000', 'bandwidth < 100M' or 'below documented by 5%', optionally preceded by a target and a colon
    ");
    assert_snapshot!(refused(&["--fail-if", "log: iops < 5000"]), @"
    2
    error: option --fail-if: unknown target `log`
    known targets: disk
    ");
    assert_snapshot!(refused(&["--format", "junit"]), @"
    2
    error: --format junit shows the outcome of rules, but there are none; add --fail-if
    ");
    let run = ["run", "randread-4k", "mem(size=16M)", "--fail-if", "below documented by 5%"];
    assert_snapshot!(desk.run(&run).err, @"
    error: option --fail-if: `below documented by 5%` applies to caps, which only `iotax limits` searches for
    use `iotax limits`
    ");
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_made() {
    let desk = Desk::new();
    fs::write(desk.path().join("small"), [0; 8192]).unwrap();
    let refused = |args: &[&str]| {
        let said = desk.run(&[&["limits"], args].concat());
        assert!(said.out.is_empty(), "{}", said.out);
        format!("{}\n{}", said.code, said.err)
    };
    assert_snapshot!(refused(&["/nowhere"]), @"
    2
    error: arm /nowhere: /nowhere: does not exist; create the directory first, or check the spelling
    ");
    assert_snapshot!(refused(&["mem + delay(latncy=1ms)"]), @"
    2
    error: unknown parameter `latncy`; did you mean `latency`?
      mem + delay(latncy=1ms)
                  ^^^^^^ column 13
    known parameters: latency, jitter
    ");
    assert_snapshot!(refused(&["small"]), @"
    2
    error: small: too small for a cap search; use a target of at least 64 MiB
    ");
    assert_snapshot!(refused(&["small", "--write"]), @"
    2
    error: arm small: DESK/small: the workload writes, but iotax did not create this file; name its directory instead, or a file that does not exist yet
    ");
    assert_snapshot!(refused(&["mem", "--vm", "Standard_DS1_v"]), @"
    2
    error: unknown VM size `Standard_DS1_v`: did you mean Standard_DS1_v2?
    ");
    assert_snapshot!(refused(&["mem", "mem", "mem", "--disk", "P10", "--disk", "P20"]), @"
    2
    error: --disk is given 2 times for 3 targets; give it once for all targets, or once for each target in order
    ");
    assert_snapshot!(refused(&["mem", "--burst=soon"]), @"
    2
    error: option --burst: `soon` is not a duration: it does not start with a digit
    specify a duration as 500ns, 200us, 2ms, 5s or 1m
    ");
    assert_snapshot!(refused(&["mem", "--burst=0"]), @"
    2
    error: option --burst: the time is 0; give a longer time, or leave the option out
    ");
    assert_snapshot!(refused(&["mem", "--out", "small/results"]), @"
    2
    error: cannot write results to small/results: small is not a directory; choose another directory with --out
    ");
    assert_snapshot!(refused(&["mem", "--burst=1m", "--pauses", "1s,never"]), @"
    2
    error: option --pauses: `never` is not a duration: it does not start with a digit
    specify a duration as 500ns, 200us, 2ms, 5s or 1m
    ");
    assert_snapshot!(refused(&["mem", "--caching", "sometimes", "--disk", "P10"]), @"
    2
    error: --caching sometimes: use none, readonly or readwrite
    ");
    assert_snapshot!(refused(&["mem", "--size", "big"]), @"
    2
    error: option --size: `big` is not a size: it does not start with a digit
    specify a size as 4k, 64M, 2G or 4096 (suffixes are powers of 1024)
    ");
}

#[test]
fn an_edited_record_is_not_taken_for_what_was_measured() {
    let (desk, _) = searched();
    let path = desk.path().join("out/probes.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let without_third: Vec<&str> =
        text.lines().enumerate().filter(|(at, _)| *at != 2).map(|(_, line)| line).collect();
    fs::write(&path, without_third.join("\n") + "\n").unwrap();
    let again = desk.run(&["report", "out", "--format", "json"]);
    let notes = json(&again.out)["notes"].to_string();
    assert!(notes.contains("or the record was edited"), "{notes}");
    fs::remove_file(desk.path().join("out/found.json")).unwrap();
    let again = desk.run(&["report", "out"]);
    assert_eq!(again.code, 3, "{}", again.out);
    assert!(
        again.err.contains("the probes in this record do not match its cap search"),
        "{}",
        again.err
    );
}

#[test]
fn a_disk_that_is_named_is_held_against_its_documented_limits() {
    let desk = Desk::new();
    let p10 = ["limits", "mem(size=64M) + throttle(iops=500)", "--disk", "P10", "--quick"];
    let rule = ["--fail-if", "below documented by 5%", "--format", "json", "-o", "out"];
    let said = desk.run(&[&p10[..], &rule].concat());
    assert_eq!(said.code, 0, "{said}");
    let found = json(&said.out);
    assert_eq!(found["disks"], json("[\"P10\"]"));
    let iops = &found["documented"][0];
    assert_eq!(iops["limits"][0]["of"], "P10", "{}", said.out);
    assert_eq!((&iops["limits"][0]["per_s"], &iops["binds"]), (&json("500.0"), &json("0")));
    assert_eq!(found["rules"][0]["outcome"], "pass", "{}", said.out);
}

#[test]
fn a_directory_of_a_vm_is_compared_with_the_limits_of_its_size() {
    let desk = Desk::new();
    fs::create_dir(desk.path().join("data")).unwrap();
    let has_disk = azure::link(desk.path(), "root");
    let address = azure::metadata_service(azure::VM).to_string();
    let args = ["limits", "data", "--quick", "--size", "64M", "--metadata-address", &address];
    let output = ["--disk-links", "links", "--format", "json", "-o", "out"];
    let said = desk.run(&[&args[..], &output].concat());
    assert_told(&said);
    let found = json(&said.out);
    assert_eq!(
        (&found["vm"], &found["vm_from"]),
        (&json("\"Standard_DS1_v2\""), &json("\"metadata\""))
    );
    assert_eq!(found["instance"]["region"], "westeurope");
    let limits = found["documented"][0]["limits"].as_array().expect(&said.out);
    assert!(limits.iter().any(|limit| limit["of"] == "Standard_DS1_v2"), "{}", said.out);
    let note = "data is on the VM's OS disk, which shares the VM's limits with the data disks";
    assert_eq!(found["notes"].to_string().contains(note), has_disk, "{}", said.out);
    let again = desk.run(&["report", "out"]);
    let head = again.out.split("\n\n").next().unwrap().replace('\n', " ");
    let told = "; on Standard_DS1_v2 (from Azure's metadata service)";
    assert!(head.ends_with(told), "{head}");
}

#[test]
fn a_cut_search_says_so_and_shows_what_it_has() {
    let (desk, _) = searched();
    let probes = desk.path().join("out/probes.jsonl");
    let whole = fs::read_to_string(&probes).unwrap();
    fs::write(&probes, &whole[..whole.len() - 50]).unwrap();
    for (command, gaps) in
        [(&["report", "out"][..], "/notes"), (&["doctor", "--record", "out"], "/gaps")]
    {
        let said = desk.run(&[command, &["--format", "json"]].concat());
        assert_eq!(said.code, 0, "{said}");
        assert!(said.err.contains("ends in the middle of a probe"), "{said}");
        let result = json(&said.out);
        let gaps = result.pointer(gaps).unwrap().to_string();
        assert!(gaps.contains("in the middle of a probe"), "{gaps}");
    }
    assert!(desk.path().join("out/report.html").exists());
}
