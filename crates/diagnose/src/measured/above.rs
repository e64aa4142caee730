//! Time that passes above the disk: between two devices of the stack, or above all of them.

use iotax_analyze::DeviceSummary;
use iotax_record::machine::{Device, Mapping};
use serde::Serialize;

use super::rules::{Rule, timed};
use crate::measured::case::{Case, served};
use crate::measured::suspect::{Confidence, Suspect};

pub(super) const RULES: &[Rule] = &[
    Rule {
        // A loop device over a network or a program has no device below it.
        is_counted: |case| case.devices().len() > 1,
        ..timed(&["loop-double-caching"], time_in_loop_device)
    },
    timed(&["encryption-in-path", "encrypted-twice"], encrypting_mounts),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AboveEvidence {
    // Time of an I/O at a device and at the lowest below it, and the share of its time in between.
    Between { upper: String, above_ms: f64, lower: String, below_ms: f64, share: f64 },
    EncryptingMounts(Vec<MountOf>),
    AtDisk { share: f64, disks: Vec<String> },
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MountOf {
    pub file_system: String,
    pub mount_point: String,
}

/// Less of an I/O's time is no cause.
const SHARE: f64 = 0.25;

/// The way of I/Os from one device of the stack to the next.
pub(super) struct Passage<'a> {
    pub(super) upper: &'a Device,
    /// Name of the device below it.
    pub(super) lower: &'a str,
    /// Mean time of a request at each.
    pub(super) above_ms: f64,
    pub(super) below_ms: f64,
    /// Mean size of a request at the upper one.
    pub(super) request_bytes: f64,
}

impl Passage<'_> {
    pub(super) fn evidence(&self, lowest: &Self, share: f64) -> AboveEvidence {
        AboveEvidence::Between {
            upper: self.upper.name.clone(),
            above_ms: self.above_ms,
            lower: lowest.lower.to_owned(),
            below_ms: lowest.below_ms,
            share,
        }
    }

    /// Time that passed in between.
    pub(super) fn inside_ms(&self) -> f64 {
        self.above_ms - self.below_ms
    }
}

/// All of them, the uppermost first.
pub(super) fn passages<'a>(case: &Case<'a>) -> Vec<Passage<'a>> {
    let seen = case.devices_seen();
    let passage = |pair: &'a [DeviceSummary]| {
        let [upper, lower] = pair else { return None };
        let (above_ms, rate) = served(&upper.figures);
        let (below_ms, _) = served(&lower.figures);
        let device = *seen.iter().find(|device| device.name == upper.name)?;
        let moved = upper.figures.read.bytes_per_s() + upper.figures.write.bytes_per_s();
        let request_bytes = moved / rate;
        let lower = lower.name.as_str();
        (rate > 0.0).then_some(Passage { upper: device, lower, above_ms, below_ms, request_bytes })
    };
    case.devices().windows(2).filter_map(passage).collect()
}

/// A loop device that goes through the page cache keeps I/Os for much longer than what it lies on.
fn time_in_loop_device(case: &Case<'_>) -> Option<Suspect> {
    let is_buffered = |passage: &Passage<'_>| {
        passage.upper.loop_file.as_ref().is_some_and(|file| file.is_direct == Some(false))
    };
    let passage = passages(case).into_iter().find(is_buffered)?;
    let share = passage.inside_ms() / case.latency_ms().max(passage.above_ms);
    (share > SHARE).then_some(())?;
    let evidence = passage.evidence(&passage, share);
    Some(Suspect::new("loop-double-caching", Confidence::Sure, evidence).explaining(share))
}

/// File systems that encrypt, in a program of their own or in the kernel.
const ENCRYPTING: [&str; 4] = ["fuse.gocryptfs", "fuse.encfs", "fuse.cryfs", "ecryptfs"];

/// File systems under the path that encrypt what passes them.
fn encrypting_mounts(case: &Case<'_>) -> Option<Suspect> {
    let mounts = case.mounts_seen();
    let encrypt: Vec<_> = mounts
        .iter()
        .filter(|mount| ENCRYPTING.contains(&mount.file_system.as_str()))
        .map(|mount| MountOf {
            file_system: mount.file_system.clone(),
            mount_point: mount.mount_point.clone(),
        })
        .collect();
    let mapped = case
        .devices_seen()
        .iter()
        .filter(|d| d.mapping.as_ref().is_some_and(Mapping::is_crypt))
        .count();
    let to_blame = match encrypt.len() + mapped {
        _ if encrypt.is_empty() => return None,
        1 => "encryption-in-path",
        _ => "encrypted-twice",
    };
    // What the disk took of the time is not theirs.
    let at_disk = case.share_at_disk().unwrap_or(0.0);
    let share = 1.0 - at_disk;
    let evidence = AboveEvidence::EncryptingMounts(encrypt);
    let disk =
        case.bottom().map(|disk| AboveEvidence::AtDisk { share: at_disk, disks: disk.disks });
    // Of buffered I/O the page cache may have answered most.
    let suspect = if case.is_buffered() {
        Suspect::new(to_blame, Confidence::Possible, evidence)
    } else {
        Suspect::new(to_blame, Confidence::Likely, evidence).explaining(share)
    };
    Some(suspect.and(disk))
}
