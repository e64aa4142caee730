use insta::assert_snapshot;
use proptest::prelude::*;

use std::fmt;

use super::*;

#[test]
fn sizes_are_powers_of_1024() {
    for (text, bytes) in [
        ("4096", 4096),
        ("4k", 4096),
        ("4K", 4096),
        ("4Ki", 4096),
        ("4KiB", 4096),
        ("512B", 512),
        ("1.5G", 3 << 29),
        (" 2 G ", 2 << 30),
        ("1T", 1 << 40),
        ("0", 0),
    ] {
        assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
    }
}

#[test]
fn durations_need_a_unit() {
    for (text, ns) in [
        ("500ns", 500),
        ("200us", 200_000),
        ("200µs", 200_000),
        ("2.5ms", 2_500_000),
        ("5s", 5_000_000_000),
        ("1m", 60_000_000_000),
        ("0", 0),
    ] {
        assert_eq!(parse_duration(text), Ok(ns), "{text}");
    }
}

#[test]
fn thousands_in_rates_are_1000_and_in_bandwidth_1024() {
    assert_eq!(parse_iops("4k"), Ok(4000.0));
    assert_eq!(parse_iops("2.5k"), Ok(2500.0));
    assert_eq!(parse_bandwidth("32M/s"), Ok(33_554_432.0));
    assert_eq!(parse_bandwidth("32M"), Ok(33_554_432.0));
}

#[test]
fn canonical_text_is_short() {
    assert_eq!(format_bytes(65_536), "64k");
    assert_eq!(format_bytes(2 << 30), "2G");
    assert_eq!(format_bytes(1000), "1000");
    assert_eq!(format_duration(200_000), "200us");
    assert_eq!(format_duration(90_000_000_000), "90s");
    assert_eq!(format_duration(0), "0s");
    assert_eq!(format_bandwidth(33_554_432.0), "32M");
    assert_eq!(format_iops(4000.0), "4000");
    assert_eq!(format_share(0.05), "5%");
    assert_eq!(format_share(1.0), "100%");
}

fn text<T: fmt::Debug>(result: Result<T, Error>) -> String {
    result.expect_err("refused").to_string()
}

#[test]
fn sizes_say_what_is_wrong() {
    assert_snapshot!(text(parse_bytes("10MB")), @"
    `10MB` is not a size: `MB` is ambiguous: fio reads it as 2^20 bytes, disk vendors as 10^6
    use 10M or 10000000
    ");
    assert_snapshot!(text(parse_bytes("1.5kb")), @"
    `1.5kb` is not a size: `kb` is ambiguous: fio reads it as 2^10 bytes, disk vendors as 10^3
    use 1.5k or 1500
    ");
    assert_snapshot!(text(parse_bytes("0.3")), @"
    `0.3` is not a size: not a whole number of bytes below 16 EiB
    specify a size as 4k, 64M, 2G or 4096 (suffixes are powers of 1024)
    ");
    assert_snapshot!(text(parse_bytes("-4k")), @"
    `-4k` is not a size: it is negative
    specify a size as 4k, 64M, 2G or 4096 (suffixes are powers of 1024)
    ");
    assert_snapshot!(text(parse_bytes("4q")), @"
    `4q` is not a size: unknown unit `q`
    specify a size as 4k, 64M, 2G or 4096 (suffixes are powers of 1024)
    ");
    assert_snapshot!(text(parse_bytes("i")), @"
    `i` is not a size: it does not start with a digit
    specify a size as 4k, 64M, 2G or 4096 (suffixes are powers of 1024)
    ");
    assert_snapshot!(text(parse_bytes("4i")), @"
    `4i` is not a size: unknown unit `i`
    specify a size as 4k, 64M, 2G or 4096 (suffixes are powers of 1024)
    ");
    assert_snapshot!(text(parse_bytes("99999999999T")), @"
    `99999999999T` is not a size: not a whole number of bytes below 16 EiB
    specify a size as 4k, 64M, 2G or 4096 (suffixes are powers of 1024)
    ");
    assert_snapshot!(text(parse_bandwidth("32MB/s")), @"
    `32MB/s` is not a bandwidth: `MB` is ambiguous: fio reads it as 2^20 bytes, disk vendors as 10^6
    use 32M or 32000000
    ");
}

#[test]
fn durations_say_what_is_wrong() {
    assert_snapshot!(text(parse_duration("5")), @"
    `5` is not a duration: the unit is missing
    use 5s, 5ms or 5us
    ");
    assert_snapshot!(text(parse_duration("5 sec")), @"
    `5 sec` is not a duration: unknown unit `sec`
    specify a duration as 500ns, 200us, 2ms, 5s or 1m
    ");
    assert_snapshot!(text(parse_duration("0.5ns")), @"
    `0.5ns` is not a duration: not a whole number of nanoseconds below 584 years
    specify a duration as 500ns, 200us, 2ms, 5s or 1m
    ");
    assert_snapshot!(text(parse_duration("")), @"
    `` is not a duration: it is empty
    specify a duration as 500ns, 200us, 2ms, 5s or 1m
    ");
    assert_snapshot!(text(parse_duration("1.2.3s")), @"
    `1.2.3s` is not a duration: its decimal point is misplaced
    specify a duration as 500ns, 200us, 2ms, 5s or 1m
    ");
}

#[test]
fn counts_and_shares_say_what_is_wrong() {
    assert_snapshot!(text(parse_iops("4G")), @"
    `4G` is not an I/O rate: unknown unit `G`
    specify I/Os per second as 4000 or 4k (k means 1000 here)
    ");
    assert_snapshot!(text(parse_count("4k")), @"
    `4k` is not a whole number: unexpected `k` after the number
    use only digits, such as 4 or 4000
    ");
    assert_snapshot!(text(parse_count("1.5")), @"
    `1.5` is not a whole number: it has a fractional part, or is too large
    use only digits, such as 4 or 4000
    ");
    assert_snapshot!(text(parse_share("5")), @"
    `5` is not a share: more than 1
    use 5% if you mean percent
    ");
    assert_snapshot!(text(parse_share("105%")), @"
    `105%` is not a share: more than 100%
    use a percentage such as 5%, or a fraction such as 0.05
    ");
    assert_snapshot!(text(parse_share("5 percent")), @"
    `5 percent` is not a share: unknown unit `percent`
    use a percentage such as 5%, or a fraction such as 0.05
    ");
    assert_snapshot!(text(parse_switch("maybe")), @"
    `maybe` is not a boolean: it is neither true nor false
    use true or false
    ");
}

proptest! {
    #[test]
    fn bytes_round_trip(bytes in prop_oneof![any::<u64>(), (0..1u64 << 20).prop_map(|k| k << 10)]) {
        prop_assert_eq!(parse_bytes(&format_bytes(bytes)), Ok(bytes));
    }

    #[test]
    fn durations_round_trip(ns in prop_oneof![any::<u64>(), (0..1u64 << 40).prop_map(|us| us * 1000)]) {
        prop_assert_eq!(parse_duration(&format_duration(ns)), Ok(ns));
    }

    #[test]
    fn rates_round_trip(rate in prop_oneof![0.0..1e12, (0..1u32 << 30).prop_map(f64::from)]) {
        prop_assert_eq!(parse_iops(&format_iops(rate)), Ok(rate));
        prop_assert_eq!(parse_bandwidth(&format_bandwidth(rate)), Ok(rate));
    }

    #[test]
    fn shares_round_trip(share in prop_oneof![0.0..=1.0, (0..=100u8).prop_map(|p| f64::from(p) / 100.0)]) {
        prop_assert_eq!(parse_share(&format_share(share)), Ok(share));
    }

    #[test]
    fn no_text_panics(text in prop_oneof![".*", "[0-9.]{1,30} ?[a-zA-Z%/µ]{0,4}"]) {
        let _ = parse_bytes(&text);
        let _ = parse_duration(&text);
        let _ = parse_bandwidth(&text);
        let _ = parse_iops(&text);
        let _ = parse_count(&text);
        let _ = parse_share(&text);
        let _ = parse_switch(&text);
    }
}
