//! Expected limits of a VM and its disks: the lowest limit on each path, and the sum over paths.
//!
//! ```text
//! disk 1 (own limit) ─┐
//! disk 2 (own limit) ─┴─ VM cached bucket ───┐
//! disk 3 (own limit) ─── VM uncached bucket ─┴─ all together
//! ```
//!
//! AWS has one bucket for all volumes. Google Cloud has one for each kind of disk, and disks of a
//! kind share the limit of their total size.

mod bound;
mod path;

use serde::{Deserialize, Serialize};

pub use self::bound::{Bound, BurstBound, By, Effective};
use self::bound::{Named, effective, sum, sum_of};
pub use self::path::vm_variant;
use crate::disk::{Caching, Disk};
use crate::error::Error;
use crate::gcp::disks::{PERSISTENT_KINDS, persistent};
use crate::limit::{Direction, Limit, Scope};
use crate::note::Note;
use crate::units::GIB;
use crate::vm::Vm;

/// A VM and its disks.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Setup {
    /// Name of its size; without one, only the limits of the disks apply.
    pub vm: Option<String>,
    /// `scsi` or `nvme`, for sizes whose limits differ.
    pub variant: Option<String>,
    /// Attached disks with their host caching.
    pub disks: Vec<(Disk, Caching)>,
}

/// The documented expectation for a [`Setup`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Expectation {
    pub vm: Option<Vm>,
    /// Each disk alone.
    pub disks: Vec<DiskExpectation>,
    /// Disks that share limits of the VM.
    pub buckets: Vec<Bucket>,
    /// All disks at once.
    pub together: Vec<Effective>,
    /// Facts that the figures do not include.
    pub notes: Vec<Note>,
}

/// The expectation for one disk alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiskExpectation {
    pub disk: Disk,
    /// Its host caching.
    pub caching: Caching,
    /// All limits that apply: its own and the VM's.
    pub limits: Vec<Limit>,
    /// The rates after all limits.
    pub effective: Vec<Effective>,
}

/// Disks under the same limits of the VM.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bucket {
    /// The bucket; `None` without a VM.
    pub scope: Option<Scope>,
    /// Indices of the disks in [`Expectation::disks`].
    pub disks: Vec<usize>,
    /// The rates of the disks without the VM's limits.
    pub of_disks: Vec<Effective>,
    /// The VM's limits.
    pub limits: Vec<Limit>,
    /// The rates after all limits.
    pub effective: Vec<Effective>,
}

/// The documented expectation for a VM and its disks.
pub fn expect(setup: &Setup) -> Result<Expectation, Error> {
    let vm = setup.vm.as_deref().map(|name| vm_variant(name, setup.variant.as_deref()));
    let vm = vm.transpose()?;
    path::refuse_impossible(vm.as_ref(), &setup.disks)?;
    let disks: Vec<_> = setup
        .disks
        .iter()
        .map(|(disk, caching)| {
            let of_vm = vm.as_ref().map(|vm| path::limits(vm, disk, *caching)).unwrap_or_default();
            let own = own_limits(disk, &setup.disks);
            let limits = [own, of_vm].concat();
            let effective = effective(|direction| named(&limits, direction));
            DiskExpectation { disk: disk.clone(), caching: *caching, limits, effective }
        })
        .collect();
    let buckets = buckets(&disks);
    let parts: Vec<_> = buckets.iter().map(|bucket| bucket.effective.as_slice()).collect();
    let together = match parts.as_slice() {
        [one] => one.to_vec(),
        _ => sum_of(&parts, &shared_by_all(&buckets)),
    };
    let notes = notes(vm.as_ref(), &disks);
    Ok(Expectation { vm, disks, buckets, together, notes })
}

/// A disk's own limits. Persistent Disks of one kind have those of a single disk with their total
/// size.
fn own_limits(disk: &Disk, all: &[(Disk, Caching)]) -> Vec<Limit> {
    if !PERSISTENT_KINDS.contains(&disk.kind.as_str()) {
        let limit = |limit: &Limit| Limit { of: disk.name.clone(), ..limit.clone() };
        return disk.limits.iter().map(limit).collect();
    }
    let same: Vec<_> = all.iter().filter(|(other, _)| other.kind == disk.kind).collect();
    let bytes: Option<u64> = same.iter().map(|(other, _)| other.size_bytes).sum();
    let is_pooled = same.len() > 1;
    let of = if is_pooled { format!("all {}", disk.kind) } else { disk.name.clone() };
    let pool = persistent(&disk.kind, bytes.map(|bytes| bytes as f64 / GIB));
    pool.limits.into_iter().map(|limit| Limit { of: of.clone(), is_pooled, ..limit }).collect()
}

fn named(limits: &[Limit], direction: Direction) -> Vec<Named> {
    let counting = limits.iter().filter(|limit| limit.direction.counts(direction));
    counting.map(Named::limit).collect()
}

/// Disks with the same limits of the VM, ordered by their first disk.
fn buckets(disks: &[DiskExpectation]) -> Vec<Bucket> {
    let of_vm = |disk: &DiskExpectation| -> Vec<Limit> {
        disk.limits.iter().filter(|limit| limit.scope != Scope::Disk).cloned().collect()
    };
    let mut groups: Vec<(Vec<Limit>, Vec<usize>)> = Vec::new();
    for (place, disk) in disks.iter().enumerate() {
        let limits = of_vm(disk);
        match groups.iter_mut().find(|(known, _)| *known == limits) {
            Some((_, places)) => places.push(place),
            None => groups.push((limits, vec![place])),
        }
    }
    let bucket = |(limits, places): (Vec<Limit>, Vec<usize>)| {
        let members: Vec<_> = places.iter().map(|place| &disks[*place]).collect();
        let own = |direction| vec![sum_of_disks(&members, direction)];
        Bucket {
            scope: limits.first().map(|limit| limit.scope),
            of_disks: effective(own),
            effective: effective(|direction| {
                own(direction).into_iter().chain(named(&limits, direction)).collect()
            }),
            disks: places,
            limits,
        }
    };
    groups.into_iter().map(bucket).collect()
}

/// The sum over disks; disks that share a pool of their kind count once.
fn sum_of_disks(members: &[&DiskExpectation], direction: Direction) -> Named {
    let mut counted: Vec<&Limit> = Vec::new();
    for member in members {
        let own = member.limits.iter().filter(|limit| limit.scope == Scope::Disk);
        for limit in own.filter(|limit| limit.direction.counts(direction)) {
            let is_pool = PERSISTENT_KINDS.contains(&member.disk.kind.as_str());
            if !is_pool || !counted.contains(&limit) {
                counted.push(limit);
            }
        }
    }
    let of = names(&counted.iter().map(|limit| limit.of.as_str()).collect::<Vec<_>>());
    Named {
        by: By { scope: Scope::Disk, of },
        iops: sum(counted.iter().map(|limit| limit.iops.clone())),
        bw_bytes: sum(counted.iter().map(|limit| limit.bw_bytes.clone())),
        is_partial: false,
    }
}

/// `P30`, `2 x P30`, `2 x P30 + P10`.
fn names(all: &[&str]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for name in all {
        match counts.iter_mut().find(|(known, _)| known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let word = |(name, count): (&str, usize)| match count {
        1 => name.to_owned(),
        _ => format!("{count} x {name}"),
    };
    counts.into_iter().map(word).collect::<Vec<_>>().join(" + ")
}

/// Limits that cover several buckets and therefore also limit their sum.
fn shared_by_all(buckets: &[Bucket]) -> Vec<Limit> {
    let Some((first, rest)) = buckets.split_first() else { return Vec::new() };
    let everywhere = |limit: &&Limit| rest.iter().all(|bucket| bucket.limits.contains(limit));
    first.limits.iter().filter(everywhere).cloned().collect()
}

fn notes(vm: Option<&Vm>, disks: &[DiskExpectation]) -> Vec<Note> {
    let mut notes = Vec::new();
    if disks.iter().any(|disk| disk.caching != Caching::None) {
        notes.push(Note::CachedDisks);
    }
    let opt_in = |disk: &&DiskExpectation| {
        let rates = disk.limits.iter().flat_map(|limit| [&limit.iops, &limit.bw_bytes]);
        rates.flatten().any(|rate| rate.burst.as_ref().is_some_and(|burst| burst.opt_in))
    };
    let opt_in = disks.iter().find(opt_in);
    notes.extend(opt_in.map(|disk| Note::OnDemandOff { disk: disk.disk.name.clone() }));
    let uncached = disks.iter().filter(|disk| disk.caching == Caching::None);
    let mut limits: Vec<_> = uncached
        .map(|disk| disk.limits.iter().filter(|l| l.scope == Scope::VmUncached).collect::<Vec<_>>())
        .collect();
    limits.dedup();
    if limits.len() > 1 {
        notes.push(Note::FastBesideOthers);
    }
    let is_untold = |limit: &&Limit| {
        limit.burst_unknown && limit.iops.as_ref().is_some_and(|rate| rate.burst.is_none())
    };
    let mut untold: Vec<_> = disks.iter().flat_map(|disk| &disk.limits).filter(is_untold).collect();
    untold.sort_by_key(|limit| (&limit.of, limit.scope.to_string()));
    untold.dedup_by_key(|limit| (&limit.of, limit.scope));
    let untold = untold.into_iter();
    notes.extend(untold.map(|l| Note::BurstUnknown { of: l.of.clone(), scope: l.scope }));
    notes.extend(vm.into_iter().flat_map(|vm| vm.notes.clone()));
    notes
}
