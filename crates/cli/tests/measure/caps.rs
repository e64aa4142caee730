//! The search for caps, as a user runs it: on disks of this process, in real time.

use iotax_testing::skipped;
use serde_json::Value;

use crate::support::Desk;

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
    let said = desk.run(&["limits", stack, "--quick", "--format", "json", "-o", "out"]);
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
    for part in ["By queue depth", "ladder-iops", "Content-Security-Policy", "default-src 'none'"] {
        assert!(page.contains(part), "{part}");
    }
    let text = desk.run(&["report", "out"]);
    for part in ["capped at", "Caps with 95 % confidence intervals", "Throughput by block size"] {
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
    let said = desk.run(&["limits", &a, &b, "--quick", "--format", "json"]);
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
    let said = desk.run(&["limits", stack, "--quick", "--format", "json"]);
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
    let args = ["limits", directory, "--quick", "--size", "128M", "--format", "json"];
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
