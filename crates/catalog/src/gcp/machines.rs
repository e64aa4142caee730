//! Machine types, and the limits of each kind of Persistent Disk on them.

use serde::Deserialize;

use super::GcpRow;
use crate::limit::{Cloud, Direction, Limit, Rate, Scope, Source};
use crate::note::{Fact, Note, Property, tabled};
use crate::table::{GCP_MACHINES, GCP_NETWORKS};
use crate::units::{MBIT, gib_to_bytes};
use crate::vm::Vm;

#[derive(Deserialize)]
struct Machine {
    #[serde(rename = "machine_type")]
    name: String,
    family: String,
    vcpus: u32,
    memory_gb: f64,
    shared_cpu: Option<bool>,
    max_persistent_disks: Option<u32>,
    max_persistent_disks_size_gb: Option<u64>,
    source: String,
    as_of: String,
}

/// A row of `gcp_networks.csv`.
#[derive(Deserialize)]
struct Network {
    min_vcpus: u32,
    max_vcpus: u32,
    egress_mbit: f64,
    source: String,
    as_of: String,
}

/// The machine types with a name that `wanted` accepts.
pub(crate) fn vms(wanted: impl Fn(&str) -> bool) -> Vec<Vm> {
    let machines = GCP_MACHINES.rows::<Machine>(wanted);
    if machines.is_empty() {
        return Vec::new();
    }
    let (caps, egress) = (GcpRow::all("per-VM"), GcpRow::all("network-egress"));
    machines.into_iter().map(|machine| machine.into_vm(&caps, &egress)).collect()
}

impl Machine {
    fn into_vm(self, caps: &[GcpRow], egress: &[GcpRow]) -> Vm {
        let applies =
            |row: &&GcpRow| row.bracket_holds(&self) && !self.is_named_by_other(caps, row);
        let caps_here = caps.iter().filter(applies).flat_map(|row| self.cap(row));
        let egress = egress.iter().filter(|row| row.bracket_holds(&self));
        let limits: Vec<_> = caps_here.chain(egress.map(|row| self.egress(row))).collect();
        let mut notes = Vec::new();
        if limits.is_empty() {
            notes.push(Note::NoPersistentDiskLimits);
        }
        Vm {
            cloud: Cloud::Gcp,
            variant: None,
            vcpus: Some(self.vcpus),
            memory_bytes: Some(gib_to_bytes(self.memory_gb)),
            cache_bytes: None,
            max_data_disks: self.max_persistent_disks,
            premium_storage: None,
            encryption_at_host_supported: None,
            ephemeral_os_on: Vec::new(),
            local_storage: Vec::new(),
            limits,
            network: self.network(),
            facts: self.facts(),
            notes,
            conflicts: Vec::new(),
            source: self.source(),
            page: None,
            name: self.name,
        }
    }

    fn source(&self) -> Source {
        Source { text: self.source.clone(), as_of: self.as_of.clone() }
    }

    /// A row that names the machine type takes precedence over one for its number of vCPUs.
    fn is_named_by_other(&self, caps: &[GcpRow], row: &GcpRow) -> bool {
        let named = |row: &GcpRow| row.vm_bracket.as_ref() == Some(&self.name);
        !named(row) && caps.iter().any(|other| other.disk_type == row.disk_type && named(other))
    }

    fn cap(&self, row: &GcpRow) -> Vec<Limit> {
        let side = |direction, iops: Option<f64>, mib: Option<f64>| Limit {
            direction,
            disk_kinds: vec![row.disk_type.clone()],
            iops: iops.map(Rate::steady),
            bw_bytes: mib.map(|mib| Rate::steady(mib * row.throughput_bytes())),
            notes: tabled(&row.notes),
            ..Limit::unknown(Scope::Instance, &self.name, &row.source())
        };
        let (read, write) = (
            side(Direction::Read, row.max_read_iops, row.max_read_mib),
            side(Direction::Write, row.max_write_iops, row.max_write_mib),
        );
        if (&read.iops, &read.bw_bytes) == (&write.iops, &write.bw_bytes) {
            return vec![Limit { direction: Direction::Both, ..read }];
        }
        vec![read, write]
    }

    /// Writes to Persistent Disk share the outgoing bandwidth of the network.
    fn egress(&self, row: &GcpRow) -> Limit {
        let bytes = row.max_write_mib.map(|amount| amount * row.throughput_bytes());
        Limit {
            direction: Direction::Write,
            disk_kinds: super::disks::PERSISTENT_KINDS.map(str::to_owned).to_vec(),
            bw_bytes: bytes.map(Rate::steady),
            notes: [Note::NetworkEgress].into_iter().chain(tabled(&row.notes)).collect(),
            ..Limit::unknown(Scope::Instance, &self.name, &row.source())
        }
    }

    /// Outgoing traffic; the sources give no limit for incoming traffic.
    fn network(&self) -> Vec<Limit> {
        let rows = GCP_NETWORKS.rows::<Network>(|family| family == self.family);
        let here = rows.into_iter().filter(|row| {
            (row.min_vcpus..=row.max_vcpus).contains(&self.vcpus) && self.shared_cpu != Some(true)
        });
        let limit = |row: Network| {
            let source = Source { text: row.source, as_of: row.as_of };
            let rate = Rate::steady(row.egress_mbit * MBIT);
            Limit::of_network(Scope::Network, Direction::Write, &self.name, rate, &source)
        };
        here.map(limit).collect()
    }

    fn facts(&self) -> Vec<Fact> {
        let facts = [
            Some(Property::Family(self.family.clone())),
            (self.shared_cpu == Some(true)).then_some(Property::SharedCpu),
            self.max_persistent_disks_size_gb.map(Property::PersistentDiskGb),
        ];
        Fact::all(facts, &self.source())
    }
}

impl GcpRow {
    /// Whether the row is for this machine type: by its name, or by family and number of vCPUs.
    fn bracket_holds(&self, machine: &Machine) -> bool {
        let Some(bracket) = self.vm_bracket.as_deref() else { return false };
        if self.vm_bracket_kind.as_deref() == Some("machine-type") {
            return bracket == machine.name;
        }
        let family = self.family.as_deref().unwrap_or_default();
        family.eq_ignore_ascii_case(&machine.family) && has_vcpus(bracket, machine.vcpus)
    }
}

/// `8`, `2-7`, `64+`.
fn has_vcpus(bracket: &str, vcpus: u32) -> bool {
    let (least, most) = match (bracket.strip_suffix('+'), bracket.split_once('-')) {
        (Some(least), _) => (least.parse(), Ok(u32::MAX)),
        (None, Some((least, most))) => (least.parse(), most.parse()),
        (None, None) => (bracket.parse(), bracket.parse()),
    };
    least.is_ok_and(|least: u32| least <= vcpus) && most.is_ok_and(|most: u32| vcpus <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_of_vcpus_are_read_as_they_are_printed() {
        for (bracket, inside, outside) in [
            ("8", vec![8], vec![7, 9, 80]),
            ("2-7", vec![2, 5, 7], vec![1, 8]),
            ("16+", vec![16, 96], vec![15]),
            ("e2-medium", vec![], vec![1, 2]),
        ] {
            assert!(inside.iter().all(|n| has_vcpus(bracket, *n)), "{bracket}");
            assert!(!outside.iter().any(|n| has_vcpus(bracket, *n)), "{bracket}");
        }
    }
}
