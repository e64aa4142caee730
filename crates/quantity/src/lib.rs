//! Formats quantities as text, with one function for each kind. Text that iotax reads back, such as
//! `--set` and job files, uses the syntax in `iotax_layers::units` instead.
#![forbid(unsafe_code)]

mod number;
mod unit;

pub use number::{
    exact, fixed, grouped, interval, interval_decimals, percent, rate_interval, set_percent,
    significant, three_digits, times, two_digits, whole,
};
pub use unit::{
    bandwidth, bit_rate, bytes, gib, iops, iops_limit, limit_figure, mb_per_s, measured_mb_per_s,
    mib_per_s, mib_per_s_limit, per_second, set_time, single_bytes, size, span, span_of_ns, time,
    time_unit,
};

/// `1 trial`, `3 trials`, `1,200 trials`.
pub fn count(n: impl Into<u64>, noun: &str) -> String {
    let n = n.into();
    format!("{} {noun}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// A noun with its indefinite article, chosen by the first letter: `a block`, `an I/O`.
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

/// Capitalises the first letter.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_lists_are_english() {
        assert_eq!([1_u64, 1_200].map(|n| count(n, "trial")), ["1 trial", "1,200 trials"]);
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!(["block", "I/O"].map(a), ["a block", "an I/O"]);
    }
}
