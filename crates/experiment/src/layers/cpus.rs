//! Which CPUs the ends of a network path have, where both are on one machine.

use serde::{Deserialize, Serialize};

use super::declared::{Arguments, Value};
use super::info::{Parameter, parameter};
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
    pub(super) const PARAMETERS: &[Parameter] = &[parameter(
        Self::NAME,
        Unit::Choice(&["apart", "any"]),
        Some("any"),
        "each end has half of the CPUs, as on two hosts, or both have any",
    )];

    pub(super) fn read(arguments: &Arguments<'_>) -> Self {
        match arguments.text(Self::NAME).as_deref() {
            Some("apart") => Self::Apart,
            _ => Self::Any,
        }
    }

    /// Left out where it is as by default.
    pub(super) fn value(self) -> (&'static str, Option<Value>) {
        (Self::NAME, (self == Self::Apart).then(|| Value::Text("apart".to_owned())))
    }
}
