//! Documented limits of the VM sizes of nodes against those of the volumes in use there.

use iotax_catalog::{
    Bucket, Cloud, Direction, DiskExpectation, Effective, Expectation, Limit, Scope, Setup, Vm,
    attached_disk, expect,
};
use iotax_record::cluster::{ClaimSeen, ClusterSeen, NodeSeen};

use super::disks::claim_disk;
use super::why::{ClusterWhy, Lowered};
use crate::machine::limits::limit_cause;
use crate::machine::{
    Certainty, Component, ComponentKind, Counted, Field, Finding, LoweredRate, Observation, Value,
};

/// A limit that is lower by less is that of the volumes, too.
const LOWER: f64 = 0.99;

pub(super) fn limits_of_vms(seen: &ClusterSeen) -> Vec<Finding> {
    seen.nodes.iter().flat_map(|node| of_node(seen, node)).collect()
}

/// What is documented of a node's VM size for the disk under a claim, beside the disk's own limits,
/// and whose cloud that is.
pub fn vm_limits(
    seen: &ClusterSeen,
    claim: &ClaimSeen,
    node: &NodeSeen,
) -> Option<(Cloud, Vec<Limit>)> {
    let vm = node.instance_type.clone()?;
    let (name, caching) = claim_disk(seen, claim)?;
    let disk = attached_disk(&name, caching).ok()?;
    let mut disks = expect(&Setup { vm: Some(vm), variant: None, disks: vec![disk] }).ok()?.disks;
    let DiskExpectation { disk, mut limits, .. } = disks.pop()?;
    limits.retain(|limit| limit.scope != Scope::Disk && limit.direction != Direction::Write);
    Some((disk.cloud, limits))
}

fn of_node(seen: &ClusterSeen, node: &NodeSeen) -> Vec<Finding> {
    let Some((claims, expectation)) = expected(seen, node) else { return Vec::new() };
    let Some(vm) = &expectation.vm else { return Vec::new() };
    let finding = |bucket: &Bucket| {
        let of = bucket.disks.iter().filter_map(|at| claims.get(*at).copied());
        finding(node, vm, &of.collect::<Vec<_>>(), lowered(bucket, vm.cloud))
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

/// Rates of a bucket that the VM holds below those of its disks: of I/Os and of bytes, of reads and
/// of writes.
fn lowered(bucket: &Bucket, cloud: Cloud) -> Vec<Lowered> {
    let is_decimal = cloud == Cloud::Azure;
    let mut found = Vec::new();
    for all in &bucket.effective {
        let is_side = |own: &&Effective| own.direction.counts(all.direction);
        let Some(own) = bucket.of_disks.iter().find(is_side) else { continue };
        found.extend(Counted::ALL.into_iter().filter_map(|counted| {
            let (own, left) = (counted.left(own)?, counted.left(all)?);
            (left.sustained < LOWER * own.sustained).then(|| Lowered {
                counted,
                direction: all.direction,
                own: LoweredRate { burst: None, ..LoweredRate::of(own, is_decimal) },
                left: LoweredRate::of(left, is_decimal),
            })
        }));
    }
    found
}

fn finding(
    node: &NodeSeen,
    vm: &Vm,
    claims: &[&ClaimSeen],
    lowered: Vec<Lowered>,
) -> Option<Finding> {
    let cause = match vm.cloud {
        Cloud::Aws if lowered.iter().any(|one| one.left.burst.is_some()) => "ebs-instance-burst",
        cloud => limit_cause(cloud, Scope::Instance),
    };
    let size = &vm.name;
    let seen = lowered.iter().flat_map(|Lowered { counted, direction, own, left }| {
        let (counted, direction) = (*counted, *direction);
        let one = |of: Option<String>, rate: &LoweredRate| {
            let value = Value::Lowered { counted, direction, rate: rate.clone() };
            Observation::documented(Field::Together { of, counted, direction }, value)
        };
        [one(None, own), one(Some(size.clone()), left)]
    });
    let seen: Vec<_> = seen.collect();
    let is_lowered = !lowered.is_empty();
    let claimed = claims.iter().map(|claim| claim.full_name()).collect();
    let why = ClusterWhy::VmBelowVolumes { vm: size.clone(), claims: claimed, lowered };
    let about = Component::new(ComponentKind::Node, node.name.as_str());
    let mut finding = Finding::new(cause, about, Certainty::Likely, why)
        .observed(Observation::object("node", &node.name, Field::InstanceType, size.as_str()))
        .observed_all(seen);
    let class = claims.first().and_then(|claim| claim.class.as_ref());
    let command =
        |class| format!("iotax kube limits --class {class} --claims 2 --node {}", node.name);
    finding.commands.extend(class.map(command));
    finding.when(is_lowered)
}
