//! Documented limits of the VM sizes of nodes against those of the volumes in use there.

use iotax_catalog::{
    Bucket, Cloud, Direction, Effective, Expectation, Scope, Setup, Vm, attached_disk, expect,
};
use iotax_quantity::{list, mb_per_s, mib_per_s, span, whole};
use iotax_record::cluster::{ClaimSeen, ClusterSeen, NodeSeen};

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
        let lowered = lowered(bucket, vm.cloud);
        let of: Vec<&ClaimSeen> =
            bucket.disks.iter().filter_map(|at| claims.get(*at).copied()).collect();
        let finding = || (Of::Node(node.name.clone()), finding(node, vm, &of, &lowered));
        (!lowered.is_empty()).then(finding)
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
    /// `IOPS`, or `bytes of reads` where reads and writes have limits of their own.
    what: String,
    /// What the disks may do.
    own: String,
    left: String,
    has_burst: bool,
}

/// All such rates: of I/Os and of bytes, of reads and of writes.
fn lowered(bucket: &Bucket, cloud: Cloud) -> Vec<Lowered> {
    let bytes = |rate| match cloud {
        Cloud::Azure => mb_per_s(rate),
        Cloud::Aws | Cloud::Gcp => mib_per_s(rate),
    };
    let iops = |rate: f64| format!("{rate:.0} IOPS");
    let mut found = Vec::new();
    for all in &bucket.effective {
        let is_side = |own: &&Effective| own.direction.counts(all.direction);
        let Some(own) = bucket.of_disks.iter().find(is_side) else { continue };
        let of = match all.direction {
            Direction::Both => String::new(),
            direction => format!(" of {direction}s"),
        };
        let rates: [(_, _, _, &dyn Fn(f64) -> String); 2] = [
            ("IOPS", &own.iops, &all.iops, &iops),
            ("bytes", &own.bw_bytes, &all.bw_bytes, &bytes),
        ];
        found.extend(rates.into_iter().filter_map(|(what, own, all, said)| {
            let (own, all) = (own.as_ref()?, all.as_ref()?);
            let burst = all.burst.as_ref();
            let a_while = burst.map(|burst| {
                let lasts = burst.lasts_s.filter(|seconds| seconds.is_finite()).map(whole);
                let lasts = lasts.map_or("a while".to_owned(), span);
                format!(" ({} for {lasts})", said(burst.per_s))
            });
            let left = format!("{}{of}{}", said(all.sustained), a_while.unwrap_or_default());
            let is_lower = all.sustained < LOWER * own.sustained;
            is_lower.then(|| Lowered {
                what: format!("{what}{of}"),
                own: said(own.sustained) + &of,
                left,
                has_burst: burst.is_some(),
            })
        }));
    }
    found
}

fn finding(node: &NodeSeen, vm: &Vm, claims: &[&ClaimSeen], lowered: &[Lowered]) -> Finding {
    let cause = match vm.cloud {
        Cloud::Aws if lowered.iter().any(|one| one.has_burst) => "ebs-instance-burst",
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
    let each = |figure: fn(&Lowered) -> &str| list(&lowered.iter().map(figure).collect::<Vec<_>>());
    let (own, left) = (each(|one| &one.own), each(|one| &one.left));
    let (size, names) = (&vm.name, list(&names));
    let why = format!(
        "The {volumes} not what limits here: {names} may do {own}{together}, {size} leaves {left}."
    );
    let label = "label node.kubernetes.io/instance-type";
    let mut finding = Finding::new(cause, format!("node {}", node.name), Certainty::Likely, why)
        .observed(Observation::field(format!("node {}", node.name), label, size.clone()));
    for Lowered { what, own, left, .. } in lowered {
        finding = finding
            .observed(Observation::documented(format!("volumes, {what}"), own.as_str()))
            .observed(Observation::documented(format!("{size}, {what}"), left.as_str()));
    }
    let class = claims.first().and_then(|claim| claim.class.as_ref());
    finding.commands.extend(
        class.map(|class| {
            format!("iotax kube limits --class {class} --claims 2 --node {}", node.name)
        }),
    );
    finding
}
