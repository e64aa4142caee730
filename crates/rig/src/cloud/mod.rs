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
//! What is not documented is left out and said, never invented: every [`Part`] tells what it rests
//! on.

mod limits;
mod part;

pub use part::Part;

use iotax_catalog::{Caching, DiskExpectation, Expectation, Vm};
use iotax_spec::layers::{Aes, Delay, File, Tier};
use iotax_spec::{Layer, Stack};

use self::part::without_caching;
use crate::error::Error;

/// Pages of the host's cache are held whole.
const PAGE_BYTES: u64 = 4096;

/// What the documents do not say, or the user wants otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct CloudOptions {
    /// Size of every disk; the documented one if left out.
    pub size_bytes: Option<u64>,
    /// Share of the documented burst credits that a full bucket holds.
    pub credits: f64,
    /// Latency of the medium; [`CloudOptions::ASSUMED_LATENCY_NS`] if left out.
    pub latency_ns: Option<u64>,
    /// The host encrypts what it caches and sends on.
    pub encryption_at_host: bool,
    /// The disk encrypts what it stores.
    pub hardware_encrypted: bool,
}

impl CloudOptions {
    /// No provider states a latency as a figure: "single-digit milliseconds" is what they say.
    pub const ASSUMED_LATENCY_NS: u64 = 1_000_000;
}

impl Default for CloudOptions {
    fn default() -> Self {
        Self {
            size_bytes: None,
            credits: 1.0,
            latency_ns: None,
            encryption_at_host: false,
            hardware_encrypted: false,
        }
    }
}

/// A disk of a cloud, as a stack.
#[derive(Debug, Clone, PartialEq)]
pub struct CloudDisk {
    /// As it was asked for, without what is cached of it: `P10`, `gp3:size=500G`.
    pub name: String,
    /// What the host caches of it.
    pub caching: Caching,
    /// Its layers.
    pub stack: Stack,
    /// What each of them stands for, from bottom to top.
    pub parts: Vec<Part>,
    /// What is documented but not modelled, or not documented.
    pub notes: Vec<String>,
}

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
    let mut notes = Vec::new();
    let mut parts = vec![base(expected, options)?];
    let aes = || Layer::Aes(Aes { key_bits: 256, sector_bytes: 512 });
    if options.hardware_encrypted {
        parts.push(Part::new(aes(), "the disk's own encryption, as asked for"));
    }
    parts.extend(medium(options));
    parts.extend(limits::throttles(expected, options.credits, &mut notes));
    if expected.caching != Caching::None {
        parts.extend(cache(vm, expected, cached_disks, &mut notes)?);
    }
    if options.encryption_at_host {
        parts.push(Part::new(aes(), "encryption at host, as asked for"));
        notes.extend(vm.and_then(encryption_note));
    }
    let layers = parts.iter().map(|part| part.layer.clone()).collect();
    Ok(CloudDisk {
        name: without_caching(&expected.disk.name),
        caching: expected.caching,
        stack: Stack { layers },
        parts,
        notes,
    })
}

fn base(expected: &DiskExpectation, options: &CloudOptions) -> Result<Part, Error> {
    let disk = &expected.disk;
    let file = |size_bytes| Layer::File(File { path: None, size_bytes, thin: true });
    match (options.size_bytes, disk.size_bytes) {
        (Some(0), _) => Err(refused(&disk.name, "a disk of no size holds nothing")),
        (Some(bytes), _) if !bytes.is_multiple_of(PAGE_BYTES) => {
            Err(refused(&disk.name, "its size must be a multiple of 4k"))
        }
        (Some(bytes), _) => Ok(Part::new(file(bytes), "of the size asked for")),
        (None, Some(bytes)) => {
            let bytes = bytes - bytes % PAGE_BYTES;
            Ok(Part::documented(file(bytes), "of the documented size", &disk.source))
        }
        (None, None) => {
            Err(refused(&disk.name, "its size is not given by its name: say it with --size"))
        }
    }
}

fn medium(options: &CloudOptions) -> Option<Part> {
    let (latency_ns, what) = match options.latency_ns {
        Some(latency_ns) => (latency_ns, "latency, as asked for"),
        None => (CloudOptions::ASSUMED_LATENCY_NS, "latency: an assumption, not documented"),
    };
    (latency_ns > 0).then(|| Part::new(Layer::Delay(Delay { latency_ns, jitter_ns: 0 }), what))
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

fn encryption_note(vm: &Vm) -> Option<String> {
    let name = &vm.name;
    match vm.encryption_at_host_supported {
        Some(true) => None,
        Some(false) => Some(format!(
            "{name} is documented not to support encryption at host; built all the same"
        )),
        None => Some(format!("whether {name} supports encryption at host is not documented")),
    }
}

fn refused(disk: &str, problem: &'static str) -> Error {
    Error::Cloud { disk: disk.to_owned(), problem }
}

#[cfg(test)]
mod tests;
