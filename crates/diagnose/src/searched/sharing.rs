//! One limit for several targets.

use iotax_caps::{CapKind, Caps, Shared, Sharing, TargetCaps};

use crate::measured::suspect::SearchEvidence;
use crate::measured::suspect::{Confidence, Suspect};

/// What the others have with which a target shares.
pub(super) fn shared(target: &TargetCaps, caps: &Caps) -> Vec<Suspect> {
    let own = caps.sharing.iter().filter(|pair| pair.a == target.name || pair.b == target.name);
    own.filter_map(|pair| of_pair(target, pair, caps)).collect()
}

fn of_pair(target: &TargetCaps, pair: &Sharing, caps: &Caps) -> Option<Suspect> {
    let other = if pair.a == target.name { &pair.b } else { &pair.a };
    let other = caps.targets.iter().find(|target| target.name == *other)?;
    let confidence = match pair.verdict {
        Shared::Shared => Confidence::Sure,
        Shared::Partial => Confidence::Likely,
        Shared::Separate | Shared::Undecided => return None,
    };
    // Of a path beside storage it is the network that both need.
    let is_storage_beside_path = target.path.is_empty() != other.path.is_empty();
    let to_blame = if is_storage_beside_path { "storage-shares-network" } else { "shared-limit" };
    let evidence = SearchEvidence::Together {
        a: pair.a.clone(),
        b: pair.b.clone(),
        share: pair.together / (pair.a_alone + pair.b_alone),
        overlap: [pair.phi, pair.lo, pair.hi],
    };
    let with = SearchEvidence::TakesFromSame { other: other.name.clone() };
    let computed = computed(target, pair).or_else(|| computed(other, pair));
    let confidence = if computed.is_some() { Confidence::Possible } else { confidence };
    Some(Suspect::new(to_blame, confidence, evidence).and([with]).but(computed))
}

/// Why it may be nothing but this machine's CPUs that two targets have in common.
fn computed(target: &TargetCaps, pair: &Sharing) -> Option<SearchEvidence> {
    let of_path = target.path.iter().find(|path| path.name() == pair.quantity);
    let of_storage = if pair.quantity == "iops" { &target.iops } else { &target.bw_bytes };
    let cap = of_path.map(|path| &path.cap).or(of_storage.as_ref())?;
    let (target, why) = (target.name.clone(), cap.reason.clone());
    (cap.kind == CapKind::ThisMachine).then_some(SearchEvidence::Computed { target, why })
}
