//! Drives with platters.

use iotax_catalog::shingled;
use iotax_record::machine::Device;
use serde::Serialize;

use super::Certainty::{self, Likely};
use super::{At, Component, Detail, Finder, Finding, Observation, Rule, rule};

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

fn about(disk: &At<'_, '_, Device>) -> Component {
    let detail = disk.model.as_ref().map(|model| Detail::Also(model.trim().to_owned()));
    Component { detail, ..Component::device(disk) }.of(disk.path)
}

/// Drives that rotate. Hypervisors say so of anything.
fn rotating(disk: &At<'_, '_, Device>) -> Option<Finding> {
    disk.finding(Likely, DriveWhy::Rotating)
        .on(about(disk))
        .observed(Observation::queue(disk, "rotational", "1"))
        .run("randread-4k", disk.path, "")
        .run("randwrite-4k", disk.path, "--set fsync-every=1")
        .when(disk.queue.rotational == Some(true) && disk.seen.is_bare_metal())
}

/// Drives whose tracks overlap.
fn shingled_drive(disk: &At<'_, '_, Device>) -> Option<Finding> {
    let zoned = disk.queue.zoned.as_deref().filter(|zoned| zoned.starts_with("host-"));
    let by_model = disk.model.as_deref().and_then(shingled);
    let (certainty, how) = match (zoned, &by_model) {
        (Some(zoned), _) => (Certainty::Snapshot, Shingles::Zoned(zoned.to_owned())),
        (None, Some(drive)) => {
            let (family, model) = (drive.family.clone(), drive.model.clone());
            (Likely, Shingles::Model { family, model })
        }
        (None, None) => return None,
    };
    let model = disk.model.as_deref().filter(|_| by_model.is_some());
    disk.finding(certainty, DriveWhy::Shingled { how })
        .on(about(disk))
        .observed_all(zoned.map(|zoned| Observation::queue(disk, "zoned", zoned)))
        .observed_all(model.map(|model| Observation::block(disk, "device/model", model.trim())))
        .run("randwrite-4k", disk.path, "--time 30m")
        .limits("", disk.path)
        .into()
}
