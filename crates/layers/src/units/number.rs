//! A decimal number and what stands behind it, kept exact until a unit is known.

use crate::error::Error;
use crate::units::unit::Unit;

/// Keeps every number, times any unit, a finite `f64` (at most about 1.8e308).
const MAX_DIGITS: usize = 290;

/// `2.5` and `ms` of `2.5ms`.
pub(super) struct Number<'a> {
    /// Digits with at most one point, as written.
    pub digits: &'a str,
    /// What follows, without spaces around it.
    pub suffix: &'a str,
}

impl<'a> Number<'a> {
    /// Splits `text`; no sign, no exponent, no thousands separator.
    pub(super) fn read(text: &'a str, unit: Unit, advice: &str) -> Result<Self, Error> {
        let text = text.trim();
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (digits, suffix) = text.split_at(end);
        let problem = if text.is_empty() {
            "it is empty"
        } else if text.starts_with('-') {
            "it is negative"
        } else if !digits.starts_with(|c: char| c.is_ascii_digit()) {
            "it does not start with a digit"
        } else if digits.ends_with('.') || digits.matches('.').count() > 1 {
            "its decimal point is misplaced"
        } else if digits.len() > MAX_DIGITS {
            "it is too long"
        } else {
            return Ok(Self { digits, suffix: suffix.trim() });
        };
        Err(unit.refuse(text, problem, advice))
    }

    /// The number times `multiplier`; `None` unless whole and within `u64`.
    pub(super) fn times(&self, multiplier: u64) -> Option<u64> {
        let (whole, fraction) = self.digits.split_once('.').unwrap_or((self.digits, ""));
        let fraction = fraction.trim_end_matches('0');
        let scale = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
        let whole: u128 = whole.parse().ok()?;
        let parts: u128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
        let product =
            whole.checked_mul(scale)?.checked_add(parts)?.checked_mul(u128::from(multiplier))?;
        if !product.is_multiple_of(scale) {
            return None;
        }
        u64::try_from(product / scale).ok()
    }

    /// The nearest `f64`.
    pub(super) fn as_f64(&self) -> f64 {
        self.digits.parse().expect("digits with at most one inner point are a float")
    }
}
