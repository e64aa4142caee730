//! The result of a search for caps as JSON.

use iotax_caps::{CapJudgment, Caps, LIMITS_ANALYSIS_FORMAT, Level, Obstacle, TargetCaps};
use iotax_diagnose::of_search;
use iotax_experiment::rule::RuleOutcome;
use iotax_wording::cap;
use serde::Serialize;
use serde_json::{Value, json};

use crate::doctor::json::DiagnosisJson;
use crate::json::limits::{ShownDocumented, ShownLimit};
use crate::json::text::json_text;
use iotax_wording::provenance;
use iotax_wording::search::SearchResult;

/// One JSON object: the request, and `targets`, `sharing`, `documented`, `levels`.
pub fn search_json(search: SearchResult<'_>) -> String {
    let SearchResult { head, caps, end } = search;
    let Caps { targets, sharing, documented, rules, levels, ended, notes, .. } = caps;
    let targets: Vec<Value> = targets
        .iter()
        .zip(&head.search.targets)
        .map(|(found, asked)| {
            let mut value = target(found);
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
        "documented": documented.iter().map(ShownDocumented::new).collect::<Vec<_>>(),
        "rules": rules.iter().map(rule).collect::<Vec<_>>(),
        "undecided": rules.iter().filter(|rule| rule.outcome == RuleOutcome::Undecided).count(),
        "causes": causes.collect::<Vec<_>>(),
        "levels": levels.iter().map(level).collect::<Vec<_>>(),
        "ended": ended.as_ref().map(cap::ended),
        "notes": notes.iter().map(cap::note).collect::<Vec<_>>(),
    });
    json_text(&document)
}

/// The caps of a target, with conclusions as text.
fn target(found: &TargetCaps) -> Value {
    let mut value = plain(found);
    for (key, cap) in [("iops", &found.iops), ("bw_bytes", &found.bw_bytes)] {
        if let Some(cap) = cap {
            value[key]["why"] = json!(cap::reason(&cap.reason));
        }
    }
    for (at, path) in found.path.iter().enumerate() {
        value["path"][at]["why"] = json!(cap::reason(&path.cap.reason));
    }
    for (at, unreached) in found.unreached.iter().enumerate() {
        let shown = &mut value["unreached"][at];
        shown["obstacle"] = json!(match unreached.obstacle {
            Obstacle::OtherCap(_) => "other_cap",
            Obstacle::ThisMachine(_) => "this_machine",
            Obstacle::Time => "time_limit",
        });
        shown["why"] = json!(cap::obstacle(&unreached.obstacle, unreached.block_bytes));
    }
    for (at, rate) in found.unsteady.iter().enumerate() {
        if let Some(beside) = &rate.beside {
            value["unsteady"][at]["beside"] = json!(cap::busy(beside));
        }
    }
    value
}

fn rule(judgment: &CapJudgment) -> Value {
    let mut value = plain(judgment);
    if let Some(limit) = &judgment.limit {
        value["limit"] = plain(&ShownLimit::new(limit));
    }
    if let Some(why) = &judgment.why {
        value["why"] = json!(cap::undecided(why));
    }
    value
}

fn level(level: &Level) -> Value {
    let mut value = plain(level);
    value["purpose"] = json!(cap::level(&level.purpose));
    value
}

fn plain(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("plain values with string keys")
}
