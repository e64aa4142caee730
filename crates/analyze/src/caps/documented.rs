//! What was measured beside the limits that are documented and those that this machine sets, and
//! which of them binds.

use iotax_catalog::{
    Caching, Direction, DiskExpectation, Error, Limit, Rate, Scope, Setup, Vm, attached_disk,
    expect, vm_variant,
};
use iotax_spec::{KnownLimit, Limits};
use serde::{Deserialize, Serialize};

use super::found::{CapKind, Caps, TargetCaps};

/// A limit that is nearer to what was measured than this binds.
const BINDS: f64 = 0.05;
/// So near to a limit, what could be anything is a throttle.
const IS_IT: f64 = 0.02;
/// The source of limits that were not documented but read.
const READ_HERE: &str = "this machine";

/// One measured cap and the limits that hold there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Documented {
    /// Name of the target.
    pub target: String,
    /// `iops` or `bw_bytes`.
    pub quantity: String,
    /// The measured cap, per second.
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
    /// The VM.
    pub vm: Option<Vm>,
    /// The disks, of those targets that have one.
    pub disks: Vec<DiskExpectation>,
}

impl Documented {
    /// Whether it counts bytes, and not I/Os.
    pub fn is_bytes(&self) -> bool {
        self.quantity == "bw_bytes"
    }
}

/// What the catalogue says of the VM and disks that were named.
///
/// # Errors
/// If the catalogue does not know one of them, or they cannot be together.
pub fn setup(limits: &Limits) -> Result<Named, Error> {
    let caching = limits.caching.as_deref().and_then(Caching::parse).unwrap_or(Caching::None);
    let disks = limits.targets.iter().filter_map(|target| target.disk.as_deref());
    let disks = disks.map(|disk| attached_disk(disk, caching)).collect::<Result<Vec<_>, _>>()?;
    let (vm, variant) = (limits.vm.clone(), limits.variant.clone());
    if disks.is_empty() {
        let vm = vm.map(|name| vm_variant(&name, variant.as_deref())).transpose()?;
        return Ok(Named { vm, disks: Vec::new() });
    }
    let expectation = expect(&Setup { vm, variant, disks })?;
    Ok(Named { vm: expectation.vm, disks: expectation.disks })
}

/// Fills in [`Caps::documented`], and calls a throttle what sits on one of the limits.
pub(super) fn compare(limits: &Limits, caps: &mut Caps) {
    // An unknown name is refused before anything is measured.
    let named = setup(limits).unwrap_or_default();
    let direction = if limits.writes { Direction::Write } else { Direction::Read };
    let mut disks = named.disks.iter();
    for (asked, found) in limits.targets.iter().zip(&mut caps.targets) {
        let disk = asked.disk.as_ref().and_then(|_| disks.next());
        let mut documented: Vec<Limit> = match (disk, &named.vm) {
            (Some(disk), _) => disk.limits.clone(),
            (None, Some(vm)) => vm.limits.iter().filter_map(of_any_disk).collect(),
            (None, None) => Vec::new(),
        };
        documented.retain(|limit| limit.direction.counts(direction));
        for quantity in QUANTITIES {
            let read_here = asked.known.iter().filter_map(|limit| quantity.read_here(limit));
            let of_catalogue = documented.iter().filter_map(|limit| quantity.documented(limit));
            let limits = read_here.chain(of_catalogue).collect();
            caps.documented.extend(one(found, quantity.name, limits));
        }
    }
}

/// What is limited, and where a limit says how much of it.
#[derive(Clone, Copy)]
struct Quantity {
    name: &'static str,
    documented: fn(&Limit) -> Option<&Rate>,
    known: fn(&KnownLimit) -> Option<f64>,
}

const QUANTITIES: [Quantity; 2] = [
    Quantity { name: "iops", documented: |limit| limit.iops.as_ref(), known: |limit| limit.iops },
    Quantity {
        name: "bw_bytes",
        documented: |limit| limit.bw_bytes.as_ref(),
        known: |limit| limit.bw_bytes,
    },
];

impl Quantity {
    fn documented(self, limit: &Limit) -> Option<DocumentedLimit> {
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

    fn read_here(self, limit: &KnownLimit) -> Option<DocumentedLimit> {
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

/// A limit of a VM on a disk of unknown kind: not on a local or temporary one.
fn of_any_disk(limit: &Limit) -> Option<Limit> {
    let is_of_disks = matches!(limit.scope, Scope::VmCached | Scope::VmUncached | Scope::Instance);
    let mut limit = is_of_disks.then(|| limit.clone())?;
    if !limit.disk_kinds.is_empty() {
        limit.of = format!("{} for {}", limit.of, limit.disk_kinds.join(", "));
    }
    Some(limit)
}

fn one(found: &mut TargetCaps, quantity: &str, limits: Vec<DocumentedLimit>) -> Option<Documented> {
    let target = found.name.clone();
    let cap = match quantity {
        "iops" => found.iops.as_mut(),
        _ => found.bw_bytes.as_mut(),
    }?;
    if limits.is_empty() {
        return None;
    }
    let (binds, says) = judge(cap.cap, &limits);
    if cap.kind == CapKind::External
        && let Some(limit) = binds.map(|at| &limits[at])
        && (cap.cap / limit.per_s - 1.0).abs() <= IS_IT
    {
        cap.kind = CapKind::Throttle;
        let documented = if limit.as_of.is_some() { "documented " } else { "" };
        cap.why = format!("it is the {documented}{} limit of {}", limit.scope, limit.of);
    }
    let (quantity, measured) = (quantity.to_owned(), cap.cap);
    Some(Documented { target, quantity, measured, limits, binds, says })
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
    use iotax_spec::{Arm, LimitsTarget, Target};

    use super::*;
    use crate::caps::Cap;

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

    fn limits(vm: Option<&str>, disk: Option<&str>, known: Vec<KnownLimit>) -> Limits {
        let target = LimitsTarget {
            arm: Arm::new("a", Target::Path("/a".into())),
            span_bytes: 1 << 30,
            disk: disk.map(str::to_owned),
            known,
        };
        Limits {
            targets: vec![target],
            writes: false,
            quick: true,
            burst: None,
            vm: vm.map(str::to_owned),
            variant: None,
            caching: None,
            seed: 1,
        }
    }

    fn cgroup(of: &str, iops: f64) -> KnownLimit {
        let (scope, of) = ("cgroup".to_owned(), of.to_owned());
        KnownLimit { scope, of, iops: Some(iops), bw_bytes: None }
    }

    /// What is concluded of a target that reaches `iops`, and what is said to set that.
    fn concluded(iops: f64, limits: &Limits) -> (String, CapKind, String) {
        let mut caps = Caps::of(limits);
        caps.targets[0].iops = Some(Cap {
            cap: iops,
            lo: iops,
            hi: iops,
            measurements: 3,
            block_bytes: 4096,
            queue_depth: 64,
            kind: CapKind::External,
            why: String::new(),
            burst: None,
        });
        compare(limits, &mut caps);
        let said = caps.documented.iter().map(|row| row.says.clone()).collect::<Vec<_>>();
        let cap = caps.targets[0].iops.take().unwrap();
        (said.join("\n"), cap.kind, cap.why)
    }

    #[test]
    fn a_limit_of_this_machine_binds_like_a_documented_one() {
        let known = vec![cgroup("/box", 300.0), cgroup("/", 9_000.0)];
        let (says, kind, why) = concluded(299.0, &limits(None, None, known.clone()));
        assert_eq!(says, "the cgroup limit of /box binds, to the point.");
        assert_eq!((kind, why.as_str()), (CapKind::Throttle, "it is the cgroup limit of /box"));
        let (says, kind, why) = concluded(499.0, &limits(None, Some("P10"), known));
        assert_eq!(says, "the disk limit of P10 binds, to the point.");
        let documented = "it is the documented disk limit of P10";
        assert_eq!((kind, why.as_str()), (CapKind::Throttle, documented));
        let unlimited = concluded(300.0, &limits(None, None, Vec::new()));
        assert_eq!(unlimited, (String::new(), CapKind::External, String::new()));
    }

    #[test]
    fn a_vm_without_named_disks_is_compared_by_its_own_limits() {
        let azure = concluded(3_198.0, &limits(Some("Standard_DS1_v2"), None, Vec::new()));
        assert_eq!(azure.0, "the VM uncached limit of Standard_DS1_v2 binds, to the point.");
        let google = concluded(15_000.0, &limits(Some("n2-standard-8"), None, Vec::new()));
        assert_eq!(
            google.0,
            "the instance limit of n2-standard-8 for pd-balanced binds, to the point."
        );
    }
}
