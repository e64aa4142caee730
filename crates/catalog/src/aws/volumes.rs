//! EBS volumes: the limits of a volume by size and provisioning.

use serde::Deserialize;

use crate::disk::Disk;
use crate::error::{DiskProblem, Error};
use crate::limit::{Burst, Cloud, Limit, Rate, Scope, Source};
use crate::note::{Fact, Note, Property, tabled};
use crate::table::AWS_VOLUMES;
use crate::text::Parameters;
use crate::units::{KIB, MIB, TIB, gib_to_bytes};

/// gp2 volumes up to this size reach [`GP2_SMALL_MIB`].
const GP2_SMALL_GIB: f64 = 170.0;
const GP2_SMALL_MIB: f64 = 128.0;
/// gp2 volumes from this size on reach the maximum throughput without credits.
const GP2_LARGE_GIB: f64 = 334.0;
/// Up to this many IOPS, io1 and io2 reach [`IO1_LOW_MIB`]; above, 16 KiB per I/O.
const IO1_LOW_IOPS: f64 = 32_000.0;
const IO1_LOW_MIB: f64 = 500.0;
const IO1_HIGH_KIB: f64 = 16.0;

#[derive(Deserialize)]
struct EbsRow {
    volume_type: String,
    variant: Option<String>,
    size_min_gib: f64,
    size_max_gib: f64,
    min_iops: Option<f64>,
    max_iops: f64,
    included_iops: Option<f64>,
    baseline_iops_per_gib: Option<f64>,
    iops_per_gib_max: Option<f64>,
    burst_iops: Option<f64>,
    io_credits: Option<f64>,
    max_throughput_mib: f64,
    included_mib: Option<f64>,
    /// For gp3, what can be provisioned; for io2 Block Express, what it supports.
    mib_per_iops: Option<f64>,
    baseline_mib_per_tib: Option<f64>,
    max_baseline_mib: Option<f64>,
    burst_mib_per_tib: Option<f64>,
    credit_tib_per_tib: Option<f64>,
    io_unit_kib: Option<u64>,
    baseline_iops_rule: Option<String>,
    throughput_rule: Option<String>,
    performance_sla: Option<String>,
    source: String,
    as_of: String,
    notes: String,
}

/// The requested values.
#[derive(Clone, Copy)]
struct Asked {
    size_gib: Option<f64>,
    iops: Option<f64>,
    mib: Option<f64>,
}

/// Names of the types.
pub(crate) fn names() -> Vec<String> {
    let mut names = AWS_VOLUMES.names();
    names.dedup();
    names
}

/// A volume; `None` if there is no such type. If a type has several rows, the first that allows the
/// requested values.
pub(crate) fn disk(parameters: &mut Parameters) -> Result<Option<Disk>, Error> {
    let rows: Vec<EbsRow> = AWS_VOLUMES.rows(|kind| kind.eq_ignore_ascii_case(parameters.name()));
    let Some(first) = rows.first() else { return Ok(None) };
    let least = rows.iter().map(|row| row.size_min_gib).fold(first.size_min_gib, f64::min);
    let most = rows.iter().map(|row| row.size_max_gib).fold(first.size_max_gib, f64::max);
    let size_gib = parameters.size_gib(least, most)?;
    let iops = if first.is_provisioned() { parameters.iops()? } else { None };
    let bytes = if first.included_mib.is_some() { parameters.bw_bytes(Cloud::Aws)? } else { None };
    let asked = Asked { size_gib, iops, mib: bytes.map(|bytes| bytes / MIB) };
    let mut refusal = None;
    for row in &rows {
        match row.refusal(asked) {
            None => return Ok(Some(row.disk(asked))),
            Some(problem) => refusal = Some(parameters.problem(problem)),
        }
    }
    refusal.map_or(Ok(None), Err)
}

impl EbsRow {
    fn is_provisioned(&self) -> bool {
        self.iops_per_gib_max.is_some() && self.baseline_iops_per_gib.is_none()
    }

    /// Why it cannot be provisioned, if so.
    fn refusal(&self, asked: Asked) -> Option<DiskProblem> {
        let (least, most) = (self.size_min_gib, self.size_max_gib);
        if asked.size_gib.is_some_and(|gib| !(least..=most).contains(&gib)) {
            return Some(DiskProblem::Size { written: String::new(), least, most });
        }
        let (least, most) = (self.min_iops.unwrap_or(1.0), self.most_iops(asked.size_gib));
        if let Some(iops) = asked.iops.filter(|iops| !(least..=most).contains(iops)) {
            return Some(DiskProblem::Iops { iops, least, most });
        }
        let least = self.included_mib.unwrap_or(0.0);
        let iops = asked.iops.or(self.included_iops).unwrap_or(most);
        let by_iops = iops * self.mib_per_iops.unwrap_or(0.0);
        let most = by_iops.clamp(least, self.max_throughput_mib.max(least));
        let mib = asked.mib.filter(|mib| !(least..=most).contains(mib))?;
        Some(DiskProblem::Mib { mib, iops, least, most })
    }

    fn most_iops(&self, size_gib: Option<f64>) -> f64 {
        let by_size = size_gib.zip(self.iops_per_gib_max).map(|(gib, per_gib)| gib * per_gib);
        let least = self.min_iops.unwrap_or(0.0);
        by_size.map_or(self.max_iops, |iops| iops.clamp(least, self.max_iops))
    }

    fn disk(&self, asked: Asked) -> Disk {
        let mut limit = Limit {
            io_unit_bytes: self.io_unit_kib.map(|kib| kib * KIB),
            ..Limit::unknown(Scope::Disk, &self.volume_type, &self.source())
        };
        match self.volume_type.as_str() {
            "gp2" => self.gp2(asked, &mut limit),
            "gp3" => self.gp3(asked, &mut limit),
            "io1" | "io2" => self.provisioned(asked, &mut limit),
            "st1" | "sc1" => self.streaming(asked, &mut limit),
            _ => self.as_stated(&mut limit),
        }
        Disk {
            cloud: Cloud::Aws,
            name: self.volume_type.clone(),
            kind: self.volume_type.clone(),
            size_bytes: asked.size_gib.map(gib_to_bytes),
            limits: vec![limit],
            host_cache: None,
            facts: self.facts(),
            notes: tabled(&self.notes),
            conflicts: Vec::new(),
            source: self.source(),
        }
    }

    fn source(&self) -> Source {
        Source { text: self.source.clone(), as_of: self.as_of.clone() }
    }

    /// 3 IOPS per GiB, and credits to burst if that is below the burst rate. Without credits, I/Os
    /// of 256 KiB at the baseline rate stay below the maximum throughput.
    fn gp2(&self, asked: Asked, limit: &mut Limit) {
        let Some(gib) = asked.size_gib else { return needs_size(limit) };
        let least = self.min_iops.unwrap_or(0.0);
        let per_gib = self.baseline_iops_per_gib.unwrap_or(0.0);
        let iops = (per_gib * gib).clamp(least, self.max_iops);
        let burst =
            |per_s| Burst { per_s, credits: self.io_credits, opt_in: false, notes: Vec::new() };
        limit.iops = Some(Rate::with_burst(iops, self.burst_iops.map(burst)));
        let most = self.max_throughput_mib;
        limit.bw_bytes = Some(if gib <= GP2_SMALL_GIB {
            Rate::steady(GP2_SMALL_MIB * MIB)
        } else if gib >= GP2_LARGE_GIB {
            Rate::steady(most * MIB)
        } else {
            let io_kib = self.io_unit_kib.unwrap_or(0);
            let notes = vec![Note::WhileIoCredits];
            let burst = Burst { per_s: most * MIB, credits: None, opt_in: false, notes };
            limit.notes.push(Note::ThroughputWithoutCredits { io_kib });
            Rate::with_burst(iops * (io_kib * KIB) as f64, Some(burst))
        });
    }

    /// Included with the volume, or as provisioned.
    fn gp3(&self, asked: Asked, limit: &mut Limit) {
        limit.iops = asked.iops.or(self.included_iops).map(Rate::steady);
        limit.bw_bytes = asked.mib.or(self.included_mib).map(|mib| Rate::steady(mib * MIB));
    }

    fn provisioned(&self, asked: Asked, limit: &mut Limit) {
        let Some(iops) = asked.iops else {
            limit.notes.push(Note::IopsAreProvisioned);
            return;
        };
        limit.iops = Some(Rate::steady(iops));
        let unit_mib = limit.io_unit_bytes.unwrap_or(0) as f64 / MIB;
        let mib = if let Some(per_iops) = self.mib_per_iops {
            iops * per_iops
        } else if iops <= IO1_LOW_IOPS {
            (iops * unit_mib).min(IO1_LOW_MIB)
        } else {
            iops * IO1_HIGH_KIB / 1_024.0
        };
        limit.bw_bytes = Some(Rate::steady(mib.min(self.max_throughput_mib) * MIB));
    }

    /// Throughput by size, with credits for bytes; IOPS of 1 MiB each.
    fn streaming(&self, asked: Asked, limit: &mut Limit) {
        limit.iops = Some(Rate::steady(self.max_iops));
        let Some(gib) = asked.size_gib else { return needs_size(limit) };
        let tib = gib / 1_024.0;
        let by_size = |mib_per_tib: Option<f64>, most: f64| {
            mib_per_tib.map(|mib_per_tib| (mib_per_tib * tib).min(most) * MIB)
        };
        let most = self.max_throughput_mib;
        let sustained = by_size(self.baseline_mib_per_tib, self.max_baseline_mib.unwrap_or(most));
        let burst = by_size(self.burst_mib_per_tib, most).map(|per_s| Burst {
            per_s,
            credits: self.credit_tib_per_tib.map(|per_tib| per_tib * tib * TIB),
            opt_in: false,
            notes: Vec::new(),
        });
        limit.bw_bytes = sustained.map(|sustained| Rate::with_burst(sustained, burst));
    }

    fn as_stated(&self, limit: &mut Limit) {
        limit.iops = Some(Rate::steady(self.max_iops));
        limit.bw_bytes = Some(Rate::steady(self.max_throughput_mib * MIB));
        limit.notes.extend(self.baseline_iops_rule.clone().map(Note::IopsRule));
        limit.notes.extend(self.throughput_rule.clone().map(Note::ThroughputRule));
    }

    fn facts(&self) -> Vec<Fact> {
        let (least, most) = (self.size_min_gib, self.size_max_gib);
        let facts = [
            self.variant.clone().map(Property::Variant),
            Some(Property::SizesGib { least, most }),
            self.baseline_iops_rule.clone().map(Property::IopsRule),
            self.throughput_rule.clone().map(Property::ThroughputRule),
            self.performance_sla.clone().map(Property::Promised),
        ];
        Fact::all(facts, &self.source())
    }
}

fn needs_size(limit: &mut Limit) {
    limit.notes.push(Note::NeedsSize);
}
