//! Numbers of a result: read as they are, judged where their meaning is known.

use std::fmt::{self, Display};

use serde::{Deserialize, Deserializer, de};

use crate::importers::error::Error;

/// The most of anything that is believed, I/Os and bytes alike: 9 PB. With 512 jobs at most, no sum
/// of them overflows.
pub(super) const MOST: u64 = 1 << 53;

/// The nearest whole number: 0 of what is below or none, and the largest of what is beyond it.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, as meant")]
pub(super) fn whole(x: f64) -> u64 {
    x.round() as u64
}

/// A number that may be absent; `nan` counts as absent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) enum Number {
    #[default]
    Absent,
    Whole(u64),
    Other(f64),
}

impl Number {
    pub(super) fn whole(self) -> Option<u64> {
        match self {
            Self::Whole(n) => Some(n),
            Self::Absent | Self::Other(_) => None,
        }
    }

    pub(super) fn float(self) -> Option<f64> {
        match self {
            Self::Whole(n) => Some(n as f64),
            Self::Other(x) => Some(x),
            Self::Absent => None,
        }
    }

    /// As a count of something; `None` if absent.
    pub(super) fn count(self, job: &str, field: impl Display) -> Result<Option<u64>, Error> {
        match self {
            Self::Absent => Ok(None),
            Self::Whole(n) if n <= MOST => Ok(Some(n)),
            Self::Other(x) if (0.0..=MOST as f64).contains(&x) => Ok(Some(whole(x))),
            _ => Err(self.wrong(job, field, "a count from 0 to 9 * 10^15")),
        }
    }

    /// As a share or a mean; `None` if absent.
    pub(super) fn positive(self, job: &str, field: impl Display) -> Result<Option<f64>, Error> {
        match self.float() {
            Some(x) if (0.0..=MOST as f64).contains(&x) => Ok(Some(x)),
            None => Ok(None),
            Some(_) => Err(self.wrong(job, field, "a number from 0 to 9 * 10^15")),
        }
    }

    pub(super) fn wrong(self, job: &str, field: impl Display, expected: &'static str) -> Error {
        let value = match self {
            Self::Absent => "absent".to_owned(),
            Self::Whole(n) => n.to_string(),
            Self::Other(x) if x.abs() > MOST as f64 => format!("{x:e}"),
            Self::Other(x) => x.to_string(),
        };
        Error::Number { job: job.to_owned(), field: field.to_string(), value, expected }
    }
}

struct Visitor;

impl de::Visitor<'_> for Visitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_u64<E>(self, n: u64) -> Result<Number, E> {
        Ok(Number::Whole(n))
    }

    fn visit_i64<E>(self, n: i64) -> Result<Number, E> {
        Ok(u64::try_from(n).map_or(Number::Other(n as f64), Number::Whole))
    }

    fn visit_f64<E>(self, x: f64) -> Result<Number, E> {
        Ok(Number::Other(x))
    }

    fn visit_unit<E>(self) -> Result<Number, E> {
        Ok(Number::Absent)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Visitor)
    }
}
