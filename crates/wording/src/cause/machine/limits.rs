use iotax_diagnose::Component;
use iotax_diagnose::why::limits::{
    BoundOf, BurstRate, HeldRate, LimitsWhy, StackedBy, StackedLimit, StackedPair, own_burst,
};
use iotax_quantity::{count, iops_limit, whole};

use super::super::limit::{figure, lasts, name, name_by, name_of, of_direction, rates};
use super::super::names::{listed, names};

pub(in super::super) fn why(why: &LimitsWhy, about: &[Component]) -> String {
    let disks = names(about);
    match why {
        LimitsWhy::Binds { by, bounds, misses } => {
            let misses = misses.as_ref().map(|uncached| {
                format!(
                    " Reads that miss the host's cache also count against the {}: {}.",
                    name_of(uncached),
                    rates(uncached)
                )
            });
            let bounds: Vec<String> = bounds.iter().map(bound).collect();
            let misses = misses.unwrap_or_default();
            format!("The {} caps I/O at {}.{misses}", name_by(by), listed(&bounds))
        }
        LimitsWhy::Local(limit) => {
            format!("The {} applies to {disks}: {}.", name_of(limit), rates(limit))
        }
        LimitsWhy::Shared { scope, held } => {
            let held: Vec<String> = held.iter().map(held_rate).collect();
            format!(
                "{disks} share the VM's {scope} limit, which is below the sum of their own limits: \
                 {}.",
                listed(&held)
            )
        }
        LimitsWhy::Bursts { limit, bursting } => {
            let bursting: Vec<String> = bursting.iter().map(burst).collect();
            format!(
                "The {} allows bursts: {}. A short test measures only the burst.",
                name_of(limit),
                listed(&bursting)
            )
        }
        LimitsWhy::Stacked { pairs } => {
            let pairs: Vec<String> = pairs.iter().map(pair).collect();
            format!(
                "{} Raising only the lower limit changes little. A layer that costs less than the \
                 gap between the limits has no visible effect.",
                pairs.join(" ")
            )
        }
        LimitsWhy::Depth { iops, needed, takes } => {
            let needs = count(whole(*needed), "I/O");
            let instead = match takes {
                Some(takes) => {
                    format!(" The device's queue has room for only {}.", count(*takes, "I/O"))
                }
                None => " A program with one thread and no asynchronous I/O has one I/O in \
                         flight."
                    .to_owned(),
            };
            format!(
                "Reaching the lowest documented limit, {}, requires {needs} in flight at an \
                 assumed latency of 1 ms.{instead}",
                iops_limit(*iops)
            )
        }
    }
}

/// `7,500 IOPS sustained for reads (a burst reaches 40,000 IOPS for 30 min with full credits)`.
fn bound(BoundOf { direction, counted, bound }: &BoundOf) -> String {
    let burst = bound.burst.as_ref().map(|burst| {
        format!(" (a burst reaches {} {})", figure(*counted, burst.per_s), lasts(burst.lasts_s))
    });
    format!(
        "{} sustained{}{}",
        figure(*counted, bound.sustained),
        of_direction(*direction),
        burst.unwrap_or_default()
    )
}

fn held_rate(HeldRate { direction, counted, is_burst, allowed, together }: &HeldRate) -> String {
    format!(
        "{}{}{} (sum: {})",
        if *is_burst { "in a burst " } else { "" },
        figure(*counted, *allowed),
        of_direction(*direction),
        figure(*counted, *together)
    )
}

fn burst(BurstRate { counted, rate }: &BurstRate) -> String {
    let burst = own_burst(rate).map(|burst| {
        let lasts = lasts(burst.full_s(rate.sustained));
        format!("{} {lasts}, then ", figure(*counted, burst.per_s))
    });
    format!("{}{}", burst.unwrap_or_default(), figure(*counted, rate.sustained))
}

fn pair(StackedPair { counted, limits }: &StackedPair) -> String {
    let [low, high] = limits.each_ref().map(|StackedLimit { per_s, whose }| {
        let whose = match whose {
            StackedBy::Documented { scope, of } => name(*scope, of),
            StackedBy::Group(group) => group.clone(),
        };
        format!("{whose} ({})", figure(*counted, *per_s))
    });
    format!("{low} and {high} are close to each other.")
}
