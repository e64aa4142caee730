//! Google Cloud: disks whose kind the metadata service does not name.

use iotax_catalog::{Caching, Cloud, Direction, DiskExpectation, Setup, attached_disk, expect};
use iotax_record::machine::Device;
use serde::Serialize;

use super::rules::{Finder, Rule, rule};
use crate::machine::finding::{Certainty, Component, Finding};
use crate::machine::observation::{Observation, Value};
use crate::machine::snapshot::{Snapshot, quoted};

pub(super) const RULES: &[Rule] = &[rule(&["gcp-unnamed-disk"], Finder::NetworkDisk(unnamed))];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GcpWhy {
    /// What the metadata call it, and what it could be.
    Unnamed { kind: Option<String>, size_gib: u64, could_be: Vec<CouldBe> },
}

/// A kind of disk, with what is documented at a size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CouldBe {
    pub kind: String,
    pub read_iops: f64,
    pub write_iops: f64,
    pub bytes_per_s: f64,
}

/// What it may be, the slowest first.
const KINDS: [&str; 2] = ["pd-standard", "pd-balanced"];
const GIB: u64 = 1 << 30;

/// What is documented of a disk of this kind and size.
fn documented(name: &str) -> Option<CouldBe> {
    let disk = attached_disk(name, Caching::None).ok()?;
    let known = expect(&Setup { disks: vec![disk], ..Setup::default() }).ok()?;
    let one: &DiskExpectation = known.disks.first()?;
    let of = |direction: Direction| {
        let side = one.effective.iter().find(|side| side.direction.counts(direction))?;
        Some((side.iops.as_ref()?.sustained, side.bw_bytes.as_ref()?.sustained))
    };
    let (read, write) = (of(Direction::Read)?, of(Direction::Write)?);
    let kind = name.split(':').next()?;
    let kind = kind.to_owned();
    Some(CouldBe { kind, read_iops: read.0, write_iops: write.0, bytes_per_s: read.1 })
}

/// A disk of which only its size is known.
fn unnamed(seen: &Snapshot<'_>, disk: &Device, path: &str) -> Option<Finding> {
    if seen.provider() != Some(Cloud::Gcp) || disk.size_bytes < GIB {
        return None;
    }
    if seen.attached().iter().any(|one| one.device.name == disk.name) {
        return None;
    }
    let size = disk.size_bytes / GIB;
    let names = KINDS.map(|kind| format!("{kind}:size={size}G"));
    let kind = seen.kind_told(disk);
    let why = GcpWhy::Unnamed {
        kind: kind.map(str::to_owned),
        size_gib: size,
        could_be: names.iter().filter_map(|name| documented(name)).collect(),
    };
    // A boot disk is pd-standard or pd-balanced unless somebody chose.
    let certainty =
        if kind == Some("PERSISTENT") { Certainty::Likely } else { Certainty::ToBeTested };
    let options = format!("{} --disk {}", seen.vm_options(), quoted(&names[0]));
    Some(
        Finding::new("gcp-unnamed-disk", Component::device(disk).of(path), certainty, why)
            .observed(Observation::metadata("disks/type", kind.unwrap_or("nothing")))
            .observed(Observation::block(disk, "size", Value::Bytes(disk.size_bytes)))
            .limits(&options, path),
    )
}
