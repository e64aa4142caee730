//! Drives with platters.

use iotax_catalog::shingled;
use iotax_record::machine::Device;
use serde::Serialize;

use super::rules::{Finder, Rule, rule};
use crate::machine::finding::{Certainty, Component, Detail, Finding};
use crate::machine::observation::Observation;
use crate::machine::snapshot::Snapshot;

pub(super) const RULES: &[Rule] = &[
    rule(&["rotating-drive"], Finder::Disk(rotating)),
    rule(&["shingled-drive"], Finder::Disk(shingled_drive)),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DriveWhy {
    Rotating,
    Shingled { how: Shingles },
}

/// By what it is known that tracks overlap.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shingles {
    // The drive says how it is zoned.
    Zoned(String),
    Model { family: String, model: String },
}

fn about(disk: &Device, path: &str) -> Component {
    let detail = disk.model.as_ref().map(|model| Detail::Also(model.trim().to_owned()));
    Component { detail, ..Component::device(disk) }.of(path)
}

/// Drives that rotate. Hypervisors say so of anything.
fn rotating(seen: &Snapshot<'_>, disk: &Device, path: &str) -> Option<Finding> {
    let why = DriveWhy::Rotating;
    let finding = Finding::new("rotating-drive", about(disk, path), Certainty::Likely, why)
        .observed(Observation::queue(disk, "rotational", "1"))
        .run("randread-4k", path, "")
        .run("randwrite-4k", path, "--set fsync-every=1");
    (disk.queue.rotational == Some(true) && seen.is_bare_metal()).then_some(finding)
}

/// Drives whose tracks overlap.
fn shingled_drive(_: &Snapshot<'_>, disk: &Device, path: &str) -> Option<Finding> {
    let zoned = disk.queue.zoned.as_deref().filter(|zoned| zoned.starts_with("host-"));
    let known = disk.model.as_deref().and_then(shingled);
    let (certainty, how) = match (zoned, &known) {
        (Some(zoned), _) => (Certainty::Snapshot, Shingles::Zoned(zoned.to_owned())),
        (None, Some(drive)) => {
            let (family, model) = (drive.family.clone(), drive.model.clone());
            (Certainty::Likely, Shingles::Model { family, model })
        }
        (None, None) => return None,
    };
    let why = DriveWhy::Shingled { how };
    let model = disk.model.as_deref().filter(|_| known.is_some());
    Some(
        Finding::new("shingled-drive", about(disk, path), certainty, why)
            .observed_if(zoned.map(|zoned| Observation::queue(disk, "zoned", zoned)))
            .observed_if(model.map(|model| Observation::block(disk, "device/model", model.trim())))
            .run("randwrite-4k", path, "--time 30m")
            .limits("", path),
    )
}
