//! Local disks of a VM's host, which come with the VM size and do not outlive the VM.

use iotax_catalog::{Caching, Limit, LocalStorage, Scope, Vm};

use super::disk::{
    CloudDisk, CloudOptions, base, host_encryption, medium, own_encryption, refused,
};
use super::limits::of_vm;
use crate::error::Error;

/// Kind of local storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Local {
    /// Whichever kind the size has, if it has only one.
    Any,
    /// The temporary disk.
    Temporary,
    /// A local `NVMe` disk.
    Nvme,
}

/// Their names in place of a disk name.
const WORDS: [(&str, Local); 3] =
    [("local", Local::Any), ("temporary", Local::Temporary), ("nvme", Local::Nvme)];

impl Local {
    /// Reads its name.
    pub(super) fn parse(text: &str) -> Option<Self> {
        WORDS.iter().find(|(word, _)| *word == text).map(|(_, local)| *local)
    }

    fn word(self) -> &'static str {
        WORDS.iter().find(|(_, local)| *local == self).map_or("local", |(word, _)| word)
    }

    fn is(self, storage: &LocalStorage) -> bool {
        match self {
            Self::Any => true,
            Self::Temporary => storage.scope == Scope::VmTemporary,
            Self::Nvme => storage.scope == Scope::LocalNvme,
        }
    }

    fn of(self, vm: &Vm) -> Result<&LocalStorage, Error> {
        let mut found = vm.local_storage.iter().filter(|storage| self.is(storage));
        let refused =
            |problem| refused("disk", &format!("{} of {}", self.word(), vm.name), problem);
        match (found.next(), found.next()) {
            (Some(storage), None) => Ok(storage),
            (None, _) => {
                Err(refused("the catalog lists no local disk of this kind for the VM size"))
            }
            (Some(_), Some(_)) => Err(refused(
                "the VM size has both a temporary disk and NVMe disks; use temporary or nvme",
            )),
        }
    }
}

/// The local disks of one VM, in order.
///
/// # Errors
/// [`Error::Cloud`] for storage that the size is not documented to have, and for too many disks.
pub(super) fn local_disks(
    vm: &Vm,
    asked: &[Local],
    options: &CloudOptions,
) -> Result<Vec<CloudDisk>, Error> {
    let storage = asked.iter().map(|local| local.of(vm)).collect::<Result<Vec<_>, _>>()?;
    for of in &storage {
        if storage.iter().filter(|other| other.scope == of.scope).count() > of.disks as usize {
            let name = format!("{} of {}", name(of), vm.name);
            return Err(refused(
                "disk",
                &name,
                "the VM size has fewer of these disks than requested",
            ));
        }
    }
    storage.into_iter().map(|storage| compose(vm, storage, options)).collect()
}

fn compose(vm: &Vm, storage: &LocalStorage, options: &CloudOptions) -> Result<CloudDisk, Error> {
    let mut notes = Vec::new();
    let size_bytes = storage.size_bytes / u64::from(storage.disks);
    let mut parts = vec![base(name(storage), Some(size_bytes), &vm.source, options)?];
    parts.extend(own_encryption(options));
    parts.extend(medium(options, CloudOptions::ASSUMED_LOCAL_LATENCY_NS));
    let limits: Vec<&Limit> = limits(vm, storage).collect();
    if limits.is_empty() {
        let (name, vm) = (name(storage), &vm.name);
        notes.push(format!(
            "no limit is documented for the {name} of {vm}, so the disk is not limited"
        ));
    }
    if storage.shares_cache {
        notes.push(format!("the {} shares a token bucket with cached disks", name(storage)));
    }
    parts.extend(of_vm(&limits, &mut notes));
    parts.extend(host_encryption(Some(vm), options, &mut notes));
    Ok(CloudDisk { name: name(storage).to_owned(), caching: Caching::None, parts, notes })
}

/// The VM's limits that apply to its local disks.
///
/// # Errors
/// As [`local_disks`].
pub(super) fn limits_of(vm: &Vm, local: Local) -> Result<Vec<Limit>, Error> {
    Ok(limits(vm, local.of(vm)?).cloned().collect())
}

fn limits<'a>(vm: &'a Vm, storage: &LocalStorage) -> impl Iterator<Item = &'a Limit> {
    let scope = if storage.shares_cache { Scope::VmCached } else { storage.scope };
    vm.limits.iter().filter(move |limit| limit.scope == scope)
}

fn name(storage: &LocalStorage) -> &'static str {
    match storage.scope {
        Scope::LocalNvme => "local NVMe disk",
        _ => "temporary disk",
    }
}
