//! What the record says about each arm's target.

use std::time::SystemTime;

use iotax_experiment::documented::LimitBy;
use iotax_experiment::{Arm, Base, KnownLimit, Layer, Target, Workload};
use iotax_inspect::{Facts, SiteKind};
use iotax_quantity::size;
use iotax_record::{NamedSite, Site};
use iotax_vdisk::VirtualDisk;

use crate::assembly::{Assembly, Reached};
use crate::disk_file::direct_in;
use crate::layers::maker::Top;
use crate::resolved_target::ResolvedTarget;
use crate::scratch;

/// The smallest unit of direct I/O on any device.
const SECTOR_BYTES: u32 = 512;

/// The facts about an arm on `resolved`; `disk` is its open stack, if it is one.
pub(crate) fn describe(
    arm: &Arm,
    resolved: &ResolvedTarget,
    disk: Option<&VirtualDisk>,
    workload: &Workload,
) -> Site {
    let target = arm.target.to_string();
    let unheeded = arm.unheeded(workload);
    let Some(facts) = resolved.facts() else {
        return Site {
            kind: "vdisk".to_owned(),
            target,
            storage_id: format!("memory of arm {}", arm.name),
            smallest_io_bytes: disk.map(smallest_on),
            notes: unheeded,
            ..Site::default()
        };
    };
    let direct = disk
        .map_or_else(|| asked_for_direct(workload), |disk| Some(disk.backing().direct_effective));
    let mut notes = notes(facts);
    notes.extend(unheeded);
    if disk.is_some() && direct == Some(false) {
        notes.push(format!(
            "{} cannot bypass the page cache: reads at the bottom of the stack may come from \
             memory",
            facts.file_system.as_deref().unwrap_or("the file system")
        ));
    }
    if matches!(resolved, ResolvedTarget::Directory(_)) {
        notes.extend(earlier_runs(facts));
    }
    if matches!(resolved, ResolvedTarget::Thin(_)) {
        notes.push("thin: reads of areas that were never written do not reach a device".to_owned());
    }
    if matches!(resolved, ResolvedTarget::Existing(_) | ResolvedTarget::OwnDisk(_)) {
        notes.extend(span_notes(facts, workload));
    }
    Site {
        kind: if disk.is_some() { "vdisk" } else { kind(facts) }.to_owned(),
        target,
        file_system: facts.file_system.clone(),
        device: facts.block.as_ref().map(|device| device.name.clone()),
        device_model: facts.block.as_ref().and_then(|device| device.model.clone()),
        device_id: facts.block.as_ref().and_then(|device| iotax_inspect::disk_id(&device.name)),
        direct,
        // Most of a thin file is not on a device.
        has_device: facts.reads_counted && !matches!(resolved, ResolvedTarget::Thin(_)),
        storage_id: storage_id(resolved, facts),
        smallest_io_bytes: disk.map_or_else(|| smallest_at(facts), |disk| Some(smallest_on(disk))),
        notes,
        ..Site::default()
    }
}

/// The combined site of several targets of one trial, each with its name in jobs.
pub(crate) fn of_several<'a>(
    arm: &Arm,
    sites: impl Iterator<Item = (&'a str, &'a Site)> + Clone,
) -> Site {
    let all = |lines: fn(&Site) -> &[String]| {
        let of = |(name, site): (&str, &'a Site)| {
            lines(site).iter().map(|line| format!("{name}: {line}")).collect::<Vec<_>>()
        };
        sites.clone().flat_map(of).collect()
    };
    let storage: Vec<&str> = sites.clone().map(|(_, site)| site.storage_id.as_str()).collect();
    let direct = sites.clone().filter_map(|(_, site)| site.direct).reduce(|all, one| all && one);
    let named =
        |(name, site): (&str, &Site)| NamedSite { name: name.to_owned(), site: site.clone() };
    Site {
        kind: format!("{} targets", storage.len()),
        target: arm.target.to_string(),
        direct,
        has_device: sites.clone().all(|(_, site)| site.has_device),
        storage_id: storage.join(" and "),
        notes: all(|site| &site.notes),
        caches: all(|site| &site.caches),
        targets: sites.map(named).collect(),
        ..Site::default()
    }
}

/// The facts about an arm before its turn.
pub(crate) fn in_waiting(arm: &Arm, resolved: &ResolvedTarget) -> Site {
    Site {
        kind: "stack".to_owned(),
        target: arm.target.to_string(),
        storage_id: storage_of_stack(arm, resolved),
        ..Site::default()
    }
}

/// The facts about an arm with layers of the system.
pub(crate) fn of_assembly(arm: &Arm, resolved: &ResolvedTarget, assembly: &Assembly) -> Site {
    let top = match assembly.top() {
        Reached::Storage(Top { path, .. }) => iotax_inspect::site(path).ok(),
        Reached::Peer(_) => None,
    };
    // Where the data is: the loop devices and mappings above belong to the arm.
    let base = resolved.facts().or(top.as_ref());
    let device = base.and_then(|facts| facts.block.as_ref());
    let mut all = resolved.facts().map(notes).unwrap_or_default();
    all.extend(assembly.notes().iter().cloned());
    let is_storage = matches!(assembly.top(), Reached::Storage(_));
    let direct = (is_storage && assembly.caches().is_empty()).then_some(true);
    Site {
        kind: "stack".to_owned(),
        target: arm.target.to_string(),
        file_system: base.and_then(|facts| facts.file_system.clone()),
        device: device.map(|device| device.name.clone()),
        device_model: device.and_then(|device| device.model.clone()),
        device_id: device.and_then(|device| iotax_inspect::disk_id(&device.name)),
        direct,
        has_device: top.as_ref().is_some_and(|facts| facts.reads_counted),
        storage_id: storage_of_stack(arm, resolved),
        smallest_io_bytes: top.as_ref().and_then(smallest_at),
        notes: all,
        caches: assembly.caches().to_vec(),
        ..Site::default()
    }
}

/// The smallest unit of direct I/O at a path.
fn smallest_at(facts: &Facts) -> Option<u32> {
    match facts.kind {
        SiteKind::BlockDevice => facts.block.as_ref()?.logical_block_bytes,
        SiteKind::Directory => direct_in(&facts.path)?.align_bytes,
        SiteKind::File | SiteKind::Other => facts.direct_align_bytes,
    }
}

/// The same for an in-process disk: memory takes any size, but the load uses whole sectors.
fn smallest_on(disk: &VirtualDisk) -> u32 {
    disk.block_bytes().max(SECTOR_BYTES)
}

fn base_text(arm: &Arm) -> String {
    match &arm.target {
        Target::Stack(stack) => match stack.base() {
            // Regardless of mount options.
            Some(Base::Server(what)) => what,
            _ => stack.layers.first().map(Layer::to_string).unwrap_or_default(),
        },
        Target::Path(path) => path.display().to_string(),
        other @ Target::Several(_) => other.to_string(),
    }
}

/// Targets with the same text have the same bytes.
fn storage_of_stack(arm: &Arm, resolved: &ResolvedTarget) -> String {
    match resolved.facts() {
        Some(facts) if matches!(resolved, ResolvedTarget::Device(_)) => {
            facts.device_number.to_string()
        }
        // Separate files on one volume.
        Some(facts) => format!("{} files in {}", facts.device_number, facts.path.display()),
        // The same base, rebuilt for each arm.
        None => base_text(arm),
    }
}

fn kind(facts: &Facts) -> &'static str {
    match facts.kind {
        SiteKind::Directory => "directory",
        SiteKind::File => "file",
        SiteKind::BlockDevice => "block device",
        SiteKind::Other => "other",
    }
}

/// Whether all jobs on the target use direct I/O; `None` if they differ, or if there are none.
fn asked_for_direct(workload: &Workload) -> Option<bool> {
    let mut jobs = workload.jobs.iter().filter(|job| !job.engine.does_nothing());
    let first = jobs.next()?.direct;
    jobs.all(|job| job.direct == first).then_some(first)
}

/// Same text, same bytes on the same device.
fn storage_id(resolved: &ResolvedTarget, facts: &Facts) -> String {
    let device = facts.device_number;
    match resolved {
        ResolvedTarget::Anonymous { .. } => {
            format!("{device} scratch file in {}", facts.path.display())
        }
        // Separate files on one volume.
        ResolvedTarget::Thin(_) => format!("{device} thin files in {}", facts.path.display()),
        ResolvedTarget::OnNew { path, .. } => format!("{device} {}", path.display()),
        // The same device may have several nodes.
        _ if facts.kind == SiteKind::BlockDevice => format!("{device}"),
        _ => format!("{device} {}", facts.path.display()),
    }
}

fn notes(facts: &Facts) -> Vec<String> {
    let mut notes = Vec::new();
    if facts.in_memory {
        let name = facts.file_system.as_deref().unwrap_or("its file system");
        notes.push(format!("{name} is in memory, so no device is measured"));
    }
    if facts.overlay {
        notes.push("overlay: the file system below it performs the I/O".to_owned());
    }
    let device = facts.block.as_ref().filter(|_| facts.kind == SiteKind::BlockDevice);
    if let Some(device) = device {
        if !device.mounted_at.is_empty() {
            let places: Vec<_> =
                device.mounted_at.iter().map(|place| place.display().to_string()).collect();
            notes.push(format!(
                "mounted at {}: the measurement includes the I/O of other programs there",
                places.join(", ")
            ));
        }
        if !device.holders.is_empty() {
            notes.push(format!("in use by {}", device.holders.join(", ")));
        }
    }
    notes
}

/// A note about private directories of other runs, which may be active on another host or dead.
fn earlier_runs(facts: &Facts) -> Option<String> {
    let names = scratch::of_earlier_runs(&facts.path, SystemTime::now());
    (!names.is_empty()).then(|| {
        format!(
            "{} already existed when the run started; remove it unless another run is using it: it \
             may be left over from a run whose host failed",
            names.join(", ")
        )
    })
}

/// A note about jobs that are larger than the target, and so use all of it.
fn span_notes(facts: &Facts, workload: &Workload) -> Option<String> {
    let larger = workload.jobs.iter().filter(|job| job.size_bytes > facts.size_bytes);
    let names: Vec<_> = larger.map(|job| job.name.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "has only {}, less than the size set for {}; the run uses the whole target",
            size(facts.size_bytes),
            names.join(", ")
        )
    })
}

/// The limits of this process's cgroups on the disk under `target`, if it is a path.
pub fn cgroup_limits(target: &Target, writes: bool) -> Vec<KnownLimit> {
    let Some(path) = target.path() else { return Vec::new() };
    let known = iotax_inspect::io_limits(path).into_iter().map(|limits| {
        let (iops, bw_bytes) = if writes {
            (limits.write_iops, limits.write_bw_bytes)
        } else {
            (limits.read_iops, limits.read_bw_bytes)
        };
        let of = limits.group;
        KnownLimit { by: LimitBy::Cgroup, of, direction: None, iops, bw_bytes }
    });
    known.filter(|limit| limit.iops.is_some() || limit.bw_bytes.is_some()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_are_free_of_this_process_s_groups() {
        let stack = Target::parse("mem(size=1M)").unwrap();
        assert_eq!(cgroup_limits(&stack, false), []);
    }
}
