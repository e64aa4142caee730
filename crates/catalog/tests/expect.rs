//! What VMs and disks may do together.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use insta::assert_snapshot;
use iotax_catalog::{
    Bound, By, Caching, Direction, Effective, Error, Expectation, Note, Scope, Setup,
    attached_disk, expect,
};

const MIB: f64 = 1_048_576.0;

fn setup(vm: &str, disks: &[&str]) -> Setup {
    let (name, variant) = vm.split_once('/').map_or((vm, None), |(name, v)| (name, Some(v)));
    let disk = |text: &&str| attached_disk(text, Caching::None).unwrap();
    Setup {
        vm: (!name.is_empty()).then(|| name.to_owned()),
        variant: variant.map(str::to_owned),
        disks: disks.iter().map(disk).collect(),
    }
}

fn expected(vm: &str, disks: &[&str]) -> Expectation {
    expect(&setup(vm, disks)).unwrap()
}

fn refused(vm: &str, disks: &[&str]) -> Error {
    expect(&setup(vm, disks)).unwrap_err()
}

fn by(bound: Option<&By>) -> (Scope, &str) {
    let by = bound.unwrap();
    (by.scope, by.of.as_str())
}

fn both(all: &[Effective]) -> &Effective {
    let [both] = all else { panic!("reads and writes differ: {all:?}") };
    assert_eq!(both.direction, Direction::Both);
    both
}

fn rates(effective: &Effective) -> (f64, f64) {
    let sustained = |bound: &Option<Bound>| bound.as_ref().unwrap().sustained;
    (sustained(&effective.iops), sustained(&effective.bw_bytes))
}

#[test]
fn the_least_limit_binds_one_disk() {
    let alone = expected("DS1_v2", &["P30"]);
    let effective = both(&alone.disks[0].effective);
    assert_eq!(rates(effective), (3_200.0, 48e6));
    let iops = effective.iops.as_ref().unwrap();
    assert_eq!(by(iops.sustained_by.as_ref()), (Scope::VmUncached, "Standard_DS1_v2"));
    assert_eq!(iops.burst, None, "on-demand bursting is off, and the VM has no bursts");
    let cached = expected("DS1_v2", &["P30:caching=readonly"]);
    assert_eq!(rates(both(&cached.disks[0].effective)), (4_000.0, 32_768_000.0));
}

#[test]
fn disks_on_one_path_share_it_and_paths_add_up() {
    let disks = ["P30", "P30", "P30:caching=readonly", "P30:caching=readonly"];
    let all = expected("E16ds_v4", &disks);
    let [uncached, cached] = all.buckets.as_slice() else { panic!("two paths") };
    assert_eq!((uncached.scope, cached.scope), (Some(Scope::VmUncached), Some(Scope::VmCached)));
    // Two disks fit below either path's IOPS, but not below the bytes of the uncached one.
    assert_eq!(rates(both(&uncached.of_disks)), (10_000.0, 400e6));
    assert_eq!(rates(both(&uncached.effective)), (10_000.0, 384e6));
    assert_eq!(rates(both(&cached.effective)), (10_000.0, 400e6));
    assert_eq!(rates(both(&all.together)), (20_000.0, 784e6));
    let bw = both(&uncached.effective).bw_bytes.as_ref().unwrap();
    assert_eq!(by(bw.sustained_by.as_ref()), (Scope::VmUncached, "Standard_E16ds_v4"));
    let iops = both(&uncached.effective).iops.as_ref().unwrap();
    assert_eq!(by(iops.sustained_by.as_ref()), (Scope::Disk, "2 x P30"));
    assert_eq!(both(&all.together).iops.as_ref().unwrap().sustained_by, None);
}

#[test]
fn a_burst_that_the_vm_cuts_short_lasts_longer() {
    let alone = expected("", &["P10"]);
    let burst = both(&alone.disks[0].effective).iops.as_ref().unwrap().burst.as_ref().unwrap();
    assert_eq!((burst.per_s, burst.lasts_s), (3_500.0, Some(1_800.0)));
    // 5,400,000 credits at 3,200 - 500 beyond the base.
    let cut = expected("DS1_v2", &["P10"]);
    let burst = both(&cut.disks[0].effective).iops.as_ref().unwrap().burst.as_ref().unwrap();
    assert_eq!((burst.per_s, burst.lasts_s), (3_200.0, Some(2_000.0)));
    assert_eq!(by(burst.by.as_ref()), (Scope::VmUncached, "Standard_DS1_v2"));
}

#[test]
fn a_burst_of_unknown_credits_lasts_for_an_unknown_time() {
    let all = expected("D4as_v5", &["P30:burst=on"]);
    let iops = both(&all.together).iops.as_ref().unwrap();
    assert_eq!((iops.sustained, by(iops.sustained_by.as_ref()).1), (5_000.0, "P30:burst=on"));
    let burst = iops.burst.as_ref().unwrap();
    assert_eq!((burst.per_s, burst.lasts_s), (20_000.0, None));
    assert_eq!(burst.notes, [Note::Tabled("on-demand (opt-in, billed)".to_owned())]);
}

#[test]
fn volumes_share_the_instance() {
    let all = expected("r6i.4xlarge", &["gp3:size=1T,iops=16000,bw=1000M"; 2]);
    let together = both(&all.together);
    assert_eq!(rates(together), (20_000.0, 625e6));
    let burst = together.bw_bytes.as_ref().unwrap().burst.as_ref().unwrap();
    assert_eq!((burst.per_s, burst.lasts_s), (1.25e9, Some(1_800.0)));
    let iops = together.iops.as_ref().unwrap().burst.as_ref().unwrap();
    // 20,000 x 1,800 s of credits, drawn on at 12,000 beyond the baseline.
    assert_eq!((iops.per_s, iops.lasts_s), (32_000.0, Some(3_000.0)));
}

#[test]
fn persistent_disks_of_a_kind_share_what_their_sizes_add_up_to() {
    let one = expected("n2-standard-8", &["pd-balanced:size=500G"]);
    assert_eq!(rates(both(&one.together)), (6_000.0, 280.0 * MIB));
    // Twice the size, but the baseline of 3,000 IOPS and 140 MiB/s once.
    let two = expected("n2-standard-8", &["pd-balanced:size=500G"; 2]);
    assert_eq!(rates(both(&two.disks[0].effective)), (9_000.0, 420.0 * MIB));
    assert_eq!(rates(both(&two.together)), (9_000.0, 420.0 * MIB));
    let capped = expected("n2-standard-8", &["pd-balanced:size=10T"]);
    assert_eq!(rates(both(&capped.together)), (15_000.0, 800.0 * MIB));
}

#[test]
fn reads_and_writes_are_told_apart_where_their_limits_differ() {
    let all = expected("n2-standard-8", &["pd-standard:size=10T"]);
    let [read, write] = all.together.as_slice() else { panic!("{:?}", all.together) };
    assert_eq!(rates(read), (5_000.0, 800.0 * MIB));
    assert_eq!(rates(write), (15_000.0, 400.0 * MIB));
}

#[test]
fn writes_of_an_n1_also_share_its_way_out_to_the_network() {
    let all = expected("n1-standard-1", &["pd-ssd:size=1T", "pd-balanced:size=1T"]);
    let [_, write] = all.together.as_slice() else { panic!("{:?}", all.together) };
    assert_eq!(write.bw_bytes.as_ref().unwrap().sustained, 216e6);
    assert_eq!(all.buckets.len(), 2);
}

#[test]
fn what_is_unknown_is_named_and_no_figure_made_up() {
    let no_size = expected("n2-standard-8", &["pd-ssd"]);
    let effective = both(&no_size.together);
    assert_eq!(effective.iops.as_ref().unwrap().sustained, 15_000.0);
    assert_eq!(effective.unknown_iops, [By { scope: Scope::Disk, of: "pd-ssd".into() }]);
    let no_vm = expected("c4-standard-8", &["hyperdisk-balanced:iops=5000,bw=200M"]);
    let effective = both(&no_vm.together);
    assert_eq!(rates(effective), (5_000.0, 200.0 * MIB));
    assert_eq!(effective.unknown_bw[0].scope, Scope::Instance);
}

#[test]
fn fast_disks_have_limits_of_their_own_on_newer_sizes() {
    let fast = expected("D2s_v6", &["premium-v2:size=100G,iops=20000"]);
    assert_eq!(rates(both(&fast.together)).0, 4_167.0);
    let mixed = expected("D2s_v6", &["premium-v2:size=100G", "P30"]);
    assert_eq!(mixed.buckets.len(), 2);
    assert!(mixed.notes.contains(&Note::FastBesideOthers));
}

#[test]
fn an_expectation_survives_a_record() {
    let all = expected("E16ds_v4", &["P10", "P30:caching=readwrite"]);
    let text = serde_json::to_string(&all).unwrap();
    assert_eq!(serde_json::from_str::<Expectation>(&text).unwrap(), all);
}

#[test]
fn what_cannot_be_together_is_refused() {
    let cases = [
        refused("DS1_v2", &["P30"; 5]),
        refused("E16d_v5", &["P30"]),
        refused("DS1_v2", &["gp3"]),
        refused("", &["P30", "gp3"]),
        refused("DS1_v2", &["P50:caching=readonly"]),
        refused("m5.large", &["gp3:caching=readonly"]),
        refused("E8bds_v5", &["P30"]),
        refused("E8bds_v5/ide", &["P30"]),
        refused("DS1_v2/nvme", &["P30"]),
        refused("DS1_v2", &[]),
        refused("DS11_v9", &["P30"]),
    ];
    let lines: Vec<_> = cases.iter().map(ToString::to_string).collect();
    assert_snapshot!(lines.join("\n"));
}

#[test]
fn disks_that_cannot_be_are_refused() {
    let texts = [
        "P31",
        "floppy",
        "P30:size=1T",
        "P30:caching=maybe",
        "P30:redundancy=grs",
        "S10:redundancy=zrs",
        "gp2:iops=3000",
        "gp3:size=0",
        "gp3:size=500X",
        "gp3:iops=many",
        "gp3:bw=fast",
        "gp3:size",
        "gp3:size=1G,size=2G",
        "gp3:size=100T",
        "gp3:size=10G,iops=16000",
        "gp3:iops=3000,bw=1000M",
        "io1:size=100G,iops=64000",
        "premium-v2:size=10G,iops=80000",
        "premium-v2:bw=2000M",
        "ultra:size=4G,iops=8000",
        "hyperdisk-balanced:iops=200000,bw=100M",
        "",
    ];
    let said = |text: &&str| attached_disk(text, Caching::None).unwrap_err().to_string();
    assert_snapshot!(texts.iter().map(said).collect::<Vec<_>>().join("\n"));
}
