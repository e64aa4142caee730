//! Finds the VM and its limits for a disk, and refuses impossible combinations.

use crate::disk::{Caching, Disk, HostCache};
use crate::error::Error;
use crate::limit::{Cloud, Limit, Scope};
use crate::lookup::vm;
use crate::note::Note;
use crate::vm::Vm;

/// The size with this name and, if its limits differ, this disk controller.
pub fn vm_variant(name: &str, variant: Option<&str>) -> Result<Vm, Error> {
    let mut found = vm(name)?;
    let variants: Vec<_> = found.iter().filter_map(|vm| vm.variant.clone()).collect();
    if variant.is_some() {
        found.retain(|vm| vm.variant.as_deref() == variant);
    }
    let left = found.len();
    match (found.pop(), variants.as_slice()) {
        (Some(vm), _) if left == 1 => Ok(vm),
        (None, []) => Err(Error::NoVariants(name.to_owned())),
        (None, _) => Err(Error::UnknownVariant { vm: name.to_owned(), known: variants }),
        (Some(_), _) => Err(Error::WhichVariant { vm: name.to_owned(), known: variants }),
    }
}

/// Refuses combinations that no provider allows.
pub(super) fn refuse_impossible(vm: Option<&Vm>, disks: &[(Disk, Caching)]) -> Result<(), Error> {
    let Some((first, _)) = disks.first() else {
        return Err(Error::NoDisk);
    };
    let (cloud, whose) = vm.map_or((first.cloud, &first.name), |vm| (vm.cloud, &vm.name));
    for (disk, caching) in disks {
        check_disk(disk, *caching)?;
        if disk.cloud != cloud {
            let (disk, of, whose) = (disk.name.clone(), disk.cloud, whose.clone());
            return Err(Error::OtherCloud { disk, of, whose, cloud });
        }
        if disk.kind == "premium-ssd" && vm.is_some_and(|vm| vm.premium_storage == Some(false)) {
            return Err(Error::NoPremium { vm: whose.clone(), disk: disk.name.clone() });
        }
    }
    match vm.and_then(|vm| vm.max_data_disks) {
        Some(most) if disks.len() > most as usize => {
            Err(Error::TooManyDisks { vm: whose.clone(), most, count: disks.len() })
        }
        _ => Ok(()),
    }
}

fn check_disk(disk: &Disk, caching: Caching) -> Result<(), Error> {
    if caching == Caching::None || disk.host_cache == Some(HostCache::Possible) {
        return Ok(());
    }
    Err(match disk.cloud {
        Cloud::Azure => Error::NotCached(disk.name.clone()),
        other => Error::CloudWithoutCache(other),
    })
}

/// The VM's limits for the disk. If some must exist but the sources have none, one with unknown
/// figures.
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
    unknown.notes.push(Note::NoLimitFor { kind: disk.kind.clone() });
    vec![unknown]
}
