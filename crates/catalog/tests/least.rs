//! Whatever VM and disks: nothing is expected that a documented limit forbids.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::OnceLock;

use iotax_catalog::{
    Bound, Bucket, Caching, Cloud, Direction, Effective, Expectation, Limit, Rate, Setup,
    attached_disk, expect, vm_names, vms_like,
};
use proptest::prelude::*;

/// Sizes without variants, with their most disks: those that take any disk at all.
fn sizes() -> &'static [(String, u32)] {
    static SIZES: OnceLock<Vec<(String, u32)>> = OnceLock::new();
    SIZES.get_or_init(|| {
        let all = [Cloud::Azure, Cloud::Aws, Cloud::Gcp].into_iter().flat_map(|cloud| {
            assert!(vm_names(cloud).len() > 500);
            vms_like(cloud, "")
        });
        let plain = all.filter(|vm| vm.variant.is_none() && vm.premium_storage != Some(false));
        let sized = plain.map(|vm| (vm.name, vm.max_data_disks.unwrap_or(4).min(4)));
        sized.filter(|(_, most)| *most > 0).collect()
    })
}

const AZURE: [&str; 6] =
    ["P10", "P30:burst=on", "P40:caching=readonly", "E10", "S20:caching=readwrite", "premium-v2"];
const AWS: [&str; 5] = ["gp3", "gp2:size=100G", "gp2:size=250G", "st1:size=1T", "io2:iops=20000"];
const GCP: [&str; 4] = ["pd-ssd:size=2T", "pd-ssd", "pd-standard:size=1T", "pd-balanced:size=300G"];

/// The disks that may go with this size.
fn disks(size: &str) -> &'static [&'static str] {
    match size {
        name if name.starts_with("Standard_") => &AZURE,
        name if name.contains('.') => &AWS,
        _ => &GCP,
    }
}

fn known(limits: &[Limit], direction: Direction, of: fn(&Limit) -> &Option<Rate>) -> Vec<&Rate> {
    let counting = limits.iter().filter(|limit| limit.direction.counts(direction));
    counting.filter_map(|limit| of(limit).as_ref()).collect()
}

fn side(all: &[Effective], direction: Direction) -> &Effective {
    all.iter().find(|side| side.direction.counts(direction)).unwrap()
}

/// I/Os, and bytes: the rate of a limit, and what several leave of it.
type Quantity = (fn(&Limit) -> &Option<Rate>, fn(&Effective) -> Option<&Bound>);

const QUANTITIES: [Quantity; 2] = [
    (|limit| &limit.iops, |side| side.iops.as_ref()),
    (|limit| &limit.bw_bytes, |side| side.bw_bytes.as_ref()),
];

fn peak(bound: &Bound) -> f64 {
    bound.burst.as_ref().map_or(bound.sustained, |burst| burst.per_s)
}

fn assert_least(bound: Option<&Bound>, rates: &[&Rate]) {
    let least = rates.iter().map(|rate| rate.sustained).min_by(f64::total_cmp);
    assert_eq!(bound.map(|bound| bound.sustained), least);
    let expected = rates.iter().map(|rate| rate.peak()).min_by(f64::total_cmp);
    assert_eq!(bound.map(peak), expected);
}

/// A bucket leaves the least of what its disks add up to and of each of its limits.
fn assert_bucket(bucket: &Bucket, direction: Direction, (of, left): Quantity) {
    let Some(bound) = left(side(&bucket.effective, direction)) else { return };
    let limits = known(&bucket.limits, direction, of);
    let own = left(side(&bucket.of_disks, direction));
    let sustained = limits.iter().map(|rate| rate.sustained);
    let sustained = sustained.chain(own.map(|own| own.sustained)).fold(f64::INFINITY, f64::min);
    assert_eq!(bound.sustained, sustained, "{bucket:?}");
    let peaks = limits.iter().map(|rate| rate.peak()).chain(own.map(peak));
    assert_eq!(peak(bound), peaks.fold(f64::INFINITY, f64::min), "{bucket:?}");
}

fn assert_sound(all: &Expectation) {
    for direction in [Direction::Read, Direction::Write] {
        for (of, left) in QUANTITIES {
            for disk in &all.disks {
                let bound = left(side(&disk.effective, direction));
                assert_least(bound, &known(&disk.limits, direction, of));
            }
            for bucket in &all.buckets {
                assert_bucket(bucket, direction, (of, left));
            }
            let parts = all.buckets.iter().map(|bucket| left(side(&bucket.effective, direction)));
            let sum: Option<f64> = parts.map(|bound| bound.map(|bound| bound.sustained)).sum();
            let together = left(side(&all.together, direction));
            if let (Some(sum), Some(together)) = (sum, together) {
                assert!(together.sustained <= sum * (1.0 + 1e-12), "{all:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() })]

    #[test]
    fn the_least_of_all_limits_binds(
        size in any::<prop::sample::Index>(),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
    ) {
        let (name, most) = size.get(sizes());
        let texts = picks.iter().map(|pick| pick.get(disks(name)));
        let disk = |text: &&str| attached_disk(text, Caching::None).unwrap();
        let disks = texts.take(*most as usize).map(disk).collect();
        let setup = Setup { vm: Some(name.clone()), variant: None, disks };
        assert_sound(&expect(&setup).unwrap());
    }
}
