//! The VM size and disks of the targets according to the user, in the terms of the catalog of
//! limits.

use iotax_layers::Error;
use iotax_layers::units::parse_switch;
use serde::{Deserialize, Serialize};

/// What the documented limits are for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CloudChoice {
    /// Name of the VM size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vm: Option<String>,
    /// `scsi` or `nvme`, for sizes whose limits differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Host caching of disks that do not specify it: `none`, `readonly`, `readwrite`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caching: Option<String>,
    /// Kinds of disk, one for all targets or one for each: `P10`, `gp3:size=500G,iops=6000`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disks: Vec<String>,
    /// Use of the disks under the targets, in order; empty: all are data disks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<DiskRole>,
    /// Whether the VM's host also encrypts disks, if the user says so: Azure's Encryption at Host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encryption_at_host: Option<bool>,
}

/// Use of a disk in a VM, which determines the VM's limits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiskRole {
    /// Data disk, or unknown.
    #[default]
    Data,
    /// Disk of the operating system.
    Os,
    /// Disk of the operating system that is kept on the host.
    EphemeralOs,
    /// Temporary disk of the host.
    Temporary,
}

/// The facts for [`CloudChoice::tell`], with their values.
const FACTS: [(&str, &str); 4] = [
    ("caching", "none, readonly or readwrite"),
    ("disk", "a disk from the catalog, such as P30 or gp3:size=500G"),
    ("encryption-at-host", "yes or no"),
    ("vm", "a VM size from the catalog, such as Standard_E16d_v5"),
];

impl CloudChoice {
    /// Takes a fact that only the user knows: `encryption-at-host=yes`, `disk=gp3`. Several disks
    /// are one for each target. Does not check whether the catalog knows them.
    ///
    /// # Errors
    /// An unknown fact (lists the known ones), or an invalid value.
    pub fn tell(&mut self, fact: &str) -> Result<(), Error> {
        let Some((name, value)) = fact.split_once('=') else {
            let advice = "specify FACT=VALUE, as in encryption-at-host=yes";
            return Err(Error::syntax("the fact has no value", advice).at(fact, 0..fact.len()));
        };
        let at_value = |error: Error| error.at(fact, name.len() + 1..fact.len());
        let Some((name, values)) = FACTS.into_iter().find(|(known, _)| *known == name.trim())
        else {
            let known = FACTS.iter().map(|(known, _)| *known);
            return Err(Error::unknown("fact", name.trim(), known).at(fact, 0..name.len()));
        };
        let value = value.trim();
        if value.is_empty() {
            let problem = format!("`{name}` has no value");
            return Err(at_value(Error::syntax(problem, format!("specify {values}"))));
        }
        match name {
            "caching" => self.caching = Some(value.to_owned()),
            "disk" => self.disks.push(value.to_owned()),
            "vm" => self.vm = Some(value.to_owned()),
            _ => {
                let neither = |_| {
                    Error::syntax(
                        format!("`{value}` is neither yes nor no"),
                        format!("specify {values}"),
                    )
                };
                self.encryption_at_host =
                    Some(parse_switch(value).map_err(neither).map_err(at_value)?);
            }
        }
        Ok(())
    }

    /// Whether no fact was given.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The kind of disk of the target with this index.
    pub fn disk(&self, at: usize) -> Option<&str> {
        self.disks.get(if self.disks.len() == 1 { 0 } else { at }).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    #[test]
    fn facts_are_taken_by_their_names() {
        let mut choice = CloudChoice::default();
        let facts = ["encryption-at-host=yes", "disk=P10", "disk = gp3:size=1G", "caching=none"];
        for fact in facts {
            choice.tell(fact).unwrap();
        }
        assert_eq!(choice.encryption_at_host, Some(true));
        assert_eq!(choice.disks, ["P10", "gp3:size=1G"]);
        assert_eq!(choice.caching.as_deref(), Some("none"));
    }

    #[test]
    fn what_is_no_fact_is_refused_with_those_that_are() {
        let told = |fact: &str| CloudChoice::default().tell(fact).unwrap_err().to_string();
        assert_snapshot!(told("encryption=yes"), @"
        unknown fact `encryption`
          encryption=yes
          ^^^^^^^^^^ column 1
        known facts: caching, disk, encryption-at-host, vm
        ");
        assert_snapshot!(told("encryption-at-hots=yes"), @"
        unknown fact `encryption-at-hots`; did you mean `encryption-at-host`?
          encryption-at-hots=yes
          ^^^^^^^^^^^^^^^^^^ column 1
        known facts: caching, disk, encryption-at-host, vm
        ");
        assert_snapshot!(told("encryption-at-host"), @"
        the fact has no value
          encryption-at-host
          ^^^^^^^^^^^^^^^^^^ column 1
        specify FACT=VALUE, as in encryption-at-host=yes
        ");
        assert_snapshot!(told("encryption-at-host=perhaps"), @"
        `perhaps` is neither yes nor no
          encryption-at-host=perhaps
                             ^^^^^^^ column 20
        specify yes or no
        ");
        assert_snapshot!(told("disk="), @"
        `disk` has no value
          disk=
               ^ column 6
        specify a disk from the catalog, such as P30 or gp3:size=500G
        ");
    }
}
