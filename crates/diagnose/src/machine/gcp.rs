//! Google Cloud: disks whose kind the metadata service does not name.

use iotax_catalog::{Caching, Cloud, Direction, DiskExpectation, Setup, attached_disk, expect};
use iotax_record::machine::Device;
use serde::Serialize;

use super::{At, Certainty, Finder, Finding, Observation, Rule, Value, quoted, rule};

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
    let expected = expect(&Setup { disks: vec![disk], ..Setup::default() }).ok()?;
    let one: &DiskExpectation = expected.disks.first()?;
    let of = |direction: Direction| {
        let side = one.effective.iter().find(|side| side.direction.counts(direction))?;
        Some([side.iops.as_ref()?.sustained, side.bw_bytes.as_ref()?.sustained])
    };
    let ([read_iops, _], [write_iops, bytes_per_s]) = (of(Direction::Read)?, of(Direction::Write)?);
    let kind = name.split(':').next()?.to_owned();
    Some(CouldBe { kind, read_iops, write_iops, bytes_per_s })
}

/// A disk of which only its size is known.
fn unnamed(disk: &At<'_, '_, Device>) -> Option<Finding> {
    let seen = disk.seen;
    let size_gib = disk.size_bytes / GIB;
    let is_known = || seen.attached().iter().any(|one| one.device.name == disk.name);
    if seen.provider() != Some(Cloud::Gcp) || size_gib == 0 || is_known() {
        return None;
    }
    let names = KINDS.map(|kind| format!("{kind}:size={size_gib}G"));
    let kind = seen.kind_told(disk);
    let why = GcpWhy::Unnamed {
        kind: kind.map(str::to_owned),
        size_gib,
        could_be: names.iter().filter_map(|name| documented(name)).collect(),
    };
    // A boot disk is pd-standard or pd-balanced unless somebody chose.
    let is_default = kind == Some("PERSISTENT");
    disk.finding(if is_default { Certainty::Likely } else { Certainty::ToBeTested }, why)
        .observed(Observation::metadata("disks/type", kind.unwrap_or("nothing")))
        .observed(Observation::block(disk, "size", Value::WholeGib(size_gib)))
        .limits(&(seen.vm_options() + &format!(" --disk {}", quoted(&names[0]))), disk.path)
        .into()
}
