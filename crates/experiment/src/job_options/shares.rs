//! How a job shares the machine and its span: weights, priorities, nodes, stretches.

use iotax_layers::Error;
use iotax_layers::units::{self, Unit};

use super::patterns::{cpus, format_cpus};
use super::values::{percent, small, small_bytes};
use crate::turns::{Flow, IoPriority, Numa, NumaMemory, PriorityClass, PriorityShare};
use crate::workload::LatencyTarget;
use crate::workload::Stretches;

/// `256M/256M/2G`: bytes moved per stretch, its length, the gap; `0` for none.
pub(super) fn stretches(text: &str) -> Result<Option<Stretches>, Error> {
    if text.trim() == "0" {
        return Ok(None);
    }
    let parts: Vec<&str> = text.split('/').collect();
    let [bytes, range, skip] = parts.as_slice() else {
        let problem = "expected three parts";
        let advice = "specify the bytes transferred per stretch, the stretch length and the gap, \
                      as in 256M/256M/2G";
        return Err(Unit::Stretches.refuse(text, problem, advice));
    };
    Ok(Some(Stretches {
        bytes: units::parse_bytes(bytes)?,
        range_bytes: units::parse_bytes(range)?,
        skip_bytes: units::parse_bytes(skip)?,
    }))
}

/// The text that [`stretches`] reads back.
pub(crate) fn format_stretches(stretches: Stretches) -> String {
    let all = [stretches.bytes, stretches.range_bytes, stretches.skip_bytes];
    all.map(units::format_bytes).join("/")
}

/// `8`, `8@1` for a group, `8@1/1ms` for a sleep; `0` for none.
pub(super) fn flow(text: &str) -> Result<Option<Flow>, Error> {
    let (head, sleep) = text.split_once('/').unwrap_or((text, "0"));
    let (weight, group) = head.split_once('@').unwrap_or((head, "0"));
    let sleep_ns = units::parse_duration(sleep)?;
    let flow = Flow { weight: small(weight)?, group: small(group)?, sleep_ns };
    Ok((flow.weight > 0).then_some(flow))
}

/// The text that [`flow`] reads back.
pub(crate) fn format_flow(flow: Flow) -> String {
    let sleep = match flow.sleep_ns {
        0 => String::new(),
        ns => format!("/{}", units::format_duration(ns)),
    };
    let group = match flow.group {
        0 => String::new(),
        group => format!("@{group}"),
    };
    format!("{}{group}{sleep}", flow.weight)
}

/// `500us/5s/99.9`: latency, window and percentile, with fio's defaults for the last two, and
/// `/run` to continue adapting; `0` for none.
pub(super) fn latency_target(text: &str) -> Result<Option<LatencyTarget>, Error> {
    const WINDOW_NS: u64 = 5_000_000_000;
    if text.trim() == "0" {
        return Ok(None);
    }
    let (text, keeps_on) = match text.strip_suffix("/run") {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let mut parts = text.splitn(3, '/');
    let target_ns = units::parse_duration(parts.next().unwrap_or_default())?;
    let window_ns = parts.next().map_or(Ok(WINDOW_NS), units::parse_duration)?;
    let percentile = parts.next().map_or(Ok(100.0), |part| {
        let number = part.trim().parse::<f64>().ok();
        number.filter(|number| (0.0..=100.0).contains(number)).ok_or_else(|| {
            let advice = "specify the latency, the window and the percentile, as in 500us/5s/99.9";
            Unit::LatencyTarget.refuse(text, "the percentile must be from 0 to 100", advice)
        })
    })?;
    Ok(Some(LatencyTarget { target_ns, window_ns, percentile, keeps_on }))
}

/// The text that [`latency_target`] reads back.
pub(crate) fn format_latency_target(of: LatencyTarget) -> String {
    let run = if of.keeps_on { "/run" } else { "" };
    let times = [of.target_ns, of.window_ns].map(units::format_duration);
    format!("{}/{}{run}", times.join("/"), of.percentile)
}

const PRIORITY_ADVICE: &str = "specify a priority for all I/Os, such as be:4, or for some, such \
                               as rt:0=20% or rt:0=read/64k/20%; separate priorities with commas";

/// `be:4` for all, `rt:0=20%` for some, `rt:0=read/64k/20%` for some reads of a size; `none`.
pub(super) fn priorities(text: &str) -> Result<(Option<IoPriority>, Vec<PriorityShare>), Error> {
    let (mut all, mut some) = (None, Vec::new());
    if text.trim() == "none" {
        return Ok((all, some));
    }
    for part in text.split(',').map(str::trim) {
        match part.split_once('=') {
            None => all = Some(priority(part)?),
            Some((which, share)) => some.extend(priority_shares(priority(which)?, share)?),
        }
    }
    Ok((all, some))
}

fn priority(text: &str) -> Result<IoPriority, Error> {
    let (class, level) = text.split_once(':').unwrap_or((text, "0"));
    let known = PriorityClass::ALL.into_iter().find(|known| known.name() == class.trim());
    let refuse = |problem: &str| Unit::Priority.refuse(text, problem, PRIORITY_ADVICE);
    let class = known.ok_or_else(|| refuse("the class must be rt, be or idle"))?;
    let level = level.trim().parse::<u8>().ok().filter(|level| *level < 8);
    Ok(IoPriority { class, level: level.ok_or_else(|| refuse("the level must be from 0 to 7"))? })
}

fn priority_shares(priority: IoPriority, text: &str) -> Result<Vec<PriorityShare>, Error> {
    let parts: Vec<&str> = text.split('/').collect();
    let refuse = |problem: &str| Err(Unit::Priority.refuse(text, problem, PRIORITY_ADVICE));
    let (directions, rest): (&[bool], _) = match parts.as_slice() {
        ["read", rest @ ..] => (&[true], rest),
        ["write", rest @ ..] => (&[false], rest),
        rest => (&[true, false], rest),
    };
    let (bytes, share) = match rest {
        [share] => (None, percent(share)?),
        [bytes, share] => (Some(small_bytes(bytes)?), percent(share)?),
        _ => return refuse("the percentage is missing"),
    };
    let of = |reads: &bool| PriorityShare { reads: *reads, bytes, percent: share, priority };
    Ok(directions.iter().map(of).collect())
}

/// The text that [`priorities`] reads back.
pub(crate) fn format_priorities(all: Option<IoPriority>, some: &[PriorityShare]) -> String {
    let word = |of: IoPriority| format!("{}:{}", of.class.name(), of.level);
    let share = |share: &PriorityShare| {
        let way = if share.reads { "read" } else { "write" };
        let size = share.bytes.map(|bytes| format!("{}/", units::format_bytes(bytes.into())));
        let size = size.unwrap_or_default();
        format!("{}={way}/{size}{}%", word(share.priority), share.percent)
    };
    let parts: Vec<String> = all.map(word).into_iter().chain(some.iter().map(share)).collect();
    if parts.is_empty() { "none".to_owned() } else { parts.join(",") }
}

const NUMA_ADVICE: &str = "specify nodes such as 0-1; to place memory, add /local, /prefer:0, \
                           /bind:0 or /interleave:0-1";

/// `0-1`, `any/bind:0`, `0/interleave:0-1`; `any` for none.
pub(super) fn numa(text: &str) -> Result<Option<Numa>, Error> {
    let (nodes, memory) = match text.split_once('/') {
        Some((nodes, memory)) => (nodes, Some(memory)),
        None => (text, None),
    };
    let numa = Numa { cpu_nodes: cpus(nodes)?, memory: memory.map(numa_memory).transpose()? };
    Ok((numa != Numa::default()).then_some(numa))
}

fn numa_memory(text: &str) -> Result<NumaMemory, Error> {
    let (word, nodes) = text.split_once(':').unwrap_or((text, ""));
    match word {
        "local" => Ok(NumaMemory::Local),
        "prefer" => small(nodes).map(NumaMemory::Prefer),
        "bind" => cpus(nodes).map(NumaMemory::Bind),
        "interleave" => cpus(nodes).map(NumaMemory::Interleave),
        _ => Err(Unit::Numa.refuse(text, "unknown memory policy", NUMA_ADVICE)),
    }
}

/// The text that [`numa`] reads back.
pub(crate) fn format_numa(numa: &Numa) -> String {
    let memory = numa.memory.as_ref().map(|memory| match memory {
        NumaMemory::Local => "/local".to_owned(),
        NumaMemory::Prefer(node) => format!("/prefer:{node}"),
        NumaMemory::Bind(nodes) => format!("/bind:{}", format_cpus(nodes)),
        NumaMemory::Interleave(nodes) => format!("/interleave:{}", format_cpus(nodes)),
    });
    format!("{}{}", format_cpus(&numa.cpu_nodes), memory.unwrap_or_default())
}

/// `0xdeadbeef` as bytes, in the order written, as [`digits`](crate::writes::digits) writes them;
/// `0` for zeroes.
pub(super) fn bytes(text: &str) -> Result<Vec<u8>, Error> {
    let digits = text.trim().strip_prefix("0x").unwrap_or(text.trim());
    if digits == "0" {
        return Ok(Vec::new());
    }
    let refuse = || {
        let advice = "specify pairs of hexadecimal digits, as in 0xdeadbeef";
        Unit::Name.refuse(text, "expected hexadecimal data", advice)
    };
    if digits.is_empty() || !digits.len().is_multiple_of(2) || !digits.is_ascii() {
        return Err(refuse());
    }
    let pairs = digits.as_bytes().chunks(2);
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(pair, 16).ok()
    };
    pairs.map(|pair| byte(pair).ok_or_else(refuse)).collect()
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use proptest::prelude::*;

    use super::*;

    fn any_priority() -> impl Strategy<Value = IoPriority> {
        (proptest::sample::select(&PriorityClass::ALL[..]), 0..8_u8)
            .prop_map(|(class, level)| IoPriority { class, level })
    }

    fn any_share() -> impl Strategy<Value = PriorityShare> {
        (any::<bool>(), proptest::option::of(any::<u32>()), 0..=100_u8, any_priority()).prop_map(
            |(reads, bytes, percent, priority)| PriorityShare { reads, bytes, percent, priority },
        )
    }

    fn any_memory() -> impl Strategy<Value = NumaMemory> {
        let nodes = || {
            proptest::collection::btree_set(0..9_u32, 1..4)
                .prop_map(|nodes| nodes.into_iter().collect::<Vec<_>>())
        };
        prop_oneof![
            Just(NumaMemory::Local),
            any::<u32>().prop_map(NumaMemory::Prefer),
            nodes().prop_map(NumaMemory::Bind),
            nodes().prop_map(NumaMemory::Interleave),
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            weight in 1..u32::MAX, group: u32, sleep_ns in 0..u64::MAX / 2,
            all in proptest::option::of(any_priority()),
            some in proptest::collection::vec(any_share(), 0..4),
            memory in proptest::option::of(any_memory()),
            nodes in proptest::collection::btree_set(0..9_u32, 1..4),
            (target_ns, window_ns) in (1..u64::MAX / 2, 0..u64::MAX / 2),
            (percentile, keeps_on) in (0.0..=100.0_f64, any::<bool>()),
            [moved, range_bytes, skip_bytes] in any::<[u64; 3]>(),
            data: Vec<u8>,
        ) {
            let of_flow = Flow { weight, group, sleep_ns };
            prop_assert_eq!(flow(&format_flow(of_flow)), Ok(Some(of_flow)));
            prop_assert_eq!(priorities(&format_priorities(all, &some)), Ok((all, some)));
            let nodes = Numa { cpu_nodes: nodes.into_iter().collect(), memory };
            prop_assert_eq!(numa(&format_numa(&nodes)), Ok(Some(nodes)));
            let all = Stretches { bytes: moved, range_bytes, skip_bytes };
            prop_assert_eq!(stretches(&format_stretches(all)), Ok(Some(all)));
            let of = LatencyTarget { target_ns, window_ns, percentile, keeps_on };
            prop_assert_eq!(latency_target(&format_latency_target(of)), Ok(Some(of)));
            prop_assert_eq!(bytes(&crate::writes::digits(&data)), Ok(data));
        }

        #[test]
        fn no_text_panics(text in prop_oneof![".*", "[0-9a-z:/,.=@%x-]*"]) {
            let _ = (flow(&text), priorities(&text), numa(&text), stretches(&text), bytes(&text));
            let _ = latency_target(&text);
        }
    }

    #[test]
    fn values_say_what_is_wrong() {
        assert_snapshot!(stretches("256M/2G").unwrap_err(), @"
        `256M/2G` is not a stretch length with a gap: expected three parts
        specify the bytes transferred per stretch, the stretch length and the gap, as in 256M/256M/2G
        ");
        assert_snapshot!(flow("x").unwrap_err(), @"
        `x` is not a whole number: it does not start with a digit
        use only digits, such as 4 or 4000
        ");
        assert_snapshot!(latency_target("1ms/5s/101").unwrap_err(), @"
        `1ms/5s/101` is not a latency target: the percentile must be from 0 to 100
        specify the latency, the window and the percentile, as in 500us/5s/99.9
        ");
        assert_snapshot!(priorities("rt:9").unwrap_err(), @"
        `rt:9` is not a priority: the level must be from 0 to 7
        specify a priority for all I/Os, such as be:4, or for some, such as rt:0=20% or rt:0=read/64k/20%; separate priorities with commas
        ");
        assert_snapshot!(priorities("fast").unwrap_err(), @"
        `fast` is not a priority: the class must be rt, be or idle
        specify a priority for all I/Os, such as be:4, or for some, such as rt:0=20% or rt:0=read/64k/20%; separate priorities with commas
        ");
        assert_snapshot!(priorities("rt:0=read").unwrap_err(), @"
        `read` is not a priority: the percentage is missing
        specify a priority for all I/Os, such as be:4, or for some, such as rt:0=20% or rt:0=read/64k/20%; separate priorities with commas
        ");
        assert_snapshot!(numa("0/near").unwrap_err(), @"
        `near` is not a set of NUMA nodes: unknown memory policy
        specify nodes such as 0-1; to place memory, add /local, /prefer:0, /bind:0 or /interleave:0-1
        ");
        assert_snapshot!(bytes("0xabc").unwrap_err(), @"
        `0xabc` is not a name: expected hexadecimal data
        specify pairs of hexadecimal digits, as in 0xdeadbeef
        ");
    }
}
