//! JSON of the types in records. serde's code for them is large and is generated in each crate that
//! reads or writes them, so it is generated here, once for all crates.

use iotax_experiment::{Spec, Target};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cluster::ClusterSeen;
use crate::{End, ExperimentHead, Machine, ProbeRecord, SearchHead, Trial};

/// A type with a JSON form.
pub trait Stored: Sized {
    fn decode(text: &[u8]) -> serde_json::Result<Self>;
    /// On one line.
    fn encode(&self) -> Vec<u8>;
    /// Indented, for users.
    fn encode_pretty(&self) -> Vec<u8> {
        indented(&self.encode())
    }
}

macro_rules! stored {
    ($($type:ty),*) => {$(
        impl Stored for $type {
            fn decode(text: &[u8]) -> serde_json::Result<Self> {
                serde_json::from_slice(text)
            }

            fn encode(&self) -> Vec<u8> {
                serde_json::to_vec(self).expect("record types always serialize to JSON")
            }

        }
    )*};
}

stored!(ClusterSeen, End, ExperimentHead, Machine, ProbeRecord, SearchHead, Spec, Target, Trial);
stored!(Value, Version);

/// JSON on one line, indented as by `serde_json`: a separate serializer for it would double the
/// code.
fn indented(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len() * 2);
    let mut depth = 0;
    let line = |out: &mut Vec<u8>, depth: usize| {
        out.push(b'\n');
        out.resize(out.len() + 2 * depth, b' ');
    };
    let (mut is_text, mut is_escaped) = (false, false);
    for (at, byte) in json.iter().copied().enumerate() {
        let is_mark = !is_text;
        is_text ^= byte == b'"' && !is_escaped;
        is_escaped = is_text && byte == b'\\' && !is_escaped;
        if is_mark && matches!(byte, b'}' | b']') {
            depth -= 1;
            if !matches!(json[at - 1], b'{' | b'[') {
                line(&mut out, depth);
            }
        }
        out.push(byte);
        match byte {
            b'{' | b'[' if is_mark => {
                depth += 1;
                if !matches!(json.get(at + 1), Some(b'}' | b']')) {
                    line(&mut out, depth);
                }
            }
            b',' if is_mark => line(&mut out, depth),
            b':' if is_mark => out.push(b' '),
            _ => {}
        }
    }
    out
}

/// Read first from a head.
#[derive(Serialize, Deserialize)]
pub(crate) struct Version {
    pub format: u32,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn any_json() -> impl Strategy<Value = Value> {
        let text = "[a{}\\[\\],:\"\\\\é]{0,6}";
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            text.prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(text, inner, 0..4).prop_map(|map| json!(map)),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_is_laid_out_as_by_serde(value in any_json()) {
            let laid_out = String::from_utf8(value.encode_pretty()).unwrap();
            prop_assert_eq!(laid_out, serde_json::to_string_pretty(&value).unwrap());
        }
    }
}
