//! JSON Schema of the values in an experiment file.

use iotax_layers::units::Unit;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use crate::job_options::{INDEX_OPTIONS, JOB_OPTIONS, JobOption};

const DURATION: &str = r"^[0-9]+(\.[0-9]+)? ?(ns|us|ms|s|m|h)$|^0$";
const SIZE: &str = r"^[0-9]+(\.[0-9]+)? ?([kKmMgGtT]([iI][bB]?)?|B)?$";
const SHARE: &str = r"^[0-9]+(\.[0-9]+)? ?%?$";
const PATTERN: &str = r"^(random|shuffled|sequential|(zipf|pareto|normal|geometric):[0-9]+(\.[0-9]+)?|zoned:[0-9]+%?/.+|strided:[0-9].*|runs:[0-9]+|mixed:[0-9]+%?)$";
const THINK: &str = r"^[0-9]+(\.[0-9]+)? ?(ns|us|ms|s|m|h)(/[0-9]+)?$|^0$";
const CPUS: &str = r"^(any|[0-9]+(-[0-9]+)?( ?, ?[0-9]+(-[0-9]+)?)*)$";

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
    table(&properties(&INDEX_OPTIONS), &[])
}

/// The name and keys of a job.
pub(super) fn job() -> Schema {
    let mut keys = Map::new();
    let about = "Unique within the workload.";
    keys.insert("name".into(), json_schema!({ "type": "string", "description": about }).into());
    keys.extend(properties(&JOB_OPTIONS));
    table(&keys, &["name"])
}

fn table(properties: &Map<String, Value>, required: &[&str]) -> Schema {
    json_schema!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn properties<T>(keys: &[JobOption<T>]) -> Map<String, Value> {
    let property = |key: &JobOption<T>| {
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
        Unit::Path | Unit::Name | Unit::Stretches | Unit::Priority => {
            json_schema!({ "type": "string" })
        }
        Unit::Iops
        | Unit::BitRate
        | Unit::Bandwidth
        | Unit::BlockSizes
        | Unit::Pace
        | Unit::Operations
        | Unit::Flow
        | Unit::LatencyTarget
        | Unit::Numa => {
            json_schema!({ "type": ["number", "string"], "minimum": 0 })
        }
    }
}
