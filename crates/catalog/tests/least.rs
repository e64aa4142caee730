//! Whatever VM and disks: nothing is expected that a documented limit forbids.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::OnceLock;

use iotax_catalog::{
    Bound, Caching, Cloud, Direction, Effective, Expectation, Limit, Rate, Setup, attached_disk,
    expect, vm_names, vms_like,
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

fn assert_least(bound: Option<&Bound>, rates: &[&Rate]) {
    let least = rates.iter().map(|rate| rate.sustained).min_by(f64::total_cmp);
    assert_eq!(bound.map(|bound| bound.sustained), least);
    let peak = rates.iter().map(|rate| rate.peak()).min_by(f64::total_cmp);
    let expected = bound.map(|bound| bound.burst.as_ref().map_or(bound.sustained, |b| b.per_s));
    assert_eq!(expected, peak);
}

fn assert_sound(all: &Expectation) {
    for direction in [Direction::Read, Direction::Write] {
        for disk in &all.disks {
            let effective = side(&disk.effective, direction);
            let iops = known(&disk.limits, direction, |limit| &limit.iops);
            assert_least(effective.iops.as_ref(), &iops);
            let bw = known(&disk.limits, direction, |limit| &limit.bw_bytes);
            assert_least(effective.bw_bytes.as_ref(), &bw);
        }
        for bucket in &all.buckets {
            let Some(bound) = &side(&bucket.effective, direction).iops else { continue };
            for rate in known(&bucket.limits, direction, |limit| &limit.iops) {
                assert!(bound.sustained <= rate.sustained, "{bucket:?}");
            }
        }
        let parts = all.buckets.iter().map(|bucket| side(&bucket.effective, direction));
        let sum: Option<f64> = parts.map(|s| s.iops.as_ref().map(|bound| bound.sustained)).sum();
        let together = side(&all.together, direction).iops.as_ref();
        if let (Some(sum), Some(together)) = (sum, together) {
            assert!(together.sustained <= sum + 1e-6, "{all:?}");
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
