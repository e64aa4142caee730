//! A TOML value that stands for one quantity, written as text or as a bare number.

use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;

/// A number, text or switch, read by the unit of the key it is given to.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number, text or true/false")]
pub(super) enum Scalar {
    /// `4096`.
    Integer(i64),
    /// `0.05`.
    Float(f64),
    /// `true`.
    Switch(bool),
    /// `"4k"`.
    Text(String),
}

impl fmt::Display for Scalar {
    /// The text that a unit's parser reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => number.fmt(f),
            Self::Float(number) => number.fmt(f),
            Self::Switch(on) => on.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}
