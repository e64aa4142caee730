//! What EBS volumes' controllers have counted.

use iotax_record::machine::Device;
use serde::Serialize;

use super::rules::{Finder, Rule, rule};
use crate::machine::finding::{Certainty, Component, Finding};
use crate::machine::observation::{Observation, Source};
use crate::machine::snapshot::Snapshot;

use super::limits::observed;

pub(super) const RULES: &[Rule] =
    &[rule(&["ebs-volume-limit", "ebs-instance-limit"], Finder::All(counters))];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EbsWhy {
    /// For how long more was asked for than is allowed.
    Exceeded { by: EbsLimit, iops_s: f64, throughput_s: f64, up_s: Option<u64> },
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EbsLimit {
    Volume,
    Instance,
}

/// Share of the time since boot in which a limit was exceeded that is no more than a start or two.
const RARE: f64 = 0.001;

/// A limit that was exceeded: of what, its cause, and the counters of IOPS and throughput.
type Exceeded = (EbsLimit, &'static str, [(&'static str, u64); 2]);

/// Limits that were exceeded since the volume was attached.
fn counters(seen: &Snapshot<'_>) -> Vec<Finding> {
    let disks = seen.bottom().collect::<Vec<_>>().into_iter();
    let all = disks.flat_map(|(disk, path)| exceeded(disk).map(move |one| (disk, path, one)));
    all.map(|(disk, path, exceeded)| of(seen, disk, path, exceeded)).collect()
}

fn exceeded(device: &Device) -> impl Iterator<Item = Exceeded> + use<> {
    let of_limits = device.ebs.as_ref().map(|ebs| {
        let volume = [
            ("volume_iops_exceeded_us", ebs.volume_iops_exceeded_us),
            ("volume_tp_exceeded_us", ebs.volume_throughput_exceeded_us),
        ];
        let instance = [
            ("ec2_iops_exceeded_us", ebs.instance_iops_exceeded_us),
            ("ec2_tp_exceeded_us", ebs.instance_throughput_exceeded_us),
        ];
        [
            (EbsLimit::Volume, "ebs-volume-limit", volume),
            (EbsLimit::Instance, "ebs-instance-limit", instance),
        ]
    });
    let is_exceeded = |(_, _, counters): &Exceeded| counters.iter().any(|(_, us)| *us > 0);
    of_limits.into_iter().flatten().filter(is_exceeded)
}

fn of(seen: &Snapshot<'_>, device: &Device, path: &str, exceeded: Exceeded) -> Finding {
    let (by, cause, [iops, throughput]) = exceeded;
    let up_s = seen.machine.counting.up_s;
    // Counters keep what was long ago.
    let exceeded_s = iops.1.max(throughput.1) as f64 / 1e6;
    let is_rare = up_s.is_some_and(|up| exceeded_s < RARE * up as f64);
    let certainty = if is_rare { Certainty::ToBeTested } else { Certainty::Snapshot };
    let why = EbsWhy::Exceeded {
        by,
        iops_s: iops.1 as f64 / 1e6,
        throughput_s: throughput.1 as f64 / 1e6,
        up_s,
    };
    let known = seen.documented().find(|(one, _)| one.device.name == device.name);
    let options = known.map_or_else(|| seen.vm_options(), |(one, _)| seen.options(one));
    let counter =
        |(name, us): (&str, u64)| Observation::field(Source::NvmeLogPage, name, us.to_string());
    let mut finding = Finding::new(cause, Component::device(device).of(path), certainty, why)
        .observed(counter(iops))
        .observed(counter(throughput));
    let limits = known.map_or(&[][..], |(_, documented)| &documented.limits);
    finding.seen.extend(observed(limits));
    finding.limits(&options, path)
}
