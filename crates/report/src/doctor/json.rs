use iotax_diagnose::{Confidence, Diagnosis, Evidence, Finding, LayerCoverage, Suspect};
use iotax_record::Machine;
use iotax_record::machine::PathSeen;
use iotax_wording::cause::{self, SeenText, cause};
use serde::Serialize;
use serde_json::{Value, json};

use super::host::HostFindings;
use crate::json::text::json_text;

/// Version of the JSON format.
const FORMAT: u32 = 2;

/// One JSON object: `causes` that a measurement points to (null without one), `hosts`, and `gaps`
/// in the record. Each host has `stack` (a tree for each path), `findings`, `coverage` (which
/// layers have rules, and what these lacked) and `machine` (everything that was seen).
pub fn doctor_json(
    hosts: &[HostFindings],
    diagnoses: Option<&[Diagnosis]>,
    gaps: &[String],
) -> String {
    let document = json!({
        "causes": diagnoses.map(|all| all.iter().cloned().map(DiagnosisJson::from).collect::<Vec<_>>()),
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
        "findings": cause::in_order(findings).into_iter().map(finding).collect::<Vec<_>>(),
        "coverage": coverage.iter().map(layer_coverage).collect::<Vec<_>>(),
        "unseen": machine.unseen,
        "machine": machine,
    })
}

fn stack(machine: &Machine, path: &PathSeen) -> Value {
    let top = path.top.and_then(|top| layer(machine, top, &mut Vec::new()));
    json!({ "path": path.path, "shell": path.shell_word(), "problem": path.problem, "top": top })
}

/// A layer with the layers below it; only its name if it is already in the tree.
fn layer(machine: &Machine, place: usize, shown: &mut Vec<usize>) -> Option<Value> {
    // The reference may be invalid if somebody edited the file.
    let node = machine.nodes.get(place)?;
    if shown.contains(&place) {
        return Some(json!({ "again": iotax_wording::machine::layer::name(&node.layer) }));
    }
    shown.push(place);
    let mut value = serde_json::to_value(&node.layer).expect("plain values with string keys");
    let below: Vec<_> =
        node.below.iter().filter_map(|place| layer(machine, *place, shown)).collect();
    value["below"] = Value::Array(below);
    Some(value)
}

fn layer_coverage(one: &LayerCoverage) -> Value {
    json!({
        "layer": cause::layer(one),
        "kind": cause::layer_kind(&one.kind),
        "has_rules": one.has_rules,
        "missing": one.missing.iter().map(|lack| cause::lack(*lack)).collect::<Vec<_>>(),
    })
}

pub(super) fn finding(finding: &Finding) -> Value {
    let Finding { cause: id, about, certainty, seen, commands, why, alike: _ } = finding;
    let known = cause(id);
    json!({
        "cause": id,
        "number": known.map(|cause| &cause.number),
        "title": known.map(|cause| &cause.title),
        "about": cause::components(about),
        "certainty": certainty,
        "seen": seen.iter().map(cause::observation).collect::<Vec<SeenText>>(),
        "why": cause::why(finding),
        "figures": why,
        "commands": commands,
        "remedy": known.map(|cause| &cause.remedy),
        "sources": known.map(|cause| &cause.sources),
    })
}

/// Suspected causes for an arm or a target, with evidence in words and as figures.
#[derive(Serialize)]
pub(crate) struct DiagnosisJson {
    of: String,
    suspects: Vec<SuspectJson>,
}

#[derive(Serialize)]
struct SuspectJson {
    cause: &'static str,
    confidence: Confidence,
    explains: Option<f64>,
    evidence: Vec<String>,
    against: Vec<String>,
    figures: Vec<Evidence>,
}

impl From<Diagnosis> for DiagnosisJson {
    fn from(Diagnosis { of, suspects }: Diagnosis) -> Self {
        Self { of, suspects: suspects.into_iter().map(SuspectJson::from).collect() }
    }
}

impl From<Suspect> for SuspectJson {
    fn from(suspect: Suspect) -> Self {
        let Suspect { cause, confidence, explains, evidence: figures, against } = suspect;
        let (evidence, against) = (cause::each(&figures), cause::each(&against));
        Self { cause, confidence, explains, evidence, against, figures }
    }
}
