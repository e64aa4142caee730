//! Time that passes above the disk: between two devices of the stack, in dm-crypt or another layer,
//! or above all of them.

use iotax_analyze::DeviceSummary;
use iotax_record::machine::{Crypt, Device, Mapping};
use serde::Serialize;

use super::processor::{NoneLeft, ProcessorEvidence};
use super::{Rule, timed};
use crate::measured::case::{Case, served};
use crate::measured::suspect::{Confidence, Suspect};

pub(super) const RULES: &[Rule] = &[
    timed(&["encryption-in-path", "encrypted-twice"], time_in_encryption),
    timed(
        &["dm-crypt-workqueues", "dm-crypt-small-sectors", "encryption-in-path", "encrypted-twice"],
        time_in_dm_crypt,
    ),
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

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CryptEvidence {
    Layers { count: usize },
    // What its own encryption took at most, of CPU time; and whether it waited beside.
    Own { ns: f64, waited: bool },
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

/// So many times what its own encryption can have taken is not encryption.
const WAITED: f64 = 2.0;
/// A page is encrypted at once from this size on.
const WHOLE_PAGE_BYTES: u32 = 4096;

/// dm-crypt keeps I/Os for much longer than the device it lies on.
fn time_in_dm_crypt(case: &Case<'_>) -> Option<Suspect> {
    let is_crypt =
        |passage: &Passage<'_>| passage.upper.mapping.as_ref().is_some_and(Mapping::is_crypt);
    let passed: Vec<Passage<'_>> = passages(case).into_iter().filter(is_crypt).collect();
    let (first, last) = (passed.first()?, passed.last()?);
    let crypts: Vec<&Crypt> = passed
        .iter()
        .filter_map(|own| own.upper.mapping.as_ref())
        .flat_map(Mapping::crypts)
        .collect();
    let inside_ms: f64 = passed.iter().map(Passage::inside_ms).sum();
    let share = inside_ms / case.latency_ms().max(first.above_ms);
    (share > SHARE).then_some(())?;
    let own_ms = own_encryption_ms(case, first);
    let waits = own_ms.is_none_or(|own_ms| inside_ms > WAITED * own_ms);
    let (to_blame, confidence) = match () {
        () if passed.len() > 1 => ("encrypted-twice", Confidence::Sure),
        // Whether it waited is known where CPU time was measured.
        () if waits && crypts.iter().any(|crypt| is_queued(case, crypt)) => {
            let most = if own_ms.is_some() { Confidence::Sure } else { Confidence::Likely };
            ("dm-crypt-workqueues", most)
        }
        // That larger sectors would help was not measured.
        () if crypts.iter().any(|crypt| crypt.sector_bytes < WHOLE_PAGE_BYTES) => {
            ("dm-crypt-small-sectors", Confidence::Likely)
        }
        () => ("encryption-in-path", Confidence::Sure),
    };
    let evidence = first.evidence(last, share);
    let twice = (passed.len() > 1).then_some(CryptEvidence::Layers { count: passed.len() });
    let own = own_ms.map(|own_ms| CryptEvidence::Own { ns: own_ms * 1e6, waited: waits });
    Some(Suspect::new(to_blame, confidence, evidence).explaining(share).and(twice).and(own))
}

/// Whether this job's I/Os pass its work queues.
fn is_queued(case: &Case<'_>, crypt: &Crypt) -> bool {
    let reads = case.job.reads() && !crypt.has("no_read_workqueue");
    reads || case.job.writes() && !crypt.has("no_write_workqueue")
}

/// How long the encryption of an I/O can have taken, after all others of its job that were in
/// flight, in milliseconds: all that the CPUs did for a byte is more than encryption.
fn own_encryption_ms(case: &Case<'_>, passage: &Passage<'_>) -> Option<f64> {
    let in_flight = f64::from(case.job.in_flight().max(1));
    let per_cpu = (in_flight / f64::from(case.host().environment.cpus.max(1))).max(1.0);
    Some(case.kernel_ns_per_byte()? * passage.request_bytes * per_cpu / 1e6)
}

/// So much is.
pub(super) const MOST: f64 = 0.5;

/// Encryption between the uppermost device of a stack and the disk below it.
fn time_in_encryption(case: &Case<'_>) -> Option<Suspect> {
    let between = between(case).filter(|between| between.share > SHARE)?;
    let to_blame = match between.layers.as_slice() {
        // Whether that is encryption or dm-crypt's queues, only its own figures tell.
        [] | ["dmcrypt" | "luks"] => return None,
        [_] => "encryption-in-path",
        _ => "encrypted-twice",
    };
    let waits_for_cpu = case.has_no_cpu_left();
    let confidence = if waits_for_cpu { Confidence::Likely } else { Confidence::Sure };
    let but = waits_for_cpu.then_some(ProcessorEvidence::NoneLeft(NoneLeft::EncryptionNeedsThem));
    let share = between.share;
    Some(Suspect::new(to_blame, confidence, between).explaining(share).but(but))
}

/// What passed between two devices of a stack.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Between {
    /// Those that encrypt.
    pub layers: Vec<&'static str>,
    pub upper: String,
    pub lower: String,
    /// Shares of the time of I/Os that passed at the one and at the other.
    pub at_upper: f64,
    pub at_lower: f64,
    /// Share of it that passed neither above the one nor at the other.
    pub share: f64,
}

/// `None` where nothing encrypts, or there is one device only.
pub(super) fn between(case: &Case<'_>) -> Option<Between> {
    let layers = case.encrypting_layers();
    let [upper, .., lower] = case.devices() else { return None };
    (!layers.is_empty()).then_some(())?;
    let (at_upper, at_lower) = (case.share_at(&upper.figures)?, case.share_at(&lower.figures)?);
    Some(Between {
        layers,
        upper: upper.name.clone(),
        lower: lower.name.clone(),
        at_upper,
        at_lower,
        share: (at_upper - at_lower).max(0.0),
    })
}
