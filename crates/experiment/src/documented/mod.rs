//! What was measured beside the limits that are documented and those that this machine sets, and
//! which of them binds.

mod of_vm;

use iotax_catalog::{
    Caching, Direction, DiskExpectation, Error, Limit, Rate, Scope, Setup, Vm, attached_disk,
    expect, vm_variant,
};
use serde::{Deserialize, Serialize};

use crate::{CloudChoice, DiskRole, KnownLimit, Target};

/// A limit that is nearer to what was measured than this binds.
const BINDS: f64 = 0.05;
/// The source of limits that were not documented but read.
const READ_HERE: &str = "this machine";

/// One measured cap and the limits that hold there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Documented {
    pub target: String,
    /// `iops` or `bw_bytes`; of a network path what its cap is called.
    pub quantity: String,
    /// The measured cap, per second; of a network path what is on the wire.
    pub measured: f64,
    /// What is documented, and what this machine sets.
    pub limits: Vec<DocumentedLimit>,
    /// Which of them binds, as an index.
    pub binds: Option<usize>,
    /// The conclusion, for people.
    pub says: String,
}

/// A limit that is documented, or that this machine sets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DocumentedLimit {
    /// Which bucket: `disk`, `VM cached`, `VM uncached`, `instance`, `cgroup`.
    pub scope: String,
    /// Whose: `P10`, `Standard_DS1_v2`, `/system.slice/db.service`.
    pub of: String,
    /// Sustained rate, per second.
    pub per_s: f64,
    /// Rate of a burst, per second.
    pub burst_per_s: Option<f64>,
    /// Where it was read.
    pub source: String,
    /// Date of that state; `None` if it was read on the machine.
    pub as_of: Option<String>,
}

/// The VM and disks that were named.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Named {
    vm: Option<Vm>,
    /// The disks, of those targets that have one.
    disks: Vec<DiskExpectation>,
    /// What the VM uses the disks under the targets as; empty: all as data disks.
    roles: Vec<DiskRole>,
}

impl Documented {
    /// Whether it counts bytes, and not I/Os.
    pub fn is_bytes(&self) -> bool {
        self.quantity == "bw_bytes"
    }
}

/// What the catalogue says of so many targets.
///
/// # Errors
/// If the catalogue does not know one of them, or they cannot be together.
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
    /// The documented limits that hold for the target at this place. One that is made as a cloud's
    /// disk has that disk's.
    pub fn limits(&self, at: usize, target: &Target, of: Direction) -> Vec<Limit> {
        // Disks are named for all targets or for none.
        let mut limits: Vec<Limit> = match (target.cloud(), self.disks.get(at), &self.vm) {
            (Some(cloud), ..) => cloud.limits(),
            (_, Some(disk), _) => disk.limits.clone(),
            (_, None, Some(vm)) => of_vm::limits(vm, self.role(at)),
            (_, None, None) => Vec::new(),
        };
        limits.retain(|limit| limit.direction.counts(of));
        limits
    }

    /// The documented limits of the VM's network this way: of all flows, or of one.
    pub fn network(&self, of: Direction, is_flow: bool) -> Vec<DocumentedLimit> {
        let scope = if is_flow { Scope::NetworkFlow } else { Scope::Network };
        let limits = self.vm.iter().flat_map(|vm| &vm.network);
        let here = limits.filter(|limit| limit.scope == scope && limit.direction.counts(of));
        here.filter_map(|limit| QUANTITIES[1].documented(limit)).collect()
    }

    /// What people should know of these limits.
    pub fn note(&self, at: usize, target: &Target, name: &str) -> Option<String> {
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
        measured: f64,
        limits: Vec<DocumentedLimit>,
    ) -> Option<Self> {
        let (binds, says) = judge(measured, &limits);
        let (target, quantity) = (target.to_owned(), quantity.to_owned());
        (!limits.is_empty()).then_some(Self { target, quantity, measured, limits, binds, says })
    }
}

/// What is limited, and where a limit says how much of it.
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
            scope: limit.scope.to_string(),
            // What was chosen beside its kind is said where it was asked.
            of: limit.of.split(':').next().unwrap_or_default().to_owned(),
            per_s: rate.sustained,
            burst_per_s: rate.burst.as_ref().map(|burst| burst.per_s),
            source: limit.source.text.clone(),
            as_of: Some(limit.source.as_of.clone()),
        })
    }

    /// A limit on it that was read on the machine.
    pub fn read_here(self, limit: &KnownLimit) -> Option<DocumentedLimit> {
        Some(DocumentedLimit {
            scope: limit.scope.clone(),
            of: limit.of.clone(),
            per_s: (self.known)(limit)?,
            burst_per_s: None,
            source: READ_HERE.to_owned(),
            as_of: None,
        })
    }
}

/// Which limit binds, and what that means.
fn judge(measured: f64, limits: &[DocumentedLimit]) -> (Option<usize>, String) {
    let off = |limit: &DocumentedLimit| (measured / limit.per_s - 1.0).abs();
    let nearest = |of: &dyn Fn(&DocumentedLimit) -> Option<f64>| {
        (0..limits.len())
            .filter_map(|at| Some((at, of(&limits[at])?)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .filter(|(_, off)| *off <= BINDS)
            .map(|(at, _)| at)
    };
    let named = |at: usize| format!("{} limit of {}", limits[at].scope, limits[at].of);
    let percent = |share: f64| match share {
        share if share < 2.0 => format!("{:.0} %", share * 100.0),
        times => format!("{times:.1} times"),
    };
    if let Some(at) = nearest(&|limit| Some(off(limit))) {
        let off = limits[at].per_s / measured - 1.0;
        let says = match off.abs() {
            small if small < 0.005 => format!("the {} binds, to the point.", named(at)),
            _ => format!("the {} binds ({} off).", named(at), percent(off.abs())),
        };
        return (Some(at), says);
    }
    let burst =
        |limit: &DocumentedLimit| limit.burst_per_s.map(|burst| (measured / burst - 1.0).abs());
    if let Some(at) = nearest(&burst) {
        let says =
            format!("this is the burst rate of the {}; --burst shows what lasts.", named(at));
        return (Some(at), says);
    }
    let least = (0..limits.len()).min_by(|a, b| limits[*a].per_s.total_cmp(&limits[*b].per_s));
    let Some(least) = least else { return (None, String::new()) };
    let share = measured / limits[least].per_s;
    let says = if share < 1.0 {
        format!(
            "{} of the {}, the least that is known: something that is not known here binds \
             before it.",
            percent(share),
            named(least)
        )
    } else {
        format!(
            "{} the {}, the least that is known: a burst, a cache, or another \
             VM or disk than named.",
            percent(share),
            named(least)
        )
    };
    (None, says)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(scope: &str, per_s: f64, burst_per_s: Option<f64>) -> DocumentedLimit {
        let of = "X".to_owned();
        let (source, as_of) = ("a page".to_owned(), Some("2026-01-01".to_owned()));
        DocumentedLimit { scope: scope.to_owned(), of, per_s, burst_per_s, source, as_of }
    }

    #[test]
    fn the_limit_that_is_nearest_binds() {
        let limits = [limit("disk", 500.0, Some(3_500.0)), limit("VM cached", 4_000.0, None)];
        let said = [498.0, 515.0, 3_480.0, 4_090.0, 300.0, 9_000.0].map(|x| judge(x, &limits));
        assert_eq!(
            said.clone().map(|(binds, _)| binds),
            [Some(0), Some(0), Some(0), Some(1), None, None]
        );
        insta::assert_snapshot!(said.map(|(_, says)| says).join("\n"), @"
        the disk limit of X binds, to the point.
        the disk limit of X binds (3 % off).
        this is the burst rate of the disk limit of X; --burst shows what lasts.
        the VM cached limit of X binds (2 % off).
        60 % of the disk limit of X, the least that is known: something that is not known here binds before it.
        18.0 times the disk limit of X, the least that is known: a burst, a cache, or another VM or disk than named.
        ");
    }
}
