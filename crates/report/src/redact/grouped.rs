//! Numbers in groups, such as card or telephone numbers, or addresses with commas. Each group alone
//! is harmless, but together they identify somebody.

use std::ops::Range;

/// Minimum number of groups, and of their digits.
const LEAST_GROUPS: usize = 3;
const LEAST_DIGITS: usize = 7;
/// Minimum number of digits of four groups that may be an address; `0,1,2,3` are CPUs.
const LEAST_DIGITS_OF_ADDRESS: usize = 5;
/// Maximum length of the text between two groups.
const LONGEST_GAP: usize = 3;
/// Maximum number of digits of a decimal fraction.
const MOST_DIGITS_OF_FRACTION: usize = 5;

/// Positions of grouped numbers that may identify somebody, in order.
pub(super) fn grouped_numbers(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut run: Vec<Range<usize>> = Vec::new();
    let mut finish = |run: &mut Vec<Range<usize>>| {
        let groups: Vec<&str> = run.iter().map(|group| &text[group.clone()]).collect();
        let pairs = run.iter().zip(run.iter().skip(1));
        let gaps: Vec<&str> = pairs.map(|(one, next)| &text[one.end..next.start]).collect();
        if let (Some(first), Some(last)) = (run.first(), run.last())
            && may_name(&groups, &gaps)
        {
            found.push(first.start..last.end);
        }
        run.clear();
    };
    for group in digits(text) {
        if !run.last().is_none_or(|last| joins(&text[last.end..group.start])) {
            finish(&mut run);
        }
        let before = text[..group.start].chars().next_back();
        let after = text[group.end..].chars().next();
        // `4k`, `sda1`, `8:16`.
        let is_of_word = |c: char| c.is_alphabetic() || c == ':';
        if [before, after].into_iter().flatten().any(is_of_word) {
            finish(&mut run);
        } else {
            run.push(group);
        }
    }
    finish(&mut run);
    found
}

/// Runs of digits. A decimal fraction is not a group.
fn digits(text: &str) -> impl Iterator<Item = Range<usize>> {
    let word = |c: char| !c.is_numeric() && c != '.';
    let start_of = move |part: &str| part.as_ptr().addr() - text.as_ptr().addr();
    text.split(word).flat_map(move |part| {
        let whole = part.trim_matches('.');
        let groups: Vec<&str> = whole.split('.').filter(|group| !group.is_empty()).collect();
        let is_fraction = groups.len() == 2
            && groups.iter().map(|group| group.chars().count()).sum::<usize>()
                <= MOST_DIGITS_OF_FRACTION;
        let ranges = groups.into_iter().map(move |group| {
            let start = start_of(group);
            start..start + group.len()
        });
        ranges.filter(move |_| !is_fraction)
    })
}

/// Whether two groups with this text between them may belong to one number. Colons occur in times
/// and device numbers, percent signs in figures.
fn joins(gap: &str) -> bool {
    let separates = |c: char| !c.is_alphanumeric() && !":=%\n".contains(c);
    gap.chars().count() <= LONGEST_GAP && gap.chars().all(separates)
}

fn may_name(groups: &[&str], gaps: &[&str]) -> bool {
    let digits: usize = groups.iter().map(|group| group.chars().count()).sum();
    let values: Vec<Option<u64>> = groups.iter().map(|group| value(group)).collect();
    let is_address = groups.len() == 4
        && gaps.iter().all(|gap| *gap == gaps[0])
        && digits >= LEAST_DIGITS_OF_ADDRESS
        && values.iter().all(|value| value.is_some_and(|value| value < 256));
    let is_long = groups.len() >= LEAST_GROUPS && digits >= LEAST_DIGITS;
    (is_long || is_address) && !is_series(&values) && !is_ranges(&values, gaps)
}

/// A number without leading zeros.
fn value(group: &str) -> Option<u64> {
    let is_padded = group.len() > 1 && group.starts_with('0');
    group.parse().ok().filter(|_| !is_padded)
}

/// CPUs, depths, sizes: arithmetic or geometric sequences.
fn is_series(values: &[Option<u64>]) -> bool {
    let Some(values) = values.iter().copied().collect::<Option<Vec<u64>>>() else { return false };
    let pairs = || values.iter().zip(&values[1..]);
    let mut steps = pairs().map(|(one, next)| next.checked_sub(*one));
    let mut factors = pairs().map(|(one, next)| {
        next.checked_div(*one).filter(|factor| *factor > 1 && one * factor == *next)
    });
    let all_alike = |first: Option<Option<u64>>,
                     mut rest: &mut dyn Iterator<Item = Option<u64>>| {
        first.flatten().is_some_and(|first| first > 0 && (&mut rest).all(|one| one == Some(first)))
    };
    all_alike(steps.next(), &mut steps) || all_alike(factors.next(), &mut factors)
}

/// CPUs: `0-15,32-47`.
fn is_ranges(values: &[Option<u64>], gaps: &[&str]) -> bool {
    let ascends = values.iter().zip(&values[1..]).all(|(one, next)| one.is_some() && one < next);
    ascends
        && gaps.contains(&"-")
        && gaps.contains(&",")
        && gaps.iter().all(|gap| ["-", ","].contains(gap))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str) -> Vec<&str> {
        grouped_numbers(text).into_iter().map(|number| &text[number]).collect()
    }

    #[test]
    fn numbers_in_groups_are_found_whatever_is_between_them() {
        for gap in [
            " ", "-", ".", "_", "/", ",", ", ", " - ", "\u{a0}", "\u{2009}", "\u{202f}",
            "\u{2013}", "|", ";", "'", ") (",
        ] {
            for groups in [
                &["4111", "1111", "1111", "1111"][..],
                &["10", "47", "113", "9"],
                &["49", "170", "1234567"],
                &["123", "45", "6789"],
            ] {
                let number = groups.join(gap);
                let text = format!("card {number} of");
                assert_eq!(found(&text), [number.as_str()], "{text}");
            }
        }
        assert_eq!(found("10,0,0,5"), ["10,0,0,5"]);
        assert_eq!(found("4111.1111 1111.1111"), ["4111.1111 1111.1111"]);
    }

    #[test]
    fn ordinary_figures_are_left_alone() {
        for text in [
            "0,1,2,3,4,5,6,7",
            "8,9,10,11",
            "4 8 16 32 64 128 256",
            "0-3,8-11",
            "0-15,32-47",
            "1024 4096",
            "8:16 8:32 259:1",
            "load 0.52 0.58 0.59",
            "10 %, 20 %, 30 %",
            "p50 120, p99 4500",
            "4k, 8k, 16k, 128k",
            "12:30:59",
            "2 of 64",
            "95 % [21.26, 140.6]",
            "1 2 3",
            "sda1 sdb2 sdc3 nvme0n1",
        ] {
            assert!(grouped_numbers(text).is_empty(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_found_is_of_the_text(text in ".*") {
            let mut end = 0;
            for range in grouped_numbers(&text) {
                prop_assert!(range.start >= end && text.get(range.clone()).is_some());
                end = range.end;
            }
        }
    }
}
