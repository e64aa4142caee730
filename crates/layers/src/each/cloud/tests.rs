use insta::assert_snapshot;
use iotax_catalog::Caching;

use super::*;
use crate::stack::{Layer, Stack};

fn made(vm: &str, disks: &[&str], options: &CloudOptions) -> Result<MadeDisks, Error> {
    let vm = (!vm.is_empty()).then(|| vm.to_owned());
    let disks = disks.iter().map(|disk| (*disk).to_owned()).collect();
    let options = options.clone();
    CloudDisks { vm, variant: None, disks, caching: Caching::None, options }.made()
}

fn composed(vm: &str, disks: &[&str], options: &CloudOptions) -> Vec<CloudDisk> {
    made(vm, disks, options).unwrap().disks
}

/// Stacks and notes, with what each layer stands for.
fn told(disks: &[CloudDisk]) -> String {
    let part = |part: &CloudPart| {
        let from = if part.sources.is_empty() { "" } else { ", documented" };
        format!("  {}: {}{from}\n", Layer::from(&part.layer), part.what)
    };
    let note = |note: &String| format!("  ({note})\n");
    let disk = |disk: &CloudDisk| {
        let parts: String = disk.parts.iter().map(part).collect();
        let notes: String = disk.notes.iter().map(note).collect();
        let caching = if disk.caching == Caching::None { "none" } else { "read only" };
        format!("{}, caching {caching}\n{parts}{notes}", disk.name)
    };
    disks.iter().map(disk).collect()
}

#[test]
fn a_cached_disk_of_a_small_vm() {
    let options = CloudOptions::default();
    assert_snapshot!(told(&composed("DS1_v2", &["P10:caching=readonly"], &options)), @"
    P10, caching read only
      file(size=128G, thin): documented size, documented
      delay(latency=1ms): latency (an assumption, not documented)
      throttle(iops=500, bw=100000000, burst_iops=3500, burst_bw=170000000, credits=30m, unit=256k): disk limit of P10, documented
      throttle(iops=4000, bw=32000k, group=Standard_DS1_v2-cached): VM cached limit of Standard_DS1_v2, documented
      tier(size=43G): Standard_DS1_v2 cache, documented
      (reads that miss the cache, and all writes, count only against the VM's cached limits, as measured on Standard_DS1_v2)
    ");
}

#[test]
fn cached_and_uncached_disks_have_buckets_apart_and_share_the_cache() {
    let disks = ["P30:caching=readonly", "P10:caching=readonly", "P30"];
    let options = CloudOptions { latency_ns: Some(0), ..CloudOptions::default() };
    assert_snapshot!(told(&composed("DS1_v2", &disks, &options)), @"
    P30, caching read only
      file(size=1T, thin): documented size, documented
      throttle(iops=5000, bw=200000000, unit=256k): disk limit of P30, documented
      throttle(iops=4000, bw=32000k, group=Standard_DS1_v2-cached): VM cached limit of Standard_DS1_v2, documented
      tier(size=22016M): Standard_DS1_v2 cache, divided evenly among its disks (an assumption), documented
      (reads that miss the cache, and all writes, count only against the VM's cached limits, as measured on Standard_DS1_v2)
    P10, caching read only
      file(size=128G, thin): documented size, documented
      throttle(iops=500, bw=100000000, burst_iops=3500, burst_bw=170000000, credits=30m, unit=256k): disk limit of P10, documented
      throttle(iops=4000, bw=32000k, group=Standard_DS1_v2-cached): VM cached limit of Standard_DS1_v2, documented
      tier(size=22016M): Standard_DS1_v2 cache, divided evenly among its disks (an assumption), documented
      (reads that miss the cache, and all writes, count only against the VM's cached limits, as measured on Standard_DS1_v2)
    P30, caching none
      file(size=1T, thin): documented size, documented
      throttle(iops=5000, bw=200000000, unit=256k): disk limit of P30, documented
      throttle(iops=3200, bw=46875k, group=Standard_DS1_v2-uncached): VM uncached limit of Standard_DS1_v2, documented
    ");
}

#[test]
fn encryption_is_where_it_is_done_and_a_smaller_disk_keeps_its_limits() {
    let options = CloudOptions {
        size_bytes: Some(4 << 30),
        encryption_at_host: true,
        hardware_encrypted: true,
        latency_ns: Some(500_000),
        credits: 0.1,
    };
    assert_snapshot!(told(&composed("Standard_DS1_v2", &["P10:caching=readonly"], &options)), @"
    P10, caching read only
      file(size=4G, thin): requested size
      aes(sector=512): the disk's own encryption, as requested
      delay(latency=500us): latency, as requested
      throttle(iops=500, bw=100000000, burst_iops=3500, burst_bw=170000000, credits=3m, unit=256k): disk limit of P10, documented
      throttle(iops=4000, bw=32000k, group=Standard_DS1_v2-cached): VM cached limit of Standard_DS1_v2, documented
      tier(size=43G): Standard_DS1_v2 cache, documented
      aes(sector=512): encryption at host, as requested
      (reads that miss the cache, and all writes, count only against the VM's cached limits, as measured on Standard_DS1_v2)
    ");
}

#[test]
fn local_disks_have_the_limits_of_local_storage_and_the_host_encrypts_on_top() {
    let options = CloudOptions {
        size_bytes: Some(4 << 30),
        encryption_at_host: true,
        hardware_encrypted: true,
        ..CloudOptions::default()
    };
    assert_snapshot!(told(&composed("E16d_v5", &["local"], &options)), @"
    temporary disk, caching none
      file(size=4G, thin): requested size
      aes(sector=512): the disk's own encryption, as requested
      delay(latency=100us): latency (an assumption, not documented)
      throttle(iops=75000, bw=1000000000, group=Standard_E16d_v5-temporary): VM temporary disk limit of Standard_E16d_v5, documented
      aes(sector=512): encryption at host, as requested
    ");
    let plain = CloudOptions::default();
    assert_snapshot!(told(&composed("E16ds_v6", &["nvme"; 2], &plain)), @"
    local NVMe disk, caching none
      file(size=440G, thin): documented size, documented
      delay(latency=100us): latency (an assumption, not documented)
      throttle(iops=300000, bw=1406250k, counts=reads, group=Standard_E16ds_v6-nvme-reads): local NVMe limit of Standard_E16ds_v6, documented
      throttle(iops=120000, bw=703125k, counts=writes, group=Standard_E16ds_v6-nvme-writes): local NVMe limit of Standard_E16ds_v6, documented
    local NVMe disk, caching none
      file(size=440G, thin): documented size, documented
      delay(latency=100us): latency (an assumption, not documented)
      throttle(iops=300000, bw=1406250k, counts=reads, group=Standard_E16ds_v6-nvme-reads): local NVMe limit of Standard_E16ds_v6, documented
      throttle(iops=120000, bw=703125k, counts=writes, group=Standard_E16ds_v6-nvme-writes): local NVMe limit of Standard_E16ds_v6, documented
    ");
}

#[test]
fn a_temporary_disk_shares_the_bucket_of_cached_disks_where_that_is_documented() {
    let options = CloudOptions { latency_ns: Some(0), ..CloudOptions::default() };
    let temporary = composed("DS1_v2", &["temporary"], &options);
    assert_snapshot!(told(&temporary), @"
    temporary disk, caching none
      file(size=7G, thin): documented size, documented
      throttle(iops=4000, bw=32000k, group=Standard_DS1_v2-cached): VM cached limit of Standard_DS1_v2, documented
      (the temporary disk shares a token bucket with cached disks)
    ");
}

#[test]
fn what_is_not_documented_is_said_and_left_out() {
    let options = CloudOptions::default();
    assert_snapshot!(told(&composed("E16d_v5", &["E30:caching=readonly", "E30"], &options)), @"
    E30, caching read only
      file(size=1T, thin): documented size, documented
      delay(latency=1ms): latency (an assumption, not documented)
      throttle(iops=500, bw=100000000, burst_iops=1000, burst_bw=250000000, credits=30m, unit=256k): disk limit of E30, documented
      (VM cached limit of Standard_E16d_v5: not documented, so not applied)
      (Standard_E16d_v5: the cache size is not documented, so iotax assumes that no read hits the cache)
    E30, caching none
      file(size=1T, thin): documented size, documented
      delay(latency=1ms): latency (an assumption, not documented)
      throttle(iops=500, bw=100000000, burst_iops=1000, burst_bw=250000000, credits=30m, unit=256k): disk limit of E30, documented
      throttle(iops=25600, bw=600000000, group=Standard_E16d_v5-uncached): VM uncached limit of Standard_E16d_v5, documented
      (VM uncached limit of Standard_E16d_v5: the burst duration is not documented, so iotax does not simulate a burst to 40000 I/Os per second)
      (VM uncached limit of Standard_E16d_v5: the burst duration is not documented, so iotax does not simulate a burst to 1200000000 bytes per second)
    ");
}

#[test]
fn disks_of_other_clouds() {
    let options = CloudOptions::default();
    assert_snapshot!(told(&composed("m5.large", &["gp2:size=100G", "st1:size=2T"], &options)), @"
    gp2:size=100G, caching none
      file(size=100G, thin): documented size, documented
      delay(latency=1ms): latency (an assumption, not documented)
      throttle(iops=300, bw=128M, burst_iops=3000, credits=2000s, unit=256k): disk limit of gp2:size=100G, documented
      throttle(iops=3600, bw=81250000, burst_iops=18750, burst_bw=593750000, credits=30m, group=m5.large-instance): instance limit of m5.large, documented
    st1:size=2T, caching none
      file(size=2T, thin): documented size, documented
      delay(latency=1ms): latency (an assumption, not documented)
      throttle(iops=500, bw=80M, burst_bw=500M, credits=4993219047619ns, unit=1M): disk limit of st1:size=2T, documented
      throttle(iops=3600, bw=81250000, burst_iops=18750, burst_bw=593750000, credits=30m, group=m5.large-instance): instance limit of m5.large, documented
    ");
    assert_snapshot!(told(&composed("n2-standard-8", &["pd-ssd:size=500G", "pd-ssd:size=100G"], &options)), @"
    pd-ssd:size=500G, caching none
      file(size=500G, thin): documented size, documented
      delay(latency=1ms): latency (an assumption, not documented)
      throttle(iops=24000, bw=528M, group=all-pd-ssd-disks): disk limit of all pd-ssd, documented
      throttle(iops=15000, bw=800M, group=n2-standard-8-instance-pd-ssd): instance limit of n2-standard-8, documented
    pd-ssd:size=100G, caching none
      file(size=100G, thin): documented size, documented
      delay(latency=1ms): latency (an assumption, not documented)
      throttle(iops=24000, bw=528M, group=all-pd-ssd-disks): disk limit of all pd-ssd, documented
      throttle(iops=15000, bw=800M, group=n2-standard-8-instance-pd-ssd): instance limit of n2-standard-8, documented
    ");
    assert_snapshot!(told(&composed("", &["gp2:size=100G"], &CloudOptions { credits: 0.0, ..options })), @"
    gp2:size=100G, caching none
      file(size=100G, thin): documented size, documented
      delay(latency=1ms): latency (an assumption, not documented)
      throttle(iops=300, bw=128M, unit=256k): disk limit of gp2:size=100G, documented
    ");
}

#[test]
fn full_credits_are_the_documented_number() {
    let credits = |disk: &str| {
        let disks = composed("", &[disk], &CloudOptions::default());
        let text = disks[0].stack().to_string();
        let throttle = text.split(" + ").last().unwrap();
        throttle.to_owned()
    };
    // 5,400,000 I/Os beyond the sustained rate: of 3000 a second for 30 minutes, and of 2700.
    assert_snapshot!(credits("P10"), @"throttle(iops=500, bw=100000000, burst_iops=3500, burst_bw=170000000, credits=30m, unit=256k)");
    assert_snapshot!(credits("gp2:size=100G"), @"throttle(iops=300, bw=128M, burst_iops=3000, credits=2000s, unit=256k)");
}

#[test]
fn what_cannot_be_made_is_refused() {
    let refused = |disk: &str, size_bytes| {
        let options = CloudOptions { size_bytes, ..CloudOptions::default() };
        made("DS1_v2", &[disk], &options).unwrap_err().to_string()
    };
    assert_snapshot!(refused("P10:caching=readwrite", None), @"
    P10:caching=readwrite: write-back caching is not modeled; use readonly or none
    Standard_DS1_v2 supports P1 to P80, E1 to E80, S4 to S80, premium-v2, ultra, local
    ");
    assert_snapshot!(refused("P10", Some(0)), @"P10: the size must be above 0");
    assert_snapshot!(refused("P10", Some(1000)), @"P10: the size must be a multiple of 4k");
    let refused_local = |vm: &str, asked: &[&str]| {
        made(vm, asked, &CloudOptions::default()).unwrap_err().to_string()
    };
    assert_snapshot!(refused_local("E16s_v5", &["local"]), @"
    local of Standard_E16s_v5: the catalog lists no local disk of this kind for the VM size
    Standard_E16s_v5 supports P1 to P80, E1 to E80, S4 to S80, premium-v2, ultra
    ");
    assert_snapshot!(refused_local("r6id.4xlarge", &["nvme"]), @"
    nvme of r6id.4xlarge: the catalog lists no local disk of this kind for the VM size
    r6id.4xlarge supports gp2, gp3, io1, io2, st1, sc1, standard
    ");
    assert_snapshot!(refused_local("L8s_v3", &["local"]), @"
    local of Standard_L8s_v3: the VM size has both a temporary disk and NVMe disks; use temporary or nvme
    Standard_L8s_v3 supports P1 to P80, E1 to E80, S4 to S80, premium-v2, ultra, temporary, nvme
    ");
    assert_snapshot!(refused_local("E16d_v5", &["local"; 2]), @"
    temporary disk of Standard_E16d_v5: the VM size has fewer of these disks than requested
    Standard_E16d_v5 supports E1 to E80, S4 to S80, premium-v2, ultra, local
    ");
    assert_snapshot!(refused("premium-v2", None), @"premium-v2: the name does not imply a size; specify one, for example size=4G");
}

#[test]
fn stack_text_makes_a_disk_and_is_read_back() {
    for text in [
        "cloud(vm=Standard_DS1_v2, disk=P10, size=2G)",
        "cloud(disk=\"gp3:iops=6000,size=500G\")",
        "cloud(vm=E8bds_v5, variant=nvme, disk=P30, caching=readonly, credits=10%, latency=600us)",
        "cloud(vm=E16d_v5, disk=local, encryption_at_host, hardware_encrypted) + aes",
    ] {
        let stack = Stack::parse(text).unwrap();
        assert_eq!(stack.to_string(), text);
        assert!(stack.is_in_process());
        let json = serde_json::to_string(&stack).unwrap();
        assert_eq!(serde_json::from_str::<Stack>(&json).unwrap(), stack);
    }
    let stack = Stack::parse("cloud(vm=DS1_v2, disk=P10, size=2G) + aes").unwrap();
    assert_eq!(stack.size_bytes(), Some(2 << 30));
    assert_snapshot!(stack.spelled_out("an arm"), @r#"file(size=2G, thin) + delay(latency=1ms) + throttle(iops=500, bw=100000000, burst_iops=3500, burst_bw=170000000, credits=30m, unit=256k) + throttle(iops=3200, bw=46875k, group="an arm/Standard_DS1_v2-uncached") + aes"#);
    let Some(Layer::Cloud(disk)) = stack.layers.first() else { panic!("{stack}") };
    let limits = disk.limits().into_iter().map(|limit| format!("{} {}", limit.scope, limit.of));
    assert_eq!(limits.collect::<Vec<_>>(), ["disk P10", "VM uncached Standard_DS1_v2"]);
}

#[test]
fn stack_text_that_makes_no_disk_is_pointed_at() {
    let error = |text: &str| Stack::parse(text).unwrap_err().to_string();
    assert_snapshot!(error("cloud(vm=Standard_DS1v2, disk=P10)"), @"
    unknown VM size `Standard_DS1v2`: did you mean Standard_DS12 or Standard_DS1_v2?
      cloud(vm=Standard_DS1v2, disk=P10)
               ^^^^^^^^^^^^^^ column 10
    ");
    assert_snapshot!(error("cloud(vm=DS1_v2, disk=P11)"), @"
    unknown disk `P11`: did you mean P1, P10 or P15?
      cloud(vm=DS1_v2, disk=P11)
                            ^^^ column 23
    Standard_DS1_v2 supports P1 to P80, E1 to E80, S4 to S80, premium-v2, ultra, local
    ");
    assert_snapshot!(error("cloud(vm=DS1_v2, disk=gp3:size=500G)"), @r#"
    `=` in an unquoted value
      cloud(vm=DS1_v2, disk=gp3:size=500G)
                                    ^ column 31
    put the value in quotes, as in disk="gp3:size=500G"
    "#);
    assert_snapshot!(error("cloud(vm=DS1_v2, disk=\"gp3:size=500G\")"), @r#"
    gp3:size=500G is a disk on AWS, but Standard_DS1_v2 belongs to Azure; use only one cloud
      cloud(vm=DS1_v2, disk="gp3:size=500G")
                            ^^^^^^^^^^^^^^^ column 23
    Standard_DS1_v2 supports P1 to P80, E1 to E80, S4 to S80, premium-v2, ultra, local
    "#);
    assert_snapshot!(error("cloud(vm=D1_v2, disk=P10)"), @"
    Standard_D1_v2 does not support premium disks such as P10; choose a size with an s in its name, or a disk such as E30
      cloud(vm=D1_v2, disk=P10)
                           ^^^ column 22
    Standard_D1_v2 supports E1 to E80, S4 to S80, premium-v2, ultra, local
    ");
    assert_snapshot!(error("cloud(vm=E16s_v5, disk=local)"), @"
    local of Standard_E16s_v5: the catalog lists no local disk of this kind for the VM size
      cloud(vm=E16s_v5, disk=local)
                             ^^^^^ column 24
    Standard_E16s_v5 supports P1 to P80, E1 to E80, S4 to S80, premium-v2, ultra
    ");
    assert_snapshot!(error("cloud(vm=E8bds_v5, disk=P10)"), @"
    the limits of E8bds_v5 depend on the disk controller; choose a variant: nvme or scsi
      cloud(vm=E8bds_v5, disk=P10)
      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ column 1
    ");
    assert_snapshot!(error("cloud(vm=DS1_v2)"), @"
    cloud: disk: is required
      cloud(vm=DS1_v2)
      ^^^^^^^^^^^^^^^^ column 1
    for example cloud(vm=Standard_DS1_v2, disk=P10, size=2G)
    ");
    assert_snapshot!(error("cloud(disk=local)"), @"
    a local disk belongs to a VM size; specify the VM size too
      cloud(disk=local)
      ^^^^^^^^^^^^^^^^^ column 1
    ");
    assert_snapshot!(error("cloud(disk=gp3)"), @"
    gp3: the name does not imply a size; specify one, for example size=4G
      cloud(disk=gp3)
      ^^^^^^^^^^^^^^^ column 1
    ");
    assert_snapshot!(error("cloud(disk=P10, size=1000)"), @"
    P10: the size must be a multiple of 4k
      cloud(disk=P10, size=1000)
                           ^^^^ column 22
    ");
    assert_snapshot!(error("cloud(disk=P10, caching=readwrite)"), @"
    `readwrite` is not a valid choice: use none or readonly
      cloud(disk=P10, caching=readwrite)
                              ^^^^^^^^^ column 25
    ");
    assert_snapshot!(error("cloud(disk=P10, size=2G) + ext4"), @r#"
    `cloud` runs inside iotax and cannot be combined with `ext4`, which runs in the operating system
      cloud(disk=P10, size=2G) + ext4
      ^^^^^^^^^^^^^^^^^^^^^^^^ column 1
    put the in-process layers into a virtual disk at the bottom: vdisk(stack="cloud(disk=P10, size=2G)") + ext4
    "#);
}
