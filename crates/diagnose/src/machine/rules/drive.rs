//! Drives with platters.

use iotax_catalog::shingled;
use iotax_record::machine::Device;

use crate::machine::finding::{Certainty, Finding, Observation};
use crate::machine::snapshot::Snapshot;

fn about(disk: &Device, path: &str) -> String {
    match &disk.model {
        Some(model) => format!("{} ({}) of {path}", disk.name, model.trim()),
        None => format!("{} of {path}", disk.name),
    }
}

/// Drives that rotate. Hypervisors say so of anything.
pub(super) fn rotating(seen: &Snapshot<'_>, disk: &Device, path: &str) -> Option<Finding> {
    let why = format!(
        "{} rotates: each random I/O is a seek, and each flush waits for the platter. Expect 75 to 150 random \
         I/Os per second.",
        disk.name
    );
    let finding = Finding::new("rotating-drive", about(disk, path), Certainty::Likely, why)
        .observed(Observation::queue(disk, "rotational", "1"))
        .run("randread-4k", path, "")
        .run("randwrite-4k", path, "--set fsync-every=1");
    (disk.queue.rotational == Some(true) && seen.is_bare_metal()).then_some(finding)
}

/// Drives whose tracks overlap.
pub(super) fn shingled_drive(_: &Snapshot<'_>, disk: &Device, path: &str) -> Option<Finding> {
    let zoned = disk.queue.zoned.as_deref().filter(|zoned| zoned.starts_with("host-"));
    let known = disk.model.as_deref().and_then(shingled);
    let (certainty, is) = match (zoned, &known) {
        (Some(zoned), _) => {
            (Certainty::Snapshot, format!("{} is {zoned}: its tracks overlap.", disk.name))
        }
        (None, Some(drive)) => (
            Certainty::Likely,
            format!(
                "{} is a {} ({}), which records in overlapping tracks.",
                disk.name, drive.family, drive.model
            ),
        ),
        (None, None) => return None,
    };
    let why = format!(
        "{is} Random writes that go on for minutes stall once its cache on the platter is full."
    );
    let model = disk.model.as_deref().filter(|_| known.is_some());
    Some(
        Finding::new("shingled-drive", about(disk, path), certainty, why)
            .observed_if(zoned.map(|zoned| Observation::queue(disk, "zoned", zoned)))
            .observed_if(model.map(|model| Observation::block(disk, "device/model", model.trim())))
            .run("randwrite-4k", path, "--time 30m")
            .limits("", path),
    )
}
