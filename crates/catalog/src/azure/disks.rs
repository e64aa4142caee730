//! Azure's managed disks.

use serde::Deserialize;

use super::vms::io_unit_bytes;
use crate::disk::{Disk, HostCache};
use crate::error::{DiskProblem, Error};
use crate::limit::{Burst, Cloud, Limit, Rate, Scope, Source};
use crate::note::{Fact, Note, Property, tabled};
use crate::table::AZURE_DISKS;
use crate::text::Parameters;
use crate::units::{MB, gib_to_bytes};

#[derive(Deserialize)]
struct AzureDiskRow {
    r#type: String,
    tier: String,
    max_size_gib: f64,
    provisioned_iops: f64,
    provisioned_mbps: f64,
    burst_iops: Option<f64>,
    burst_mbps: Option<f64>,
    burst_model: String,
    io_credit_bucket: Option<f64>,
    bw_credit_bucket_mb: Option<f64>,
    io_unit_kib: Option<u64>,
    host_cache: String,
    max_shares: Option<u32>,
    source: String,
    as_of: String,
    notes: String,
}

/// Names of the two kinds that are provisioned freely.
pub(crate) const FREE_KINDS: [&str; 2] = ["premium-v2", "ultra"];

/// Maximum IOPS per GiB, total IOPS, MB/s per IOPS and total MB/s, from the notes of the rows of
/// these kinds.
struct Ceilings {
    min_iops: f64,
    iops_per_gib: f64,
    max_iops: f64,
    mb_per_iops: f64,
    max_mb: f64,
}

/// Tiers with redundancy in one zone, then names of freely provisioned disks.
pub(crate) fn names() -> Vec<String> {
    let tiers = rows().into_iter().filter(AzureDiskRow::is_local_tier).map(|row| row.tier);
    tiers.chain(FREE_KINDS.map(str::to_owned)).collect()
}

/// A tier or a freely provisioned disk; `None` if there is none with that name.
pub(crate) fn disk(parameters: &mut Parameters) -> Result<Option<Disk>, Error> {
    let name = parameters.name().to_ascii_lowercase();
    match name.as_str() {
        "premium-v2" | "premiumv2" | "pv2" => premium_v2(parameters).map(Some),
        "ultra" => ultra(parameters).map(Some),
        _ => tier(&name, parameters),
    }
}

/// The tier of a disk from the metadata service of its VM: a type such as `Premium_LRS`, a tier if
/// it was chosen independently of the size, and the size. `None` for freely provisioned and unknown
/// disks.
pub(crate) fn of_instance(r#type: &str, tier: Option<&str>, size_bytes: u64) -> Option<String> {
    let mut rows: Vec<AzureDiskRow> = rows().into_iter().filter(AzureDiskRow::is_tier).collect();
    rows.retain(|row| row.r#type.eq_ignore_ascii_case(r#type));
    rows.sort_by(|a, b| a.max_size_gib.total_cmp(&b.max_size_gib));
    let is_it = |row: &&AzureDiskRow| match tier {
        Some(tier) => row.tier.eq_ignore_ascii_case(tier),
        None => gib_to_bytes(row.max_size_gib) >= size_bytes,
    };
    let row = rows.iter().find(is_it)?;
    let redundancy = if row.is_local_tier() { "" } else { ":redundancy=zrs" };
    Some(format!("{}{redundancy}", row.tier))
}

fn rows() -> Vec<AzureDiskRow> {
    AZURE_DISKS.rows(|_| true)
}

fn tier(name: &str, parameters: &mut Parameters) -> Result<Option<Disk>, Error> {
    let is_tier = |row: &AzureDiskRow| row.is_tier() && row.tier.eq_ignore_ascii_case(name);
    let rows: Vec<_> = rows().into_iter().filter(is_tier).collect();
    if rows.is_empty() {
        return Ok(None);
    }
    let redundancy = parameters.word("redundancy", &["lrs", "zrs"])?.unwrap_or("lrs");
    let of_type = |row: &AzureDiskRow| row.r#type.to_ascii_lowercase().ends_with(redundancy);
    match rows.into_iter().find(of_type) {
        Some(row) => row.into_tier(parameters).map(Some),
        None => Err(parameters.problem(DiskProblem::NoZoneRedundancy)),
    }
}

impl AzureDiskRow {
    fn is_tier(&self) -> bool {
        !self.r#type.starts_with("PremiumV2") && !self.r#type.starts_with("Ultra")
    }

    fn is_local_tier(&self) -> bool {
        self.is_tier() && self.r#type.ends_with("_LRS")
    }

    fn source(&self) -> Source {
        Source { text: self.source.clone(), as_of: self.as_of.clone() }
    }

    fn kind(&self) -> &'static str {
        match self.r#type.split('_').next() {
            Some("Premium") => "premium-ssd",
            Some("StandardSSD") => "standard-ssd",
            Some("PremiumV2") => "premium-v2",
            Some("UltraSSD") => "ultra",
            _ => "standard-hdd",
        }
    }

    fn into_tier(self, parameters: &mut Parameters) -> Result<Disk, Error> {
        let is_on_demand = self.burst_model.starts_with("on-demand");
        let opt_in = is_on_demand && parameters.word("burst", &["on"])?.is_none();
        let burst = |per_s: Option<f64>, credits: Option<f64>| {
            let model = is_on_demand.then(|| Note::Tabled(self.burst_model.clone()));
            Some(Burst { per_s: per_s?, credits, opt_in, notes: model.into_iter().collect() })
        };
        let iops = burst(self.burst_iops, self.io_credit_bucket);
        let bytes =
            burst(self.burst_mbps.map(|mb| mb * MB), self.bw_credit_bucket_mb.map(|mb| mb * MB));
        let limit = Limit {
            iops: Some(Rate::with_burst(self.provisioned_iops, iops)),
            bw_bytes: Some(Rate::with_burst(self.provisioned_mbps * MB, bytes)),
            ..self.limit()
        };
        Ok(self.disk(limit, Some(self.max_size_gib)))
    }

    fn limit(&self) -> Limit {
        Limit {
            io_unit_bytes: io_unit_bytes(self.io_unit_kib),
            ..Limit::unknown(Scope::Disk, self.word(), &self.source())
        }
    }

    fn word(&self) -> &str {
        if self.is_tier() { &self.tier } else { self.kind() }
    }

    fn disk(&self, limit: Limit, size_gib: Option<f64>) -> Disk {
        let kind = Some(Property::DiskType(self.r#type.clone()));
        let facts = [kind, self.max_shares.map(Property::MostShares)];
        Disk {
            cloud: Cloud::Azure,
            name: self.word().to_owned(),
            kind: self.kind().to_owned(),
            size_bytes: size_gib.map(gib_to_bytes),
            limits: vec![limit],
            host_cache: Some(if self.host_cache.starts_with("None/") {
                HostCache::Possible
            } else {
                HostCache::NotSupported
            }),
            facts: Fact::all(facts, &self.source()),
            notes: tabled(&self.notes),
            conflicts: Vec::new(),
            source: self.source(),
        }
    }
}

/// 3,000 IOPS and 125 MB/s are included; more can be provisioned, within the limits of the size.
fn premium_v2(parameters: &mut Parameters) -> Result<Disk, Error> {
    let rows = AZURE_DISKS.rows::<AzureDiskRow>(|kind| kind == "PremiumV2_LRS");
    let row = |tier: &str| {
        rows.iter().find(|row| row.tier == tier).expect("both rows of Premium SSD v2 are embedded")
    };
    let (free, most) = (row("free"), row("rule"));
    let ceilings = Ceilings {
        min_iops: free.provisioned_iops,
        iops_per_gib: 500.0,
        max_iops: most.provisioned_iops,
        mb_per_iops: 0.25,
        max_mb: most.provisioned_mbps,
    };
    let size_gib = parameters.size_gib(1.0, most.max_size_gib)?;
    let (iops, bytes) = (parameters.iops()?, parameters.bw_bytes(Cloud::Azure)?);
    let limit = Limit {
        iops: Some(Rate::steady(iops.unwrap_or(free.provisioned_iops))),
        bw_bytes: Some(Rate::steady(bytes.unwrap_or(free.provisioned_mbps * MB))),
        ..most.limit()
    };
    ceilings.check(parameters, size_gib, &limit, free.provisioned_mbps)?;
    Ok(most.disk(limit, size_gib))
}

/// Values that are not given are the maximum for the size.
fn ultra(parameters: &mut Parameters) -> Result<Disk, Error> {
    let rows = AZURE_DISKS.rows::<AzureDiskRow>(|kind| kind == "UltraSSD_LRS");
    let row = rows.last().expect("Ultra disks are embedded");
    let ceilings = Ceilings {
        min_iops: 100.0,
        iops_per_gib: 1_000.0,
        max_iops: row.provisioned_iops,
        mb_per_iops: 0.25,
        max_mb: row.provisioned_mbps,
    };
    let size_gib = parameters.size_gib(4.0, row.max_size_gib)?;
    let (iops, bytes) = (parameters.iops()?, parameters.bw_bytes(Cloud::Azure)?);
    let most_iops = size_gib.map(|gib| (gib * ceilings.iops_per_gib).min(ceilings.max_iops));
    let iops = iops.or(most_iops);
    let bytes = bytes.or_else(|| Some(ceilings.max_mb_at(iops?) * MB));
    let mut limit =
        Limit { iops: iops.map(Rate::steady), bw_bytes: bytes.map(Rate::steady), ..row.limit() };
    limit.notes.push(Note::MostProvisionable);
    ceilings.check(parameters, size_gib, &limit, 1.0)?;
    let mut disk = row.disk(limit, size_gib);
    disk.notes = rows.first().map(|row| tabled(&row.notes)).unwrap_or_default();
    Ok(disk)
}

impl Ceilings {
    fn max_mb_at(&self, iops: f64) -> f64 {
        (iops * self.mb_per_iops).min(self.max_mb)
    }

    /// Refuses values that cannot be provisioned.
    fn check(
        &self,
        parameters: &Parameters,
        size_gib: Option<f64>,
        limit: &Limit,
        min_mb: f64,
    ) -> Result<(), Error> {
        let most = size_gib.map_or(self.max_iops, |gib| gib * self.iops_per_gib);
        let most = most.clamp(self.min_iops, self.max_iops);
        let (iops, bytes) = (limit.iops.as_ref(), limit.bw_bytes.as_ref());
        if let Some(iops) = iops.filter(|iops| !(self.min_iops..=most).contains(&iops.sustained)) {
            let (iops, least) = (iops.sustained, self.min_iops);
            return Err(parameters.problem(DiskProblem::Iops { iops, least, most }));
        }
        let most_mb = self.max_mb_at(iops.map_or(most, |iops| iops.sustained)).max(min_mb);
        let mb = bytes.map(|bytes| bytes.sustained / MB);
        match mb.filter(|mb| !(min_mb..=most_mb).contains(mb)) {
            Some(mb) => {
                Err(parameters.problem(DiskProblem::Mb { mb, least: min_mb, most: most_mb }))
            }
            None => Ok(()),
        }
    }
}
