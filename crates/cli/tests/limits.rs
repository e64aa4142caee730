//! The search for caps, as a user runs it: on disks of this process, in real time.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use insta::assert_snapshot;
use iotax_testing::skipped;
use serde_json::Value;
use support::{Desk, azure};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

/// What sets caps and buckets is decided in virtual time elsewhere; here it is about the whole way.
/// Figures have room: a busy machine serves less than a cap allows, and never more.
#[test]
fn caps_are_found_recorded_and_reported_again() {
    let desk = Desk::new();
    let stack = "disk=mem(size=256M) + throttle(iops=400, bw=10M) + delay(latency=2ms)";
    let said = desk.run(&["limits", stack, "--quick", "--format", "json", "-o", "out", "-q"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
    let found = json(&said.out);
    let target = &found["targets"][0];
    let within = |cap: &Value, truth: f64| {
        let (lo, hi) = (0.75 * truth, 1.03 * truth);
        let is_cap = (lo..=hi).contains(&number(&cap["cap"]));
        is_cap && number(&cap["lo"]) <= number(&cap["cap"]) && cap["kind"].is_string()
    };
    assert!(within(&target["iops"], 400.0), "{}", said.out);
    assert!(within(&target["bw_bytes"], 10.0 * 1_048_576.0), "{}", said.out);
    assert_eq!(target["second_pass"]["hits"], false, "{}", said.out);

    let again = desk.run(&["report", "out", "--format", "json"]);
    assert_eq!(json(&again.out), found, "{}", again.err);
    let page = std::fs::read_to_string(desk.path().join("out/report.html")).unwrap();
    for part in ["Over queue depth", "ladder-iops", "Content-Security-Policy", "default-src 'none'"]
    {
        assert!(page.contains(part), "{part}");
    }
    let text = desk.run(&["report", "out"]);
    for part in ["capped at", "Caps, with 95 % intervals", "Throughput over block size"] {
        assert!(text.out.to_lowercase().contains(&part.to_lowercase()), "{}", text.out);
    }
    assert!(text.out.lines().all(|line| line.chars().count() <= 80), "{}", text.out);
    let csv = desk.run(&["report", "out", "--format", "csv"]);
    assert!(csv.out.starts_with("target,purpose,block_bytes"), "{}", csv.out);
    let markdown = desk.run(&["report", "out", "--format", "markdown"]);
    assert!(markdown.out.contains("| cap | "), "{}", markdown.out);
}

#[test]
fn two_targets_on_one_bucket_are_seen_to_share_it() {
    let desk = Desk::new();
    let stack = |name: &str| {
        format!("{name}=mem(size=256M) + delay(latency=2ms) + throttle(iops=300, group=common)")
    };
    let (a, b) = (stack("a"), stack("b"));
    let said = desk.run(&["limits", &a, &b, "--quick", "--format", "json", "-q"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
    let found = json(&said.out);
    assert_eq!(found["sharing"].as_array().map(Vec::len), Some(1), "{}", said.out);
    let sharing = &found["sharing"][0];
    assert_eq!(sharing["quantity"], "iops");
    // A machine so busy that the interval is too wide may leave it open, and never says otherwise.
    let verdict = sharing["verdict"].as_str().unwrap();
    assert!(["shared", "undecided"].contains(&verdict), "{sharing}");
    assert!(number(&sharing["phi"]) > 0.6, "{sharing}");
}

#[test]
fn a_cache_above_the_cap_is_told_from_the_cap() {
    let desk = Desk::new();
    let stack = "mem(size=256M) + delay(latency=2ms) + throttle(bw=8M) + cache(size=128M)";
    let said = desk.run(&["limits", stack, "--quick", "--format", "json", "-q"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
    let pass = json(&said.out)["targets"][0]["second_pass"].clone();
    assert_eq!(pass["hits"], true, "{pass}");
    assert!(number(&pass["ratio"]) > 3.0, "{pass}");
}

/// Memory is as fast as the CPUs that copy it, part of which are the kernel's.
#[test]
fn the_speed_of_memory_is_told_as_this_machines() {
    let desk = Desk::new();
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
        return skipped("no tmpfs at /dev/shm to write to");
    };
    let directory = memory.path().to_str().unwrap();
    let args = ["limits", directory, "--quick", "--size", "128M", "--format", "json", "-q"];
    let said = desk.run(&args);
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
    let target = &json(&said.out)["targets"][0];
    let caps: Vec<&Value> =
        [&target["iops"], &target["bw_bytes"]].into_iter().filter(|cap| cap.is_object()).collect();
    assert!(!caps.is_empty(), "{}", said.out);
    for cap in caps {
        // On a machine that others keep busy it says so, instead of blaming the storage alone.
        let has_others = cap["why"].as_str().unwrap().contains("with other work");
        assert!(cap["kind"] == "this_machine" || has_others, "{}", said.out);
    }
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_made() {
    let desk = Desk::new();
    std::fs::write(desk.path().join("small"), [0; 8192]).unwrap();
    let refused = |args: &[&str]| {
        let said = desk.run(&[&["limits"], args].concat());
        assert!(said.out.is_empty(), "{}", said.out);
        format!("{}\n{}", said.code, said.err)
    };
    assert_snapshot!(refused(&["/nowhere"]), @"
    3
    error: arm /nowhere: /nowhere: does not exist; make the directory first, or check the spelling
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
    error: small: too small to find caps in; use a target of 64.00 MiB at least
    ");
    assert_snapshot!(refused(&["small", "--write"]), @"
    3
    error: arm small: DESK/small: the workload writes, and this file is not iotax's own; name its directory instead, or a file that does not exist yet
    ");
    assert_snapshot!(refused(&["mem", "--vm", "Standard_DS1_v"]), @"
    2
    error: no VM size `Standard_DS1_v`: did you mean Standard_DS1_v2?
    ");
    assert_snapshot!(refused(&["mem", "mem", "mem", "--disk", "P10", "--disk", "P20"]), @"
    2
    error: --disk was given 2 times for 3 targets: give it once for all of them, or once for each, in their order
    ");
    assert_snapshot!(refused(&["mem", "--burst=soon"]), @"
    2
    error: option --burst: `soon` is not a duration: it does not start with a digit
    write a duration as 500ns, 200us, 2ms, 5s or 1m
    ");
    assert_snapshot!(refused(&["mem", "--burst=0"]), @"
    2
    error: option --burst: no time at all; leave it out
    ");
    assert_snapshot!(refused(&["mem", "--out", "small/results"]), @"
    3
    error: no results can be written to small/results: small is not a directory; name another place with --out
    ");
    assert_snapshot!(refused(&["mem", "--burst=1m", "--pauses", "1s,never"]), @"
    2
    error: option --pauses: `never` is not a duration: it does not start with a digit
    write a duration as 500ns, 200us, 2ms, 5s or 1m
    ");
    assert_snapshot!(refused(&["mem", "--caching", "sometimes", "--disk", "P10"]), @"
    2
    error: --caching sometimes: write none, readonly or readwrite
    ");
    assert_snapshot!(refused(&["mem", "--size", "big"]), @"
    2
    error: option --size: `big` is not a size: it does not start with a digit
    write a size as 4k, 64M, 2G or 4096 (letters are powers of 1024)
    ");
}

#[test]
fn an_edited_record_is_not_taken_for_what_was_measured() {
    let desk = Desk::new();
    let stack = "mem(size=64M) + throttle(iops=2000)";
    let said = desk.run(&["limits", stack, "--quick", "-o", "out", "-q"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let path = desk.path().join("out/probes.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let without_third: Vec<&str> =
        text.lines().enumerate().filter(|(at, _)| *at != 2).map(|(_, line)| line).collect();
    std::fs::write(&path, without_third.join("\n") + "\n").unwrap();
    let again = desk.run(&["report", "out", "--format", "json"]);
    let notes = json(&again.out)["notes"].to_string();
    assert!(notes.contains("or the record was edited"), "{notes}");
    std::fs::remove_file(desk.path().join("out/found.json")).unwrap();
    let again = desk.run(&["report", "out"]);
    assert_eq!(again.code, 3, "{}", again.out);
    assert!(again.err.contains("has no conclusion of its own"), "{}", again.err);
}

#[test]
fn a_directory_of_a_vm_is_compared_with_the_limits_of_its_size() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path().join("data")).unwrap();
    let address = azure::metadata_service(azure::VM).to_string();
    let args = ["limits", "data", "--quick", "--size", "64M", "--metadata-address", &address];
    let output = ["--format", "json", "-o", "out", "-q"];
    let said = desk.run(&[&args[..], &output].concat());
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
    let found = json(&said.out);
    assert_eq!(
        (&found["vm"], &found["vm_from"]),
        (&json("\"Standard_DS1_v2\""), &json("\"metadata\""))
    );
    assert_eq!(found["instance"]["region"], "westeurope");
    let limits = found["documented"][0]["limits"].as_array().unwrap();
    assert!(limits.iter().any(|limit| limit["of"] == "Standard_DS1_v2"), "{}", said.out);
    let again = desk.run(&["report", "out"]);
    let head = again.out.lines().next().unwrap();
    let told = "; on Standard_DS1_v2 (as Azure's metadata service says)";
    assert!(head.ends_with(told), "{head}");
}
