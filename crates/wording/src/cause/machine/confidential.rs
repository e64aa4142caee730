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
                format!(" Up to {} of them were in use at a time.", bytes(used as f64))
            });
            format!(
                "The host cannot read the memory of this {kind} machine, so data of {names} are \
                 copied through bounce buffers.{}",
                used.unwrap_or_default()
            )
        }
        ConfidentialWhy::BouncedPackets { kind, driver } => format!(
            "The host cannot read the memory of this {kind} machine, so packets of {names} \
             ({driver}) are copied through bounce buffers."
        ),
        ConfidentialWhy::FullPool { most, since } => {
            let used = match most {
                Some((share, size)) => format!(
                    "At most {} of the pool of {} were in use {}",
                    percent(*share),
                    bytes(*size as f64),
                    since_boot(since)
                ),
                None => "The pool had no room".to_owned(),
            };
            format!("{used}: what finds no room waits or is tried again.")
        }
        ConfidentialWhy::LowerLimits { has, sibling, could } => format!(
            "{names} documents at most {} for uncached disks, {sibling} at most {}.",
            peak(*has),
            peak(*could)
        ),
        ConfidentialWhy::OsDisk => format!(
            "{names} encrypts the OS disk with this machine's CPUs, and what it writes is copied \
             through bounce buffers besides."
        ),
    }
}

pub(in super::super) fn peak(PeakLimit { iops, bytes_per_s }: PeakLimit) -> String {
    format!("{} and {}", iops_limit(iops), mb_per_s(bytes_per_s))
}
