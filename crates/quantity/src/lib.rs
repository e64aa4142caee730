//! Quantities as text: one function for each. What is read back, such as `--set` and job files, has
//! the language of its reader instead (`iotax_layers::units`).
#![forbid(unsafe_code)]

mod number;
mod unit;

pub use number::{fixed, grouped, interval, interval_decimals, percent, significant, times, whole};
pub use unit::{
    bandwidth, bit_rate, bytes, mb_per_s, mib_per_s, size, span, span_of_ns, time, time_unit,
};

/// A plain number with two significant digits or all before the point.
pub fn two_digits(value: f64) -> String {
    if value.abs() >= 9.95 || value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}

/// `1 trial`, `3 trials`.
pub fn count(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// A noun with its article, by its first letter: `a block`, `an I/O`.
pub fn a(noun: &str) -> String {
    let article =
        if noun.starts_with(['A', 'E', 'I', 'O', 'a', 'e', 'i', 'o']) { "an" } else { "a" };
    format!("{article} {noun}")
}

/// `a`, `a and b`, `a, b and c`.
pub fn list(items: &[&str]) -> String {
    match items {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// A text as the start of a sentence.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_lists_are_english() {
        assert_eq!(count(1, "trial"), "1 trial");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!(["block", "I/O"].map(a), ["a block", "an I/O"]);
    }
}
