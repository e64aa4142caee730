//! Google Cloud: disks whose kind the metadata service does not name.

use iotax_catalog::{Caching, Cloud, Direction, DiskExpectation, Setup, attached_disk, expect};
use iotax_quantity::{grouped, list, mb_per_s, whole};
use iotax_record::machine::Device;

use crate::machine::finding::{Certainty, Finding, Observation};
use crate::machine::snapshot::Snapshot;

/// What it may be, the slowest first.
const KINDS: [&str; 2] = ["pd-standard", "pd-balanced"];
const GIB: u64 = 1 << 30;

/// What is documented of a disk of this kind and size in words.
fn figures(name: &str) -> Option<String> {
    let disk = attached_disk(name, Caching::None).ok()?;
    let known = expect(&Setup { disks: vec![disk], ..Setup::default() }).ok()?;
    let one: &DiskExpectation = known.disks.first()?;
    let of = |direction: Direction| {
        let side = one.effective.iter().find(|side| side.direction.counts(direction))?;
        Some((side.iops.as_ref()?.sustained, side.bw_bytes.as_ref()?.sustained))
    };
    let (read, write) = (of(Direction::Read)?, of(Direction::Write)?);
    let kind = name.split(':').next()?;
    Some(format!(
        "{kind} allows {} read and {} write IOPS and {}",
        grouped(whole(read.0)),
        grouped(whole(write.0)),
        mb_per_s(read.1)
    ))
}

/// A disk of which only its size is known.
pub(super) fn unnamed(seen: &Snapshot<'_>, disk: &Device, path: &str) -> Option<Finding> {
    if seen.provider() != Some(Cloud::Gcp) || disk.size_bytes < GIB {
        return None;
    }
    if seen.attached().iter().any(|one| one.device.name == disk.name) {
        return None;
    }
    let size = disk.size_bytes / GIB;
    let names = KINDS.map(|kind| format!("{kind}:size={size}G"));
    let told: Vec<_> = names.iter().filter_map(|name| figures(name)).collect();
    let told: Vec<_> = told.iter().map(String::as_str).collect();
    let kind = seen.kind_told(disk);
    let said = kind.map_or("names no kind of".to_owned(), |kind| format!("says only {kind} of"));
    let why = format!(
        "The metadata service {said} {}, as of pd-standard disks. At {size} GiB {}. Say which it is with \
         --fact disk={}.",
        disk.name,
        list(&told),
        names[0]
    );
    // A boot disk is pd-standard or pd-balanced unless somebody chose.
    let certainty =
        if kind == Some("PERSISTENT") { Certainty::Likely } else { Certainty::ToBeTested };
    let options =
        format!("{} --disk {}", seen.vm_options(), crate::machine::snapshot::quoted(&names[0]));
    Some(
        Finding::new("gcp-unnamed-disk", format!("{} of {path}", disk.name), certainty, why)
            .observed(Observation::metadata("disks/type", kind.unwrap_or("nothing")))
            .observed(Observation::block(disk, "size", format!("{size} GiB")))
            .limits(&options, path),
    )
}
