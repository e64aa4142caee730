//! Compares a user's own figures with the catalog.

mod read;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

pub use self::read::{Claim, Claimed, read_claims};
use crate::disk::{Caching, Disk};
use crate::error::Error;
use crate::limit::{Cloud, Limit, Rate, Scope, Source};
use crate::lookup::{attached_disk, disk, disk_names, short, vm, vms_like};
use crate::units::{MB, MIB};
use crate::vm::{Conflict, Vm};

/// Maximum number of entries that an answer names.
const NAMED: usize = 4;

/// How far a printed figure may be from the exact one: half of the last digit.
const ROUNDING_MB: f64 = 0.5;

/// The result of comparing a claim with the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// All figures match the catalog.
    Same,
    /// A figure differs from the catalog.
    Differs,
    /// No figure differs, but the catalog does not have all of them.
    Unconfirmed,
    /// The catalog does not have the name, or has no such limit for it.
    Unknown,
}

/// A claim and the result of comparing it with the catalog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checked {
    pub claim: Claim,
    /// Whether it matches.
    pub agreement: Agreement,
    /// Name of the entry that it was compared with, as the provider spells it.
    pub of: Option<String>,
    /// Bucket that it was compared with.
    pub scope: Option<Scope>,
    /// The catalog's figures.
    pub known: Option<Claimed>,
    /// Source of the catalog's figures.
    pub source: Option<Source>,
    /// Other entries that have exactly the claimed figures, the most likely first.
    pub belongs_to: Vec<String>,
    /// A known error in publications of the same figures.
    pub conflict: Option<Conflict>,
    /// Why the name is unknown, and similar names.
    pub problem: Option<String>,
}

impl Checked {
    /// Which figures differ from the catalog, in the order of [`Claimed`].
    pub fn differing(&self) -> [bool; 4] {
        let Some(known) = self.known else { return [false; 4] };
        pairs(self.claim.claimed, known).map(|(claimed, known, same)| {
            claimed.zip(known).is_some_and(|(claimed, known)| !same(claimed, known))
        })
    }
}

/// Compares each claim with the catalog.
pub fn check_claims(claims: &[Claim]) -> Vec<Checked> {
    let all = All::read();
    claims.iter().map(|claim| all.checked(claim)).collect()
}

/// The whole catalog: a table may have as many rows.
struct All {
    sizes: Vec<Vm>,
    /// Positions of a size's variants, by its short name.
    places: HashMap<String, Vec<usize>>,
    disks: Vec<Disk>,
}

/// A limit under its own name.
struct Entry {
    name: String,
    limit: Limit,
}

impl All {
    fn read() -> Self {
        let sizes: Vec<_> = Cloud::ALL.into_iter().flat_map(|cloud| vms_like(cloud, "")).collect();
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        for (place, vm) in sizes.iter().enumerate() {
            places.entry(short(&vm.name)).or_default().push(place);
        }
        let disks = Cloud::ALL.into_iter().flat_map(disk_names);
        Self { sizes, places, disks: disks.filter_map(|name| disk(&name).ok()).collect() }
    }

    /// As [`vm`].
    fn sizes(&self, name: &str) -> Result<Vec<Vm>, Error> {
        match self.places.get(&short(name)) {
            Some(places) => Ok(places.iter().map(|place| self.sizes[*place].clone()).collect()),
            None => vm(name),
        }
    }

    fn checked(&self, claim: &Claim) -> Checked {
        let (entries, conflicts, problem) = match self.known(claim) {
            Ok((entries, conflicts)) => (entries, conflicts, None),
            Err(problem) => (Vec::new(), Vec::new(), Some(problem)),
        };
        let agreement = |entry: &Entry| agreement(claim.claimed, figures(&entry.limit));
        // The variant that matches best.
        let best = entries.iter().min_by_key(|entry| match agreement(entry) {
            Agreement::Same => 0,
            Agreement::Unconfirmed => 1,
            Agreement::Differs | Agreement::Unknown => 2,
        });
        let verdict = best.map_or(Agreement::Unknown, agreement);
        let same = |conflict: &Conflict| {
            let Conflict { iops, bw_bytes, burst_iops, burst_bw_bytes, .. } = *conflict;
            let published = Claimed { iops, bw_bytes, burst_iops, burst_bw_bytes };
            self::agreement(claim.claimed, published) == Agreement::Same
        };
        let conflict = conflicts.into_iter().find(same);
        let doubted = matches!(verdict, Agreement::Differs | Agreement::Unconfirmed);
        Checked {
            belongs_to: match best {
                Some(entry) if doubted => self.owners(claim, entry, conflict.as_ref()),
                _ => Vec::new(),
            },
            claim: claim.clone(),
            agreement: verdict,
            of: best.map(|entry| entry.name.clone()),
            scope: best.map(|entry| entry.limit.scope),
            known: best.map(|entry| figures(&entry.limit)),
            source: best.map(|entry| entry.limit.source.clone()),
            conflict,
            problem,
        }
    }

    /// The documented limits that match the claim, or the reason why none do.
    fn known(&self, claim: &Claim) -> Result<(Vec<Entry>, Vec<Conflict>), String> {
        let wants_disk = claim.scope == Some(Scope::Disk);
        let sizes = if wants_disk { Ok(Vec::new()) } else { self.sizes(&claim.name) };
        let sizes = match (sizes, claim.scope) {
            (Ok(sizes), _) => sizes,
            (Err(error), None) => match attached_disk(&claim.name, Caching::None) {
                Ok(_) => Vec::new(),
                Err(_) => return Err(error.to_string()),
            },
            (Err(error), Some(_)) => return Err(error.to_string()),
        };
        if sizes.is_empty() {
            let found = disk(&claim.name).map_err(|error| error.to_string())?;
            let entry = |limit| Entry { name: found.name.clone(), limit };
            return Ok((found.limits.iter().cloned().map(entry).collect(), found.conflicts));
        }
        let cloud = sizes[0].cloud;
        let usual = if cloud == Cloud::Azure { Scope::VmUncached } else { Scope::Instance };
        let scope = claim.scope.unwrap_or(usual);
        let is_meant = |variant: &Option<String>| match &claim.variant {
            Some(wanted) => variant.as_ref().is_none_or(|known| known.eq_ignore_ascii_case(wanted)),
            None => true,
        };
        let conflicts = sizes.iter().flat_map(|vm| vm.conflicts.clone()).collect();
        let entries: Vec<_> = sizes
            .into_iter()
            .filter(|vm| is_meant(&vm.variant))
            .flat_map(|vm| {
                let limits = vm.limits.into_iter().filter(|limit| limit.scope == scope);
                let name = vm.name;
                limits.map(move |limit| Entry { name: name.clone(), limit }).collect::<Vec<_>>()
            })
            .collect();
        if entries.is_empty() {
            let name = claim.name.clone();
            return Err(Error::UnknownLimit { name, scope }.to_string());
        }
        Ok((entries, conflicts))
    }

    /// Entries with exactly the claimed figures: at least two figures, otherwise it could be
    /// chance.
    fn owners(&self, claim: &Claim, entry: &Entry, conflict: Option<&Conflict>) -> Vec<String> {
        let Claimed { iops, bw_bytes, burst_iops, burst_bw_bytes } = claim.claimed;
        if [iops, bw_bytes, burst_iops, burst_bw_bytes].iter().flatten().count() < 2 {
            return Vec::new();
        }
        let scope = entry.limit.scope;
        let has = |limit: &Limit| {
            limit.scope == scope && agreement(claim.claimed, figures(limit)) == Agreement::Same
        };
        let mut found: Vec<String> = if scope == Scope::Disk {
            let disks = self.disks.iter().filter(|disk| disk.limits.iter().any(has));
            disks.map(|disk| disk.name.clone()).collect()
        } else {
            let sizes = self.sizes.iter().filter(|vm| vm.limits.iter().any(has));
            sizes.map(|vm| vm.name.clone()).collect()
        };
        found.retain(|name| *name != entry.name);
        let wanted = short(&claim.name);
        let known = conflict.and_then(|conflict| conflict.belongs_to.as_deref());
        let distance = |name: &String| strsim::damerau_levenshtein(&wanted, &short(name));
        found.sort_by_cached_key(|name| (known != Some(name), distance(name), name.clone()));
        found.dedup();
        found.truncate(NAMED);
        found
    }
}

fn figures(limit: &Limit) -> Claimed {
    let sustained = |rate: &Option<Rate>| rate.as_ref().map(|rate| rate.sustained);
    let burst = |rate: &Option<Rate>| Some(rate.as_ref()?.burst.as_ref()?.per_s);
    Claimed {
        iops: sustained(&limit.iops),
        bw_bytes: sustained(&limit.bw_bytes),
        burst_iops: burst(&limit.iops),
        burst_bw_bytes: burst(&limit.bw_bytes),
    }
}

/// A claimed figure, the catalog's figure, and whether two of them match.
type Pair = (Option<f64>, Option<f64>, fn(f64, f64) -> bool);

fn pairs(claimed: Claimed, known: Claimed) -> [Pair; 4] {
    [
        (claimed.iops, known.iops, same_iops),
        (claimed.bw_bytes, known.bw_bytes, same_bw),
        (claimed.burst_iops, known.burst_iops, same_iops),
        (claimed.burst_bw_bytes, known.burst_bw_bytes, same_bw),
    ]
}

fn agreement(claimed: Claimed, known: Claimed) -> Agreement {
    let pairs = pairs(claimed, known);
    let said =
        || pairs.iter().filter_map(|(claimed, known, same)| Some(((*claimed)?, known, same)));
    if said().any(|(claimed, known, same)| known.is_some_and(|known| !same(claimed, known))) {
        return Agreement::Differs;
    }
    if said().any(|(_, known, _)| known.is_none()) {
        Agreement::Unconfirmed
    } else {
        Agreement::Same
    }
}

fn same_iops(claimed: f64, known: f64) -> bool {
    claimed.round() == known.round()
}

/// Providers print MB/s that are 10^6, 1,024,000 or 2^20 bytes, rounded or truncated.
fn same_bw(claimed: f64, known: f64) -> bool {
    let printed = claimed / MB;
    claimed == known
        || [MB, 1_024_000.0, MIB].into_iter().any(|unit| {
            (printed - known / unit).abs() <= ROUNDING_MB || printed == (known / unit).floor()
        })
}
