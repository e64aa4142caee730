//! Formats numbers with their significant digits.

/// Maximum number of decimals.
const MAX_DECIMALS: usize = 3;

/// A fixed number of decimals, with thousands separators, a Unicode minus sign and no negative
/// zero.
pub fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let sign = if value < 0.0 && !is_zero(&text) { "\u{2212}" } else { "" };
    let (ones, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    format!("{sign}{}{rest}", thousands(ones))
}

fn is_zero(figure: &str) -> bool {
    figure.chars().all(|c| matches!(c, '0' | '.'))
}

fn thousands(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A configured or documented number, without trailing zeros: `16`, `1.5`, `0.25`.
pub fn exact(value: f64) -> String {
    without_empty_decimals(&fixed(value, MAX_DECIMALS)).to_owned()
}

pub(crate) fn without_empty_decimals(figure: &str) -> &str {
    if figure.contains('.') { figure.trim_end_matches('0').trim_end_matches('.') } else { figure }
}

/// A fraction as percent: `0.012 %`, `7.2 %`, `23 %`, `99.9 %`. Less than 100 % is never rounded to
/// 100 %, and a half stays exact: `97.5 %`.
pub fn percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    let size = percent.abs();
    let is_half = ((2.0 * size).round() - 2.0 * size).abs() < 1e-9;
    let decimals = match size {
        x if (x - x.round()).abs() < 1e-9 => 0,
        x if x < 0.000_95 => return format!("under {} %", fixed(percent.signum() * 0.001, 3)),
        x if x < 0.009_5 => 3,
        x if x < 0.095 => 2,
        x if x < 9.95 || is_half => 1,
        // Truncated, not rounded.
        x if (99.5..100.0).contains(&x) => {
            return format!("{} %", fixed(percent.signum() * (10.0 * x).floor() / 10.0, 1));
        }
        _ => 0,
    };
    format!("{} %", fixed(percent, decimals))
}

/// A configured or counted percentage: `70 %`, `99.9999 %`.
pub fn set_percent(percent: impl Into<f64>) -> String {
    format!("{} %", without_empty_decimals(&fixed(percent.into(), 5)))
}

/// A number with `digits` significant digits, but never fewer than the integer part has.
pub fn significant(value: f64, digits: usize) -> String {
    let power = |n: usize| 10f64.powi(i32::try_from(n).unwrap_or(i32::MAX));
    // 9.995 rounds to 10.00, so it counts as two digits before the point.
    let rounded_up = 1.0 - 0.5 / power(digits);
    let whole_digits = (1..digits).find(|n| value.abs() < rounded_up * power(*n)).unwrap_or(digits);
    fixed(value, digits - whole_digits)
}

/// Two significant digits, or the whole integer part; no decimals for whole numbers: `1.5`, `64`.
pub fn two_digits(value: f64) -> String {
    if value.fract() == 0.0 { fixed(value, 0) } else { significant(value, 2) }
}

/// Three significant digits, or the whole integer part up to 9,994: `0.31`, `412`, `8,523`,
/// `85,300`. Values that round to 0.00 print as 0.
pub fn three_digits(value: f64) -> String {
    match value.abs() {
        x if x < 0.005 => "0".to_owned(),
        x if x < 9_995.0 => significant(value, 3),
        x => {
            let step = 10f64.powf(x.log10().floor() - 2.0);
            fixed((value / step).round() * step, 0)
        }
    }
}

/// A rate with its interval, without prefixes: `85,300 IOPS [84,900, 85,700]`. Thousands and
/// millions are rounded as in [`interval`].
pub fn rate_interval(value: f64, lo: f64, hi: f64, unit: &str) -> String {
    let scale = match value {
        x if x >= 999_500.0 => 1e6,
        x if x >= 9_995.0 => 1e3,
        _ => return interval(value, lo, hi, 1.0).replacen(' ', &format!(" {unit} "), 1),
    };
    let parts = 10f64.powf(interval_decimals(lo / scale, hi / scale) as f64);
    let shown =
        [value, lo, hi].map(|rate| fixed((rate / scale * parts).round() / parts * scale, 0));
    format!("{} {unit} [{}, {}]", shown[0], shown[1], shown[2])
}

/// A value with its interval, divided by `scale`, without a unit: `3.1 [2.9, 3.3]`.
///
/// The half-width determines the number of decimals. A bound other than zero is never rounded to
/// zero, because a verdict depends on whether the interval contains zero.
pub fn interval(value: f64, lo: f64, hi: f64, scale: f64) -> String {
    let (value, lo, hi) = (value / scale, lo / scale, hi / scale);
    let mut decimals = interval_decimals(lo, hi);
    if value != 0.0 && rounds_to_zero(value, decimals) {
        decimals += 1;
    }
    format!("{} [{}, {}]", fixed(value, decimals), fixed(lo, decimals), fixed(hi, decimals))
}

/// The nearest whole number. Negative values and NaN give 0; too large values give the maximum.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturation is intended"
)]
pub fn whole(value: f64) -> u64 {
    value.round() as u64
}

/// A factor: `2x`, `2.5x`, `28x`, `4,190x`.
pub fn times(factor: f64) -> String {
    let text = if factor >= 999.5 { grouped(whole(factor)) } else { significant(factor, 2) };
    format!("{}x", text.strip_suffix(".0").unwrap_or(&text))
}

/// A count with thousands separators: `12,345`.
pub fn grouped(n: u64) -> String {
    thousands(&n.to_string())
}

/// Number of decimals that an interval supports.
pub fn interval_decimals(lo: f64, hi: f64) -> usize {
    let half_width = (hi - lo) / 2.0;
    let wanted = decimals_for(half_width);
    [lo, hi].into_iter().filter(|end| *end != 0.0).map(f64::abs).fold(wanted, |decimals, end| {
        (decimals..=MAX_DECIMALS).find(|d| !rounds_to_zero(end, *d)).unwrap_or(MAX_DECIMALS)
    })
}

/// Number of decimals at which `size` has one significant digit. 1 if `size` is almost 0, because
/// equal trials do not support more digits.
fn decimals_for(size: f64) -> usize {
    (0..=MAX_DECIMALS)
        .find(|d| size >= 0.95 * 10f64.powi(-i32::try_from(*d).unwrap_or(0)))
        .unwrap_or(1)
}

fn rounds_to_zero(value: f64, decimals: usize) -> bool {
    is_zero(&fixed(value.abs(), decimals))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_shows_the_digits_it_supports() {
        assert_eq!(interval(12.34, 10.0, 14.3, 1.0), "12 [10, 14]");
        assert_eq!(interval(12.34, 11.92, 12.7, 1.0), "12.3 [11.9, 12.7]");
        assert_eq!(interval(-2.1, -9.0, 4.5, 1.0), "\u{2212}2 [\u{2212}9, 4]");
    }

    #[test]
    fn an_end_beside_zero_is_never_shown_as_zero() {
        assert_eq!(interval(4.0, 0.2, 8.0, 1.0), "4.0 [0.2, 8.0]");
        assert_eq!(interval(4.0, -0.04, 8.0, 1.0), "4.00 [\u{2212}0.04, 8.00]");
    }

    #[test]
    fn what_seems_exact_has_one_decimal() {
        assert_eq!(interval(25.0, 25.0, 25.0, 1.0), "25.0 [25.0, 25.0]");
        assert_eq!(interval(25.0, 24.998, 25.002, 1.0), "25.000 [24.998, 25.002]");
    }

    #[test]
    fn percents_have_the_digits_they_need() {
        let shown = [0.5, 0.072, 0.004, 0.0996, -0.234, 0.0, 1.0].map(percent);
        assert_eq!(shown, ["50 %", "7.2 %", "0.4 %", "10 %", "\u{2212}23 %", "0 %", "100 %"]);
        let shown = [0.000_12, 0.000_012, 1e-7, 0.975, 0.9996, 1.0 - 0.05].map(percent);
        assert_eq!(shown, ["0.01 %", "0.001 %", "under 0.001 %", "97.5 %", "99.9 %", "95 %"]);
    }

    #[test]
    fn percents_that_were_set_have_all_digits() {
        assert_eq!([set_percent(70_u8), set_percent(99.9999)], ["70 %", "99.9999 %"]);
    }

    #[test]
    fn thousands_are_apart() {
        assert_eq!([7, 1_000, 1_234_567].map(grouped), ["7", "1,000", "1,234,567"]);
        assert_eq!([-1234.56, -0.04].map(|x| fixed(x, 1)), ["\u{2212}1,234.6", "0.0"]);
    }

    #[test]
    fn numbers_have_three_digits_two_or_their_own() {
        let shown = [0.004, 0.312, 9.5, 412.4, 9_994.0, 85_312.0, 2.5e6].map(three_digits);
        assert_eq!(shown, ["0", "0.31", "9.50", "412", "9,994", "85,300", "2,500,000"]);
        assert_eq!([1.5, 64.0, 63.4, 1_000.2].map(two_digits), ["1.5", "64", "63", "1,000"]);
        assert_eq!([16.0, 1.5, 12_800.0, 0.25].map(exact), ["16", "1.5", "12,800", "0.25"]);
    }

    #[test]
    fn a_rate_has_the_digits_its_interval_supports() {
        let shown = |value, lo, hi| rate_interval(value, lo, hi, "IOPS");
        assert_eq!(shown(412.0, 405.0, 419.0), "412 IOPS [405, 419]");
        assert_eq!(shown(85_312.0, 84_901.0, 85_702.0), "85,300 IOPS [84,900, 85,700]");
        assert_eq!(shown(4.634e6, 4.471e6, 4.801e6), "4,600,000 IOPS [4,500,000, 4,800,000]");
    }

    #[test]
    fn numbers_that_are_not_whole_are_rounded_and_none_wraps() {
        assert_eq!([2.4, 2.5, -7.0, f64::NAN].map(whole), [2, 3, 0, 0]);
        assert_eq!([1e300, f64::INFINITY].map(whole), [u64::MAX; 2]);
    }
}
