use iotax_diagnose::MemberKind;
use iotax_diagnose::why::raid::{MemberSeen, RaidWhy, Zones};
use iotax_quantity::bytes;

use super::super::names::listed;

pub(in super::super) fn why(why: &RaidWhy, device: &str) -> String {
    match why {
        RaidWhy::Parity { touched, members, stripe_bytes, cache_entries } => {
            let whole = stripe_bytes.map(|stripe| {
                let stripe = bytes(stripe as f64);
                format!(" Only a full-stripe write ({stripe}) needs no reads.")
            });
            let all = match members {
                0 => "all members".to_owned(),
                n => format!("all {n} members"),
            };
            let cache = cache_entries.map(|entries| {
                format!(
                    " The stripe cache of {device} has the default size: {entries} entries for all \
                     stripes in flight."
                )
            });
            format!(
                "For a small write, {device} reads and writes {touched} members ({} I/Os). A flush \
                 goes to {all}, and the slowest member sets the pace.{}{}",
                2 * touched,
                whole.unwrap_or_default(),
                cache.unwrap_or_default()
            )
        }
        RaidWhy::Bitmap => format!(
            "Before {device} writes to a region that is marked clean, it updates the bitmap on \
             all members."
        ),
        RaidWhy::Rebuild { action, missing } => {
            let runs = action.as_deref().map(|action| {
                let action = if action == "recover" { "recovery" } else { action };
                format!("A {action} of {device} is running at the same time as the load.")
            });
            let lacks = missing.map(|missing| {
                format!(
                    "{device} lacks {missing} of its members, so it must compute the missing data \
                     from all the others."
                )
            });
            runs.into_iter().chain(lacks).collect::<Vec<_>>().join(" ")
        }
        RaidWhy::Unlike { level, members, has_kinds, zones } => {
            let each: Vec<String> = members.iter().map(member_seen).collect();
            let pace = if *has_kinds {
                " The slowest member sets the pace of I/O that touches all members."
            } else {
                ""
            };
            let zones = zones.map(|Zones { from_bytes, larger }| {
                format!(
                    " The array has two speeds: in the part beyond {}, the smallest member is full, so \
                     stripes use only {larger} of {} members.",
                    bytes(from_bytes as f64),
                    members.len()
                )
            });
            let zones = zones.unwrap_or_default();
            format!("{device} ({level}) consists of {}.{pace}{zones}", listed(&each))
        }
    }
}

fn member_seen(MemberSeen { name, bytes: size, kind }: &MemberSeen) -> String {
    format!("{name} ({}, {})", bytes(*size as f64), member(kind))
}

/// `local nvme disk`, `rotating sata disk`.
pub(in super::super) fn member(MemberKind { is_local, rotates, transport }: &MemberKind) -> String {
    let place = match is_local {
        Some(true) => "local",
        Some(false) => "network",
        None => "",
    };
    let kind = match rotates {
        Some(true) if is_local.is_none() => "rotating",
        _ => "",
    };
    let bus = transport.as_deref().unwrap_or_default();
    let words = [place, kind, bus, "disk"].into_iter().filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}
