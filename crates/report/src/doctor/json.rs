use iotax_catalog::cause;
use iotax_diagnose::{Diagnosis, Finding};
use iotax_record::Machine;
use iotax_record::machine::PathSeen;
use serde_json::{Value, json};

use super::host::HostFindings;
use crate::json::text::json_text;

/// Version of the shape of the JSON.
const FORMAT: u32 = 2;

/// One JSON object: `causes` (what a measurement points to; null without one), `hosts` (of each:
/// `stack`, a tree for each path; `findings`; `coverage`, which layers there are rules for, and what
/// these lacked; `machine`, all that was seen), `gaps` (what the record lacks).
pub fn doctor_json(
    hosts: &[HostFindings],
    diagnoses: Option<&[Diagnosis]>,
    gaps: &[String],
) -> String {
    let document = json!({
        "causes": diagnoses,
        "format": FORMAT,
        "hosts": hosts.iter().map(host).collect::<Vec<_>>(),
        "gaps": gaps,
    });
    json_text(&document)
}

pub(super) fn host(host: &HostFindings) -> Value {
    let HostFindings { role, machine, findings, coverage } = host;
    json!({
        "role": role,
        "iotax": machine.iotax_version,
        "taken": machine.taken,
        "stack": machine.paths.iter().map(|path| stack(machine, path)).collect::<Vec<_>>(),
        "findings": findings.iter().map(finding).collect::<Vec<_>>(),
        "coverage": coverage,
        "unseen": machine.unseen,
        "machine": machine,
    })
}

fn stack(machine: &Machine, path: &PathSeen) -> Value {
    let top = path.top.and_then(|top| layer(machine, top, &mut Vec::new()));
    json!({ "path": path.path, "shell": path.shell_word(), "problem": path.problem, "top": top })
}

/// A layer with those below it inside; one that was told already with its name alone.
fn layer(machine: &Machine, place: usize, told: &mut Vec<usize>) -> Option<Value> {
    // A file that was edited by hand may lead nowhere.
    let node = machine.nodes.get(place)?;
    if told.contains(&place) {
        return Some(json!({ "again": super::layer::name(&node.layer) }));
    }
    told.push(place);
    let mut value = serde_json::to_value(&node.layer).expect("plain values with string keys");
    let below: Vec<_> =
        node.below.iter().filter_map(|place| layer(machine, *place, told)).collect();
    value["below"] = Value::Array(below);
    Some(value)
}

pub(super) fn finding(finding: &Finding) -> Value {
    let Finding { cause: id, about, certainty, seen, why, commands } = finding;
    let known = cause(id).ok();
    json!({
        "cause": id,
        "number": known.map(|cause| &cause.number),
        "title": known.map(|cause| &cause.title),
        "about": about,
        "certainty": certainty,
        "seen": seen,
        "why": why,
        "commands": commands,
        "remedy": known.map(|cause| &cause.remedy),
        "sources": known.map(|cause| &cause.sources),
    })
}
