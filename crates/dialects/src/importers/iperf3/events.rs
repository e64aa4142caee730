//! Reads the output of iperf3 as one result: `-J`, the duplicate members of `--bidir` in 3.7, and
//! the lines of `--json-stream`.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, MapAccess, SeqAccess};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::Root;
use crate::importers::imported::Error;
use crate::importers::json::{self, tidy};

/// The result, and whether more text follows it.
pub(super) fn read_root(text: &str) -> Result<(Root, bool), Error> {
    let start = text.find('{').unwrap_or(text.len());
    let text = match tidy(&text[start..]) {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(tidied) => Cow::Owned(format!("{}{tidied}", &text[..start])),
    };
    let (root, rest) = match json::first::<Root>(&text, '{') {
        Ok(found) => found,
        // iperf3 3.7 gives the sums of both directions the same names.
        Err(Error::Json { why, .. }) if why.starts_with("duplicate field") => {
            let (Twice(value), rest) = json::first(&text, '{')?;
            (put_together(&value)?, rest)
        }
        Err(error) => return Err(error),
    };
    if root.event.is_some() {
        return Ok((of_events(&text)?, false));
    }
    Ok((root, rest.contains('{')))
}

/// Reads a result made of several parts. It is converted to text, so that there is only one reader
/// of results.
fn put_together(value: &Value) -> Result<Root, Error> {
    json::first(&value.to_string(), '{').map(|(root, _)| root)
}

/// A line of `--json-stream` (3.17).
#[derive(Deserialize)]
#[serde(expecting = "an event")]
struct Event {
    event: String,
    #[serde(default)]
    data: Value,
}

/// Events of one test: its start, its intervals, its end.
fn of_events(text: &str) -> Result<Root, Error> {
    let mut whole = Map::new();
    let mut intervals = Vec::new();
    let mut rest = text;
    while rest.contains('{') {
        let (event, behind) = match json::first::<Event>(rest, '{') {
            Ok(found) => found,
            // The last line may be cut off.
            Err(Error::CutOff { .. }) if !whole.is_empty() => break,
            Err(error) => return Err(error),
        };
        rest = behind;
        match event.event.as_str() {
            "interval" => intervals.push(event.data),
            "start" | "end" | "error" => {
                whole.insert(event.event, event.data);
            }
            _ => {}
        }
    }
    whole.insert("intervals".to_owned(), Value::Array(intervals));
    put_together(&Value::Object(whole))
}

/// JSON in which a repeated member belongs to the reverse direction. It is read as a stream: an
/// untagged enum would keep a copy of every level.
struct Twice(Value);

struct Visitor;

impl<'de> de::Visitor<'de> for Visitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(Twice(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some((name, Twice(value))) = members.next_entry::<String, Twice>()? {
            let Some(first) = all.get_mut(&name) else {
                all.insert(name, value);
                continue;
            };
            let back = format!("{name}_bidir_reverse");
            // The client's own direction comes first, unless the members say otherwise.
            let is_swapped = first["sender"] == false && value["sender"] == true;
            let second = if is_swapped { std::mem::replace(first, value) } else { value };
            all.entry(back).or_insert(second);
        }
        Ok(Value::Object(all))
    }
}

impl<'de> Deserialize<'de> for Twice {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Visitor).map(Self)
    }
}
