//! Parameters that several layers have.

use serde::{Deserialize, Serialize};

use super::info::{Parameter, parameter};
use super::{Arguments, Field, Value};
use crate::error::Error;
use crate::units::Unit;

/// Which CPUs of one machine the two ends of a path run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cpus {
    /// Each end gets half of them, as on separate hosts.
    Apart,
    /// Wherever the kernel puts them.
    #[default]
    Any,
}

impl Cpus {
    pub(crate) const PARAMETER: Parameter = parameter(
        "cpus",
        Unit::Choice(&["apart", "any"]),
        Some("any"),
        "apart: each end gets half of the CPUs, as on two hosts; any: both ends use all CPUs",
    );
}

impl Field for Cpus {
    fn from_argument(arguments: &Arguments<'_>, name: &'static str) -> Result<Self, Error> {
        let word = String::from_argument(arguments, name)?;
        Ok(if word == "apart" { Self::Apart } else { Self::Any })
    }

    fn value(&self) -> Option<Value> {
        let word = if *self == Self::Apart { "apart" } else { "any" };
        Some(Value::Text(word.to_owned()))
    }
}

/// The cipher parameter: supported ciphers and the default.
pub(crate) const fn cipher(ciphers: &'static [&'static str], default: &'static str) -> Parameter {
    parameter(
        "cipher",
        Unit::Choice(ciphers),
        Some(default),
        "cipher for encryption and authentication",
    )
}

/// Read-ahead is counted in pages, which have at least 4 KiB.
const PAGE_BYTES: u64 = 4096;
/// A larger value is a mistake.
const MOST_BYTES: u64 = 1 << 30;

/// For layers that are mounted.
pub(crate) const READ_AHEAD: Parameter =
    parameter("read_ahead", Unit::Size, None, "kernel read-ahead (read_ahead_kb)");

pub(crate) fn demand_read_ahead(
    arguments: &Arguments<'_>,
    bytes: Option<u64>,
) -> Result<(), Error> {
    let is_met = bytes.is_none_or(|bytes| bytes % PAGE_BYTES == 0 && bytes <= MOST_BYTES);
    let problem = "must be a multiple of the page size, at most 1G";
    arguments.demand(is_met, READ_AHEAD.name, problem, "use a multiple of 4k, such as 1M")
}
