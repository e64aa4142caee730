//! Compares measured caps with documented limits and with limits of this machine, and finds the one
//! that binds.

mod of_vm;

pub use self::of_vm::RoleNote;

use iotax_catalog::{
    Caching, Direction, DiskExpectation, Error, Limit, Rate, Scope, Setup, Source, Vm,
    attached_disk, expect, vm_variant,
};
use serde::{Deserialize, Serialize};
use std::fmt;

use crate::cloud::{CloudChoice, DiskRole};
use crate::spec::Target;

/// A limit within this relative distance of the measured value binds.
const BINDS: f64 = 0.05;

/// A limit that was read on this machine, per second. `None`: no limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KnownLimit {
    /// Its kind.
    #[serde(rename = "scope")]
    pub by: LimitBy,
    /// Its name: `/system.slice/db.service`; an interface.
    pub of: String,
    /// The direction that it counts, if not both. For a network path, reads come from the peer,
    /// writes go to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// I/Os.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bw_bytes: Option<f64>,
}

/// A cap and the limits that apply there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Documented {
    /// Several, if the cap is for all of them together.
    pub targets: Vec<String>,
    /// `iops` or `bw_bytes`; for a network path, the name of its cap.
    pub quantity: String,
    /// The measured cap, per second; for a network path, the rate on the wire. `None` if there is
    /// no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<f64>,
    /// Documented limits, and limits of this machine.
    pub limits: Vec<DocumentedLimit>,
}

/// Position of a measured cap relative to the limits, by their indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// At this one.
    Binds(usize),
    /// At the burst rate of this one.
    AtBurst(usize),
    /// Below the lowest.
    Below(usize),
    /// Above the lowest.
    Above(usize),
}

/// Kind of limit. Stored as text: `VM cached`, `cgroup`, `htb class`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum LimitBy {
    /// A bucket of the catalog.
    Documented(Scope),
    /// A cgroup of this machine.
    Cgroup,
    /// A throttle layer in a stack.
    Throttle,
    /// A queueing discipline that limits the rate, by its name for `tc`.
    Shaper(String),
}

const CGROUP: &str = "cgroup";
const THROTTLE: &str = "throttle";

impl From<String> for LimitBy {
    fn from(text: String) -> Self {
        match text.as_str() {
            CGROUP => Self::Cgroup,
            THROTTLE => Self::Throttle,
            _ => match Scope::ALL.into_iter().find(|scope| scope.to_string() == text) {
                Some(scope) => Self::Documented(scope),
                None => Self::Shaper(text),
            },
        }
    }
}

impl From<LimitBy> for String {
    fn from(by: LimitBy) -> Self {
        by.to_string()
    }
}

impl fmt::Display for LimitBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Documented(scope) => scope.fmt(f),
            Self::Cgroup => f.write_str(CGROUP),
            Self::Throttle => f.write_str(THROTTLE),
            Self::Shaper(kind) => f.write_str(kind),
        }
    }
}

/// A documented limit, or one of this machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DocumentedLimit {
    /// Its kind.
    #[serde(rename = "scope")]
    pub by: LimitBy,
    /// Its name: `P10`, `Standard_DS1_v2`, `/system.slice/db.service`.
    pub of: String,
    /// Sustained rate, per second.
    pub per_s: f64,
    /// Rate of a burst, per second.
    pub burst_per_s: Option<f64>,
    /// Its source; `None`: read on this machine.
    pub source: Option<Source>,
}

/// The VM and disks given by the user.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Named {
    vm: Option<Vm>,
    /// The disks, for the targets that have one.
    disks: Vec<DiskExpectation>,
    /// Use of the disks under the targets; empty: all are data disks.
    roles: Vec<DiskRole>,
}

impl Documented {
    /// Whether it counts bytes instead of I/Os.
    pub fn is_bytes(&self) -> bool {
        self.quantity == "bw_bytes"
    }
}

/// Looks up this many targets in the catalog.
///
/// # Errors
/// If the catalog does not know one of them, or they cannot be combined.
pub fn named(choice: &CloudChoice, targets: usize) -> Result<Named, Error> {
    let caching = choice.caching.as_deref().and_then(Caching::parse).unwrap_or(Caching::None);
    let disks = (0..targets).filter_map(|target| choice.disk(target));
    let disks = disks.map(|disk| attached_disk(disk, caching)).collect::<Result<Vec<_>, _>>()?;
    let (vm, variant) = (choice.vm.clone(), choice.variant.clone());
    if disks.is_empty() {
        let vm = vm.map(|name| vm_variant(&name, variant.as_deref())).transpose()?;
        return Ok(Named { vm, disks: Vec::new(), roles: choice.roles.clone() });
    }
    let expectation = expect(&Setup { vm, variant, disks })?;
    Ok(Named { vm: expectation.vm, disks: expectation.disks, roles: Vec::new() })
}

impl Named {
    /// The documented limits for the target with this index. A simulated cloud disk has those of
    /// its disk.
    pub fn limits(&self, at: usize, target: &Target, of: Direction) -> Vec<Limit> {
        // Disks are given for all targets or for none.
        let mut limits: Vec<Limit> = match (target.cloud(), self.disks.get(at), &self.vm) {
            (Some(cloud), ..) => cloud.limits(),
            (_, Some(disk), _) => disk.limits.clone(),
            (_, None, Some(vm)) => of_vm::limits(vm, self.role(at)),
            (_, None, None) => Vec::new(),
        };
        limits.retain(|limit| limit.direction.counts(of));
        limits
    }

    /// The documented limits of the VM's network in this direction: for all flows, or for one.
    pub fn network(&self, of: Direction, is_flow: bool) -> Vec<DocumentedLimit> {
        let scope = if is_flow { Scope::NetworkFlow } else { Scope::Network };
        let limits = self.vm.iter().flat_map(|vm| &vm.network);
        let here = limits.filter(|limit| limit.scope == scope && limit.direction.counts(of));
        here.filter_map(|limit| QUANTITIES[1].documented(limit)).collect()
    }

    /// A note on these limits for users.
    pub fn note(&self, at: usize, target: &Target, name: &str) -> Option<RoleNote> {
        let is_named = !self.disks.is_empty() || target.cloud().is_some();
        let vm = self.vm.as_ref().filter(|_| !is_named)?;
        of_vm::note(vm, self.role(at), name)
    }

    fn role(&self, target: usize) -> DiskRole {
        self.roles.get(target).copied().unwrap_or_default()
    }
}

impl Documented {
    /// `None` if there are no limits.
    pub fn of(
        target: &str,
        quantity: &str,
        measured: impl Into<Option<f64>>,
        limits: Vec<DocumentedLimit>,
    ) -> Option<Self> {
        let (targets, quantity) = (vec![target.to_owned()], quantity.to_owned());
        let measured = measured.into();
        (!limits.is_empty()).then_some(Self { targets, quantity, measured, limits })
    }

    /// Whether it is for this target alone.
    pub fn is_of(&self, target: &str) -> bool {
        self.targets == [target]
    }

    /// The limit that binds, sustained or in a burst.
    pub fn binding(&self) -> Option<&DocumentedLimit> {
        match self.standing()? {
            Standing::Binds(at) | Standing::AtBurst(at) => self.limits.get(at),
            Standing::Below(_) | Standing::Above(_) => None,
        }
    }

    /// Its position; `None` if it was not measured.
    pub fn standing(&self) -> Option<Standing> {
        let measured = self.measured?;
        let nearest = |of: &dyn Fn(&DocumentedLimit) -> Option<f64>| {
            let off = |per_s: f64| (measured / per_s - 1.0).abs();
            let offs =
                (0..).zip(&self.limits).filter_map(|(at, limit)| Some((at, off(of(limit)?))));
            let nearest = offs.min_by(|a, b| a.1.total_cmp(&b.1));
            nearest.filter(|(_, off)| *off <= BINDS).map(|(at, _)| at)
        };
        if let Some(at) = nearest(&|limit| Some(limit.per_s)) {
            return Some(Standing::Binds(at));
        }
        if let Some(at) = nearest(&|limit| limit.burst_per_s) {
            return Some(Standing::AtBurst(at));
        }
        let (least, limit) =
            (0..).zip(&self.limits).min_by(|a, b| a.1.per_s.total_cmp(&b.1.per_s))?;
        Some(if measured < limit.per_s { Standing::Below(least) } else { Standing::Above(least) })
    }
}

/// What is limited, and the field of a limit with its value.
#[derive(Debug, Clone, Copy)]
pub struct Quantity {
    /// `iops` or `bw_bytes`.
    pub name: &'static str,
    documented: fn(&Limit) -> Option<&Rate>,
    known: fn(&KnownLimit) -> Option<f64>,
}

pub const QUANTITIES: [Quantity; 2] = [
    Quantity { name: "iops", documented: |limit| limit.iops.as_ref(), known: |limit| limit.iops },
    Quantity {
        name: "bw_bytes",
        documented: |limit| limit.bw_bytes.as_ref(),
        known: |limit| limit.bw_bytes,
    },
];

impl Quantity {
    pub fn documented(self, limit: &Limit) -> Option<DocumentedLimit> {
        let rate = (self.documented)(limit)?;
        Some(DocumentedLimit {
            by: LimitBy::Documented(limit.scope),
            // Facts chosen in addition to its kind are reported where they were requested.
            of: limit.of.split(':').next().unwrap_or_default().to_owned(),
            per_s: rate.sustained,
            burst_per_s: rate.burst.as_ref().map(|burst| burst.per_s),
            source: Some(limit.source.clone()),
        })
    }

    /// A limit for it that was read on this machine.
    pub fn read_here(self, limit: &KnownLimit) -> Option<DocumentedLimit> {
        Some(DocumentedLimit {
            by: limit.by.clone(),
            of: limit.of.clone(),
            per_s: (self.known)(limit)?,
            burst_per_s: None,
            source: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_that_is_nearest_binds() {
        let limit = |scope, per_s, burst_per_s| DocumentedLimit {
            by: LimitBy::Documented(scope),
            of: "X".to_owned(),
            per_s,
            burst_per_s,
            source: None,
        };
        let limits =
            [limit(Scope::Disk, 500.0, Some(3_500.0)), limit(Scope::VmCached, 4_000.0, None)];
        let standing =
            |measured| Documented::of("a", "iops", measured, limits.to_vec()).unwrap().standing();
        assert_eq!(
            [498.0, 515.0, 3_480.0, 4_090.0, 300.0, 9_000.0].map(|x| standing(x).unwrap()),
            [
                Standing::Binds(0),
                Standing::Binds(0),
                Standing::AtBurst(0),
                Standing::Binds(1),
                Standing::Below(0),
                Standing::Above(0),
            ]
        );
    }

    #[test]
    fn what_sets_a_limit_is_read_back_from_its_text() {
        for by in [
            LimitBy::Documented(Scope::VmTemporary),
            LimitBy::Cgroup,
            LimitBy::Throttle,
            LimitBy::Shaper("htb class".to_owned()),
        ] {
            assert_eq!(LimitBy::from(by.to_string()), by);
        }
    }
}
