//! Software RAIDs: parity, bitmaps, rebuilds, members that are not alike.

use iotax_record::machine::{Device, DeviceKind, RaidSeen};
use serde::Serialize;

use super::Certainty::{self, Likely, ToBeTested};
use super::{DeviceAt, Finder, Finding, MemberKind, Observation, Rule, Snapshot, Value, rule};

pub(super) const RULES: &[Rule] = &[
    rule(&["parity-raid"], Finder::Device(parity)),
    rule(&["raid-bitmap"], Finder::Device(bitmap)),
    rule(&["raid-rebuild"], Finder::Device(rebuild)),
    rule(&["raid-unlike-members"], Finder::Device(unlike)),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RaidWhy {
    // Members that a small write touches, of how many.
    Parity { touched: u64, members: u64, stripe_bytes: Option<u64>, cache_entries: Option<u64> },
    Bitmap,
    Rebuild { action: Option<String>, missing: Option<u64> },
    Unlike { level: String, members: Vec<MemberSeen>, has_kinds: bool, zones: Option<Zones> },
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MemberSeen {
    pub name: String,
    pub bytes: u64,
    pub kind: MemberKind,
}

/// Stripes over fewer members.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Zones {
    pub from_bytes: u64,
    /// Members that are larger than the smallest.
    pub larger: usize,
}

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

fn md(device: &Device, file: &str, value: impl Into<Value>) -> Observation {
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

/// Small writes and flushes of parity RAID.
fn parity(device: &DeviceAt<'_, '_>) -> Option<Finding> {
    let level = level(device)?;
    let touched = parity_members(level)?;
    let state = device.raid.clone().unwrap_or_default();
    let listed = device.seen.members(device).len() as u64;
    let members = state.members.unwrap_or(listed).max(listed);
    let data = members.saturating_sub(touched - 1);
    let chunk = device.stripe_bytes.filter(|_| data > 0);
    let why = RaidWhy::Parity {
        touched,
        members,
        stripe_bytes: chunk.map(|chunk| chunk.saturating_mul(data)),
        cache_entries: state.stripe_cache.filter(|entries| *entries <= DEFAULT_STRIPE_CACHE),
    };
    let write_cache = device.queue.write_cache.as_deref();
    device
        .finding(Likely, why)
        .observed(level_seen(device, level))
        .observed_all(device.stripe_bytes.map(|chunk| md(device, "chunk_size", chunk)))
        .observed_all(write_cache.map(|cache| Observation::queue(device, "write_cache", cache)))
        .observed_all(state.stripe_cache.map(|size| md(device, "stripe_cache_size", size)))
        .run("randwrite-4k", device.path, "--set fsync-every=1")
        .run("randwrite-4k", device.path, "")
        .run("seqwrite-1m", device.path, "")
        .into()
}

/// A bitmap that members hold themselves.
fn bitmap(device: &DeviceAt<'_, '_>) -> Option<Finding> {
    let bitmap = device.raid.as_ref()?.bitmap.as_deref()?;
    device
        .finding(ToBeTested, RaidWhy::Bitmap)
        .observed(md(device, "bitmap/location", bitmap))
        .run("randwrite-4k", device.path, "--set fsync-every=1")
        .run("randwrite-4k", device.path, "")
        .when(bitmap.starts_with(['+', '-']))
}

/// A rebuild or check that runs, or a member that is missing.
fn rebuild(device: &DeviceAt<'_, '_>) -> Option<Finding> {
    let RaidSeen { action, missing, .. } = device.raid.as_ref()?;
    let action = action.as_deref().filter(|action| !matches!(*action, "idle" | "frozen"));
    let missing = missing.filter(|missing| *missing > 0);
    let why = RaidWhy::Rebuild { action: action.map(str::to_owned), missing };
    device
        .finding(Certainty::Snapshot, why)
        .observed_all(action.map(|action| md(device, "sync_action", action)))
        .observed_all(missing.map(|missing| md(device, "degraded", missing)))
        .run("randread-4k", device.path, "--time 30s")
        .when(action.is_some() || missing.is_some())
}

impl MemberKind {
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
}

/// Members that differ in kind; of RAID 0 also in size.
fn unlike(device: &DeviceAt<'_, '_>) -> Option<Finding> {
    let level = level(device).filter(|_| device.kind == DeviceKind::Raid)?;
    let members = device.seen.members(device);
    let (first, rest) = members.split_first()?;
    let kinds: Vec<_> = members.iter().map(|one| MemberKind::of(device.seen, one)).collect();
    let has_kinds = kinds.iter().any(|kind| *kind != kinds[0]);
    let differs = |member: &&Device| {
        let [a, b] = [first.size_bytes, member.size_bytes].map(|size| size as f64);
        (a - b).abs() > ALIKE * a.max(b)
    };
    let has_sizes = level == "raid0" && rest.iter().any(differs);
    let zones = has_sizes.then(|| {
        let least = members.iter().map(|member| member.size_bytes).min().unwrap_or(0);
        let is_larger = |size: u64| size as f64 > least as f64 * (1.0 + ALIKE);
        let larger = members.iter().filter(|member| is_larger(member.size_bytes)).count();
        Zones { from_bytes: least.saturating_mul(members.len() as u64), larger }
    });
    let seen_of = |(member, kind): (&&Device, &MemberKind)| {
        let (name, bytes) = (member.name.clone(), member.size_bytes);
        MemberSeen { name, bytes, kind: kind.clone() }
    };
    let why = RaidWhy::Unlike {
        level: level.to_owned(),
        members: members.iter().zip(&kinds).map(seen_of).collect(),
        has_kinds,
        zones,
    };
    device
        .finding(Likely, why)
        .observed(level_seen(device, level))
        .observed_all(members.iter().zip(kinds).map(|(member, kind)| {
            Observation::block(member, "size", Value::Member { bytes: member.size_bytes, kind })
        }))
        .run("seqread-1m", device.path, "--set depth=16")
        .limits("", device.path)
        .when(has_kinds || has_sizes)
}
