//! Virtual disks that behave as a cloud documents its own: from catalog facts to stacks.
//!
//! Pure: nothing is made here. From bottom to top a disk is
//!
//! ```text
//! file(thin) [+ aes] + delay + throttle (its own) + throttle (the VM's) [+ tier] [+ aes]
//! ```
//!
//! - `delay` is the latency of the medium. It is the lowest, so that hits of the host's cache are
//!   free of it.
//! - The disk's own limits lie below the VM's. An I/O asks the bucket above first, when it is
//!   submitted; were it the other way round, one disk's backlog would reach the shared bucket with
//!   arrivals in the future, and hold up all other disks.
//! - Limits of the VM are groups: its disks share their buckets.
//! - `tier` is the host's cache: its hits pass all limits free, as they were measured to.
//! - `aes` at the bottom is the disk's own encryption; on top, the host's, which its cache holds
//!   encrypted, too.
//!
//! A disk of the VM's own host ([`local_disks`]) is made in the same way, without a cache and with no
//! limits but the VM's.
//!
//! What is not documented is left out and said, never invented: every [`Part`] tells what it rests
//! on.

mod disk;
mod limits;
mod local;
mod part;

pub use disk::{CloudDisk, CloudOptions};
pub use local::{Local, local_disks};
pub use part::Part;

use iotax_catalog::{Caching, DiskExpectation, Expectation, Vm};
use iotax_spec::Layer;
use iotax_spec::layers::Tier;

use self::disk::{PAGE_BYTES, base, host_encryption, medium, own_encryption, refused};
use self::part::without_caching;
use crate::error::Error;

/// The stacks of the disks of one VM, in their order.
///
/// # Errors
/// [`Error::Cloud`] for a disk whose size nobody says, and for caches that hold writes back.
pub fn cloud_disks(
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
    Ok(CloudDisk::new(without_caching(&disk.name), expected.caching, parts, notes))
}

/// The disk's part of the host's cache.
fn cache(
    vm: Option<&Vm>,
    expected: &DiskExpectation,
    cached_disks: usize,
    notes: &mut Vec<String>,
) -> Result<Option<Part>, Error> {
    if expected.caching == Caching::ReadWrite {
        let problem = "a cache that holds writes back is not modelled: use readonly or none";
        return Err(refused(&expected.disk.name, problem));
    }
    let Some(vm) = vm else {
        notes.push("without a VM there is no cache: caching changes nothing".to_owned());
        return Ok(None);
    };
    let Some(cache_bytes) = vm.cache_bytes else {
        let name = &vm.name;
        notes.push(format!("{name}: no size of the cache is documented, so nothing is ever hit"));
        return Ok(None);
    };
    notes.push(
        "reads that miss the cache, and writes, count against the VM's cached limits alone, as \
         measured on Standard_DS1_v2"
            .to_owned(),
    );
    let share_bytes = cache_bytes / cached_disks as u64;
    let tier = Layer::Tier(Tier { size_bytes: share_bytes - share_bytes % PAGE_BYTES });
    let what = match cached_disks {
        1 => format!("cache of {}", vm.name),
        _ => format!("cache of {}, divided evenly: an assumption", vm.name),
    };
    Ok(Some(Part::documented(tier, what, &vm.source)))
}

#[cfg(test)]
mod tests;
