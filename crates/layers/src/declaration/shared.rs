//! Parameters that several layers have.

use serde::{Deserialize, Serialize};

use super::info::{Parameter, parameter};
use super::{Arguments, Value};
use crate::error::Error;
use crate::units::Unit;

/// Which CPUs of one machine the two ends of a path run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cpus {
    /// Each end has half of them, as hosts of their own would have.
    Apart,
    /// Wherever the kernel puts them.
    #[default]
    Any,
}

impl Cpus {
    const NAME: &str = "cpus";
    pub(crate) const PARAMETERS: &[Parameter] = &[parameter(
        Self::NAME,
        Unit::Choice(&["apart", "any"]),
        Some("any"),
        "each end has half of the CPUs, as on two hosts, or both have any",
    )];

    pub(crate) fn from_arguments(arguments: &Arguments<'_>) -> Self {
        match arguments.text(Self::NAME).as_deref() {
            Some("apart") => Self::Apart,
            _ => Self::Any,
        }
    }

    /// Left out where it is as by default.
    pub(crate) fn value(self) -> (&'static str, Option<Value>) {
        (Self::NAME, (self == Self::Apart).then(|| Value::Text("apart".to_owned())))
    }
}

/// The kernel counts in pages, which have 4 KiB at least.
const PAGE_BYTES: u64 = 4096;
/// More is a mistake.
const MOST_BYTES: u64 = 1 << 30;

/// Of layers that are mounted.
pub(crate) const READ_AHEAD: Parameter =
    parameter("read_ahead", Unit::Size, None, "bytes that the kernel reads ahead (read_ahead_kb)");

pub(crate) fn read_ahead(arguments: &Arguments<'_>) -> Result<Option<u64>, Error> {
    let bytes = arguments.whole_if_given("read_ahead");
    if bytes.is_some_and(|bytes| bytes % PAGE_BYTES != 0 || bytes > MOST_BYTES) {
        let problem = "the kernel counts it in pages, up to 1G";
        return Err(arguments.refuse("read_ahead", problem, "write a multiple of 4k, such as 1M"));
    }
    Ok(bytes)
}
