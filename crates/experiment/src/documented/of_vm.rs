//! The VM's limits for a disk of unknown kind, by its use in the VM.
//!
//! All three clouds count the OS disk as an attached disk. Azure: the OS disk shares the VM's
//! uncached or cached limit with the data disks
//! (`MicrosoftDocs/azure-compute-docs:articles/virtual-machines/disks-performance.md@fe2592489377`,
//! 2026-09-09, "Virtual machine I/O capping" and "Cached-limit example"). AWS: an instance's limits
//! apply to all I/O to EBS, and a root volume is an EBS volume. Google Cloud: all Persistent Disks
//! of a kind on a VM share its limit (<https://cloud.google.com/compute/docs/disks/hyperdisks>,
//! undated).
//!
//! Local disks of the host are not attached: temporary disks and ephemeral OS disks, whose
//! performance is that of the VM's local storage, which is cache, temporary disk or `NVMe`
//! (`ephemeral-os-disks.md@0d0c4c594783`, 2026-09-08, of the same repository).

use iotax_catalog::{Limit, Scope, Vm};
use serde::{Deserialize, Serialize};

use crate::cloud::DiskRole;

/// The VM's limits for a disk with this use.
pub(super) fn limits(vm: &Vm, role: DiskRole) -> Vec<Limit> {
    let mut found: Vec<Limit> = Vec::new();
    for limit in vm.limits.iter().filter(|limit| holds(vm, limit, role)) {
        // Cached disks and the temporary disk share one bucket, which is one row.
        let is_same = |known: &Limit| {
            (known.direction, &known.iops, &known.bw_bytes)
                == (limit.direction, &limit.iops, &limit.bw_bytes)
        };
        if !(role == DiskRole::EphemeralOs && found.iter().any(is_same)) {
            found.push(with_kinds(limit));
        }
    }
    found
}

fn holds(vm: &Vm, limit: &Limit, role: DiskRole) -> bool {
    let is_on_attached =
        matches!(limit.scope, Scope::VmCached | Scope::VmUncached | Scope::Instance);
    match role {
        DiskRole::Data => is_on_attached,
        DiskRole::Os => is_on_attached && limit.holds_os_disks(),
        DiskRole::EphemeralOs => vm.ephemeral_os_on.contains(&limit.scope),
        DiskRole::Temporary => matches!(limit.scope, Scope::VmTemporary | Scope::LocalNvme),
    }
}

/// Named with the kinds of disk that it applies to, unless it applies to all.
fn with_kinds(limit: &Limit) -> Limit {
    let mut limit = limit.clone();
    if !limit.disk_kinds.is_empty() {
        limit.of = format!("{} for {}", limit.of, limit.disk_kinds.join(", "));
    }
    limit
}

/// A target is on a disk that is not a data disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleNote {
    pub target: String,
    pub role: DiskRole,
    /// Whether the VM's limits for such a disk are documented.
    pub has_limits: bool,
}

/// A note on a target on such a disk, in addition to its limits.
pub(super) fn note(vm: &Vm, role: DiskRole, target: &str) -> Option<RoleNote> {
    let has_limits = !limits(vm, role).is_empty();
    (role != DiskRole::Data).then(|| RoleNote { target: target.to_owned(), role, has_limits })
}

#[cfg(test)]
mod tests {
    use iotax_catalog::vm_variant;

    use super::*;

    /// Scope and holder of each limit.
    fn held(name: &str, role: DiskRole) -> Vec<String> {
        let vm = vm_variant(name, None).unwrap();
        let text = |limit: &Limit| format!("{} of {}", limit.scope, limit.of.replace(name, "it"));
        limits(&vm, role).iter().map(text).collect()
    }

    #[test]
    fn an_os_disk_is_held_like_a_data_disk_of_a_kind_that_it_can_be() {
        let attached = ["VM cached of it", "VM uncached of it"];
        let for_data = "VM uncached of it for premium-v2, ultra";
        assert_eq!(held("Standard_D4ds_v6", DiskRole::Os), attached);
        let data = held("Standard_D4ds_v6", DiskRole::Data);
        assert_eq!(data, [&attached[..], &[for_data]].concat());
        assert_eq!(held("m5.large", DiskRole::Os), ["instance of it"]);
        let google = held("n2-standard-8", DiskRole::Os);
        assert!(google.contains(&"instance of it for pd-balanced".to_owned()), "{google:?}");
        assert_eq!(google, held("n2-standard-8", DiskRole::Data));
    }

    #[test]
    fn a_disk_of_the_host_is_held_by_the_limits_of_local_storage() {
        let ephemeral = |name| held(name, DiskRole::EphemeralOs);
        // On the cache or the temporary disk, which have one bucket here.
        assert_eq!(ephemeral("Standard_D2s_v3"), ["VM cached of it"]);
        assert_eq!(ephemeral("Standard_E16ds_v4"), ["VM cached of it", "VM temporary disk of it"]);
        assert_eq!(ephemeral("Standard_D4ds_v5"), ["VM temporary disk of it"]);
        assert_eq!(ephemeral("Standard_D4ds_v6"), ["local NVMe of it"; 2], "reads and writes");
        assert_eq!(ephemeral("Standard_D4s_v5"), [""; 0], "it has none");
        assert_eq!(held("Standard_D2s_v3", DiskRole::Temporary), ["VM temporary disk of it"]);
        assert_eq!(held("m5d.large", DiskRole::Temporary), [""; 0], "not documented");
    }

    #[test]
    fn what_is_no_data_disk_is_told() {
        let note = |name, role| note(&vm_variant(name, None).unwrap(), role, "/srv");
        let has_limits = |name, role| note(name, role).map(|note| note.has_limits);
        assert_eq!(has_limits("Standard_D2s_v3", DiskRole::EphemeralOs), Some(true));
        assert_eq!(has_limits("m5d.large", DiskRole::Temporary), Some(false));
        assert_eq!(note("Standard_D2s_v3", DiskRole::Data), None);
    }
}
