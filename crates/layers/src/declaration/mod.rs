//! Declarations of layers, and the arguments that are checked against them.

pub(crate) mod info;
pub(crate) mod need;
pub(crate) mod shared;

use std::ops::Range;
use std::path::PathBuf;

use crate::error::{About, Error};
use crate::units::{self, Unit};
use info::{LayerInfo, Parameter};

/// What a file of `each` needs to declare its layer.
pub(crate) mod prelude {
    pub(crate) use std::path::PathBuf;

    pub(crate) use serde::{Deserialize, Serialize};

    pub(crate) use crate::declaration::info::{
        BASE, Does, Form, IN_PROCESS, IN_SYSTEM, LayerInfo, NETWORK_BASE, ON_NETWORK, Parameter,
        Submitter, World, parameter,
    };
    pub(crate) use crate::declaration::need::Need;
    pub(crate) use crate::declaration::shared::{Cpus, READ_AHEAD, cipher, demand_read_ahead};
    pub(crate) use crate::declaration::{
        Arguments, Declared, ENDLESS, Field, Value, Values, parameters,
    };
    pub(crate) use crate::error::Error;
    pub(crate) use crate::units::Unit;
}

/// A layer's declaration.
pub(crate) trait Declared: Sized {
    /// The names in stack text.
    const WORDS: &'static [LayerInfo];
    const PARAMETERS: &'static [Parameter];

    /// Reads the layer from its arguments, each checked separately.
    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error>;

    /// Refuses values that do not fit together.
    fn validate(&self, arguments: &Arguments<'_>) -> Result<(), Error> {
        let _ = arguments;
        Ok(())
    }

    /// Index of the name in [`Self::WORDS`].
    fn word(&self) -> usize {
        0
    }

    /// All parameters, in declaration order.
    fn values(&self) -> Values;
}

/// Maps each parameter of a layer to a field. For use in an `impl Declared`.
macro_rules! parameters {
    ($($field:ident: $parameter:expr,)*) => {
        const PARAMETERS: &'static [Parameter] = &[$($parameter),*];

        fn from_arguments(_arguments: &Arguments<'_>) -> Result<Self, Error> {
            Ok(Self { $($field: Field::from_argument(_arguments, const { $parameter.name })?,)* })
        }

        fn values(&self) -> Values {
            vec![$((const { $parameter.name }, self.$field.value()),)*]
        }
    };
}
pub(crate) use parameters;

/// A type that a field of a layer can have.
pub(crate) trait Field: Sized {
    fn from_argument(arguments: &Arguments<'_>, name: &'static str) -> Result<Self, Error>;

    /// `None` if it is left out.
    fn value(&self) -> Option<Value>;
}

/// A size, duration, count, or a choice among numbers.
impl Field for u64 {
    fn from_argument(arguments: &Arguments<'_>, name: &'static str) -> Result<Self, Error> {
        arguments.required(name, |value| match value {
            Value::Whole(number) => Some(number),
            Value::Text(text) => text.parse().ok(),
            Value::Real(_) | Value::Switch(_) => None,
        })
    }

    fn value(&self) -> Option<Value> {
        Some(Value::Whole(*self))
    }
}

/// A number above 0 that fits 32 bits.
impl Field for u32 {
    fn from_argument(arguments: &Arguments<'_>, name: &'static str) -> Result<Self, Error> {
        let whole = u64::from_argument(arguments, name)?;
        arguments.demand(whole > 0, name, "must be above 0", "")?;
        Self::try_from(whole)
            .map_err(|_| arguments.refuse(name, format!("{whole} is too large"), ""))
    }

    fn value(&self) -> Option<Value> {
        Some(Value::Whole((*self).into()))
    }
}

/// A share, or a rate above 0.
impl Field for f64 {
    fn from_argument(arguments: &Arguments<'_>, name: &'static str) -> Result<Self, Error> {
        let number = arguments.required(name, |value| match value {
            Value::Real(number) => Some(number),
            _ => None,
        })?;
        let is_rate = arguments.parameter(name)?.unit != Unit::Share;
        arguments.demand(!is_rate || number != 0.0, name, ENDLESS, "")?;
        Ok(number)
    }

    fn value(&self) -> Option<Value> {
        Some(Value::Real(*self))
    }
}

impl Field for bool {
    fn from_argument(arguments: &Arguments<'_>, name: &'static str) -> Result<Self, Error> {
        arguments.required(name, |value| match value {
            Value::Switch(on) => Some(on),
            _ => None,
        })
    }

    fn value(&self) -> Option<Value> {
        Some(Value::Switch(*self))
    }
}

impl Field for String {
    fn from_argument(arguments: &Arguments<'_>, name: &'static str) -> Result<Self, Error> {
        arguments.required(name, |value| match value {
            Value::Text(text) => Some(text),
            _ => None,
        })
    }

    fn value(&self) -> Option<Value> {
        Some(Value::Text(self.clone()))
    }
}

impl Field for PathBuf {
    fn from_argument(arguments: &Arguments<'_>, name: &'static str) -> Result<Self, Error> {
        String::from_argument(arguments, name).map(Self::from)
    }

    fn value(&self) -> Option<Value> {
        Some(Value::Text(self.to_string_lossy().into_owned()))
    }
}

/// An optional parameter.
impl<T: Field> Field for Option<T> {
    fn from_argument(arguments: &Arguments<'_>, name: &'static str) -> Result<Self, Error> {
        arguments.find(name).map(|_| T::from_argument(arguments, name)).transpose()
    }

    fn value(&self) -> Option<Value> {
        self.as_ref()?.value()
    }
}

/// Every parameter of a layer in the order of its declaration; `None` if left out.
pub(crate) type Values = Vec<(&'static str, Option<Value>)>;

/// Sizes of disks are multiples of this, so that every encryption sector size fits.
pub(crate) const SECTOR_BYTES: u64 = 4096;
pub(crate) const ENDLESS: &str = "a limit of 0 would block every I/O";

/// A parsed value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Whole(u64),
    Real(f64),
    Text(String),
    Switch(bool),
}

impl Value {
    pub(crate) fn read(unit: Unit, text: &str) -> Result<Self, Error> {
        match unit {
            Unit::Size => units::parse_bytes(text).map(Self::Whole),
            Unit::Duration => units::parse_duration(text).map(Self::Whole),
            Unit::Bandwidth => units::parse_bandwidth(text).map(Self::Real),
            Unit::Iops => units::parse_iops(text).map(Self::Real),
            Unit::BitRate => units::parse_bit_rate(text).map(Self::Real),
            Unit::Count => units::parse_count(text).map(Self::Whole),
            Unit::Share => units::parse_share(text).map(Self::Real),
            Unit::Switch => units::parse_switch(text).map(Self::Switch),
            Unit::Choice(words) if !words.contains(&text) => {
                Err(unit.refuse(text, format!("use {}", words.join(" or ")), ""))
            }
            _ if text.is_empty() => {
                Err(unit.refuse(text, "it is empty", "leave the parameter out"))
            }
            _ => Ok(Self::Text(text.to_owned())),
        }
    }

    /// The shortest text that [`Value::read`] reads back exactly.
    pub(crate) fn write(&self, unit: Unit) -> String {
        match (self, unit) {
            (Self::Whole(bytes), Unit::Size) => units::format_bytes(*bytes),
            (Self::Whole(ns), Unit::Duration) => units::format_duration(*ns),
            (Self::Whole(number), _) => number.to_string(),
            (Self::Real(bytes), Unit::Bandwidth) => units::format_bandwidth(*bytes),
            (Self::Real(bits), Unit::BitRate) => units::format_bit_rate(*bits),
            (Self::Real(share), Unit::Share) => units::format_share(*share),
            (Self::Real(number), _) => units::format_iops(*number),
            (Self::Text(text), _) => text.clone(),
            (Self::Switch(on), _) => on.to_string(),
        }
    }
}

/// The arguments in the brackets of a layer.
pub(crate) struct Arguments<'a> {
    text: &'a str,
    info: &'static LayerInfo,
    /// The whole layer; errors about several parameters point here.
    span: Range<usize>,
    given: Vec<(&'static Parameter, Value, Range<usize>)>,
}

impl<'a> Arguments<'a> {
    pub(crate) fn new(text: &'a str, info: &'static LayerInfo, span: Range<usize>) -> Self {
        Self { text, info, span, given: Vec::new() }
    }

    /// The name that was written.
    pub(crate) fn word(&self) -> &'static str {
        self.info.name
    }

    /// Adds `name=value`.
    pub(crate) fn add(
        &mut self,
        parameter: &'static Parameter,
        name_span: Range<usize>,
        value: &str,
        value_span: Range<usize>,
    ) -> Result<(), Error> {
        if self.given.iter().any(|(other, ..)| other.name == parameter.name) {
            let error = Error::Duplicate { what: "parameter", name: parameter.name.to_owned() };
            return Err(error.at(self.text, name_span));
        }
        let read = Value::read(parameter.unit, value);
        let value = read.map_err(|e| e.at(self.text, value_span.clone()))?;
        self.given.push((parameter, value, value_span));
        Ok(())
    }

    /// The declaration of a parameter.
    pub(crate) fn parameter(&self, name: &str) -> Result<&'static Parameter, Error> {
        let known = self.info.parameters;
        known.iter().find(|parameter| parameter.name == name).ok_or_else(|| {
            Error::unknown("parameter", name, known.iter().map(|parameter| parameter.name))
        })
    }

    /// Extends the span to the closing bracket.
    pub(crate) fn ends_at(&mut self, end: usize) {
        self.span.end = end;
    }

    /// An error about one parameter, pointing at its value, or at the layer if it was left out.
    pub(crate) fn refuse(
        &self,
        name: &'static str,
        problem: impl Into<String>,
        advice: &str,
    ) -> Error {
        self.at(name, Error::impossible(About::Layer(self.info.name), name, problem, advice))
    }

    /// The error, pointing at the same place as [`Self::refuse`].
    pub(crate) fn at(&self, name: &str, error: Error) -> Error {
        let given = self.given.iter().find(|(parameter, ..)| parameter.name == name);
        let span = given.map_or(&self.span, |(.., span)| span);
        error.at(self.text, span.clone())
    }

    fn find(&self, name: &'static str) -> Option<Value> {
        if let Some((_, value, _)) = self.given.iter().find(|(other, ..)| other.name == name) {
            return Some(value.clone());
        }
        let parameter = self.parameter(name).expect("builders ask for declared parameters only");
        let text = parameter.default?;
        Some(Value::read(parameter.unit, text).expect("a test reads every default"))
    }

    fn required<T>(
        &self,
        name: &'static str,
        of: impl FnOnce(Value) -> Option<T>,
    ) -> Result<T, Error> {
        self.find(name).and_then(of).ok_or_else(|| {
            let advice = format!("for example {}", self.info.example);
            self.refuse(name, "is required", &advice)
        })
    }

    /// Refuses a parameter unless `is_met`.
    pub(crate) fn demand(
        &self,
        is_met: bool,
        name: &'static str,
        problem: impl Into<String>,
        advice: &str,
    ) -> Result<(), Error> {
        if is_met { Ok(()) } else { Err(self.refuse(name, problem, advice)) }
    }

    /// Checks the size of a new base.
    pub(crate) fn demand_sectors(&self, size_bytes: u64) -> Result<(), Error> {
        let is_met = size_bytes > 0 && size_bytes.is_multiple_of(SECTOR_BYTES);
        let problem = format!("{size_bytes} bytes is not a multiple of 4096");
        self.demand(is_met, "size", problem, "use a multiple of 4k above 0")
    }

    /// Checks the size of a cache.
    pub(crate) fn demand_sector(&self, size_bytes: u64) -> Result<(), Error> {
        self.demand(
            size_bytes >= SECTOR_BYTES,
            "size",
            "is smaller than one sector",
            "use at least 4k",
        )
    }

    /// Checks that a value of `of` minus its jitter is not negative.
    pub(crate) fn demand_jitter(&self, is_met: bool, of: &str) -> Result<(), Error> {
        let problem = format!("would make {of} negative");
        self.demand(is_met, "jitter", problem, "use a jitter no larger than the latency")
    }
}
