//! Rules on machines that no machine is: edited by hand, cut off, absurd.
#![allow(clippy::unwrap_used)]

mod machines;

use iotax_diagnose::{findings, named_causes};
use iotax_experiment::CloudChoice;
use iotax_record::Machine;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use machines::{ALL, text};

/// What a mutation does to one place of a file.
#[derive(Debug, Clone)]
enum Edit {
    Drop,
    Put(Value),
    /// The value of another place.
    Copy(Index),
}

fn edits() -> impl Strategy<Value = Vec<(Index, Edit)>> {
    let odd = select(vec![
        json!(0),
        json!(1),
        json!(u64::MAX),
        json!(u32::MAX),
        json!(-1.0),
        json!(1e300),
        json!(""),
        json!("_v"),
        json!("Standard_E16d_v5"),
        json!("Standard_DC"),
        json!("n2-standard-8"),
        json!("krb5p"),
        json!("\u{0}\u{1f600} '\"$(x) ../"),
        json!(true),
        json!(null),
        json!([]),
        json!([0, 1, 2]),
        json!({}),
    ]);
    let edit = prop_oneof![
        1 => Just(Edit::Drop),
        3 => odd.prop_map(Edit::Put),
        1 => any::<Index>().prop_map(Edit::Copy),
    ];
    proptest::collection::vec((any::<Index>(), edit), 1..8)
}

/// Pointers to all places of a value.
fn places(value: &Value, here: &str, into: &mut Vec<String>) {
    let each: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(i, v)| (i.to_string(), v)).collect(),
        _ => Vec::new(),
    };
    for (key, value) in each {
        let place = format!("{here}/{}", key.replace('~', "~0").replace('/', "~1"));
        places(value, &place, into);
        into.push(place);
    }
}

fn edited(mut value: Value, edits: &[(Index, Edit)]) -> Value {
    for (at, edit) in edits {
        let mut all = Vec::new();
        places(&value, "", &mut all);
        if all.is_empty() {
            break;
        }
        let place = at.get(&all).clone();
        let new = match edit {
            Edit::Drop => None,
            Edit::Put(new) => Some(new.clone()),
            Edit::Copy(other) => value.pointer(other.get::<String>(&all)).cloned(),
        };
        let before = value.clone();
        match new {
            Some(new) => *value.pointer_mut(&place).unwrap() = new,
            None => remove(&mut value, &place),
        }
        // An edit that no reader would take is undone.
        if serde_json::from_value::<Machine>(value.clone()).is_err() {
            value = before;
        }
    }
    value
}

fn remove(value: &mut Value, place: &str) {
    let (parent, key) = place.rsplit_once('/').unwrap();
    match value.pointer_mut(parent) {
        Some(Value::Object(fields)) => {
            fields.remove(key);
        }
        Some(Value::Array(items)) => {
            items.remove(key.parse().unwrap());
        }
        _ => {}
    }
}

fn check(machine: &Machine, choice: &CloudChoice) {
    for finding in findings(machine, choice) {
        assert!(named_causes().any(|cause| cause == finding.cause), "{finding:?}");
        // What takes no command has none.
        assert!(!finding.seen.is_empty(), "{finding:?}");
        let why = iotax_wording::cause::why(&finding);
        assert!(!why.contains("NaN") && !why.contains("inf "), "{finding:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn rules_take_any_machine(
        name in select(ALL.to_vec()),
        edits in edits(),
        disk in select(vec![None, Some("P30"), Some("gp2:size=100G"), Some("no such disk")]),
        vm in select(vec![None, Some("Standard_E8bs_v5"), Some("r6i.4xlarge"), Some("nothing")]),
    ) {
        let value: Value = serde_json::from_str(&text(name)).unwrap();
        let machine: Machine = serde_json::from_value(edited(value, &edits)).unwrap();
        let choice = CloudChoice {
            vm: vm.map(str::to_owned),
            disks: disk.into_iter().map(str::to_owned).collect(),
            ..CloudChoice::default()
        };
        check(&machine, &choice);
    }
}

#[test]
fn no_number_is_too_large() {
    for name in ALL {
        let value: Value = serde_json::from_str(&text(name)).unwrap();
        let mut all = Vec::new();
        places(&value, "", &mut all);
        all.retain(|place| value.pointer(place).is_some_and(Value::is_number));
        for place in all {
            let mut edited = value.clone();
            for most in [json!(u64::MAX), json!(u32::MAX)] {
                *edited.pointer_mut(&place).unwrap() = most;
                if let Ok(machine) = serde_json::from_value(edited.clone()) {
                    check(&machine, &CloudChoice::default());
                }
            }
        }
    }
}

#[test]
fn devices_in_a_circle_are_walked_once() {
    for name in ALL {
        let mut value: Value = serde_json::from_str(&text(name)).unwrap();
        let nodes = value["nodes"].as_array_mut().unwrap();
        let all: Vec<usize> = (0..nodes.len() + 3).collect();
        for node in nodes {
            node["below"] = json!(all);
        }
        check(&serde_json::from_value(value).unwrap(), &CloudChoice::default());
    }
}

#[test]
fn an_empty_machine_has_no_findings() {
    assert_eq!(findings(&Machine::default(), &CloudChoice::default()), []);
}
