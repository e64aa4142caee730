//! Records of earlier formats, read as those of today.

use serde_json::{Map, Value, json};

/// A head of an earlier format as one of today's.
pub(crate) fn head(mut head: Value, format: u32, today: u32) -> Value {
    if let Some(fields) = head.as_object_mut() {
        if format == 1 {
            hosts(fields);
        }
        fields.insert("format".to_owned(), today.into());
    }
    head
}

/// Until format 2 a record said in words why it ended.
pub(crate) fn end(mut end: Value) -> Value {
    if let Some(fields) = end.as_object_mut()
        && let Some(reason) = fields.remove("reason")
    {
        fields.insert("reasons".to_owned(), json!([{ "said": reason }]));
    }
    end
}

/// A line of an earlier format as one of today's.
pub(crate) fn line(mut line: Value, format: u32) -> Value {
    if let (Some(load), 1) = (line.get_mut("load").and_then(Value::as_object_mut), format)
        && let Some(index) = load.remove("index").filter(Value::is_object)
    {
        load.insert("operations".to_owned(), operations(&index));
    }
    line
}

/// Until format 1 an index had a record of its own, with nothing of its errors but the first.
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

/// Until format 1 there was one machine, its facts beside those of the experiment.
fn hosts(fields: &mut Map<String, Value>) {
    let mut host = Map::from_iter([("role".to_owned(), json!("local"))]);
    for name in ["environment", "machine", "instance", "generator_ns_per_io"] {
        host.extend(fields.remove(name).map(|value| (name.to_owned(), value)));
    }
    fields.insert("hosts".to_owned(), json!([host]));
}
