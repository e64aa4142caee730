//! Shares of time in which work waited: `/proc/pressure/*` and `*.pressure` of control groups,
//! described in the kernel's `Documentation/accounting/psi.rst`.

use iotax_record::machine::PressureAverages;

/// `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`, and the same for `full`.
pub(super) fn averages(text: &str) -> Option<PressureAverages> {
    let average = |kind: &str, over: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(kind)?.strip_prefix(' '))?;
        let value = line.split_ascii_whitespace().find_map(|word| word.strip_prefix(over))?;
        value.strip_prefix('=')?.parse().ok().filter(|share: &f64| share.is_finite())
    };
    Some(PressureAverages {
        some_10s_percent: average("some", "avg10")?,
        some_300s_percent: average("some", "avg300")?,
        full_10s_percent: average("full", "avg10").unwrap_or(0.0),
        full_300s_percent: average("full", "avg300").unwrap_or(0.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_lines_are_read() {
        let text = "some avg10=55.54 avg60=52.97 avg300=29.62 total=2442676233\n\
                    full avg10=51.35 avg60=39.67 avg300=17.68 total=1364767186\n";
        let found = averages(text).unwrap();
        assert_eq!((found.some_10s_percent, found.some_300s_percent), (55.54, 29.62));
        assert_eq!((found.full_10s_percent, found.full_300s_percent), (51.35, 17.68));
        assert_eq!(averages("some avg10=1 avg60=2\n"), None);
        assert_eq!(averages("some avg10=NaN avg300=NaN\n"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in ".*", value in "[a-z0-9=. ]{0,30}") {
            averages(&text);
            averages(&format!("some avg10={value} avg300={value}"));
        }
    }
}
