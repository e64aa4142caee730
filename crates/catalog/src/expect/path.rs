//! Which VM, which of its limits hold a disk, and what cannot be together.

use crate::disk::{Caching, Disk, HostCache};
use crate::error::Error;
use crate::limit::{Cloud, Limit, Scope};
use crate::lookup::vm;
use crate::vm::Vm;

/// The one size that is meant by a name and, where its limits differ, the disk controller.
pub fn vm_variant(name: &str, variant: Option<&str>) -> Result<Vm, Error> {
    let mut found = vm(name)?;
    let variants: Vec<_> = found.iter().filter_map(|vm| vm.variant.clone()).collect();
    if variant.is_some() {
        found.retain(|vm| vm.variant.as_deref() == variant);
    }
    let left = found.len();
    match (found.pop(), variants.as_slice()) {
        (Some(vm), _) if left == 1 => Ok(vm),
        (None, []) => {
            Err(Error::Impossible(format!("{name} has no variants: leave the variant out")))
        }
        (None, known) => Err(Error::Impossible(format!(
            "{name} has no such variant: its variants are {}",
            known.join(" and ")
        ))),
        (Some(_), known) => Err(Error::Impossible(format!(
            "{name} has other limits with each disk controller: say which variant, {}",
            known.join(" or ")
        ))),
    }
}

/// Refuses what no provider would let anybody attach.
pub(super) fn check(vm: Option<&Vm>, disks: &[(Disk, Caching)]) -> Result<(), Error> {
    let Some((first, _)) = disks.first() else {
        return Err(Error::Impossible("there is no disk: name at least one".to_owned()));
    };
    let (cloud, whose) = vm.map_or((first.cloud, &first.name), |vm| (vm.cloud, &vm.name));
    for (disk, caching) in disks {
        check_disk(disk, *caching)?;
        if disk.cloud != cloud {
            let (name, other) = (&disk.name, disk.cloud);
            return Err(Error::Impossible(format!(
                "{name} is a disk of {other}, {whose} belongs to {cloud}: they cannot be together"
            )));
        }
        if disk.kind == "premium-ssd" && vm.is_some_and(|vm| vm.premium_storage == Some(false)) {
            let name = &disk.name;
            return Err(Error::Impossible(format!(
                "{whose} takes no premium disks such as {name}: choose a size with an s in its \
                 name, or a disk such as E30"
            )));
        }
    }
    match vm.and_then(|vm| vm.max_data_disks) {
        Some(most) if disks.len() > most as usize => {
            let count = disks.len();
            Err(Error::Impossible(format!("{whose} takes {most} disks at most, not {count}")))
        }
        _ => Ok(()),
    }
}

fn check_disk(disk: &Disk, caching: Caching) -> Result<(), Error> {
    if caching == Caching::None || disk.host_cache == Some(HostCache::Possible) {
        return Ok(());
    }
    let name = &disk.name;
    Err(Error::Impossible(if disk.cloud == Cloud::Azure {
        format!("{name} cannot be cached by the host: give it caching=none")
    } else {
        format!("hosts of {} cache no disks: leave caching out", disk.cloud)
    }))
}

/// The limits of the VM that hold the disk. If there must be some and the sources have none, one
/// whose figures are unknown.
pub(super) fn limits(vm: &Vm, disk: &Disk, caching: Caching) -> Vec<Limit> {
    let scope = match (vm.cloud, caching) {
        (Cloud::Azure, Caching::None) => Scope::VmUncached,
        (Cloud::Azure, _) => Scope::VmCached,
        _ => Scope::Instance,
    };
    let held = |limit: &&Limit| limit.scope == scope && limit.holds_for(&disk.kind);
    let all: Vec<_> = vm.limits.iter().filter(held).cloned().collect();
    let own: Vec<_> = all.iter().filter(|limit| !limit.disk_kinds.is_empty()).cloned().collect();
    let found = if own.is_empty() { all } else { own };
    if !found.is_empty() {
        return found;
    }
    let mut unknown = Limit::unknown(scope, &vm.name, &vm.source);
    unknown.notes.push(format!("no such limit was found for {}", disk.kind));
    vec![unknown]
}
