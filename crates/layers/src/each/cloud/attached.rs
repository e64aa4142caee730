//! Disks attached to a VM, with the limits of both.

use iotax_catalog::{Caching, DiskExpectation, Expectation, Vm};

use super::disk::{
    CloudDisk, CloudOptions, PAGE_BYTES, base, host_encryption, medium, own_encryption, refused,
};
use super::limits;
use super::part::{CloudPart, PartLayer, without_caching};
use crate::each::tier::Tier;
use crate::error::Error;

/// The disks of one VM, in order.
///
/// # Errors
/// [`Error::Cloud`] for a disk without a size, and for write-back caches.
pub(super) fn attached_disks(
    expectation: &Expectation,
    options: &CloudOptions,
) -> Result<Vec<CloudDisk>, Error> {
    let cached = expectation.disks.iter().filter(|disk| disk.caching != Caching::None).count();
    let vm = expectation.vm.as_ref();
    expectation.disks.iter().map(|disk| compose(vm, disk, cached, options)).collect()
}

fn compose(
    vm: Option<&Vm>,
    expected: &DiskExpectation,
    cached_disks: usize,
    options: &CloudOptions,
) -> Result<CloudDisk, Error> {
    let (mut notes, disk) = (Vec::new(), &expected.disk);
    let mut parts = vec![base(&disk.name, disk.size_bytes, &disk.source, options)?];
    parts.extend(own_encryption(options));
    parts.extend(medium(options, CloudOptions::ASSUMED_LATENCY_NS));
    parts.extend(limits::throttles(expected, options.credits, &mut notes));
    if expected.caching != Caching::None {
        parts.extend(cache(vm, expected, cached_disks, &mut notes)?);
    }
    parts.extend(host_encryption(vm, options, &mut notes));
    Ok(CloudDisk { name: without_caching(&disk.name), caching: expected.caching, parts, notes })
}

/// The share of the host's cache for one disk.
fn cache(
    vm: Option<&Vm>,
    expected: &DiskExpectation,
    cached_disks: usize,
    notes: &mut Vec<String>,
) -> Result<Option<CloudPart>, Error> {
    if expected.caching == Caching::ReadWrite {
        let problem = "write-back caching is not modeled; use readonly or none";
        return Err(refused("disk", &expected.disk.name, problem));
    }
    let Some(vm) = vm else {
        notes.push("caching has no effect without a VM".to_owned());
        return Ok(None);
    };
    let Some(cache_bytes) = vm.cache_bytes else {
        let name = &vm.name;
        notes.push(format!(
            "{name}: the cache size is not documented, so iotax assumes that no read hits the cache"
        ));
        return Ok(None);
    };
    notes.push(
        "reads that miss the cache, and all writes, count only against the VM's cached limits, \
         as measured on Standard_DS1_v2"
            .to_owned(),
    );
    let share_bytes = cache_bytes / cached_disks as u64;
    let tier = PartLayer::Tier(Tier { size_bytes: share_bytes - share_bytes % PAGE_BYTES });
    let what = match cached_disks {
        1 => format!("{} cache", vm.name),
        _ => format!("{} cache, divided evenly among its disks (an assumption)", vm.name),
    };
    Ok(Some(CloudPart::documented(tier, what, &vm.source)))
}
