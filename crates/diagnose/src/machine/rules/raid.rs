//! Software RAIDs: parity, bitmaps, rebuilds, members that are not alike.

use iotax_quantity::{bytes, list};
use iotax_record::machine::{Device, DeviceKind, RaidSeen};

use crate::machine::finding::{Certainty, Finding, Observation};
use crate::machine::snapshot::Snapshot;

/// Sizes that differ by less than this are equal but for how they were cut.
const ALIKE: f64 = 0.02;
/// What a stripe cache has unless it was changed.
const DEFAULT_STRIPE_CACHE: u64 = 256;

/// What device mapper calls its levels, and the ones that are mirrors or have parity.
fn level(device: &Device) -> Option<&str> {
    let of_mapper = || {
        let targets = device.mapping.iter().flat_map(|mapping| mapping.targets.iter().flatten());
        let mut raids = targets.filter(|target| target.kind == "raid");
        raids.next()?.parameters.split_ascii_whitespace().next()
    };
    device.raid_level.as_deref().or_else(of_mapper)
}

/// Members whose old contents a small write reads: data and parity.
fn parity_members(level: &str) -> Option<u64> {
    match level.get(..5)? {
        "raid4" | "raid5" => Some(2),
        "raid6" => Some(3),
        _ => None,
    }
}

fn about(device: &Device, path: &str) -> String {
    match &device.mapping {
        Some(mapping) => format!("{} ({}) of {path}", device.name, mapping.name),
        None => format!("{} of {path}", device.name),
    }
}

fn md(device: &Device, file: &str, value: impl Into<String>) -> Observation {
    Observation::block(device, &format!("md/{file}"), value)
}

fn level_seen(device: &Device, level: &str) -> Observation {
    match &device.mapping {
        Some(mapping) => {
            Observation::field(format!("dmsetup table {}", mapping.name), "raid", level)
        }
        None => md(device, "level", level),
    }
}

fn stripe_cache(device: &Device) -> Option<Observation> {
    let entries = device.raid.as_ref()?.stripe_cache?;
    Some(md(device, "stripe_cache_size", entries.to_string()))
}

/// Small writes and flushes of parity RAID.
pub(super) fn parity(seen: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let level = level(device)?;
    let touched = parity_members(level)?;
    let state = device.raid.clone().unwrap_or_default();
    let listed = seen.members(device).len() as u64;
    let members = state.members.unwrap_or(listed).max(listed);
    let data = members.saturating_sub(touched - 1);
    let whole = device.stripe_bytes.filter(|_| data > 0).map(|chunk| {
        let stripe = chunk.saturating_mul(data);
        format!(" Only a write of a whole stripe ({}) avoids the reads.", bytes(stripe as f64))
    });
    let flushes = match members {
        0 => "A flush goes to all members, and the slowest sets the pace.".to_owned(),
        n => format!("A flush goes to all {n} members, and the slowest sets the pace."),
    };
    let cache = state.stripe_cache.filter(|entries| *entries <= DEFAULT_STRIPE_CACHE);
    let cache = cache.map(|entries| {
        format!(" Its stripe cache has {entries} entries, the default, for all stripes in flight.")
    });
    let why = format!(
        "A small write to {} reads and writes {touched} members ({} I/Os). {flushes}{}{}",
        device.name,
        2 * touched,
        whole.unwrap_or_default(),
        cache.unwrap_or_default()
    );
    let write_cache = device.queue.write_cache.as_deref();
    let finding = Finding::new("parity-raid", about(device, path), Certainty::Likely, why)
        .observed(level_seen(device, level))
        .observed_if(device.stripe_bytes.map(|chunk| md(device, "chunk_size", chunk.to_string())))
        .observed_if(write_cache.map(|cache| Observation::queue(device, "write_cache", cache)))
        .observed_if(stripe_cache(device))
        .run("randwrite-4k", path, "--set fsync-every=1")
        .run("randwrite-4k", path, "")
        .run("seqwrite-1m", path, "");
    Some(finding)
}

/// A bitmap that members hold themselves.
pub(super) fn bitmap(_: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let bitmap = device.raid.as_ref()?.bitmap.as_deref()?;
    let why = format!(
        "Before {} writes to a region that is marked clean, it writes its bitmap on all members.",
        device.name
    );
    let finding = Finding::new("raid-bitmap", about(device, path), Certainty::ToBeTested, why)
        .observed(md(device, "bitmap/location", bitmap))
        .run("randwrite-4k", path, "--set fsync-every=1")
        .run("randwrite-4k", path, "");
    bitmap.starts_with(['+', '-']).then_some(finding)
}

/// A rebuild or check that runs, or a member that is missing.
pub(super) fn rebuild(_: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let RaidSeen { action, missing, .. } = device.raid.as_ref()?;
    let action = action.as_deref().filter(|action| !matches!(*action, "idle" | "frozen"));
    let missing = missing.filter(|missing| *missing > 0);
    let runs = action.map(|action| {
        let action = if action == "recover" { "recovery" } else { action };
        format!("A {action} of {} runs beside the load.", device.name)
    });
    let lacks = missing.map(|missing| {
        format!(
            "{} lacks {missing} of its members: their data are computed from all others.",
            device.name
        )
    });
    let why: Vec<_> = runs.into_iter().chain(lacks).collect();
    let finding =
        Finding::new("raid-rebuild", about(device, path), Certainty::Snapshot, why.join(" "))
            .observed_if(action.map(|action| md(device, "sync_action", action)))
            .observed_if(missing.map(|missing| md(device, "degraded", missing.to_string())))
            .run("randread-4k", path, "--time 30s");
    (!why.is_empty()).then_some(finding)
}

/// What a member is, as far as its speed may depend on it.
#[derive(PartialEq)]
struct Member {
    /// Whether a network serves it; `None` outside of clouds.
    is_local: Option<bool>,
    rotates: Option<bool>,
    transport: Option<String>,
}

impl Member {
    fn of(seen: &Snapshot<'_>, member: &Device) -> Self {
        // A partition has its disk's queue.
        let disks = seen.disks(member);
        let disk = disks.first().copied().unwrap_or(member);
        let has_cloud = seen.provider().is_some() && disk.kind == DeviceKind::Disk;
        Self {
            is_local: has_cloud.then(|| seen.is_local(disk)),
            rotates: disk.queue.rotational,
            transport: disk.transport.clone(),
        }
    }

    fn words(&self) -> String {
        let place = match self.is_local {
            Some(true) => "local",
            Some(false) => "network",
            None => "",
        };
        let kind = match self.rotates {
            Some(true) if self.is_local.is_none() => "rotating",
            _ => "",
        };
        let bus = self.transport.as_deref().unwrap_or_default();
        let words: Vec<_> =
            [place, kind, bus].into_iter().filter(|word| !word.is_empty()).collect();
        if words.is_empty() { "disk".to_owned() } else { format!("{} disk", words.join(" ")) }
    }
}

/// Members that differ in kind; of RAID 0 also in size.
pub(super) fn unlike(seen: &Snapshot<'_>, device: &Device, path: &str) -> Option<Finding> {
    let level = level(device).filter(|_| device.kind == DeviceKind::Raid)?;
    let members = seen.members(device);
    let (first, rest) = members.split_first()?;
    let kinds: Vec<_> = members.iter().map(|member| Member::of(seen, member)).collect();
    let has_kinds = kinds.iter().any(|kind| *kind != kinds[0]);
    let differs = |member: &&&Device| {
        let [a, b] = [first.size_bytes, member.size_bytes].map(|size| size as f64);
        (a - b).abs() > ALIKE * a.max(b)
    };
    let has_sizes = level == "raid0" && rest.iter().any(|member| differs(&member));
    if !has_kinds && !has_sizes {
        return None;
    }
    let told: Vec<_> = members
        .iter()
        .zip(&kinds)
        .map(|(member, kind)| {
            format!("{} ({}, {})", member.name, bytes(member.size_bytes as f64), kind.words())
        })
        .collect();
    let told: Vec<_> = told.iter().map(String::as_str).collect();
    let pace =
        if has_kinds { " The slowest sets the pace of what touches all of them." } else { "" };
    let zones = has_sizes.then(|| {
        let least = members.iter().map(|member| member.size_bytes).min().unwrap_or(0);
        let larger = members.iter().filter(|member| differs_from(member.size_bytes, least)).count();
        let from = least.saturating_mul(members.len() as u64);
        format!(
            " It has two speeds: beyond the end of the smallest, from {} on, stripes are over {larger} of \
             {} members.",
            bytes(from as f64),
            members.len()
        )
    });
    let why = format!(
        "{} ({level}) is made of {}.{pace}{}",
        device.name,
        list(&told),
        zones.unwrap_or_default()
    );
    let mut finding =
        Finding::new("raid-unlike-members", about(device, path), Certainty::Likely, why)
            .observed(level_seen(device, level))
            .run("seqread-1m", path, "--set depth=16")
            .limits("", path);
    finding.seen.extend(members.iter().zip(&kinds).map(|(member, kind)| {
        Observation::block(
            member,
            "size",
            format!("{} ({})", bytes(member.size_bytes as f64), kind.words()),
        )
    }));
    Some(finding)
}

fn differs_from(size: u64, least: u64) -> bool {
    size as f64 > least as f64 * (1.0 + ALIKE)
}
