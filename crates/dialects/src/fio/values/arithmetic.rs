//! Expressions in parentheses, such as `(4*1024k)`, by fio's grammar (`exp/expression-parser.y`).
//!
//! A unit binds tighter than `+` and `-` but looser than the other operators, so that `8k/2k` is
//! `(8k/2)k`. Units are those of `kb_base=1024`, whatever `kb_base` is.

use super::{Unreadable, unreadable};

/// fio's result of an expression: it computes in whole numbers and in floating point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Value {
    pub integer: i64,
    pub float: f64,
    /// Whether it contains a unit.
    pub has_unit: bool,
    /// Whether its first number is a fraction.
    fraction: bool,
}

const SUM: u8 = 1;
const UNIT: u8 = 2;
const PRODUCT: u8 = 3;
const POWER: u8 = 4;
const REMAINDER: u8 = 5;

/// Longest expression that fio reads completely, in bytes. It also limits the recursion.
const LONGEST: usize = 127;

/// The value of an expression; with `time`, `m` means minutes.
pub(super) fn evaluate(text: &str, time: bool) -> Result<Value, Unreadable> {
    if text.len() > LONGEST {
        return unreadable("is too long for an expression", "");
    }
    let mut reader = Reader { text, at: 0, time };
    let value = reader.expression(SUM)?;
    match reader.peek() {
        // fio's lexer reads these as the start of a comment.
        None | Some('#' | ':' | ',') => Ok(value),
        Some(_) => Err(reader.unexpected()),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    time: bool,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<char> {
        let rest = self.text[self.at..].trim_start_matches([' ', '\t']);
        self.at = self.text.len() - rest.len();
        rest.chars().next()
    }

    fn expression(&mut self, least: u8) -> Result<Value, Unreadable> {
        let mut left = self.operand()?;
        while let Some(next) = self.peek() {
            let level = match next {
                '+' | '-' => SUM,
                '*' | '/' => PRODUCT,
                '^' => POWER,
                '%' => REMAINDER,
                c if c.is_ascii_alphabetic() => UNIT,
                _ => break,
            };
            if level < least {
                break;
            }
            if level == UNIT {
                left = self.unit(left)?;
                continue;
            }
            self.at += 1;
            // Powers group from the right, all other operators from the left.
            let right = self.expression(if level == POWER { level } else { level + 1 })?;
            left = self.combined(left, next, right)?;
        }
        Ok(left)
    }

    fn operand(&mut self) -> Result<Value, Unreadable> {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let value = self.expression(SUM)?;
                if self.peek() != Some(')') {
                    return Err(self.unexpected());
                }
                self.at += 1;
                Ok(value)
            }
            Some('-') => {
                self.at += 1;
                let value = self.operand()?;
                let integer = value.integer.checked_neg().ok_or_else(|| self.overflow())?;
                Ok(Value { integer, float: -value.float, ..value })
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            _ => Err(self.unexpected()),
        }
    }

    fn number(&mut self) -> Result<Value, Unreadable> {
        let rest = &self.text[self.at..];
        let length = |ends: fn(char) -> bool| rest.find(ends).unwrap_or(rest.len());
        if let Some(digits) = rest.strip_prefix("0x") {
            let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
            let value = i32::from_str_radix(&digits[..end], 16).map_err(|_| self.unexpected())?;
            self.at += 2 + end;
            return Ok(Value::whole(value));
        }
        let end = length(|c| !c.is_ascii_digit() && c != '.');
        let number = &rest[..end];
        let value = if number.contains('.') {
            let float: f64 = number.parse().map_err(|_| self.unexpected())?;
            Value { integer: truncated(float), float, has_unit: false, fraction: true }
        } else {
            // fio reads them as 32 bits.
            Value::whole(number.parse().map_err(|_| self.overflow())?)
        };
        self.at += end;
        Ok(value)
    }

    fn unit(&mut self, value: Value) -> Result<Value, Unreadable> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let Some((factor, fraction)) = factor(&rest[..end], self.time) else {
            return Err(self.unexpected());
        };
        self.at += end;
        let (float, integer) = if value.fraction || fraction {
            let float = value.float * factor as f64;
            (float, Some(truncated(float)))
        } else {
            let integer = value.integer.checked_mul(factor);
            (integer.unwrap_or(0) as f64, integer)
        };
        let integer = integer.ok_or_else(|| self.overflow())?;
        Ok(Value { integer, float, has_unit: true, fraction: value.fraction })
    }

    fn combined(&self, left: Value, operator: char, right: Value) -> Result<Value, Unreadable> {
        let (a, b) = (left.integer, right.integer);
        let whole = !left.fraction && !right.fraction;
        let float = match operator {
            '+' => left.float + right.float,
            '-' => left.float - right.float,
            '*' => left.float * right.float,
            '/' => left.float / right.float,
            '^' => left.float.powf(right.float),
            _ => left.float % right.float,
        };
        if matches!(operator, '/' | '%') && (b == 0 && whole || right.float.abs() < 1e-20) {
            return unreadable(format!("`{}` divides by zero", self.text), "");
        }
        let integer = match operator {
            _ if !whole => Some(truncated(float)),
            '+' => a.checked_add(b),
            '-' => a.checked_sub(b),
            '*' => a.checked_mul(b),
            '/' => a.checked_div(b),
            '^' => match u32::try_from(b) {
                Ok(exponent) => a.checked_pow(exponent),
                Err(_) => Some(truncated(float)),
            },
            _ => a.checked_rem(b),
        };
        let integer = integer.ok_or_else(|| self.overflow())?;
        let has_unit = left.has_unit || right.has_unit;
        Ok(Value { integer, float, has_unit, fraction: left.fraction })
    }

    fn unexpected(&self) -> Unreadable {
        let problem = match self.text[self.at..].chars().next() {
            Some(c) => format!("`{c}` is not valid in `{}`", self.text),
            None => format!("`{}` is incomplete", self.text),
        };
        Unreadable::new(
            problem,
            "use numbers with k, m, g, the operators + - * / % ^, and parentheses",
        )
    }

    fn overflow(&self) -> Unreadable {
        Unreadable::new(format!("`{}` contains a number that is too large for fio", self.text), "")
    }
}

impl Value {
    fn whole(value: i32) -> Self {
        let integer = i64::from(value);
        Self { integer, float: f64::from(value), has_unit: false, fraction: false }
    }
}

/// A unit, and whether fio treats its factor as a fraction.
fn factor(unit: &str, time: bool) -> Option<(i64, bool)> {
    let factor = match unit.to_ascii_lowercase().as_str() {
        "us" => return Some((1, true)),
        "ms" => return Some((1000, true)),
        "k" | "kb" => 1 << 10,
        "mb" => 1 << 20,
        "m" if !time => 1 << 20,
        "m" => 60_000_000,
        "g" | "gb" => 1 << 30,
        "t" | "tb" => 1 << 40,
        "p" | "pb" => 1 << 50,
        "kib" => 1000,
        "mib" | "s" => 1_000_000,
        "gib" => 1_000_000_000,
        "d" => 86_400_000_000,
        "h" => 3_600_000_000,
        _ => return None,
    };
    Some((factor, false))
}

#[expect(clippy::cast_possible_truncation, reason = "as fio does; out of range saturates")]
fn truncated(value: f64) -> i64 {
    value as i64
}
