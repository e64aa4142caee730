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
