//! Results of earlier formats.

use serde_json::{Value, json};

/// The caps of a record as those of today. Until format 1 conclusions were said in words.
pub fn earlier(mut caps: Value) -> Value {
    if caps["format"] != 1 {
        return caps;
    }
    for target in items(&mut caps, "targets") {
        for cap in ["iops", "bw_bytes"] {
            cap_reason(&mut target[cap]);
        }
        items(target, "path").for_each(cap_reason);
        items(target, "unreached").for_each(obstacle);
        for unsteady in items(target, "unsteady") {
            said(&mut unsteady["beside"]);
        }
    }
    for documented in items(&mut caps, "documented") {
        documented["targets"] = json!([documented["target"]]);
        items(documented, "limits").for_each(source);
    }
    for judgment in items(&mut caps, "rules") {
        said(&mut judgment["why"]);
        source(&mut judgment["limit"]);
    }
    items(&mut caps, "notes").for_each(said);
    caps["ended"] = match caps["ended"].take() {
        Value::String(text) if text != "interrupted" => json!({ "failed": text }),
        other => other,
    };
    caps["format"] = crate::LIMITS_ANALYSIS_FORMAT.into();
    caps
}

fn items<'a>(of: &'a mut Value, list: &str) -> impl Iterator<Item = &'a mut Value> {
    of.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten()
}

fn said(text: &mut Value) {
    if text.is_string() {
        *text = json!({ "said": text.take() });
    }
}

fn cap_reason(cap: &mut Value) {
    if cap.is_object() {
        cap["reason"] = json!({ "sign": { "said": cap["why"] } });
    }
}

fn obstacle(unreached: &mut Value) {
    let why = unreached["why"].as_str().unwrap_or_default();
    unreached["obstacle"] = match unreached["obstacle"].as_str() {
        Some("this_machine") => json!({ "this_machine": { "said": why } }),
        _ if unreached["quantity"] == "bw_bytes" => json!({ "other_cap": "largest" }),
        _ if why.contains("smallest") => json!({ "other_cap": "smallest" }),
        _ => json!({ "other_cap": "small" }),
    };
}

/// What was read on the machine had no date.
fn source(limit: &mut Value) {
    if let Some(as_of) = limit["as_of"].as_str() {
        limit["source"] = json!({ "text": limit["source"], "as_of": as_of });
    } else if limit.is_object() {
        limit["source"] = Value::Null;
    }
}

#[cfg(test)]
mod tests {
    use iotax_experiment::ProbePurpose;

    use super::*;
    use crate::{BlockEnd, BusySign, CapNote, CapSign, Caps, Ended, Obstacle, Undecided};

    /// As a search of format 1 wrote it.
    const FIRST: &str = r#"{
        "format": 1,
        "targets": [{
            "name": "a",
            "iops": {
                "cap": 500.0, "lo": 499.0, "hi": 501.0, "measurements": 3, "block_bytes": 4096,
                "queue_depth": 64, "kind": "throttle", "why": "a kink", "burst": null
            },
            "bw_bytes": null,
            "unreached": [
                { "quantity": "bw_bytes", "at_least": 5e8, "block_bytes": 1048576,
                  "obstacle": "other_cap", "why": "at the largest block of 1 MiB ..." },
                { "quantity": "iops", "at_least": 5e2, "block_bytes": 512,
                  "obstacle": "this_machine", "why": "busy" }
            ],
            "useful_depth": 4, "unloaded_latency_ns": 1e5, "ladder": [],
            "evidence": { "is_plateau": true, "throughput_slope": 0.0, "latency_slope": 1.0,
                          "littles_law_off": 0.0, "thread_busy": null },
            "sizes": null, "second_pass": null, "soak_iops": [], "soak_bw_bytes": [],
            "fell_during_search": false, "passes": 0.5, "errors": 0, "first_error": null
        }],
        "sharing": [],
        "documented": [{
            "target": "a", "quantity": "iops", "measured": 500.0,
            "limits": [
                { "scope": "disk", "of": "P10", "per_s": 500.0, "burst_per_s": 3500.0,
                  "source": "a page", "as_of": "2026-01-01" },
                { "scope": "cgroup", "of": "/box", "per_s": 900.0, "burst_per_s": null,
                  "source": "this machine", "as_of": null }
            ],
            "binds": 0, "says": "the disk limit of P10 binds, to the point."
        }],
        "rules": [{ "rule": "iops < 500", "of": "a", "quantity": "iops", "outcome": "undecided",
                    "found": [500.0, 499.0, 501.0], "why": "within" }],
        "levels": [{ "target": 0, "purpose": "one alone", "block_bytes": 4096, "queue_depth": 1,
                     "iops": 1.0, "bw_bytes": 4096.0, "mean_latency_ns": 1.0 }],
        "ended": "a: broken",
        "notes": ["a note"]
    }"#;

    #[test]
    fn caps_of_format_1_are_still_readable() {
        let caps = earlier(serde_json::from_str(FIRST).unwrap());
        let caps: Caps = serde_json::from_value(caps).unwrap();
        let said = |text: &str| text.to_owned();
        let target = &caps.targets[0];
        assert_eq!(target.iops.as_ref().unwrap().reason, CapSign::Said(said("a kink")).into());
        assert_eq!(target.unreached[0].obstacle, Obstacle::OtherCap(BlockEnd::Largest));
        let busy = BusySign::Said(said("busy"));
        assert_eq!(target.unreached[1].obstacle, Obstacle::ThisMachine(busy));
        let row = &caps.documented[0];
        assert!(row.is_of("a") && row.binding().is_some_and(|limit| limit.of == "P10"), "{row:?}");
        assert_eq!((row.limits[1].source.as_ref(), row.limits.len()), (None, 2));
        assert_eq!(caps.rules[0].why, Some(Undecided::Said(said("within"))));
        assert_eq!(caps.levels[0].purpose, ProbePurpose::Said(said("one alone")));
        assert_eq!(caps.notes, [CapNote::Said(said("a note"))]);
        assert_eq!(caps.ended, Some(Ended::Failed(said("a: broken"))));
        let again: Caps =
            serde_json::from_value(earlier(serde_json::to_value(&caps).unwrap())).unwrap();
        assert_eq!(again, caps);
    }

    #[test]
    fn what_was_in_the_way_and_what_ended_a_search_of_format_1() {
        let of = |quantity: &str, why: &str| {
            let text =
                FIRST.replace("\"iops\", \"at_least\"", &format!("\"{quantity}\", \"at_least\""));
            let text = text
                .replace("this_machine", "other_cap")
                .replace("\"busy\"", &format!("\"{why}\""));
            let caps =
                earlier(serde_json::from_str(&text.replace("a: broken", "interrupted")).unwrap());
            let caps: Caps = serde_json::from_value(caps).unwrap();
            assert_eq!(caps.ended, Some(Ended::Interrupted));
            caps.targets[0].unreached[1].obstacle.clone()
        };
        assert_eq!(of("bw_bytes", "at the smallest"), Obstacle::OtherCap(BlockEnd::Largest));
        assert_eq!(of("iops", "at the smallest"), Obstacle::OtherCap(BlockEnd::Smallest));
        assert_eq!(of("iops", "at a small one"), Obstacle::OtherCap(BlockEnd::Small));
    }
}
