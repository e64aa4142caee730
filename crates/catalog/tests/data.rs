//! The embedded tables: every row, with its source; and what stands in some of them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use iotax_catalog::{
    Cloud, Direction, Disk, HostCache, Limit, Note, Property, Scope, Source, Vm, disk, disk_names,
    vm, vm_names, vms_like,
};

fn one(name: &str) -> Vm {
    let mut found = vm(name).unwrap();
    assert_eq!(found.len(), 1, "{name}");
    found.remove(0)
}

fn limit(vm: &Vm, scope: Scope) -> &Limit {
    vm.limits.iter().find(|limit| limit.scope == scope).unwrap()
}

fn figures(limit: &Limit) -> (Option<f64>, Option<f64>) {
    let sustained = |rate: &Option<iotax_catalog::Rate>| rate.as_ref().map(|rate| rate.sustained);
    (sustained(&limit.iops), sustained(&limit.bw_bytes))
}

fn bursts(limit: &Limit) -> (Option<f64>, Option<f64>) {
    let burst = |rate: &Option<iotax_catalog::Rate>| {
        rate.as_ref().and_then(|rate| rate.burst.as_ref()).map(|burst| burst.per_s)
    };
    (burst(&limit.iops), burst(&limit.bw_bytes))
}

fn full_s(limit: &Limit) -> Option<f64> {
    let rate = limit.iops.as_ref()?;
    rate.burst.as_ref()?.full_s(rate.sustained)
}

fn assert_sourced(source: &Source, of: &str) {
    assert!(source.text.len() > 10, "{of}: {}", source.text);
    let is_date = source.as_of.len() == 10 && source.as_of.starts_with("202");
    assert!(is_date || source.as_of == "undated", "{of}: {}", source.as_of);
}

#[test]
fn every_row_reads_and_has_a_source_and_a_date() {
    let mut rows = 0;
    for cloud in [Cloud::Azure, Cloud::Aws, Cloud::Gcp] {
        for vm in vms_like(cloud, "") {
            rows += usize::from(cloud == Cloud::Azure);
            assert_sourced(&vm.source, &vm.name);
            for limit in &vm.limits {
                assert_sourced(&limit.source, &vm.name);
                limit.burst_source.iter().for_each(|source| assert_sourced(source, &vm.name));
                let rates = [&limit.iops, &limit.bw_bytes].into_iter().flatten();
                assert!(rates.into_iter().all(|rate| rate.peak() >= rate.sustained), "{}", vm.name);
            }
            vm.conflicts.iter().for_each(|conflict| assert_sourced(&conflict.source, &vm.name));
        }
        for name in disk_names(cloud) {
            let disk = disk(&name).unwrap();
            assert_sourced(&disk.source, &name);
            disk.conflicts.iter().for_each(|conflict| assert_sourced(&conflict.source, &name));
        }
    }
    assert_eq!(rows, 1_517);
    assert!(vm_names(Cloud::Azure).len() >= 1_500);
    assert_eq!(vm_names(Cloud::Aws).len(), 1_378);
    assert_eq!(vm_names(Cloud::Gcp).len(), 568);
}

#[test]
fn bytes_are_those_of_the_api_not_of_the_print() {
    let ds1 = one("ds1_V2");
    assert_eq!(ds1.name, "Standard_DS1_v2");
    assert_eq!(figures(limit(&ds1, Scope::VmCached)), (Some(4_000.0), Some(32_768_000.0)));
    assert_eq!(figures(limit(&ds1, Scope::VmUncached)), (Some(3_200.0), Some(48e6)));
    assert_eq!(ds1.cache_bytes, Some(43 << 30));
}

#[test]
fn a_vm_without_premium_disks_has_no_cached_limit_but_that_of_its_temporary_disk() {
    let e16d = one("Standard_E16d_v5");
    assert!(e16d.limits.iter().all(|limit| limit.scope != Scope::VmCached));
    assert_eq!(figures(limit(&e16d, Scope::VmTemporary)), (Some(75_000.0), Some(1e9)));
    assert_eq!(bursts(limit(&e16d, Scope::VmUncached)), (Some(40_000.0), Some(1.2e9)));
    assert_eq!(e16d.encryption_at_host_supported, Some(true));
    assert_eq!(full_s(limit(&e16d, Scope::VmUncached)), None);
}

#[test]
fn a_size_with_two_disk_controllers_is_two() {
    let both = vm("E8bds_v5").unwrap();
    let uncached = |variant: &str| {
        let vm = both.iter().find(|vm| vm.variant.as_deref() == Some(variant)).unwrap();
        figures(limit(vm, Scope::VmUncached))
    };
    assert_eq!(both.len(), 2);
    assert_eq!(uncached("scsi"), (Some(24_200.0), Some(680e6)));
    assert_eq!(uncached("nvme"), (Some(33_000.0), Some(930e6)));
}

#[test]
fn what_was_published_of_dc4as_v5_is_d4as_v5s() {
    let dc4 = one("Standard_DC4as_v5");
    assert_eq!(figures(limit(&dc4, Scope::VmUncached)), (Some(6_400.0), Some(96e6)));
    assert_eq!(bursts(limit(&dc4, Scope::VmUncached)), (None, None));
    let [conflict] = dc4.conflicts.as_slice() else { panic!("{:?}", dc4.conflicts) };
    let d4 = one(conflict.belongs_to.as_ref().unwrap());
    let uncached = limit(&d4, Scope::VmUncached);
    assert_eq!(figures(uncached), (conflict.iops, conflict.bw_bytes));
    assert_eq!(bursts(uncached), (conflict.burst_iops, conflict.burst_bw_bytes));
}

#[test]
fn sources_that_disagree_are_both_told() {
    let notes = one("Standard_E64ds_v5").notes;
    let both = ["gives 375000 IOPS", "gives 300000 IOPS"];
    let has_both = |note: &Note| matches!(note, Note::Tabled(text) if both.iter().all(|one| text.contains(one)));
    assert!(notes.iter().any(has_both), "{notes:?}");
    let all = vms_like(Cloud::Aws, "r6in.");
    let is_other = |note: &Note| matches!(note, Note::UserGuide { .. });
    assert!(all.iter().any(|vm| vm.notes.iter().any(is_other)));
}

#[test]
fn an_instance_bursts_for_half_an_hour() {
    let vm = one("r6i.4xlarge");
    let instance = limit(&vm, Scope::Instance);
    assert_eq!(figures(instance), (Some(20_000.0), Some(625e6)));
    assert_eq!(bursts(instance), (Some(40_000.0), Some(1.25e9)));
    assert_eq!(full_s(instance), Some(1_800.0));
}

#[test]
fn limits_of_google_cloud_follow_the_number_of_vcpus_or_the_machine_type() {
    let vm = one("n2-standard-8");
    let ssd: Vec<_> = vm.limits.iter().filter(|limit| limit.holds_for("pd-ssd")).collect();
    assert_eq!(ssd.len(), 1);
    assert_eq!(figures(ssd[0]), (Some(15_000.0), Some(800.0 * 1_048_576.0)));
    let standard: Vec<_> = vm.limits.iter().filter(|l| l.holds_for("pd-standard")).collect();
    let directions: Vec<_> = standard.iter().map(|limit| limit.direction).collect();
    assert_eq!(directions, [Direction::Read, Direction::Write]);
    let medium = one("e2-medium");
    let ssd = medium.limits.iter().filter(|limit| limit.holds_for("pd-ssd"));
    let writes: Vec<_> = ssd.filter(|limit| limit.direction.counts(Direction::Write)).collect();
    assert_eq!(writes.iter().map(|l| figures(l).0).collect::<Vec<_>>(), [Some(10_000.0)]);
}

fn only(disk: &Disk) -> &Limit {
    let [limit] = disk.limits.as_slice() else { panic!("{:?}", disk.limits) };
    limit
}

#[test]
fn a_tier_of_azure_bursts_for_half_an_hour_or_when_paid_for() {
    let p10 = disk("p10").unwrap();
    assert_eq!(figures(only(&p10)), (Some(500.0), Some(100e6)));
    assert_eq!(bursts(only(&p10)), (Some(3_500.0), Some(170e6)));
    assert_eq!(full_s(only(&p10)), Some(1_800.0));
    assert_eq!(only(&p10).io_unit_bytes, Some(256 << 10));
    assert_eq!(p10.host_cache, Some(HostCache::Possible));
    let p30 = disk("P30").unwrap();
    let burst = only(&p30).iops.as_ref().unwrap().burst.as_ref().unwrap();
    assert_eq!(burst.notes, [Note::Tabled("on-demand (opt-in, billed)".to_owned())]);
    assert_eq!(full_s(only(&p30)), None);
    assert_eq!(disk("P50").unwrap().host_cache, Some(HostCache::NotSupported));
    let zrs = disk("P10:redundancy=zrs").unwrap().facts.remove(0);
    assert_eq!(zrs.property, Property::DiskType("Premium_ZRS".to_owned()));
}

#[test]
fn credits_of_gp2_last_as_its_documentation_tabulates() {
    for (gib, iops, seconds) in
        [(30, 100.0, 1_862.0), (100, 300.0, 2_000.0), (750, 2_250.0, 7_200.0)]
    {
        let disk = disk(&format!("gp2:size={gib}G")).unwrap();
        assert_eq!(figures(only(&disk)).0, Some(iops));
        assert_eq!(full_s(only(&disk)).map(f64::round), Some(seconds), "{gib}");
    }
    let large = disk("gp2:size=1T").unwrap();
    assert_eq!(figures(only(&large)), (Some(3_072.0), Some(250.0 * 1_048_576.0)));
    assert_eq!(bursts(only(&large)), (None, None));
}

#[test]
fn volumes_have_what_was_provisioned() {
    let mib = 1_048_576.0;
    for (text, iops, mib_per_s) in [
        ("gp3", 3_000.0, 125.0),
        ("gp3:size=500G,iops=6000,bw=250M", 6_000.0, 250.0),
        ("io1:size=2T,iops=2000", 2_000.0, 500.0),
        ("io1:size=2T,iops=64000", 64_000.0, 1_000.0),
        ("io2:size=1T,iops=100000", 100_000.0, 4_000.0),
        ("st1:size=2T", 500.0, 80.0),
        ("sc1:size=16T", 250.0, 192.0),
    ] {
        let disk = disk(text).unwrap();
        assert_eq!(figures(only(&disk)), (Some(iops), Some(mib_per_s * mib)), "{text}");
    }
    let st1 = disk("st1:size=1T").unwrap();
    let bw = only(&st1).bw_bytes.as_ref().unwrap();
    let seconds = bw.burst.as_ref().unwrap().full_s(bw.sustained).unwrap();
    assert_eq!(seconds.round(), 4_993.0);
}

#[test]
fn disks_of_azure_that_are_provisioned_freely_have_what_was_asked_for() {
    let free = disk("premium-v2:size=100G").unwrap();
    assert_eq!(figures(only(&free)), (Some(3_000.0), Some(125e6)));
    let more = disk("premium-v2:size=200G,iops=80k,bw=2000M").unwrap();
    assert_eq!(figures(only(&more)), (Some(80_000.0), Some(2e9)));
    let ultra = disk("ultra:size=16G").unwrap();
    assert_eq!(figures(only(&ultra)), (Some(16_000.0), Some(4e9)));
}

#[test]
fn a_persistent_disk_has_its_baseline_and_so_much_per_gib() {
    let ssd = disk("pd-ssd:size=500G").unwrap();
    assert_eq!(figures(only(&ssd)), (Some(21_000.0), Some(480.0 * 1_048_576.0)));
    assert_eq!(figures(only(&disk("pd-ssd").unwrap())), (None, None));
    assert_eq!(disk("pd-standard:size=1T").unwrap().limits.len(), 2);
}

#[test]
fn a_disk_of_azure_is_known_by_its_type_and_size() {
    let of = |kind: &str, tier: Option<&str>, gib: u64| {
        let name = iotax_catalog::azure_disk_of(kind, tier, gib << 30)?;
        // Whatever it is called, the catalog has it.
        assert!(disk(&name).is_ok(), "{name}");
        Some(name)
    };
    let said = |name: &str| Some(name.to_owned());
    assert_eq!(of("Premium_LRS", None, 128), said("P10"));
    assert_eq!(of("Premium_LRS", None, 129), said("P15"));
    assert_eq!(of("Premium_LRS", Some("P30"), 128), said("P30"));
    assert_eq!(of("StandardSSD_LRS", None, 4), said("E1"));
    assert_eq!(of("Standard_LRS", None, 1), said("S4"));
    assert_eq!(of("Premium_ZRS", None, 1000), said("P30:redundancy=zrs"));
    for (kind, gib) in
        [("PremiumV2_LRS", 128), ("UltraSSD_LRS", 128), ("", 30), ("Premium_LRS", 99_999)]
    {
        assert_eq!(of(kind, None, gib), None, "{kind}");
    }
}
