//! For programs.

use iotax_caps::{Caps, LIMITS_ANALYSIS_FORMAT};
use iotax_diagnose::of_search;
use serde_json::{Value, json};

use super::result::SearchResult;
use crate::doctor::json::DiagnosisJson;
use crate::json::text::json_text;
use crate::provenance;

/// One JSON object: what was asked, and `targets`, `sharing`, `documented`, `levels`.
pub fn search_json(search: SearchResult<'_>) -> String {
    let SearchResult { head, caps, end } = search;
    let Caps { targets, sharing, documented, rules, levels, ended, notes, .. } = caps;
    let targets: Vec<Value> = targets
        .iter()
        .zip(&head.search.targets)
        .map(|(found, asked)| {
            let mut value = serde_json::to_value(found).expect("plain values with string keys");
            value["target"] = json!(asked.arm.target.to_string());
            value["span_bytes"] = json!(asked.span_bytes);
            value
        })
        .collect();
    let causes = of_search(head, caps).into_iter().map(DiagnosisJson::from);
    let document = json!({
        "format": LIMITS_ANALYSIS_FORMAT,
        "iotax": head.iotax_version,
        "started": head.started,
        "writes": head.search.writes,
        "quick": head.search.quick,
        "seed": head.search.seed,
        "vm": head.opened.cloud.vm,
        "vm_from": provenance::vm_from(head.host().instance.as_ref(), &head.opened.cloud),
        "disks": head.opened.cloud.disks,
        "disks_from": provenance::disks_from(head.host().instance.as_ref(), &head.opened.cloud),
        "instance": head.host().instance,
        "wall_ns": end.map(|end| end.wall_ns),
        "targets": targets,
        "sharing": sharing,
        "documented": documented,
        "rules": rules,
        "causes": causes.collect::<Vec<_>>(),
        "levels": levels,
        "ended": ended,
        "notes": notes,
    });
    json_text(&document)
}
