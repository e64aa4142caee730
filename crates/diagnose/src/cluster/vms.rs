//! Documented limits of the VM sizes of nodes against those of the volumes in use there.

use iotax_catalog::{
    Bucket, Cloud, Direction, Effective, Expectation, Scope, Setup, Vm, attached_disk, expect,
};
use iotax_record::cluster::{ClaimSeen, ClusterSeen, NodeSeen};
use iotax_words::{mb_per_s, mib_per_s};

use super::disks::claim_disk;
use super::figures::rates;
use super::found::{Found, Of};
use crate::machine::{Certainty, Finding, Observation};

/// A limit that is lower by less is that of the volumes, too.
const LOWER: f64 = 0.99;

pub(super) fn find(seen: &ClusterSeen) -> Found {
    seen.nodes.iter().flat_map(|node| of_node(seen, node)).collect()
}

/// What is documented of a node's VM size for the disk under a claim, a line for each limit.
pub fn vm_limits(seen: &ClusterSeen, claim: &ClaimSeen, node: &NodeSeen) -> Vec<String> {
    let Some(vm) = node.instance_type.clone() else { return Vec::new() };
    let disk =
        claim_disk(seen, claim).and_then(|(name, caching)| attached_disk(&name, caching).ok());
    let setup = Setup { vm: Some(vm), variant: None, disks: disk.into_iter().collect() };
    let Ok(expectation) = expect(&setup) else { return Vec::new() };
    let limits = expectation.disks.iter().flat_map(|disk| &disk.limits);
    limits
        .filter(|limit| limit.scope != Scope::Disk && limit.direction != Direction::Write)
        .map(|limit| format!("{}: {}", limit.scope, rates(limit, expectation.disks[0].disk.cloud)))
        .collect()
}

fn of_node(seen: &ClusterSeen, node: &NodeSeen) -> Found {
    let Some((claims, expectation)) = expected(seen, node) else { return Vec::new() };
    let Some(vm) = &expectation.vm else { return Vec::new() };
    let finding = |bucket: &Bucket| {
        let lowered = lower(bucket, vm.cloud)?;
        let of: Vec<&ClaimSeen> =
            bucket.disks.iter().filter_map(|at| claims.get(*at).copied()).collect();
        Some((Of::Node(node.name.clone()), finding(node, vm, &of, lowered)))
    };
    expectation.buckets.iter().filter_map(finding).collect()
}

/// Claims whose disks are known and that are used on a node, and what these may do there.
fn expected<'a>(
    seen: &'a ClusterSeen,
    node: &NodeSeen,
) -> Option<(Vec<&'a ClaimSeen>, Expectation)> {
    let vm = node.instance_type.clone()?;
    let is_here = |claim: &&ClaimSeen| seen.nodes_of(claim).iter().any(|of| of.name == node.name);
    let disk = |claim: &'a ClaimSeen| {
        let (name, caching) = claim_disk(seen, claim)?;
        Some((claim, attached_disk(&name, caching).ok()?))
    };
    let known = seen.claims.iter().filter(is_here).filter_map(disk);
    let (claims, disks): (Vec<_>, Vec<_>) = known.unzip();
    if disks.is_empty() {
        return None;
    }
    let expectation = expect(&Setup { vm: Some(vm), variant: None, disks }).ok()?;
    Some((claims, expectation))
}

/// A rate of a bucket that the VM holds below that of its disks.
struct Lowered {
    what: &'static str,
    /// What the disks may do.
    own: String,
    /// What is left of it.
    left: String,
    has_burst: bool,
}

/// The first such rate.
fn lower(bucket: &Bucket, cloud: Cloud) -> Option<Lowered> {
    let own: &Effective = bucket.of_disks.first()?;
    let all: &Effective = bucket.effective.first()?;
    let bytes = |rate| match cloud {
        Cloud::Azure => mb_per_s(rate),
        Cloud::Aws | Cloud::Gcp => mib_per_s(rate),
    };
    let iops = |rate: f64| format!("{rate:.0} IOPS");
    let rates: [(_, _, _, &dyn Fn(f64) -> String); 2] =
        [("IOPS", &own.iops, &all.iops, &iops), ("bytes", &own.bw_bytes, &all.bw_bytes, &bytes)];
    rates.into_iter().find_map(|(what, own, all, said)| {
        let (own, all) = (own.as_ref()?, all.as_ref()?);
        let burst = all.burst.as_ref();
        let a_while = burst.map(|burst| format!(" ({} for a while)", said(burst.per_s)));
        let left = said(all.sustained) + &a_while.unwrap_or_default();
        let own_said = said(own.sustained);
        let is_lower = all.sustained < LOWER * own.sustained;
        is_lower.then(|| Lowered { what, own: own_said, left, has_burst: burst.is_some() })
    })
}

fn finding(node: &NodeSeen, vm: &Vm, claims: &[&ClaimSeen], lowered: Lowered) -> Finding {
    let Lowered { what, own, left, has_burst } = lowered;
    let cause = match vm.cloud {
        Cloud::Aws if has_burst => "ebs-instance-burst",
        Cloud::Aws => "ebs-instance-limit",
        Cloud::Gcp => "gcp-vm-limit",
        Cloud::Azure => "azure-vm-limit",
    };
    let names: Vec<String> = claims.iter().map(|claim| claim.full_name()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (volumes, together) = match names.len() {
        1 => ("volume is", ""),
        _ => ("volumes are", " together"),
    };
    let (size, names) = (&vm.name, iotax_words::list(&names));
    let why = format!(
        "The {volumes} not what limits here: {names} may do {own}{together}, {size} leaves {left}."
    );
    let label = "label node.kubernetes.io/instance-type";
    let mut finding = Finding::new(cause, format!("node {}", node.name), Certainty::Likely, why)
        .observed(Observation::field(format!("node {}", node.name), label, size.clone()))
        .observed(Observation::documented(format!("volumes, {what}"), own))
        .observed(Observation::documented(format!("{size}, {what}"), left));
    let class = claims.first().and_then(|claim| claim.class.as_ref());
    finding.commands.extend(
        class.map(|class| {
            format!("iotax kube limits --class {class} --claims 2 --node {}", node.name)
        }),
    );
    finding
}
