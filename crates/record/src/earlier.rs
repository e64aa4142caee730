//! Converts records of earlier formats to the current one.

use iotax_experiment::{SidePhase, SideRole, Spec};
use serde_json::{Map, Value, json};

/// Converts a head of an earlier format.
pub(crate) fn head(mut head: Value, format: u32, today: u32) -> Value {
    if let Some(fields) = head.as_object_mut() {
        if format < 2 {
            hosts(fields);
        }
        if format < 3
            && let Some(spec) = fields.get_mut("spec").and_then(Value::as_object_mut)
        {
            phases(spec);
            saved_results(spec);
            let cloud = spec.get("cloud").cloned();
            fields.extend(cloud.map(|cloud| ("cloud".to_owned(), cloud)));
        }
        if format < 3
            && let Some(search) = fields.get_mut("limits").and_then(Value::as_object_mut)
        {
            let opened = opened(search);
            fields.insert("opened".to_owned(), opened);
        }
        if let Some(spec) = fields.get_mut("spec").filter(|spec| spec["source"] == "saved_results")
        {
            tools_of_results(spec);
            mean_latencies(fields);
        }
        places_in_clusters(fields);
        fields.insert("format".to_owned(), today.into());
    }
    head
}

/// Until format 2, a record gave the reason of its end as text.
pub(crate) fn end(mut end: Value) -> Value {
    if let Some(fields) = end.as_object_mut()
        && let Some(reason) = fields.remove("reason")
    {
        fields.insert("reasons".to_owned(), json!([{ "said": reason }]));
    }
    end
}

/// Until format 2, the first phase had its own field.
fn phases(spec: &mut Map<String, Value>) {
    let mut phases = vec![spec.remove("workload").unwrap_or_default()];
    if let Some(Value::Array(then)) = spec.remove("then") {
        phases.extend(then);
    }
    spec.insert("phases".to_owned(), phases.into());
}

/// Until format 2, observed facts of targets were next to the requested ones.
fn opened(search: &mut Map<String, Value>) -> Value {
    let targets = search.get_mut("targets").and_then(Value::as_array_mut).into_iter().flatten();
    let found = targets.filter_map(Value::as_object_mut).map(|target| {
        let found = ["smallest_io_bytes", "known"].into_iter();
        found.filter_map(|name| target.remove_entry(name)).collect::<Map<_, _>>().into()
    });
    let mut opened = json!({ "targets": found.collect::<Vec<Value>>() });
    if let Some(cloud) = search.get("cloud") {
        opened["cloud"] = cloud.clone();
    }
    opened
}

/// Until format 2 saved results were targets.
fn saved_results(spec: &mut Map<String, Value>) {
    let arms = spec.get_mut("arms").and_then(Value::as_array_mut).into_iter().flatten();
    let mut are_saved = false;
    for target in arms.filter_map(|arm| arm.get_mut("target")) {
        let Some(files) = target.get("results").and_then(Value::as_array) else { continue };
        let files: Vec<&str> = files.iter().filter_map(Value::as_str).collect();
        *target = json!({ "path": files.join(",") });
        are_saved = true;
    }
    if are_saved {
        spec.insert("source".to_owned(), json!("saved_results"));
    }
}

/// Until 2026-11-26, the tools of saved results were part of a sentence.
fn tools_of_results(spec: &mut Value) {
    for phase in spec["phases"].as_array_mut().into_iter().flatten() {
        let text = phase["origin"].as_str().and_then(|text| text.strip_prefix("results of "));
        if let Some(text) = text {
            let tools: Vec<&str> = text.split(" and ").collect();
            let are_ours = tools.iter().all(|tool| tool.starts_with("iotax "));
            phase["origin"] = json!({ "tools": tools, "are_ours": are_ours });
        }
    }
}

/// Until 2026-11-26, a note described the kind of mean latency in saved results.
fn mean_latencies(head: &mut Map<String, Value>) {
    let called = |note: &Value| {
        let called = note.as_str()?.strip_prefix("mean latency is what fio calls ")?;
        Some(json!(called.split(',').next()))
    };
    let sites = head.get_mut("sites").and_then(Value::as_array_mut).into_iter().flatten();
    for site in sites.filter_map(Value::as_object_mut) {
        let Some(Value::Array(notes)) = site.get_mut("notes") else { continue };
        let found = notes.iter().find_map(called);
        notes.retain(|note| called(note).is_none());
        site.extend(found.map(|found| ("mean_latency".to_owned(), found)));
    }
}

/// Until 2026-11-26, the first note of a site in a cluster started with these words.
fn places_in_clusters(head: &mut Map<String, Value>) {
    let sites = head.get_mut("sites").and_then(Value::as_array_mut).into_iter().flatten();
    for site in sites.filter(|site| site["placed"].is_object()) {
        let Some(first) = site.get_mut("notes").and_then(|notes| notes.get_mut(0)) else {
            continue;
        };
        if let Some(place) = first.as_str().and_then(|text| text.strip_prefix("in Kubernetes: ")) {
            *first = json!(place);
        }
    }
}

/// Until 2026-11-26, only the name of a side run's phase described its role. `main`: the experiment
/// it belongs to; `roles`: the roles in this kind of side run.
pub(crate) fn with_side_phases(side: &Spec, main: &Spec, roles: &[SideRole]) -> Spec {
    let phases = || main.phases().enumerate();
    let all = roles.iter().flat_map(|role| phases().map(move |phase| (*role, phase)));
    let named: Vec<(String, SidePhase)> =
        all.map(|(role, (of, phase))| (role.name(&phase.name), SidePhase { of, role })).collect();
    let of_name = |name: &str| named.iter().find(|(known, _)| known == name).map(|(_, of)| *of);
    let found: Option<Vec<SidePhase>> = side.phases().map(|phase| of_name(&phase.name)).collect();
    side.with(|draft| draft.side_phases = found.unwrap_or_default())
}

/// Converts a line of an earlier format.
pub(crate) fn line(mut line: Value, format: u32) -> Value {
    if let (Some(load), 1) = (line.get_mut("load").and_then(Value::as_object_mut), format)
        && let Some(index) = load.remove("index").filter(Value::is_object)
    {
        load.insert("operations".to_owned(), operations(&index));
    }
    line
}

/// Until format 1, an index had its own record, with only the first of its errors.
fn operations(index: &Value) -> Value {
    let of = |(name, doing): (&str, &str)| {
        let error = index["first_error"].as_str();
        let error = error.filter(|text| text.starts_with(&format!("index: {doing} ")));
        let errors = u64::from(error.is_some());
        json!({ "name": name, "latency": index[name], "errors": errors, "first_error": error })
    };
    let [publish, mut load, mut query] =
        [("publish", "publishing"), ("load", "loading"), ("query", "answering")].map(of);
    load["slow"] = json!({ "above_ns": index["slow_load_ns"], "count": index["slow_loads"] });
    query["waited"] = index["queries_waited"].clone();
    json!([publish, load, query])
}

/// Until format 1, there was one machine, with its facts next to those of the experiment.
fn hosts(fields: &mut Map<String, Value>) {
    let mut host = Map::from_iter([("role".to_owned(), json!("local"))]);
    for name in ["environment", "machine", "instance", "generator_ns_per_io"] {
        host.extend(fields.remove(name).map(|value| (name.to_owned(), value)));
    }
    fields.insert("hosts".to_owned(), json!([host]));
}
