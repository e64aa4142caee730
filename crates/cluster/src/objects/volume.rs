//! Volumes of pods, their claims, and sizes in Kubernetes' syntax.

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use serde_json::{Value, json};

use super::Run;
use crate::place::Volume;

/// Name of the volume in a pod.
pub(super) const VOLUME: &str = "volume";

impl Run {
    /// The name of the claim of a pod's volume.
    pub(crate) fn claim_of(&self, number: usize, volume: &Volume) -> Option<String> {
        match volume {
            Volume::Class(_) | Volume::Block(_) => Some(self.member(number)),
            Volume::Ephemeral(_) => Some(self.ephemeral_claim(number)),
            Volume::Claim { name, .. } => Some(name.clone()),
            Volume::EmptyDir | Volume::HostPath(_) => None,
        }
    }

    /// As Kubernetes names it: POD-VOLUME.
    fn ephemeral_claim(&self, number: usize) -> String {
        format!("{}-{VOLUME}", self.member(number))
    }

    /// The names of objects whose events may explain why a pod does not start: the pod and its
    /// claim.
    pub(crate) fn told_of(&self, number: usize) -> [String; 2] {
        [self.member(number), self.ephemeral_claim(number)]
    }

    /// The claim to create for a volume; `None` if it needs none, exists, or is created with the
    /// pod.
    pub(crate) fn claim(
        &self,
        number: usize,
        volume: &Volume,
        size_bytes: u64,
        owner: &Lease,
    ) -> Option<PersistentVolumeClaim> {
        let (class, mode) = match volume {
            Volume::Class(class) => (class, "Filesystem"),
            Volume::Block(class) => (class, "Block"),
            _ => return None,
        };
        let mut claim = json!({
            "metadata": self.metadata(&self.member(number), owner),
            "spec": claim(class, size_bytes),
        });
        claim["spec"]["volumeMode"] = json!(mode);
        Some(serde_json::from_value(claim).expect("it is a claim"))
    }

    /// A volume in the spec of its pod.
    pub(super) fn volume(&self, number: usize, volume: &Volume, size_bytes: u64) -> Value {
        let mut source = match volume {
            Volume::Class(_) | Volume::Block(_) => {
                json!({ "persistentVolumeClaim": { "claimName": self.member(number) } })
            }
            Volume::Claim { name, .. } => {
                json!({ "persistentVolumeClaim": { "claimName": name } })
            }
            Volume::HostPath(path) => json!({ "hostPath": { "path": path, "type": "Directory" } }),
            Volume::Ephemeral(class) => json!({ "ephemeral": { "volumeClaimTemplate": {
                "metadata": { "labels": self.labels() },
                "spec": claim(class, size_bytes),
            }}}),
            Volume::EmptyDir => json!({ "emptyDir": { "sizeLimit": quantity(size_bytes) } }),
        };
        source["name"] = json!(VOLUME);
        source
    }
}

/// The spec of a claim of a class.
fn claim(class: &str, size_bytes: u64) -> Value {
    json!({
        "storageClassName": class,
        "accessModes": ["ReadWriteOnce"],
        "resources": { "requests": { "storage": quantity(size_bytes) } },
    })
}

/// Units of Kubernetes, and their letters.
const UNITS: [(u64, &str); 3] = [(1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")];

/// Bytes in Kubernetes' syntax.
pub(super) fn quantity(bytes: u64) -> String {
    let unit = UNITS.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit));
    unit.map_or_else(|| bytes.to_string(), |(unit, letters)| format!("{}{letters}", bytes / unit))
}

/// Bytes from Kubernetes' syntax: `10Gi`, `1.5T`, `500M`. `None` for other texts, and for the rare
/// exponents.
pub(crate) fn bytes_of(text: &str) -> Option<u64> {
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let (letter, base) = suffix.strip_suffix('i').map_or((suffix, 1000), |letter| (letter, 1024));
    let power = ["", "k", "M", "G", "T", "P", "E"];
    let letter = if letter == "K" { "k" } else { letter };
    let power = power.iter().position(|one| *one == letter)?;
    let unit = u128::pow(base, u32::try_from(power).ok()?);
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits: u128 = format!("{whole}{part}").parse().ok()?;
    let of = 10_u128.checked_pow(u32::try_from(part.len()).ok()?)?;
    u64::try_from(digits.checked_mul(unit)? / of).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_clusters_write_them() {
        for (text, bytes) in [
            ("10Gi", Some(10 << 30)),
            ("200Mi", Some(200 << 20)),
            ("1.5Ki", Some(1536)),
            ("5G", Some(5_000_000_000)),
            ("12k", Some(12_000)),
            ("7", Some(7)),
            ("1e9", None),
            ("", None),
            ("Gi", None),
            ("10Xi", None),
        ] {
            assert_eq!(bytes_of(text), bytes, "{text}");
        }
        assert_eq!(bytes_of(&quantity(3 << 30)), Some(3 << 30));
    }
}
