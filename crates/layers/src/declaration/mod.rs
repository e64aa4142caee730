//! What every layer says of itself, and the arguments it is read from: checked against their
//! declaration, handed out by type.

pub(crate) mod cipher;
pub(crate) mod info;
pub(crate) mod need;
pub(crate) mod shared;

use std::ops::Range;
use std::path::PathBuf;

use crate::error::{About, Error};
use crate::units::{self, Unit};
use info::{LayerInfo, Parameter};

/// A layer's declaration.
pub(crate) trait Declared: Sized {
    /// The words that make such a layer.
    const WORDS: &'static [LayerInfo];

    /// The layer that was written.
    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error>;

    /// Which of its words this layer is.
    fn word(&self) -> usize {
        0
    }

    /// Every parameter in the order of its declaration.
    fn values(&self) -> Values {
        Vec::new()
    }
}

/// Every parameter of a layer in the catalog's order; `None` where it is left out.
pub(crate) type Values = Vec<(&'static str, Option<Value>)>;

/// Disks consist of whole sectors of this size, so that every encryption sector size fits.
const SECTOR_BYTES: u64 = 4096;

/// A value of one of the catalog's units.
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
                Err(unit.refuse(text, format!("write {}", words.join(" or ")), ""))
            }
            _ if text.is_empty() => {
                Err(unit.refuse(text, "it is empty", "leave the parameter out instead"))
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

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Whole(number)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl From<bool> for Value {
    fn from(on: bool) -> Self {
        Self::Switch(on)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// What was written between a layer's brackets.
pub(crate) struct Arguments<'a> {
    text: &'a str,
    info: &'static LayerInfo,
    /// The whole layer: where errors about several parameters point.
    span: Range<usize>,
    given: Vec<(&'static Parameter, Value, Range<usize>)>,
}

impl<'a> Arguments<'a> {
    pub(crate) fn new(text: &'a str, info: &'static LayerInfo, span: Range<usize>) -> Self {
        Self { text, info, span, given: Vec::new() }
    }

    /// Which of the layer's words was written.
    pub(crate) fn word(&self) -> &'static str {
        self.info.name
    }

    /// Takes `name=value`.
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

    /// Widens the span once the closing bracket is known.
    pub(crate) fn ends_at(&mut self, end: usize) {
        self.span.end = end;
    }

    /// An error about one parameter; points at its value, or at the layer where it is left out.
    pub(crate) fn refuse(
        &self,
        name: &'static str,
        problem: impl Into<String>,
        advice: &str,
    ) -> Error {
        self.at(name, Error::impossible(About::Layer(self.info.name), name, problem, advice))
    }

    /// The error, pointing as that of [`Self::refuse`] does.
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

    fn required<T>(&self, name: &'static str, value: Option<T>) -> Result<T, Error> {
        value.ok_or_else(|| {
            let advice = format!("for example {}", self.info.example);
            self.refuse(name, "must be given", &advice)
        })
    }

    /// A size, duration or count that may be left out.
    pub(crate) fn whole_if_given(&self, name: &'static str) -> Option<u64> {
        match self.find(name)? {
            Value::Whole(number) => Some(number),
            Value::Text(text) => text.parse().ok(),
            Value::Real(_) | Value::Switch(_) => None,
        }
    }

    /// A size, duration, count, or a choice among numbers.
    pub(crate) fn whole(&self, name: &'static str) -> Result<u64, Error> {
        self.required(name, self.whole_if_given(name))
    }

    /// [`Arguments::whole`] above 0 that fits 32 bits.
    pub(crate) fn small(&self, name: &'static str) -> Result<u32, Error> {
        let whole = self.whole(name)?;
        match u32::try_from(whole) {
            Ok(0) => Err(self.refuse(name, "must be above 0", "")),
            Ok(small) => Ok(small),
            Err(_) => Err(self.refuse(name, format!("{whole} is too large"), "")),
        }
    }

    /// A rate or share that may be left out.
    pub(crate) fn real(&self, name: &'static str) -> Option<f64> {
        match self.find(name)? {
            Value::Real(number) => Some(number),
            _ => None,
        }
    }

    /// A rate above 0 that may be left out.
    pub(crate) fn rate(&self, name: &'static str) -> Result<Option<f64>, Error> {
        match self.real(name) {
            Some(0.0) => Err(self.refuse(name, "a limit of 0 would never let an I/O pass", "")),
            rate => Ok(rate),
        }
    }

    /// A rate above 0.
    pub(crate) fn required_rate(&self, name: &'static str) -> Result<f64, Error> {
        let rate = self.rate(name)?;
        self.required(name, rate)
    }

    /// A share; 0 when left out.
    pub(crate) fn share(&self, name: &'static str) -> f64 {
        self.real(name).unwrap_or(0.0)
    }

    pub(crate) fn text(&self, name: &'static str) -> Option<String> {
        match self.find(name)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn required_text(&self, name: &'static str) -> Result<String, Error> {
        self.required(name, self.text(name))
    }

    pub(crate) fn required_path(&self, name: &'static str) -> Result<PathBuf, Error> {
        self.required(name, self.path(name))
    }

    /// A switch that may be left out.
    pub(crate) fn switch_if_given(&self, name: &'static str) -> Option<bool> {
        match self.find(name)? {
            Value::Switch(on) => Some(on),
            _ => None,
        }
    }

    /// A switch; it has a default.
    pub(crate) fn switch(&self, name: &'static str) -> Result<bool, Error> {
        self.required(name, self.switch_if_given(name))
    }

    pub(crate) fn path(&self, name: &'static str) -> Option<PathBuf> {
        self.text(name).map(PathBuf::from)
    }

    /// The size of a base that is made.
    pub(crate) fn disk_size(&self) -> Result<u64, Error> {
        let size_bytes = self.whole("size")?;
        if size_bytes == 0 || !size_bytes.is_multiple_of(SECTOR_BYTES) {
            let problem = format!("{size_bytes} bytes are not whole sectors of 4096");
            return Err(self.refuse("size", problem, "write a multiple of 4k above 0"));
        }
        Ok(size_bytes)
    }

    /// The mean of `of`, which are not below 0, and their spread, plus or minus.
    pub(crate) fn latency_and_jitter(&self, of: &str) -> Result<(u64, u64), Error> {
        let (latency_ns, jitter_ns) = (self.whole("latency")?, self.whole("jitter")?);
        if jitter_ns > latency_ns {
            let problem = format!("would make {of} negative");
            return Err(self.refuse("jitter", problem, "write a jitter of at most the latency"));
        }
        Ok((latency_ns, jitter_ns))
    }

    pub(crate) fn cache_size(&self) -> Result<u64, Error> {
        let size_bytes = self.whole("size")?;
        if size_bytes < SECTOR_BYTES {
            return Err(self.refuse("size", "holds no sector", "write at least 4k"));
        }
        Ok(size_bytes)
    }
}
