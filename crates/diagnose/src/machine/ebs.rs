//! What EBS volumes' controllers have counted.

use iotax_record::machine::Device;
use serde::Serialize;

use super::limits::observed;
use super::{Certainty, Component, Finder, Finding, Observation, Rule, Snapshot, Source, rule};

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

/// How long a limit was exceeded, by counters of IOPS and of throughput.
struct Exceeded {
    by: EbsLimit,
    cause: &'static str,
    counters: [(&'static str, u64); 2],
}

/// Limits that were exceeded since the volume was attached.
fn counters(seen: &Snapshot<'_>) -> Vec<Finding> {
    let of_disk = |(disk, path)| exceeded(disk).map(move |one| finding(seen, disk, path, &one));
    seen.bottom().flat_map(of_disk).collect()
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
            Exceeded { by: EbsLimit::Volume, cause: "ebs-volume-limit", counters: volume },
            Exceeded { by: EbsLimit::Instance, cause: "ebs-instance-limit", counters: instance },
        ]
    });
    let is_exceeded = |one: &Exceeded| one.counters.iter().any(|(_, us)| *us > 0);
    of_limits.into_iter().flatten().filter(is_exceeded)
}

fn finding(seen: &Snapshot<'_>, device: &Device, path: &str, exceeded: &Exceeded) -> Finding {
    let Exceeded { by, cause, counters } = exceeded;
    let [iops_s, throughput_s] = counters.map(|(_, us)| us as f64 / 1e6);
    let up_s = seen.machine.counting.up_s;
    // Counters keep what was long ago.
    let is_rare = up_s.is_some_and(|up| iops_s.max(throughput_s) < RARE * up as f64);
    let certainty = if is_rare { Certainty::ToBeTested } else { Certainty::Snapshot };
    let documented = seen.documented().find(|(one, _)| one.device.name == device.name);
    let options = documented.map_or_else(|| seen.vm_options(), |(one, _)| seen.options(one));
    let limits = documented.map_or(&[][..], |(_, documented)| &documented.limits);
    let counted = counters.map(|(name, us)| Observation::field(Source::NvmeLogPage, name, us));
    let why = EbsWhy::Exceeded { by: *by, iops_s, throughput_s, up_s };
    Finding::new(cause, Component::device(device).of(path), certainty, why)
        .observed_all(counted)
        .observed_all(observed(limits))
        .limits(&options, path)
}
