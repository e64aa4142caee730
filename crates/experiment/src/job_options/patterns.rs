//! Orders of offsets, pauses and lists of CPUs, as users write them.

use iotax_layers::Error;
use iotax_layers::units::{self, Unit};

use super::values::{percent, small};
use crate::workload::{Extent, Pattern, RunLength, Skew, Think, Zone};

const PATTERN_ADVICE: &str = "use random, shuffled, sequential, zipf:1.2, pareto:0.2, normal:10, \
                              zoned:80/10%:20/rest, strided:64k, staggered:4k/1M, \
                              interlocked:4k, runs:8, geometric:4 or mixed:30";

/// A word, or a word and its number: `random`, `zipf:1.2`, `strided:64k`.
pub(super) fn pattern(text: &str) -> Result<Pattern, Error> {
    let refuse = |problem: String| Err(Unit::Pattern.refuse(text, problem, PATTERN_ADVICE));
    let plain = match text {
        "random" => Some(Pattern::Random),
        "shuffled" => Some(Pattern::Shuffled),
        "sequential" => Some(Pattern::Sequential),
        _ => None,
    };
    if let Some(pattern) = plain {
        return Ok(pattern);
    }
    let Some((word, value)) = text.split_once(':') else {
        if text == "zoned" {
            return refuse("the zones are missing".to_owned());
        }
        let takes_number = [
            "zipf", "pareto", "normal", "strided", "staggered", "interlocked", "backward", "runs",
            "geometric", "mixed",
        ];
        let number = takes_number.contains(&text);
        return refuse(if number { "the number is missing" } else { "unknown order" }.to_owned());
    };
    Ok(match word {
        "zipf" => skewed(Skew::Zipf, value)?,
        "pareto" => skewed(Skew::Pareto, value)?,
        "normal" => skewed(Skew::Normal, value)?,
        "zoned" => Pattern::Zoned(zones(value)?),
        "strided" => Pattern::Strided(units::parse_bytes(value)?),
        "staggered" => staggered(value)?,
        "interlocked" => Pattern::Interlocked(units::parse_bytes(value)?),
        "backward" => Pattern::Backward(units::parse_bytes(value)?),
        "runs" => Pattern::Runs(RunLength::Fixed(small(value)?)),
        "geometric" => Pattern::Runs(RunLength::Geometric(number(value)?)),
        "mixed" => Pattern::Mixed { random_percent: percent(value)? },
        other => return refuse(format!("unknown order `{other}`")),
    })
}

/// The text that [`pattern`] reads back.
pub(crate) fn format_pattern(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Random | Pattern::Shuffled | Pattern::Sequential => pattern.name().to_owned(),
        Pattern::Skewed(skew) => skew.to_string(),
        Pattern::Centred { skew, centre } => format!("{skew}:{centre}"),
        Pattern::Zoned(zones) => format!("zoned:{}", format_zones(zones)),
        Pattern::Strided(stride) => format!("strided:{}", units::format_bytes(*stride)),
        Pattern::Staggered { step_bytes, apart_bytes } => {
            let (step, apart) = (*step_bytes, *apart_bytes);
            format!("staggered:{}/{}", units::format_bytes(step), units::format_bytes(apart))
        }
        Pattern::Interlocked(step) => format!("interlocked:{}", units::format_bytes(*step)),
        Pattern::Backward(step) => format!("backward:{}", units::format_bytes(*step)),
        Pattern::Runs(RunLength::Fixed(length)) => format!("runs:{length}"),
        Pattern::Runs(RunLength::Geometric(mean)) => format!("geometric:{mean}"),
        Pattern::Mixed { random_percent } => format!("mixed:{random_percent}"),
    }
}

/// `1.2`, or `1.2:0.3` if the first rank is at 0.3 of the span.
fn skewed(skew: fn(f64) -> Skew, text: &str) -> Result<Pattern, Error> {
    Ok(match text.split_once(':') {
        None => Pattern::Skewed(skew(number(text)?)),
        Some((text, centre)) => {
            Pattern::Centred { skew: skew(number(text)?), centre: number(centre)? }
        }
    })
}

/// `4k/1M`: the distance between I/Os of a thread, and between threads.
fn staggered(text: &str) -> Result<Pattern, Error> {
    let Some((step, apart)) = text.split_once('/') else {
        let problem = "the distance between threads is missing";
        return Err(Unit::Pattern.refuse(
            text,
            problem,
            "specify STEP/APART, as in staggered:4k/1M",
        ));
    };
    let (step_bytes, apart_bytes) = (units::parse_bytes(step)?, units::parse_bytes(apart)?);
    Ok(Pattern::Staggered { step_bytes, apart_bytes })
}

fn number(text: &str) -> Result<f64, Error> {
    let digits = text.starts_with(|c: char| c.is_ascii_digit());
    let number = text.parse::<f64>().ok().filter(|number| digits && number.is_finite());
    number.ok_or_else(|| {
        Unit::Pattern.refuse(text, "expected a number", "specify a number such as 1.2 or 10")
    })
}

/// `1ms` after every I/O, or `1ms/8` after every 8; `0` for none.
pub(super) fn think(text: &str) -> Result<Option<Think>, Error> {
    let (time, after) = text.split_once('/').unwrap_or((text, "1"));
    let think = Think { time_ns: units::parse_duration(time)?, after_ios: small(after)? };
    Ok((think.time_ns > 0).then_some(think))
}

/// The text that [`think`] reads back.
#[cfg(test)]
fn format_think(think: Think) -> String {
    format!("{}/{}", units::format_duration(think.time_ns), think.after_ios)
}

/// More CPUs than any machine has.
const MAX_CPU: u32 = 65_535;

/// CPUs and ranges of them, `0-3,5`; `any` for all.
pub(super) fn cpus(text: &str) -> Result<Vec<u32>, Error> {
    let refuse = |problem: String| {
        Err(Unit::Cpus.refuse(text, problem, "specify CPUs and ranges, as in 0-3,5, or `any`"))
    };
    if text == "any" {
        return Ok(Vec::new());
    }
    let mut all = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (Ok(first), Ok(last)) = (first.trim().parse::<u32>(), last.trim().parse::<u32>())
        else {
            let problem = if part.is_empty() {
                "it names no CPU".to_owned()
            } else {
                format!("`{part}` is neither a CPU nor a range")
            };
            return refuse(problem);
        };
        if first > last {
            return refuse(format!("the range {part} is descending"));
        }
        if last > MAX_CPU {
            return refuse(format!("CPU {last} is out of range"));
        }
        all.extend(first..=last);
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// The text that [`cpus`] reads back.
pub(crate) fn format_cpus(cpus: &[u32]) -> String {
    let ranges = cpus.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    let range = |range: &[u32]| match range {
        [] => String::new(),
        [cpu] => cpu.to_string(),
        [first, .., last] => format!("{first}-{last}"),
    };
    if cpus.is_empty() { "any".to_owned() } else { ranges.map(range).collect::<Vec<_>>().join(",") }
}

const ADVICE: &str = "specify each zone as ACCESSES/PART, as in 80/10%:20/rest or 50/10G:50/100G";

/// Zones separated by colons: percentage of the accesses, then the part of the span.
pub(super) fn zones(text: &str) -> Result<Vec<Zone>, Error> {
    text.split(':').map(zone).collect()
}

fn zone(text: &str) -> Result<Zone, Error> {
    let Some((accesses, extent)) = text.split_once('/') else {
        return Err(Unit::Pattern.refuse(text, "the part of the span is missing", ADVICE));
    };
    let extent = match extent.trim() {
        "rest" => Extent::Rest,
        share if share.ends_with('%') => Extent::Percent(percent(share)?),
        bytes => Extent::Bytes(units::parse_bytes(bytes)?),
    };
    Ok(Zone { accesses_percent: percent(accesses)?, extent })
}

/// The text that [`zones`] reads back.
pub(super) fn format_zones(zones: &[Zone]) -> String {
    let zone = |zone: &Zone| {
        let extent = match zone.extent {
            Extent::Percent(percent) => format!("{percent}%"),
            Extent::Bytes(bytes) => units::format_bytes(bytes),
            Extent::Rest => "rest".to_owned(),
        };
        format!("{}/{extent}", zone.accesses_percent)
    };
    zones.iter().map(zone).collect::<Vec<_>>().join(":")
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn patterns_are_words_with_numbers() {
        assert_eq!(pattern("shuffled"), Ok(Pattern::Shuffled));
        assert_eq!(pattern("zipf:1.2"), Ok(Pattern::Skewed(Skew::Zipf(1.2))));
        let centred = Pattern::Centred { skew: Skew::Pareto(0.2), centre: 0.5 };
        assert_eq!(pattern("pareto:0.2:0.5"), Ok(centred));
        assert_eq!(pattern("strided:64k"), Ok(Pattern::Strided(65_536)));
        let staggered = Pattern::Staggered { step_bytes: 4096, apart_bytes: 1 << 20 };
        assert_eq!(pattern("staggered:4k/1M"), Ok(staggered));
        assert_eq!(pattern("interlocked:4k"), Ok(Pattern::Interlocked(4096)));
        assert_eq!(pattern("geometric:4"), Ok(Pattern::Runs(RunLength::Geometric(4.0))));
        assert_eq!(pattern("mixed:30%"), Ok(Pattern::Mixed { random_percent: 30 }));
    }

    #[test]
    fn pauses_and_cpus_are_short() {
        assert_eq!(think("1ms/8"), Ok(Some(Think { time_ns: 1_000_000, after_ios: 8 })));
        assert_eq!(think("5us"), Ok(Some(Think { time_ns: 5000, after_ios: 1 })));
        assert_eq!(think("0"), Ok(None));
        assert_eq!(cpus("0-3,5, 2"), Ok(vec![0, 1, 2, 3, 5]));
        assert_eq!(cpus("any"), Ok(vec![]));
    }

    #[test]
    fn values_say_what_is_wrong() {
        assert_snapshot!(pattern("zipf").unwrap_err(), @"
        `zipf` is not a pattern: the number is missing
        use random, shuffled, sequential, zipf:1.2, pareto:0.2, normal:10, zoned:80/10%:20/rest, strided:64k, staggered:4k/1M, interlocked:4k, runs:8, geometric:4 or mixed:30
        ");
        assert_snapshot!(pattern("randomly").unwrap_err(), @"
        `randomly` is not a pattern: unknown order
        use random, shuffled, sequential, zipf:1.2, pareto:0.2, normal:10, zoned:80/10%:20/rest, strided:64k, staggered:4k/1M, interlocked:4k, runs:8, geometric:4 or mixed:30
        ");
        assert_snapshot!(pattern("normalish:3").unwrap_err(), @"
        `normalish:3` is not a pattern: unknown order `normalish`
        use random, shuffled, sequential, zipf:1.2, pareto:0.2, normal:10, zoned:80/10%:20/rest, strided:64k, staggered:4k/1M, interlocked:4k, runs:8, geometric:4 or mixed:30
        ");
        assert_snapshot!(pattern("zipf:inf").unwrap_err(), @"
        `inf` is not a pattern: expected a number
        specify a number such as 1.2 or 10
        ");
        assert_snapshot!(pattern("strided:x").unwrap_err(), @"
        `x` is not a size: it does not start with a digit
        specify a size as 4k, 64M, 2G or 4096 (suffixes are powers of 1024)
        ");
        assert_snapshot!(think("1ms/").unwrap_err(), @"
        `` is not a whole number: it is empty
        use only digits, such as 4 or 4000
        ");
        assert_snapshot!(think("8").unwrap_err(), @"
        `8` is not a duration: the unit is missing
        use 8s, 8ms or 8us
        ");
        assert_snapshot!(cpus("").unwrap_err(), @"
        `` is not a list of CPUs: it names no CPU
        specify CPUs and ranges, as in 0-3,5, or `any`
        ");
        assert_snapshot!(cpus("0,x").unwrap_err(), @"
        `0,x` is not a list of CPUs: `x` is neither a CPU nor a range
        specify CPUs and ranges, as in 0-3,5, or `any`
        ");
        assert_snapshot!(cpus("3-1").unwrap_err(), @"
        `3-1` is not a list of CPUs: the range 3-1 is descending
        specify CPUs and ranges, as in 0-3,5, or `any`
        ");
        assert_snapshot!(cpus("0-99999").unwrap_err(), @"
        `0-99999` is not a list of CPUs: CPU 99999 is out of range
        specify CPUs and ranges, as in 0-3,5, or `any`
        ");
    }

    fn any_pattern() -> impl Strategy<Value = Pattern> {
        prop_oneof![
            Just(Pattern::Random),
            Just(Pattern::Shuffled),
            Just(Pattern::Sequential),
            (0.0..1e9).prop_map(|theta| Pattern::Skewed(Skew::Zipf(theta))),
            (0.0..1.0).prop_map(|power| Pattern::Skewed(Skew::Pareto(power))),
            (0.0..100.0).prop_map(|percent| Pattern::Skewed(Skew::Normal(percent))),
            (0.0..1e9, 0.0..1.0).prop_map(|(theta, centre)| {
                Pattern::Centred { skew: Skew::Zipf(theta), centre }
            }),
            zones_tests::any_zones().prop_map(Pattern::Zoned),
            any::<u64>().prop_map(Pattern::Strided),
            any::<u64>().prop_map(Pattern::Backward),
            any::<u64>().prop_map(Pattern::Interlocked),
            any::<(u64, u64)>().prop_map(|(step_bytes, apart_bytes)| Pattern::Staggered {
                step_bytes,
                apart_bytes
            }),
            any::<u32>().prop_map(|length| Pattern::Runs(RunLength::Fixed(length))),
            (1.0..1e9).prop_map(|mean| Pattern::Runs(RunLength::Geometric(mean))),
            (0..=100_u8).prop_map(|random_percent| Pattern::Mixed { random_percent }),
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            order in any_pattern(),
            time_ns in 1..u64::MAX / 2,
            after_ios: u32,
            some in proptest::collection::btree_set(0..=MAX_CPU, 0..9),
        ) {
            prop_assert_eq!(pattern(&format_pattern(&order)), Ok(order));
            let pause = Think { time_ns, after_ios };
            prop_assert_eq!(think(&format_think(pause)), Ok(Some(pause)));
            let some: Vec<u32> = some.into_iter().collect();
            prop_assert_eq!(cpus(&format_cpus(&some)), Ok(some));
        }

        #[test]
        fn no_text_panics(text in prop_oneof![".*", "[0-9a-z:/,.-]*"]) {
            let _ = pattern(&text);
            let _ = think(&text);
            let _ = cpus(&text);
        }
    }
}

#[cfg(test)]
mod zones_tests {
    use insta::assert_snapshot;
    use proptest::prelude::*;

    use super::*;

    /// As they may be written, possible or not.
    pub(super) fn any_zones() -> impl Strategy<Value = Vec<Zone>> {
        let extent = prop_oneof![
            (0..=100_u8).prop_map(Extent::Percent),
            any::<u64>().prop_map(Extent::Bytes),
            Just(Extent::Rest),
        ];
        let zone = (0..=100_u8, extent)
            .prop_map(|(accesses_percent, extent)| Zone { accesses_percent, extent });
        proptest::collection::vec(zone, 1..6)
    }

    #[test]
    fn zones_are_accesses_and_parts() {
        let read = zones("50/5%:30/10G:20/rest");
        let expected =
            [(50, Extent::Percent(5)), (30, Extent::Bytes(10 << 30)), (20, Extent::Rest)];
        let expected = expected.map(|(accesses_percent, extent)| Zone { accesses_percent, extent });
        assert_eq!(read, Ok(expected.to_vec()));
    }

    #[test]
    fn zones_say_what_is_wrong() {
        assert_snapshot!(zones("50").unwrap_err(), @"
        `50` is not a pattern: the part of the span is missing
        specify each zone as ACCESSES/PART, as in 80/10%:20/rest or 50/10G:50/100G
        ");
        assert_snapshot!(zones("150/5%").unwrap_err(), @"
        `150` is not a percentage: it is above 100
        specify 0 to 100
        ");
        assert_snapshot!(zones("50/5x").unwrap_err(), @"
        `5x` is not a size: unknown unit `x`
        specify a size as 4k, 64M, 2G or 4096 (suffixes are powers of 1024)
        ");
    }
}
