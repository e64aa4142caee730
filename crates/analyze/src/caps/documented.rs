//! What was measured beside what is documented, and which documented limit binds.

use iotax_catalog::{
    Caching, Direction, Error, Expectation, Limit, Rate, Scope, Setup, attached_disk, expect,
};
use iotax_spec::Limits;
use serde::{Deserialize, Serialize};

use super::found::{CapKind, Caps, TargetCaps};

/// A limit that is nearer to what was measured than this binds.
const BINDS: f64 = 0.05;
/// So near to a documented limit, what could be anything is a throttle.
const IS_IT: f64 = 0.02;

/// One measured cap and the documented limits that hold there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Documented {
    /// Name of the target.
    pub target: String,
    /// `iops` or `bw_bytes`.
    pub quantity: String,
    /// The measured cap, per second.
    pub measured: f64,
    /// What is documented.
    pub limits: Vec<DocumentedLimit>,
    /// Which of them binds, as an index.
    pub binds: Option<usize>,
    /// The conclusion, for people.
    pub says: String,
}

/// A documented limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DocumentedLimit {
    /// Which bucket: `disk`, `VM cached`, `VM uncached`, `instance`.
    pub scope: String,
    /// Whose: `P10`, `Standard_DS1_v2`.
    pub of: String,
    /// Sustained rate, per second.
    pub per_s: f64,
    /// Rate of a burst, per second.
    pub burst_per_s: Option<f64>,
    /// Where it was read.
    pub source: String,
    /// Date of that state.
    pub as_of: String,
}

impl Documented {
    /// Whether it counts bytes, and not I/Os.
    pub fn is_bytes(&self) -> bool {
        self.quantity == "bw_bytes"
    }
}

/// What the catalogue says of the VM and disks that were named; `None` if none were.
///
/// # Errors
/// If the catalogue does not know one of them, or they cannot be together.
pub fn setup(limits: &Limits) -> Result<Option<Expectation>, Error> {
    if limits.vm.is_none() && limits.targets.iter().all(|target| target.disk.is_none()) {
        return Ok(None);
    }
    let caching = limits.caching.as_deref().and_then(Caching::parse).unwrap_or(Caching::None);
    let disks = limits.targets.iter().filter_map(|target| target.disk.as_deref());
    let disks = disks.map(|disk| attached_disk(disk, caching)).collect::<Result<Vec<_>, _>>()?;
    let (vm, variant) = (limits.vm.clone(), limits.variant.clone());
    expect(&Setup { vm, variant, disks }).map(Some)
}

/// Fills in [`Caps::documented`], and calls a throttle what sits on a documented limit.
pub(super) fn compare(limits: &Limits, caps: &mut Caps) {
    // An unknown name is refused before anything is measured.
    let Ok(Some(expectation)) = setup(limits) else { return };
    let direction = if limits.writes { Direction::Write } else { Direction::Read };
    let mut disks = expectation.disks.iter();
    for (asked, found) in limits.targets.iter().zip(&mut caps.targets) {
        let disk = asked.disk.as_ref().and_then(|_| disks.next());
        let known: Vec<&Limit> = match (disk, &expectation.vm) {
            (Some(disk), _) => disk.limits.iter().collect(),
            (None, Some(vm)) => vm.limits.iter().filter(|limit| is_of_disks(limit)).collect(),
            (None, None) => Vec::new(),
        };
        let known: Vec<&Limit> =
            known.into_iter().filter(|limit| limit.direction.counts(direction)).collect();
        for (quantity, of) in QUANTITIES {
            caps.documented.extend(one(found, quantity, of, &known));
        }
    }
}

type RateOf = fn(&Limit) -> Option<&Rate>;

const QUANTITIES: [(&str, RateOf); 2] =
    [("iops", |limit| limit.iops.as_ref()), ("bw_bytes", |limit| limit.bw_bytes.as_ref())];

/// Not of a local or temporary disk.
fn is_of_disks(limit: &Limit) -> bool {
    matches!(limit.scope, Scope::VmCached | Scope::VmUncached | Scope::Instance)
}

fn one(found: &mut TargetCaps, quantity: &str, of: RateOf, known: &[&Limit]) -> Option<Documented> {
    let target = found.name.clone();
    let cap = match quantity {
        "iops" => found.iops.as_mut(),
        _ => found.bw_bytes.as_mut(),
    }?;
    let limits: Vec<DocumentedLimit> = known
        .iter()
        .filter_map(|limit| {
            let rate = of(limit)?;
            Some(DocumentedLimit {
                scope: limit.scope.to_string(),
                of: limit.of.clone(),
                per_s: rate.sustained,
                burst_per_s: rate.burst.as_ref().map(|burst| burst.per_s),
                source: limit.source.text.clone(),
                as_of: limit.source.as_of.clone(),
            })
        })
        .collect();
    if limits.is_empty() {
        return None;
    }
    let (binds, says) = judge(cap.cap, &limits);
    if cap.kind == CapKind::External
        && let Some(limit) = binds.map(|at| &limits[at])
        && (cap.cap / limit.per_s - 1.0).abs() <= IS_IT
    {
        cap.kind = CapKind::Throttle;
        cap.why = format!("it is the documented {} limit of {}", limit.scope, limit.of);
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
            "{} of the {}, the least that is documented: something that is not \
             documented here binds before it.",
            percent(share),
            named(least)
        )
    } else {
        format!(
            "{} the {}, the least that is documented: a burst, a cache, or another \
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
        let (source, as_of) = ("a page".to_owned(), "2026-01-01".to_owned());
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
        60 % of the disk limit of X, the least that is documented: something that is not documented here binds before it.
        18.0 times the disk limit of X, the least that is documented: a burst, a cache, or another VM or disk than named.
        ");
    }
}
