//! The parameter of layers that can encrypt with one of several ciphers, all of which authenticate, too.

use super::info::{Parameter, parameter};
use super::{Arguments, Values};
use crate::error::Error;
use crate::units::Unit;

const NAME: &str = "cipher";

/// Those of them that a layer can, and which one it takes.
pub(crate) const fn one_of(ciphers: &'static [&'static str], default: &'static str) -> Parameter {
    parameter(NAME, Unit::Choice(ciphers), Some(default), "what encrypts and authenticates")
}

pub(crate) fn from_arguments(arguments: &Arguments<'_>) -> Result<String, Error> {
    arguments.required_text(NAME)
}

/// Of a layer that has no other parameter.
pub(crate) fn values(cipher: &str) -> Values {
    vec![(NAME, Some(cipher.to_owned().into()))]
}
