//! Persistent Disk and Hyperdisk.

use super::GcpRow;
use crate::disk::Disk;
use crate::error::{DiskProblem, Error};
use crate::limit::{Cloud, Direction, Limit, Rate, Scope};
use crate::note::{Fact, Note, Property, tabled};
use crate::text::Parameters;
use crate::units::{MIB, gib_to_bytes};

/// Zonal kinds whose performance depends on their total size on a VM.
pub(crate) const PERSISTENT_KINDS: [&str; 4] =
    ["pd-standard", "pd-balanced", "pd-ssd", "pd-extreme"];

/// Disks have at most 64 TiB; the sources of the table do not give the minimum.
const LARGEST_GIB: f64 = 65_536.0;

/// Names of the kinds.
pub(crate) fn names() -> Vec<String> {
    let mut names: Vec<String> = PERSISTENT_KINDS.map(str::to_owned).to_vec();
    let others = ["per-disk-maximum", "console-default"];
    let others = others.iter().flat_map(|scope| GcpRow::all(scope)).map(|row| row.disk_type);
    for name in others {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// A disk; `None` if there is no such kind.
pub(crate) fn disk(parameters: &mut Parameters) -> Result<Option<Disk>, Error> {
    let kind = parameters.name().to_ascii_lowercase();
    if PERSISTENT_KINDS.contains(&kind.as_str()) {
        let size_gib = parameters.size_gib(1.0, LARGEST_GIB)?;
        return Ok(Some(persistent(&kind, size_gib)));
    }
    if names().contains(&kind) {
        return hyperdisk(&kind, parameters).map(Some);
    }
    Ok(None)
}

/// A Persistent Disk of this size, or all of this kind on a VM: they share the limit of their total
/// size, and the baseline counts once.
pub(crate) fn persistent(kind: &str, size_gib: Option<f64>) -> Disk {
    let rows = GcpRow::all("per-GiB");
    let row = rows.iter().find(|row| row.disk_type == kind);
    let row = row.expect("each kind of Persistent Disk has its row per GiB");
    let by_size = |baseline: Option<f64>, per_gib: Option<f64>, scale: f64| {
        Some(Rate::steady((baseline? + per_gib? * size_gib?) * scale))
    };
    let bytes = by_size(row.baseline_mib_per_vm, row.mib_per_gib, MIB);
    let side = |direction, per_gib: Option<f64>| Limit {
        direction,
        iops: by_size(row.baseline_iops_per_vm, per_gib, 1.0),
        bw_bytes: bytes.clone(),
        notes: size_gib.is_none().then_some(Note::NeedsSize).into_iter().collect(),
        ..Limit::unknown(Scope::Disk, kind, &row.source())
    };
    let (read, write) = (
        side(Direction::Read, row.read_iops_per_gib),
        side(Direction::Write, row.write_iops_per_gib),
    );
    let limits = if read.iops == write.iops {
        vec![Limit { direction: Direction::Both, ..read }]
    } else {
        vec![read, write]
    };
    let facts = [
        row.baseline_iops_per_vm.map(Property::BaselineIops),
        row.baseline_mib_per_vm.map(Property::BaselineMib),
        row.read_iops_per_gib.map(Property::ReadIopsPerGib),
        row.write_iops_per_gib.map(Property::WriteIopsPerGib),
        row.mib_per_gib.map(Property::MibPerGib),
    ];
    Disk {
        cloud: Cloud::Gcp,
        name: kind.to_owned(),
        kind: kind.to_owned(),
        size_bytes: size_gib.map(gib_to_bytes),
        limits,
        host_cache: None,
        facts: Fact::all(facts, &row.source()),
        notes: tabled(&row.notes),
        conflicts: Vec::new(),
        source: row.source(),
    }
}

/// IOPS and throughput are provisioned; for most kinds, the sources do not give the range.
fn hyperdisk(kind: &str, parameters: &mut Parameters) -> Result<Disk, Error> {
    let size_gib = parameters.size_gib(1.0, LARGEST_GIB)?;
    let (iops, bytes) = (parameters.iops()?, parameters.bw_bytes(Cloud::Gcp)?);
    let rows = GcpRow::all("per-disk-maximum");
    let most = rows.iter().find(|row| row.disk_type == kind);
    let defaults = GcpRow::all("console-default");
    let default = defaults.iter().find(|row| row.disk_type == kind);
    let row = most.or(default).expect("names come from these rows");
    let mut limit = Limit {
        iops: iops.map(Rate::steady),
        bw_bytes: bytes.map(Rate::steady),
        ..Limit::unknown(Scope::Disk, kind, &row.source())
    };
    if iops.is_none() || bytes.is_none() {
        limit.notes.push(Note::RatesAreProvisioned);
    }
    let too_much =
        |asked: Option<f64>, most: Option<f64>| asked.zip(most).is_some_and(|(a, b)| a > b);
    let most_iops = most.and_then(|row| row.max_read_iops);
    let most_mib = most.and_then(|row| row.max_read_mib);
    if too_much(iops, most_iops) || too_much(bytes.map(|bytes| bytes / MIB), most_mib) {
        let problem = DiskProblem::AtMost { iops: most_iops, mib: most_mib };
        return Err(parameters.problem(problem));
    }
    let at_most = |row: &GcpRow| {
        let (iops, mib) = (row.max_read_iops, row.max_read_mib);
        Fact::all([iops.map(Property::MostIops), mib.map(Property::MostMib)], &row.source())
    };
    let by_default = |row: &GcpRow| {
        let (iops, mib) = (row.max_read_iops, row.max_read_mib);
        let facts = [iops.map(Property::ConsoleIops), mib.map(Property::ConsoleThroughput)];
        Fact::all(facts, &row.source())
    };
    let facts = [most.map(at_most), default.map(by_default)];
    Ok(Disk {
        cloud: Cloud::Gcp,
        name: kind.to_owned(),
        kind: kind.to_owned(),
        size_bytes: size_gib.map(gib_to_bytes),
        limits: vec![limit],
        host_cache: None,
        facts: facts.into_iter().flatten().flatten().collect(),
        notes: most.map(|row| tabled(&row.notes)).unwrap_or_default(),
        conflicts: Vec::new(),
        source: row.source(),
    })
}
