//! Answers of the catalog as JSON, with notes and properties in words.

use iotax_catalog::{Fact, Note};
use iotax_wording::catalog;
use serde::Deserialize as _;
use serde_json::{Value, json};

/// The same, with the words of whatever is data.
pub fn catalog_json(value: Value) -> Value {
    match value {
        Value::Array(all) => all.into_iter().map(catalog_json).collect(),
        Value::Object(all) => {
            let worded = |(key, value): (String, Value)| {
                let value = match key.as_str() {
                    "notes" => {
                        each(value, |one| Some(catalog::note(&Note::deserialize(one).ok()?).into()))
                    }
                    "facts" => each(value, |one| Some(fact(&Fact::deserialize(one).ok()?))),
                    _ => catalog_json(value),
                };
                (key, value)
            };
            all.into_iter().map(worded).collect()
        }
        plain => plain,
    }
}

fn fact(fact: &Fact) -> Value {
    let catalog::NamedValue { name, value } = catalog::property(&fact.property);
    json!({ "name": name, "value": value, "source": fact.source })
}

fn each(list: Value, words: impl Fn(&Value) -> Option<Value>) -> Value {
    let Value::Array(all) = list else { return list };
    all.into_iter().map(|one| words(&one).unwrap_or(one)).collect()
}
