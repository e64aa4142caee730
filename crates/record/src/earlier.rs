//! Records of earlier formats, read as those of today.

use serde_json::{Map, Value, json};

/// A head of an earlier format as one of today's.
pub(crate) fn head(mut head: Value, format: u32, today: u32) -> Value {
    if let (Some(fields), 1) = (head.as_object_mut(), format) {
        hosts(fields);
        fields.insert("format".to_owned(), today.into());
    }
    head
}

/// Until format 1 there was one machine, its facts beside those of the experiment.
fn hosts(fields: &mut Map<String, Value>) {
    let mut host = Map::from_iter([("role".to_owned(), json!("local"))]);
    for name in ["environment", "machine", "instance", "generator_ns_per_io"] {
        host.extend(fields.remove(name).map(|value| (name.to_owned(), value)));
    }
    fields.insert("hosts".to_owned(), json!([host]));
}
