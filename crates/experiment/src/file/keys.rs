//! JSON Schema of the experiment file, for editors; and the names of its keys.

use schemars::{Schema, schema_for};
use serde_json::Value;

use super::documented::DocumentedTable;
use super::workload::WorkloadTable;
use super::written::SpecFile;

/// JSON Schema of the experiment file.
pub(super) fn experiment_schema() -> Schema {
    schema_for!(SpecFile)
}

/// Keys of the file's top level.
pub(super) fn file_keys() -> Vec<String> {
    property_names(&experiment_schema())
}

/// Keys of `[workload]`.
pub(super) fn workload_keys() -> Vec<String> {
    property_names(&schema_for!(WorkloadTable))
}

/// Keys of `[documented]`.
pub(super) fn documented_keys() -> Vec<String> {
    property_names(&schema_for!(DocumentedTable))
}

fn property_names(schema: &Schema) -> Vec<String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.map(|map| map.keys().cloned().collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/experiment.schema.json");

    #[test]
    fn schema_is_current() {
        let current = serde_json::to_string_pretty(&experiment_schema()).unwrap() + "\n";
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write(PATH, &current).unwrap();
        }
        let checked_in = std::fs::read_to_string(PATH).unwrap_or_default();
        assert!(
            checked_in == current,
            "docs/schema/experiment.schema.json is out of date; run\n  \
             UPDATE_SCHEMA=1 cargo test -p iotax-experiment schema"
        );
    }

    #[test]
    fn all_keys_are_described() {
        assert!(file_keys().contains(&"max-blocks".to_owned()));
        assert!(workload_keys().contains(&"job".to_owned()));
    }
}
