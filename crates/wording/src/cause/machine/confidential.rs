use iotax_diagnose::why::confidential::ConfidentialWhy;
use iotax_diagnose::{Component, PeakLimit};
use iotax_quantity::{bytes, iops_limit, mb_per_s, percent};

use super::super::names::names;
use super::since_boot;

pub(in super::super) fn why(why: &ConfidentialWhy, about: &[Component]) -> String {
    let names = names(about);
    match why {
        ConfidentialWhy::Bounce { kind, used_bytes } => {
            let used = used_bytes.map(|used| {
                format!(" At the peak, {} of buffer space was in use.", bytes(used as f64))
            });
            format!(
                "The host cannot read the memory of this {kind} machine, so data for {names} is \
                 copied through bounce buffers.{}",
                used.unwrap_or_default()
            )
        }
        ConfidentialWhy::BouncedPackets { kind, driver } => format!(
            "The host cannot read the memory of this {kind} machine, so packets on {names} \
             ({driver}) are copied through bounce buffers."
        ),
        ConfidentialWhy::FullPool { most, since } => {
            let used = match most {
                Some((share, size)) => format!(
                    "Usage of the {} pool has peaked at {} {}",
                    bytes(*size as f64),
                    percent(*share),
                    since_boot(since)
                ),
                None => "The pool was full".to_owned(),
            };
            format!("{used}. I/Os that find no free space wait or are retried.")
        }
        ConfidentialWhy::LowerLimits { has, sibling, could } => format!(
            "The documented maximum for uncached disks is {} on {names}, but {} on {sibling}.",
            peak(*has),
            peak(*could)
        ),
        ConfidentialWhy::OsDisk => format!(
            "{names} uses this machine's CPUs to encrypt the OS disk, and the disk's data is also \
             copied through bounce buffers."
        ),
    }
}

pub(in super::super) fn peak(PeakLimit { iops, bytes_per_s }: PeakLimit) -> String {
    format!("{} and {}", iops_limit(iops), mb_per_s(bytes_per_s))
}
