//! That what is printed as JSON keeps to the documented schemas: every test that prints some is a
//! test of that.

use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::Value;

static COMPARE: LazyLock<Validator> =
    LazyLock::new(|| validator(include_str!("../../../../docs/schema/compare.schema.json")));
static RUN: LazyLock<Validator> =
    LazyLock::new(|| validator(include_str!("../../../../docs/schema/run.schema.json")));

fn validator(schema: &str) -> Validator {
    jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap()
}

/// Panics if `printed` is the result of an experiment and does not keep to its schema.
pub(crate) fn check(printed: &str) {
    if let Ok(value) = serde_json::from_str::<Value>(printed) {
        check_value(&value);
    }
}

/// Each phase of several is a result of its own.
fn check_value(value: &Value) {
    if let Some(phases) = value["phases"].as_array() {
        phases.iter().for_each(check_value);
    } else if value.get("fio version").is_some() {
        keeps_to(&RUN, value);
        check_value(&value["iotax"]);
    } else if value.get("comparisons").is_some() {
        keeps_to(&COMPARE, value);
    }
}

fn keeps_to(schema: &Validator, value: &Value) {
    let errors: Vec<String> =
        schema.iter_errors(value).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}
