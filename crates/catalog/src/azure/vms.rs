//! Azure VM sizes.

use serde::Deserialize;

use crate::limit::{Burst, Cloud, Direction, Limit, Rate, Scope, Source};
use crate::note::{Fact, Note, Property, tabled};
use crate::table::{AZURE_NETWORKS, AZURE_VMS};
use crate::units::{KIB, MB, MBIT, gib_to_bytes};
use crate::vm::{LocalStorage, Vm, conflicts_of_vm};

/// Kinds of disk that have separate limits on newer sizes.
const FAST_KINDS: [&str; 2] = ["premium-v2", "ultra"];

#[derive(Deserialize)]
struct AzureVmRow {
    size: String,
    variant: Option<String>,
    family: String,
    parent_size: Option<String>,
    vcpus: Option<u32>,
    memory_gib: Option<f64>,
    max_data_disks: Option<u32>,
    cached_iops: Option<f64>,
    cached_read_bytes_per_s: Option<f64>,
    cached_write_bytes_per_s: Option<f64>,
    cache_size_gib: Option<f64>,
    uncached_iops: Option<f64>,
    uncached_bytes_per_s: Option<f64>,
    burst_uncached_iops: Option<f64>,
    burst_uncached_mbps: Option<f64>,
    pv2_ultra_uncached_iops: Option<f64>,
    pv2_ultra_uncached_mbps: Option<f64>,
    pv2_ultra_burst_iops: Option<f64>,
    pv2_ultra_burst_mbps: Option<f64>,
    temp_disk_gib: Option<f64>,
    temp_iops: Option<f64>,
    temp_mbps: Option<f64>,
    /// Whether the temporary disk shares the bucket of cached disks.
    temp_shares_cache: bool,
    /// Whether its limits are from a page instead of the API.
    temp_from_page: bool,
    local_nvme_gib: Option<f64>,
    local_nvme_disks: Option<u32>,
    local_nvme_read_iops: Option<f64>,
    local_nvme_write_iops: Option<f64>,
    local_nvme_read_mbps: Option<f64>,
    local_nvme_write_mbps: Option<f64>,
    premium_io: Option<bool>,
    encryption_at_host_supported: Option<bool>,
    ultra_ssd_available: Option<bool>,
    disk_controller_types: Option<String>,
    ephemeral_os_placements: Option<String>,
    confidential_type: Option<String>,
    retirement_date: Option<String>,
    source: String,
    as_of: String,
    burst_source: Option<String>,
    burst_as_of: Option<String>,
    uncached_source: Option<String>,
    uncached_as_of: Option<String>,
    notes: String,
}

/// The variants of the sizes with a name that `wanted` accepts.
pub(crate) fn vms(wanted: impl Fn(&str) -> bool) -> Vec<Vm> {
    AZURE_VMS.rows::<AzureVmRow>(wanted).into_iter().map(AzureVmRow::into_vm).collect()
}

/// A row of `azure_networks.csv`.
#[derive(Deserialize)]
struct Network {
    max_mbit: f64,
    source: String,
    as_of: String,
}

/// Outgoing traffic; incoming traffic is not metered (`MicrosoftDocs/azure-docs@0375bb83e151`,
/// `articles/virtual-network/virtual-machine-network-throughput.md`, 2023-03-30).
fn network(size: &str) -> Vec<Limit> {
    let limit = |row: Network| {
        let source = Source { text: row.source, as_of: row.as_of };
        let rate = Rate::steady(row.max_mbit * MBIT);
        Limit {
            notes: vec![Note::MeteredOneWay],
            ..Limit::of_network(Scope::Network, Direction::Write, size, rate, &source)
        }
    };
    AZURE_NETWORKS.rows::<Network>(|name| name == size).into_iter().map(limit).collect()
}

impl AzureVmRow {
    fn into_vm(self) -> Vm {
        let limits = [
            self.cached(),
            vec![self.uncached()],
            self.uncached_fast().into_iter().collect(),
            self.temporary().into_iter().collect(),
            self.local_nvme(),
        ];
        Vm {
            cloud: Cloud::Azure,
            ephemeral_os_on: self.ephemeral_os_on(),
            local_storage: self.local_storage(),
            limits: limits.concat(),
            network: network(&self.size),
            facts: self.facts(),
            notes: tabled(&self.notes),
            conflicts: conflicts_of_vm(&self.size),
            source: self.source(),
            page: self.page(),
            variant: self.variant,
            vcpus: self.vcpus,
            memory_bytes: self.memory_gib.map(gib_to_bytes),
            cache_bytes: self.cache_size_gib.map(gib_to_bytes),
            max_data_disks: self.max_data_disks,
            premium_storage: self.premium_io,
            encryption_at_host_supported: self.encryption_at_host_supported,
            name: self.size,
        }
    }

    fn source(&self) -> Source {
        Source { text: self.source.clone(), as_of: self.as_of.clone() }
    }

    /// The page of the series, if one was read.
    fn page(&self) -> Option<Source> {
        let text = self.burst_source.clone()?;
        Some(Source { text, as_of: self.burst_as_of.clone()? })
    }

    /// Only the pages have bursts, and no page has those of the cached bucket.
    fn limit(&self, scope: Scope) -> Limit {
        let is_of_cache = matches!(scope, Scope::VmCached | Scope::VmTemporary);
        Limit {
            burst_unknown: is_of_cache || self.burst_source.is_none(),
            ..Limit::unknown(scope, &self.size, &self.source())
        }
    }

    /// One limit, or one per direction if the bandwidths differ.
    fn cached(&self) -> Vec<Limit> {
        if self.cached_iops.is_none() {
            return Vec::new();
        }
        let side = |direction, bytes: Option<f64>| Limit {
            direction,
            iops: self.cached_iops.map(Rate::steady),
            bw_bytes: bytes.map(Rate::steady),
            ..self.limit(Scope::VmCached)
        };
        if self.cached_read_bytes_per_s == self.cached_write_bytes_per_s {
            return vec![side(Direction::Both, self.cached_read_bytes_per_s)];
        }
        vec![
            side(Direction::Read, self.cached_read_bytes_per_s),
            side(Direction::Write, self.cached_write_bytes_per_s),
        ]
    }

    fn uncached(&self) -> Limit {
        let burst_iops = self.burst_uncached_iops.map(burst);
        let burst_bytes = self.burst_uncached_mbps.map(|mb| burst(mb * MB));
        let other = self.uncached_source.clone().zip(self.uncached_as_of.clone());
        let source = other.map_or(self.source(), |(text, as_of)| Source { text, as_of });
        let page = burst_iops.is_some().then(|| self.page()).flatten();
        Limit {
            burst_source: page.filter(|page| *page != source),
            source,
            iops: self.uncached_iops.map(|iops| Rate::with_burst(iops, burst_iops)),
            bw_bytes: self.uncached_bytes_per_s.map(|bytes| Rate::with_burst(bytes, burst_bytes)),
            ..self.limit(Scope::VmUncached)
        }
    }

    /// The limit for Premium SSD v2 and Ultra disks, if it is higher.
    fn uncached_fast(&self) -> Option<Limit> {
        let iops = self.pv2_ultra_uncached_iops?;
        let burst_iops = self.pv2_ultra_burst_iops.map(burst);
        let burst_bytes = self.pv2_ultra_burst_mbps.map(|mb| burst(mb * MB));
        Some(Limit {
            disk_kinds: FAST_KINDS.map(str::to_owned).to_vec(),
            iops: Some(Rate::with_burst(iops, burst_iops)),
            bw_bytes: self.pv2_ultra_uncached_mbps.map(|mb| Rate::with_burst(mb * MB, burst_bytes)),
            source: self.page().unwrap_or_else(|| self.source()),
            ..self.limit(Scope::VmUncached)
        })
    }

    /// Bytes per second of the shared bucket if it shares one, otherwise as printed on the page.
    fn temporary(&self) -> Option<Limit> {
        self.temp_disk_gib.filter(|gib| *gib > 0.0)?;
        let limit = self.limit(Scope::VmTemporary);
        Some(Limit {
            iops: self.temp_iops.map(Rate::steady),
            bw_bytes: if self.temp_from_page {
                self.temp_mbps.map(|mb| Rate::steady(mb * MB))
            } else {
                self.cached_read_bytes_per_s.map(Rate::steady)
            },
            source: self.page().filter(|_| self.temp_from_page).unwrap_or(limit.source),
            ..self.limit(Scope::VmTemporary)
        })
    }

    fn local_nvme(&self) -> Vec<Limit> {
        let side = |direction, iops: Option<f64>, mb: Option<f64>| {
            (iops.is_some() || mb.is_some()).then(|| Limit {
                direction,
                iops: iops.map(Rate::steady),
                bw_bytes: mb.map(|mb| Rate::steady(mb * MB)),
                ..self.limit(Scope::LocalNvme)
            })
        };
        let read = side(Direction::Read, self.local_nvme_read_iops, self.local_nvme_read_mbps);
        let write = side(Direction::Write, self.local_nvme_write_iops, self.local_nvme_write_mbps);
        read.into_iter().chain(write).collect()
    }

    fn local_storage(&self) -> Vec<LocalStorage> {
        let storage = |scope, disks, gib: Option<f64>| {
            let size_bytes = gib_to_bytes(gib.filter(|gib| *gib > 0.0)?);
            let shares_cache =
                scope == Scope::VmTemporary && self.cached_iops.is_some() && self.temp_shares_cache;
            Some(LocalStorage { scope, disks, size_bytes, shares_cache })
        };
        let temporary = storage(Scope::VmTemporary, 1, self.temp_disk_gib);
        let nvme_disks = self.local_nvme_disks.unwrap_or(1).max(1);
        let nvme = storage(Scope::LocalNvme, nvme_disks, self.local_nvme_gib);
        temporary.into_iter().chain(nvme).collect()
    }

    fn ephemeral_os_on(&self) -> Vec<Scope> {
        let places = self.ephemeral_os_placements.iter().flat_map(|places| places.split(','));
        let scope = |place: &str| match place {
            "CacheDisk" => Some(Scope::VmCached),
            "ResourceDisk" => Some(Scope::VmTemporary),
            "NvmeDisk" => Some(Scope::LocalNvme),
            _ => None,
        };
        places.filter_map(scope).collect()
    }

    fn facts(&self) -> Vec<Fact> {
        let words = |text: &Option<String>| text.as_ref().map(|text| text.replace(',', ", "));
        let facts = [
            self.temp_disk_gib.filter(|gib| *gib > 0.0).map(Property::TemporaryDiskGib),
            self.local_nvme_gib.map(Property::LocalNvmeGib),
            self.local_nvme_disks.map(Property::LocalNvmeDisks),
            words(&self.disk_controller_types).map(Property::DiskControllers),
            words(&self.ephemeral_os_placements).map(Property::EphemeralOsDiskOn),
            self.ultra_ssd_available.map(Property::UltraDisks),
            self.confidential_type.clone().map(Property::ConfidentialType),
            self.parent_size.clone().map(Property::ConstrainedFrom),
            Some(Property::Family(self.family.clone())),
            self.retirement_date.clone().map(Property::Retires),
        ];
        Fact::all(facts, &self.source())
    }
}

/// The sources do not say how many credits a VM has, nor how long they last.
fn burst(per_s: f64) -> Burst {
    Burst { per_s, credits: None, opt_in: false, notes: Vec::new() }
}

/// I/O size above which an I/O to a disk counts as several.
pub(super) fn io_unit_bytes(kib: Option<u64>) -> Option<u64> {
    kib.map(|kib| kib * KIB)
}
