//! JSON Schema of the experiment file, for editors; and the names of its keys.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema, schema_for};
use serde_json::{Map, Value};

use super::SpecFile;
use super::caps::DocumentedTable;
use super::workload::{JobTable, WorkloadTable};
use crate::keys::{INDEX_KEYS, JOB_KEYS, Key};
use crate::units::Unit;

const DURATION: &str = r"^[0-9]+(\.[0-9]+)? ?(ns|us|ms|s|m|h)$|^0$";
const SIZE: &str = r"^[0-9]+(\.[0-9]+)? ?([kKmMgGtT]([iI][bB]?)?|B)?$";
const SHARE: &str = r"^[0-9]+(\.[0-9]+)? ?%?$";
const PATTERN: &str = r"^(random|shuffled|sequential|(zipf|pareto|normal|geometric):[0-9]+(\.[0-9]+)?|strided:[0-9].*|runs:[0-9]+|mixed:[0-9]+%?)$";
const THINK: &str = r"^[0-9]+(\.[0-9]+)? ?(ns|us|ms|s|m|h)(/[0-9]+)?$|^0$";
const CPUS: &str = r"^(any|[0-9]+(-[0-9]+)?( ?, ?[0-9]+(-[0-9]+)?)*)$";

/// JSON Schema of the experiment file.
pub fn experiment_schema() -> Schema {
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

pub(super) fn duration(_: &mut SchemaGenerator) -> Schema {
    of_unit(Unit::Duration)
}

/// A switch, or a time.
pub(super) fn drain(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": ["boolean", "integer", "string"], "maximum": 0, "pattern": DURATION
    })
}

pub(super) fn share(_: &mut SchemaGenerator) -> Schema {
    of_unit(Unit::Share)
}

pub(super) fn index(_: &mut SchemaGenerator) -> Schema {
    table(&properties(&INDEX_KEYS), &[])
}

impl JsonSchema for JobTable {
    fn schema_name() -> Cow<'static, str> {
        "JobTable".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut keys = Map::new();
        let about = "Unique within the workload.";
        keys.insert("name".into(), json_schema!({ "type": "string", "description": about }).into());
        keys.extend(properties(&JOB_KEYS));
        table(&keys, &["name"])
    }
}

fn table(properties: &Map<String, Value>, required: &[&str]) -> Schema {
    json_schema!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn properties<T>(keys: &[Key<T>]) -> Map<String, Value> {
    let property = |key: &Key<T>| {
        let mut schema = of_unit(key.unit);
        schema.insert("description".into(), key.about.into());
        (key.name.to_owned(), schema.into())
    };
    keys.iter().map(property).collect()
}

fn of_unit(unit: Unit) -> Schema {
    match unit {
        Unit::Size => {
            json_schema!({ "type": ["integer", "string"], "minimum": 0, "pattern": SIZE })
        }
        Unit::Duration => {
            json_schema!({ "type": ["integer", "string"], "maximum": 0, "pattern": DURATION })
        }
        Unit::Share => json_schema!({
            "type": ["number", "string"], "minimum": 0, "maximum": 1, "pattern": SHARE
        }),
        Unit::Count => json_schema!({ "type": "integer", "minimum": 0 }),
        Unit::Percent => json_schema!({ "type": "integer", "minimum": 0, "maximum": 100 }),
        Unit::Switch => json_schema!({ "type": "boolean" }),
        Unit::Choice(words) => json_schema!({ "type": "string", "enum": words }),
        Unit::Pattern => json_schema!({ "type": "string", "pattern": PATTERN }),
        Unit::Think => {
            json_schema!({ "type": ["integer", "string"], "maximum": 0, "pattern": THINK })
        }
        Unit::Cpus => {
            json_schema!({ "type": ["integer", "string"], "minimum": 0, "pattern": CPUS })
        }
        Unit::Path | Unit::Name => json_schema!({ "type": "string" }),
        Unit::Iops | Unit::Bandwidth | Unit::BlockSizes | Unit::Pace | Unit::Operations => {
            json_schema!({ "type": ["number", "string"], "minimum": 0 })
        }
    }
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
             UPDATE_SCHEMA=1 cargo test -p iotax-spec schema"
        );
    }

    #[test]
    fn all_keys_are_described() {
        assert!(file_keys().contains(&"max-blocks".to_owned()));
        assert!(workload_keys().contains(&"job".to_owned()));
    }
}
