//! Findings of a search for caps, in sentences.

pub mod quantity;

use iotax_caps::{
    CapJudgment, CapKind, Caps, Obstacle, PathCap, SecondPass, Shared, Sharing, TargetCaps,
    Unreached, Unsteady,
};
use iotax_diagnose::of_search;
use iotax_experiment::rule::{Condition, Side};
use iotax_quantity::{capital, count, percent, size, span, whole};
use iotax_record::{End, SearchHead};

use self::quantity::{Quantity, lasted, plain};
use crate::bandwidth::{MEASURED, Unit};
use crate::cause::{self, diagnoses};
use crate::name::printable;
use crate::rule::{self, Ruling, would_detect};
use crate::{cap, format, limit};

/// A search: its request, its findings, and how it ended.
#[derive(Debug, Clone, Copy)]
pub struct SearchResult<'a> {
    /// The request, and the machine.
    pub head: &'a SearchHead,
    pub caps: &'a Caps,
    /// How it ended; `None` if it was cut off.
    pub end: Option<&'a End>,
}

impl SearchResult<'_> {
    /// The unit of all bandwidths: that of the limits that the caps are compared with.
    pub fn unit(self) -> Unit {
        let rows = self.caps.documented.iter().filter(|row| row.is_bytes());
        let limits: Vec<_> = rows.flat_map(|row| &row.limits).map(|limit| limit.per_s).collect();
        let undecided = if limits.is_empty() { MEASURED } else { Unit::Mb };
        Unit::of(&limits).unwrap_or(undecided)
    }
}

/// The findings.
pub fn sentences(search: SearchResult<'_>) -> Vec<String> {
    let (caps, unit) = (search.caps, search.unit());
    let mut sentences = rule::sentences(&rulings(search));
    for found in &caps.targets {
        let of = of(search, found);
        if found.iops.is_some() || found.bw_bytes.is_some() || has_nothing(found) {
            sentences.push(format!("{of}{}", target(found, unit)));
        }
        sentences.extend(found.path.iter().map(|cap| of.clone() + &path(cap)));
        sentences.extend(found.unsteady.iter().map(|rate| of.clone() + &unsteady(rate, unit)));
        sentences.extend(found.unreached.iter().map(|cap| of.clone() + &unreached(cap, unit)));
        let more = [burst(found, unit), cache(found, unit)];
        sentences.extend(more.into_iter().flatten().map(|s| of.clone() + &s));
    }
    sentences.extend(caps.sharing.iter().map(|pair| sharing(pair, unit)));
    sentences.extend(caps.documented.iter().map(|row| {
        let target = caps.targets.iter().find(|target| row.is_of(&target.name));
        let of = target.map_or_else(String::new, |target| of(search, target));
        let quantity = quantity::named(&row.quantity, unit).name();
        format!("{of}{quantity}: {}", limit::standing(row))
    }));
    sentences.extend(of_search(search.head, caps).iter().filter_map(|diagnosis| {
        let target = caps.targets.iter().find(|target| target.name == diagnosis.of)?;
        Some(of(search, target) + &cause::leading(diagnosis)?)
    }));
    if caps.targets.len() == 1 { sentences.iter().map(|s| capital(s)).collect() } else { sentences }
}

/// Reasons for the findings, and doubts.
pub fn notes(search: SearchResult<'_>) -> Vec<String> {
    let caps = search.caps;
    let mut notes = Vec::new();
    for target in &caps.targets {
        let of = of(search, target);
        let mut said = Vec::new();
        for (quantity, cap) in quantity::caps(target, search.unit()) {
            let what = quantity.name();
            let why = cap::reason(&cap.reason);
            if !said.contains(&why) {
                notes.push(format!("{of}Evidence for “{}” ({what}): {why}.", cap::kind(cap.kind)));
                said.push(why);
            }
        }
    }
    notes.extend(doubts(search));
    if search.unit() == Unit::Mb {
        notes.push("1 MB/s is 10^6 bytes per second, as in the documented limits.".to_owned());
    }
    if search.head.search.burst.is_none() {
        notes.push(
            "This search did not look for bursts that last longer than its first load; to look \
             for them, use --burst."
                .to_owned(),
        );
    }
    notes.extend(diagnoses::lines(&of_search(search.head, caps), caps.targets.len()));
    notes.extend(caps.notes.iter().map(cap::note));
    notes
}

/// Reasons to doubt the caps.
pub fn doubts(search: SearchResult<'_>) -> Vec<String> {
    let mut doubts = Vec::new();
    for target in &search.caps.targets {
        let of = of(search, target);
        let off = target.plateau.littles_law_off;
        if off > 0.05 {
            doubts.push(format!(
                "{of}Warning: throughput multiplied by latency differs by {} from the number of \
                 I/Os in flight (Little's law). Do not rely on these figures.",
                percent(off)
            ));
        }
        if target.passes > 1.0 && target.second_pass.as_ref().is_some_and(|pass| pass.hits) {
            doubts.push(format!(
                "{of}Warning: this search read the whole target {} times, and a cache that is not \
                 subject to the cap answered some I/Os. Use a larger target.",
                plain(target.passes)
            ));
        }
        if target.fell_during_search {
            doubts.push(format!(
                "{of}Throughput fell during the search and stayed low, as if burst credits had \
                 run out. The figures were measured after the drop. Use --burst to measure the \
                 burst."
            ));
        }
        if target.errors > 0 {
            let first = target.first_error.as_deref().unwrap_or("");
            doubts.push(format!(
                "{of}Warning: {} failed. The first error: {first}",
                count(target.errors, "I/O")
            ));
        }
    }
    if let Some(ended) = &search.caps.ended {
        let why = cap::ended(ended);
        doubts.push(format!("Ended early: {why}. The rest was not measured."));
    }
    doubts
}

/// `cached: ` if there are several targets.
fn of(search: SearchResult<'_>, target: &TargetCaps) -> String {
    let is_one = search.caps.targets.len() == 1;
    if is_one { String::new() } else { format!("{}: ", target.name) }
}

fn target(target: &TargetCaps, unit: Unit) -> String {
    let found: Vec<String> = quantity::caps(target, unit)
        .into_iter()
        .map(|(quantity, cap)| format!("{} ({})", quantity.rate(cap.cap), cap::kind(cap.kind)))
        .collect();
    if found.is_empty() {
        return "no cap was found.".to_owned();
    }
    let caps = if target.plateau.is_plateau { "capped at" } else { "reaches" };
    let depth = match target.useful_depth {
        Some(1) => "; one I/O at a time is enough to reach this".to_owned(),
        Some(depth) => format!("; {depth} I/Os in flight are enough to reach this"),
        None => String::new(),
    };
    let latency = target
        .unloaded_latency_ns
        .map_or_else(String::new, |ns| format!(" A single I/O takes {}.", format::time(ns)));
    format!("{caps} {}{depth}.{latency}", found.join(" and "))
}

fn has_nothing(target: &TargetCaps) -> bool {
    target.path.is_empty() && target.unsteady.is_empty() && target.unreached.is_empty()
}

/// `IOPS cap unreachable: at the smallest block of 512 B the bandwidth cap binds first, at 119,000
/// IOPS.`
fn unreached(cap: &Unreached, unit: Unit) -> String {
    let quantity = quantity::named(&cap.quantity, unit);
    let (name, rate) = (quantity.name(), quantity.rate(cap.at_least));
    let why = cap::obstacle(&cap.obstacle, cap.block_bytes);
    match cap.obstacle {
        Obstacle::OtherCap(_) => format!("{name} cap unreachable: {why}, at {rate}."),
        Obstacle::ThisMachine(_) => format!(
            "{name}: cap not reached, because {why}. The cap is at least {rate}. Stop other \
             programs, or use a machine with more CPUs, and measure again."
        ),
        Obstacle::Time => {
            format!("{name}: cap not measured, because {why}. The cap is at least {rate}.")
        }
    }
}

/// `unsteady: 600 IOPS for 50 % of the time and 2,000 IOPS for 50 %, in cycles of 10 s. ...`
fn unsteady(rate: &Unsteady, unit: Unit) -> String {
    let quantity = quantity::named(&rate.quantity, unit);
    let [lo, hi] = [rate.lo, rate.hi].map(|per_s| quantity.rate(per_s));
    let within = format!("rates in 95 % of {} windows were between {lo} and {hi}", rate.windows);
    let levels = match rate.levels.as_slice() {
        [low, high] => {
            let cycle = rate.period_s.map_or_else(
                || ", without a regular cycle".to_owned(),
                |period_s| format!(", in cycles of {}", span(whole(period_s))),
            );
            format!(
                "it alternates between {} ({} of the time) and {} ({}){cycle}; ",
                quantity.rate(low.per_s),
                percent(low.share),
                quantity.rate(high.per_s),
                percent(high.share)
            )
        }
        _ => String::new(),
    };
    let beside =
        rate.beside.as_ref().map(cap::busy).map_or_else(String::new, |beside| {
            format!(" Other programs may be the cause: {beside}.")
        });
    let name = quantity.name();
    format!("{name} is unsteady, so no cap is reported: {levels}{within}.{beside}")
}

/// `Bandwidth to the peer: capped at 477.9 Mbit/s (throttle); one flow is enough to get there. On
/// the wire 499.7 Mbit/s: ...`
fn path(path: &PathCap) -> String {
    let (quantity, cap) = (quantity::of_path(path), &path.cap);
    let is_capped = (path.is_per_flow || path.is_plateau) && cap.kind != CapKind::ThisMachine;
    let reached = if is_capped { "capped at" } else { "reaches" };
    let flows = match path.traffic.flows {
        _ if path.is_per_flow => String::new(),
        1 => "; one flow is enough to reach this".to_owned(),
        flows => format!("; {flows} flows are enough to reach this"),
    };
    let wire = path.wire.filter(|_| !path.is_per_flow).map_or_else(String::new, |wire| {
        format!(
            " On the wire, the rate is {}, because only {} of a frame's {} bytes are data.",
            quantity.rate(wire.per_s),
            wire.data_bytes,
            wire.frame_bytes
        )
    });
    format!(
        "{}: {reached} {} ({}){flows}.{wire}",
        quantity.name(),
        quantity.rate(cap.cap),
        cap::kind(cap.kind)
    )
}

fn burst(target: &TargetCaps, unit: Unit) -> Option<String> {
    let bursts: Vec<String> = quantity::caps(target, unit)
        .into_iter()
        .filter_map(|(quantity, cap)| {
            let burst = cap.burst.as_ref()?;
            let lasted = lasted(burst.lasted_s);
            Some(format!("{} for {lasted}", quantity.rate(burst.per_s)))
        })
        .collect();
    (!bursts.is_empty()).then(|| format!("bursts to {}.", bursts.join(" and to ")))
}

fn sharing(pair: &Sharing, unit: Unit) -> String {
    let quantity = quantity::named(&pair.quantity, unit);
    let [a, b, both] = [pair.a_alone, pair.b_alone, pair.together].map(|x| quantity.rate(x));
    let (one, other) = (&pair.a, &pair.b);
    let figures = format!("{a} and {b} alone, {both} together");
    match pair.verdict {
        Shared::Separate => format!("{one} and {other} have separate buckets: {figures}."),
        Shared::Shared => format!("{one} and {other} share one bucket: {figures}."),
        Shared::Partial => {
            format!("{one} and {other} have separate buckets but share a cap of {both}: {figures}.")
        }
        Shared::Undecided => format!(
            "After {}, it is undecided whether {one} and {other} share a bucket: {figures}.",
            count(pair.blocks, "block")
        ),
    }
}

fn cache(target: &TargetCaps, unit: Unit) -> Option<String> {
    let pass = target.second_pass.as_ref()?;
    let SecondPass { hits: true, bw_bytes, mean_latency_ns, block_bytes, .. } = pass else {
        return None;
    };
    let size = match (pass.holds_bytes, pass.evicts_bytes) {
        (Some(holds), Some(evicts)) => {
            format!("; the cache can hold {}, but not {}", size(holds), size(evicts))
        }
        (Some(holds), None) => format!("; the cache can hold at least {}", size(holds)),
        _ => String::new(),
    };
    Some(format!(
        "a cache that is not subject to the cap answers repeated reads at {}, {} times the rate of \
         first reads (with {} I/Os that take {} each){size}.",
        Quantity::Bandwidth(unit).rate(*bw_bytes),
        plain(pass.ratio),
        format::bytes(f64::from(*block_bytes)),
        format::time(*mean_latency_ns)
    ))
}

// Results of the rules for a search.

/// One ruling for each rule and cap.
pub fn rulings(search: SearchResult<'_>) -> Vec<Ruling> {
    let ruling = |judgment: &CapJudgment| {
        let told = told(judgment, search.unit());
        let ruling = Ruling::new(&judgment.of, &judgment.rule, judgment.outcome, &told);
        match judgment.detectable {
            Some(per_s) => ruling.and(&detectable(judgment, per_s, search.unit())),
            None => ruling,
        }
    };
    search.caps.rules.iter().map(ruling).collect()
}

/// `A cap of 4,900 IOPS or less would have been detected.`
fn detectable(judgment: &CapJudgment, per_s: f64, unit: Unit) -> String {
    let quantity = quantity::named(judgment.quantity.as_deref().unwrap_or_default(), unit);
    let side = match judgment.rule.condition {
        Condition::Figure { side, .. } => side,
        Condition::SlowerBy(_) | Condition::BelowDocumented(_) => Side::Below,
    };
    would_detect(&format!("a cap of {}", quantity.rate(per_s)), side)
}

/// `/data reaches 399.8 IOPS [398.1, 401.2], 20 % below the disk limit of P10 (500 IOPS)`
fn told(judgment: &CapJudgment, unit: Unit) -> String {
    let mut text = printable(&judgment.of);
    let quantity = quantity::named(judgment.quantity.as_deref().unwrap_or_default(), unit);
    if let Some(found) = judgment.found {
        let [cap, lo, hi] = found.map(|per_s| quantity.figure(per_s));
        text.push_str(&format!(" reaches {cap} {} [{lo}, {hi}]", quantity.head()));
        if let Some(limit) = &judgment.limit {
            let share = 1.0 - found[0] / limit.per_s;
            let side = if share < 0.0 { "above" } else { "below" };
            let (share, rate) = (percent(share.abs()), quantity.rate(limit.per_s));
            text.push_str(&format!(", {share} {side} the {} ({rate})", limit::name(limit)));
        }
    }
    let why = judgment.why.as_ref().map(cap::undecided);
    match why {
        Some(why) if judgment.found.is_some() => text + "; " + &why,
        Some(why) => format!("{text}: {why}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use iotax_caps::{BlockEnd, BusySign, UnsteadyLevel};

    use super::*;

    fn cap(quantity: &str, at_least: f64, block_bytes: u32, obstacle: Obstacle) -> String {
        let quantity = quantity.to_owned();
        unreached(&Unreached { quantity, at_least, block_bytes, obstacle }, Unit::Mib)
    }

    #[test]
    fn a_cap_out_of_reach_is_told_with_what_is_in_the_way() {
        assert_snapshot!(cap("iops", 119e3, 512, Obstacle::OtherCap(BlockEnd::Smallest)), @"IOPS cap unreachable: at the smallest block size (512 B), the bandwidth cap applies first, at 119,000 IOPS.");
        assert_snapshot!(cap("bw_bytes", 1e9, 1 << 20, Obstacle::OtherCap(BlockEnd::Largest)), @"bandwidth cap unreachable: at the largest block size (1 MiB), the IOPS cap applies first, at 953.7 MiB/s.");
        let waited = || Obstacle::ThisMachine(BusySign::Waited { share: 0.23 });
        assert_snapshot!(cap("iops", 12e3, 512, waited()), @"IOPS: cap not reached, because the load's threads waited for a CPU for 23 % of the time. The cap is at least 12,000 IOPS. Stop other programs, or use a machine with more CPUs, and measure again.");
        assert_snapshot!(cap("bw_bytes_to_flow", 5e7, 512, waited()), @"bandwidth per flow to the peer: cap not reached, because the load's threads waited for a CPU for 23 % of the time. The cap is at least 400 Mbit/s. Stop other programs, or use a machine with more CPUs, and measure again.");
    }

    #[test]
    fn an_unsteady_rate_is_told_with_its_levels_and_its_interval() {
        let level = |(per_s, share)| UnsteadyLevel { per_s, share };
        let mut rate = Unsteady {
            quantity: "iops".to_owned(),
            lo: 598.0,
            hi: 2_003.0,
            windows: 30,
            levels: [(600.0, 0.4), (2_000.0, 0.6)].map(level).to_vec(),
            period_s: Some(10.0),
            beside: None,
        };
        assert_snapshot!(unsteady(&rate, Unit::Mib), @"IOPS is unsteady, so no cap is reported: it alternates between 600.0 IOPS (40 % of the time) and 2,000 IOPS (60 %), in cycles of 10 s; rates in 95 % of 30 windows were between 598.0 IOPS and 2,003 IOPS.");
        rate.period_s = None;
        rate.beside = Some(BusySign::Waited { share: 0.23 });
        assert_snapshot!(unsteady(&rate, Unit::Mib), @"IOPS is unsteady, so no cap is reported: it alternates between 600.0 IOPS (40 % of the time) and 2,000 IOPS (60 %), without a regular cycle; rates in 95 % of 30 windows were between 598.0 IOPS and 2,003 IOPS. Other programs may be the cause: the load's threads waited for a CPU for 23 % of the time.");
        rate = Unsteady {
            quantity: "bw_bytes".to_owned(),
            lo: 1e8,
            hi: 3e8,
            levels: Vec::new(),
            ..rate
        };
        assert_snapshot!(unsteady(&rate, Unit::Mib), @"bandwidth is unsteady, so no cap is reported: rates in 95 % of 30 windows were between 95.37 MiB/s and 286.1 MiB/s. Other programs may be the cause: the load's threads waited for a CPU for 23 % of the time.");
    }
}
