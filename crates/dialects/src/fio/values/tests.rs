//! The meaning of values, and the errors for invalid ones.

use std::sync::Arc;

use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::fio::options::option_named;
use crate::fio::section::TextPlace;

/// The setting as a line of a job file.
fn setting_with(name: &str, value: Option<&str>, kb_base: u16) -> Setting {
    let text: Arc<str> = match value {
        Some(value) => format!("{name}={value}").into(),
        None => name.into(),
    };
    let value_span = value.map_or(0..0, |_| name.len() + 1..text.len());
    let place = TextPlace { source: "job.fio".into(), line: 7, span: 0..text.len(), text };
    let option = option_named(name).unwrap();
    let (value, variables) = (value.map(Into::into), Arc::default());
    Setting { option, value, variables, place: Arc::new(place), value_span, kb_base }
}

fn setting(name: &str, value: &str) -> Setting {
    setting_with(name, Some(value), 1024)
}

fn bytes(value: &str, kb_base: u16) -> i64 {
    setting_with("bs", Some(value), kb_base).number().unwrap()
}

/// The error for a value, without the line and caret.
fn refusal(name: &str, value: &str) -> String {
    let setting = setting(name, value);
    let error = setting.check_value().unwrap_err().to_string();
    let lines: Vec<_> = error.lines().collect();
    let (first, rest) = lines.split_first().unwrap();
    let first = first.split_once(": ").unwrap().1;
    rest[2..].iter().fold(first.to_owned(), |text, line| format!("{text} | {line}"))
}

#[test]
fn units_of_size_are_those_of_kb_base_except_for_three_letters() {
    for unit in ["10M", "10m", "10MB", "10Mi", "10mI"] {
        assert_eq!(bytes(unit, 1024), 10 << 20, "{unit}");
        assert_eq!(bytes(unit, 1000), 10_000_000, "{unit}");
    }
    assert_eq!(bytes("10MiB", 1024), 10_000_000);
    assert_eq!(bytes("10MiB", 1000), 10 << 20);
    assert_eq!(bytes("512b", 1024), 512);
    assert_eq!(bytes("0x200", 1024), 512);
    assert_eq!(bytes("3p", 1024), 3 << 50);
    assert_eq!(setting("rate", "10m/s").number().unwrap(), 10 << 20);
}

#[test]
fn missing_parts_are_as_the_one_before_and_empty_ones_are_kept() {
    let three = |text: &str| setting("bs", text).per_direction().unwrap();
    assert_eq!(three("4k"), [Some(4096); 3]);
    assert_eq!(three("4k,8k"), [Some(4096), Some(8192), Some(8192)]);
    assert_eq!(three("4k,8k,1k"), [Some(4096), Some(8192), Some(1024)]);
    assert_eq!(three(",8k"), [None, Some(8192), Some(8192)]);
    assert_eq!(three("4k,,1k"), [Some(4096), None, Some(1024)]);
    assert_eq!(three("4k,"), [Some(4096), None, None]);
    assert_eq!(three("4k:8k"), [Some(4096), Some(8192), Some(8192)]);
    assert_eq!(setting("nice", "-5").number().unwrap(), -5);
}

#[test]
fn times_have_units_of_their_own() {
    let ns = |name: &str, text: &str| setting(name, text).duration_ns().unwrap();
    assert_eq!(ns("runtime", "10"), 10_000_000_000);
    assert_eq!(ns("thinktime", "10"), 10_000);
    assert_eq!(ns("runtime", "10ms"), 10_000_000);
    assert_eq!(ns("runtime", "250us"), 250_000);
    assert_eq!(ns("runtime", "2m"), 120_000_000_000);
    assert_eq!(ns("runtime", "1H"), 3_600_000_000_000);
    assert_eq!(ns("runtime", "1d"), 86_400_000_000_000);
    assert_eq!(ns("runtime", "(2*30)"), 60_000_000_000);
    assert_eq!(ns("runtime", "(2*1m)"), 120_000_000_000);
    assert_eq!(ns("latency_target", "(20ms)"), 20_000_000);
}

#[test]
fn sizes_may_be_percentages_and_zones() {
    let amount = |text: &str| setting("size", text).amount().unwrap();
    assert_eq!(amount("1g"), Amount::Bytes(1 << 30));
    assert_eq!(amount("50%"), Amount::Percent(50));
    assert_eq!(amount("5z"), Amount::Zones(5));
}

#[test]
fn expressions_follow_fios_grammar() {
    for (text, value) in [
        ("(4*1024)", 4096),
        ("(1+2k)", 2049),
        ("(4*2k)", 8192),
        ("((1+1)*4k)", 8192),
        ("(8k/2)", 4096),
        ("(2^10)", 1024),
        ("(2^3^2)", 512),
        ("(10%4)", 2),
        ("(-2+6)", 4),
        ("(1.5*4)k", 6144),
        ("(0x10)", 16),
        ("( 4 * 2 )", 8),
        ("(1mib)", 1_000_000),
    ] {
        assert_eq!(bytes(text, 1024), value, "{text}");
    }
    assert_eq!(lists::floats("(90+9):99.9").unwrap(), [99.0, 99.9]);
}

#[test]
fn open_shares_of_a_split_get_what_is_left() {
    let split = |text: &str| setting("bssplit", text).split().unwrap();
    let [reads, writes, trims] = split("4k/60:64k/40");
    assert_eq!(reads, [(4096, 60), (65536, 40)]);
    assert_eq!((&writes, &trims), (&reads, &reads));
    assert_eq!(split("4k/50:8k/:16k")[0], [(4096, 50), (8192, 25), (16384, 25)]);
    assert_eq!(split("1k:2k:4k")[0], [(1024, 33), (2048, 33), (4096, 33)]);
    let [reads, writes, trims] = split("4k/50:8k,1k/10:2k");
    assert_eq!(reads, [(4096, 50), (8192, 50)]);
    assert_eq!((&writes[..], &trims), (&[(1024, 10), (2048, 90)][..], &writes));
}

#[test]
fn words_ranges_lists_and_switches() {
    assert_eq!(setting("rw", "randread:8").choice().unwrap(), ("randread", Some("8")));
    assert_eq!(setting("rw", "rw").choice().unwrap(), ("rw", None));
    let range = setting("bsrange", "64k-4k,8k-16k").ranges().unwrap();
    assert_eq!(range, [Some((4096, 65536)), Some((8192, 16384)), Some((8192, 16384))]);
    assert_eq!(setting("cpus_allowed", "0-2,8,1").cpus().unwrap(), [0, 1, 2, 8]);
    assert!(setting_with("time_based", None, 1024).boolean().unwrap());
    assert!(!setting("time_based", "0").boolean().unwrap());
    assert!(setting("direct", "1").boolean().unwrap());
}

#[test]
fn a_wrong_value_is_underlined() {
    assert_snapshot!(setting("bs", "4x").check_value().unwrap_err(), @r"
    job.fio:7:4: bs: fio has no unit `x` and would read `4x` as a plain number
      7 | bs=4x
        |    ^^
    write k, m, g, t or p, or no unit
    ");
    assert_snapshot!(setting_with("bs", None, 1024).check_value().unwrap_err(), @r"
    job.fio:7:1: bs: has no value
      7 | bs
        | ^^
    write bs=VALUE
    ");
}

#[test]
fn refusals_say_what_fio_would_have_made_of_it() {
    let cases = [
        ("bs", ""),
        ("bs", "k"),
        ("bs", " 4k"),
        ("bs", "1.5k"),
        ("bs", "50%"),
        ("bs", "0x10k"),
        ("bs", "0"),
        ("bs", "-4k"),
        ("bs", "9999999p"),
        ("bs", "99999999999999999999"),
        ("bs", "1,2,3,4"),
        ("bs", ","),
        ("bs", "(4*"),
        ("bs", "(4)x"),
        ("bs", "(4/0)"),
        ("bs", "(2147483648)"),
        ("bs", "(2^99)"),
        ("iodepth", "5g"),
        ("rwmixread", "101"),
        ("size", "150%"),
        ("size", "xz"),
        ("size", "-1"),
        ("runtime", "10sec"),
        ("runtime", "1.5s"),
        ("runtime", "-1"),
        ("thinktime", "10 s"),
        ("rw", "read write"),
        ("rw", " read"),
        ("direct", "yes"),
        ("time_based", "on"),
        ("bsrange", "4k"),
        ("bssplit", "4k/x"),
        ("bssplit", "4k/60:8k/60"),
        ("percentile_list", "99:x"),
        ("percentile_list", "101"),
        ("cpus_allowed", "3-1"),
        ("cpus_allowed", "a"),
        ("cpus_allowed", "4096"),
        ("cpus_allowed", ","),
        ("filename", ""),
        ("percentage_sequential", "5"),
    ];
    let said: Vec<_> =
        cases.iter().map(|(name, value)| format!("{value:?}: {}", refusal(name, value))).collect();
    assert_snapshot!(said.join("\n"), @r#"
    "": bs: has no value
    "k": bs: `k` is not a number
    " 4k": bs: fio ignores the unit of `4k`, because the value starts with a space | remove the space after the equals sign
    "1.5k": bs: fio reads only whole numbers here and would ignore `.5k` in `1.5k` | use a smaller unit, such as 1536m for 1.5g
    "50%": bs: `50%` is a percentage, but percentages are not supported here
    "0x10k": bs: `0x10k` is hexadecimal, and fio ignores the unit after it | write the number in decimal
    "0": bs: `0` is too small | the smallest is 1
    "-4k": bs: `-4k` is too small | the smallest is 1
    "9999999p": bs: `9999999p` is too large
    "99999999999999999999": bs: `99999999999999999999` is too large
    "1,2,3,4": bs: `1,2,3,4` has more than three parts | specify at most three parts: for reads, writes and trims
    ",": bs: has no value
    "(4*": bs: `(4*` is incomplete | use numbers with k, m, g, the operators + - * / % ^, and parentheses
    "(4)x": bs: `x` is not valid in `(4)x` | use numbers with k, m, g, the operators + - * / % ^, and parentheses
    "(4/0)": bs: `(4/0)` divides by zero
    "(2147483648)": bs: `(2147483648)` contains a number that is too large for fio
    "(2^99)": bs: `(2^99)` contains a number that is too large for fio
    "5g": iodepth: `5g` is too large | the largest is 4294967295
    "101": rwmixread: `101` is too large | the largest is 100
    "150%": size: `150%` is larger than the whole file | write at most 100%
    "xz": size: `xz` is not a number
    "-1": size: `-1` is negative | write a size such as 4k or 1g
    "10sec": runtime: fio has no time unit `sec` and would read `10sec` as microseconds | write us, ms, s, m, h or d; a plain number means seconds
    "1.5s": runtime: fio reads only whole numbers here and would ignore `.5s` in `1.5s` | use a smaller unit, such as 1500ms for 1.5s
    "-1": runtime: `-1` is negative | write a time such as 10s
    "10 s": thinktime: fio has no time unit ` s` and would read `10 s` as microseconds | write us, ms, s, m, h or d; a plain number means microseconds
    "read write": rw: `read write` is not a valid value | write read, write, trim, randread, randwrite, randtrim, rw, readwrite, randrw, trimwrite, randtrimwrite
    " read": rw: fio does not recognize ` read`, because the value starts with a space | remove the space after the equals sign
    "yes": direct: `yes` is not a valid value for a switch | write 0 or 1
    "on": time_based: `on` is not a valid value for a switch | write 0 or 1
    "4k": bsrange: `4k` is one size, not a range | specify the smallest and the largest size, as in 4k-64k
    "4k/x": bssplit: `x` is not a percentage | specify sizes as in 4k/60:64k/40
    "4k/60:8k/60": bssplit: the percentages in `4k/60:8k/60` add up to 120 | make the percentages add up to 100
    "99:x": percentile_list: `x` is not a number
    "101": percentile_list: 101 is out of range | the range is 0 to 100
    "3-1": cpus_allowed: `3-1` is descending | put the smaller CPU number first
    "a": cpus_allowed: `a` is not a CPU number | specify CPUs, as in 0-3,8
    "4096": cpus_allowed: CPU 4096 is out of range | the range in fio is 0 to 1023
    ",": cpus_allowed: names no CPU | specify CPUs, as in 0-3,8
    "": filename: has no value | write filename=VALUE
    "5": percentage_sequential: fio 3.33 no longer has this option | set percentage_random to 100 minus this value
    "#);
}

proptest! {
    #[test]
    fn no_value_panics(value in "[ -~é]{0,40}") {
        for option in crate::fio::options::all() {
            let setting = setting(option.name, &value);
            if let Err(error) = setting.check_value() {
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }

    #[test]
    fn sizes_agree_with_a_slow_reading(
        number in 0_u32..100_000,
        unit in 0_usize..5,
        form in prop::sample::select(vec!["", "b", "i", "ib", "B", "I", "iB"]),
        kb_base in prop::sample::select(vec![1000_u16, 1024]),
    ) {
        let letter = ["k", "m", "g", "t", "p"][unit];
        let three = form.eq_ignore_ascii_case("ib");
        let base = if three == (kb_base == 1024) { 1000 } else { 1024 };
        let mut expected = i128::from(number);
        for _ in 0..=unit {
            expected *= base;
        }
        let read = setting_with("bs", Some(&format!("{number}{letter}{form}")), kb_base).number();
        match i64::try_from(expected) {
            Ok(expected) => prop_assert_eq!(read.unwrap(), expected),
            Err(_) => prop_assert!(read.is_err()),
        }
    }

    #[test]
    fn flat_sums_and_products_agree_with_a_slow_evaluation(
        first in 0_i64..1000,
        rest in prop::collection::vec((prop::sample::select(vec!['+', '-', '*']), 0_i64..1000), 0..5),
    ) {
        let mut text = format!("({first}");
        let mut terms = vec![first];
        for (operator, number) in &rest {
            text.push(*operator);
            text.push_str(&number.to_string());
            match operator {
                '*' => *terms.last_mut().unwrap() *= number,
                '+' => terms.push(*number),
                _ => terms.push(-number),
            }
        }
        text.push(')');
        let value = arithmetic::evaluate(&text, false).unwrap();
        prop_assert_eq!(value.integer, terms.iter().sum::<i64>());
    }
}
