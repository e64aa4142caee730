use insta::assert_snapshot;
use proptest::prelude::*;

use crate::declaration::info::LayerInfo;
use crate::stack::{Layer, Stack};

fn error(text: &str) -> String {
    Stack::parse(text).expect_err("refused").to_string()
}

/// Stacks of any layers as the catalog shows them, most of which do not fit each other.
fn any_text() -> impl Strategy<Value = String> {
    let examples = |base: bool| -> Vec<&str> {
        let of = |info: &&LayerInfo| info.is_base() == base;
        Layer::catalog().filter(of).map(|info| info.example).collect()
    };
    let above = proptest::collection::vec(proptest::sample::select(examples(false)), 0..5);
    (proptest::sample::select(examples(true)), above).prop_map(|(base, above)| {
        std::iter::once(base).chain(above).collect::<Vec<_>>().join(" + ")
    })
}

#[test]
fn what_goes_without_saying_is_put_in() {
    let complete = |text: &str| Stack::parse(text).unwrap().to_string();
    assert_snapshot!(complete("file + qemu-luks + qemu-luks + ext4"), @"file + qemu-luks + qemu-luks + loop + ext4");
    assert_snapshot!(complete("file + qemu-luks"), @"file + qemu-luks + loop");
    assert_snapshot!(complete("file + dmcrypt(no_read_workqueue,same_cpu_crypt=true) + xfs"), @"file + loop + dmcrypt(no_read_workqueue, same_cpu_crypt) + xfs");
    assert_snapshot!(complete("dev(path=/dev/sdx) + dmcrypt + ext4 + fscrypt"), @"dev(path=/dev/sdx) + dmcrypt + ext4(encrypt) + fscrypt");
    assert_snapshot!(complete("dev(path=/dev/sdx) + qemu-luks + ext4 + cgroup-io(read_iops=5)"), @"dev(path=/dev/sdx) + qemu-luks + loop + ext4 + cgroup-io(read_iops=5)");
    assert_snapshot!(complete("tmpfs + gocryptfs"), @"tmpfs + gocryptfs");
    assert_snapshot!(complete("file + throttle(iops=5)"), @"file + throttle(iops=5)");
    assert_snapshot!(complete("vdisk(stack=\"mem + aes\") + ext4"), @r#"vdisk(stack="mem + aes") + loop + ext4"#);
}

#[test]
fn layers_that_do_not_fit_each_other_are_pointed_at() {
    assert_snapshot!(error("file + ext4 + qemu-luks"), @"
    `qemu-luks` needs a file or a block device below it, not a directory
      file + ext4 + qemu-luks
                    ^^^^^^^^^ column 15
    put the layer below the file system: file(size=2G) + qemu-luks + ext4
    ");
    assert_snapshot!(error("dev(path=/dev/sdx) + throttle(iops=5)"), @"
    `throttle` needs a file below it, not a block device
      dev(path=/dev/sdx) + throttle(iops=5)
                           ^^^^^^^^^^^^^^^^ column 22
    put the layer directly on a file, below the device layers, or limit the device with cgroup-io
    ");
    assert_snapshot!(error("file + gocryptfs"), @"
    `gocryptfs` needs a directory below it, not a file
      file + gocryptfs
             ^^^^^^^^^ column 8
    put a file system below the layer: file(size=2G) + ext4 + gocryptfs
    ");
    assert_snapshot!(error("file + aes + ext4"), @r#"
    `aes` runs inside iotax and cannot be combined with `ext4`, which runs in the operating system
      file + aes + ext4
             ^^^ column 8
    put the in-process layers into a virtual disk at the bottom: vdisk(stack="file(size=1G) + aes") + ext4
    "#);
    assert_snapshot!(error("file(thin) + ext4"), @r#"
    `file(thin)` runs inside iotax and cannot be combined with `ext4`, which runs in the operating system
      file(thin) + ext4
      ^^^^^^^^^^ column 1
    put the in-process layers into a virtual disk at the bottom: vdisk(stack="file(thin)") + ext4
    "#);
    assert_snapshot!(error("file + xfs + fscrypt"), @"
    `fscrypt` needs ext4 directly below it
      file + xfs + fscrypt
                   ^^^^^^^ column 14
    use ext4 + fscrypt
    ");
    assert_snapshot!(error("dir(path=/mnt) + ext4"), @"
    `ext4` needs a block device below it, not a directory
      dir(path=/mnt) + ext4
                       ^^^^ column 18
    create the file system on a file or device: file(size=2G) + ext4
    ");
    assert_snapshot!(error("vdisk(stack=\"file + qemu-luks\")"), @r#"
    vdisk: stack: a virtual disk can contain only in-process layers
      vdisk(stack="file + qemu-luks")
                  ^^^^^^^^^^^^^^^^^^ column 13
    put all other layers on top of vdisk(...)
    "#);
    assert_snapshot!(error("vdisk(stack=\"fil\")"), @r#"
    vdisk: stack: unknown layer `fil`; did you mean `file`?
      vdisk(stack="fil")
                  ^^^^^ column 13
    put the stack in quotes; `iotax layers` lists the layers
    "#);
    assert_snapshot!(error("file + dmcrypt(no_read_workqueue=perhaps)"), @"
    `perhaps` is not a boolean: it is neither true nor false
      file + dmcrypt(no_read_workqueue=perhaps)
                                       ^^^^^^^ column 34
    use true or false
    ");
    assert_snapshot!(error("nfs(server=a, export=b)"), @"
    nfs: export: must be an absolute path on the server
      nfs(server=a, export=b)
                           ^ column 22
    start it with /
    ");
    assert_snapshot!(error("tmpfs + cgroup-io(read_iops=5)"), @"
    `cgroup-io` limits the I/O of block devices, but there is none directly below it
      tmpfs + cgroup-io(read_iops=5)
              ^^^^^^^^^^^^^^^^^^^^^^ column 9
    put the layer on a file system or device: file(size=2G) + ext4 + cgroup-io(read_iops=1000)
    ");
    assert_snapshot!(error("file + cgroup-io(read_iops=5) + qemu-luks"), @"
    `qemu-luks` runs in another process, which the `cgroup-io` below it does not limit
      file + cgroup-io(read_iops=5) + qemu-luks
                                      ^^^^^^^^^ column 33
    put cgroup-io on top
    ");
    assert_snapshot!(error("file + cgroup-io(read_iops=5) + ext4 + cgroup-io(read_bw=1M)"), @"
    a process belongs to only one cgroup, so a stack can have only one `cgroup-io`
      file + cgroup-io(read_iops=5) + ext4 + cgroup-io(read_bw=1M)
                                             ^^^^^^^^^^^^^^^^^^^^^ column 40
    put all limits into one layer
    ");
    assert_snapshot!(error("nfs(server=\"a,b\", export=/x)"), @r#"
    nfs: server: is not a host name or address
      nfs(server="a,b", export=/x)
                 ^^^^^ column 12
    for example filer.example.org, 10.0.0.5 or fd00::5
    "#);
    assert_snapshot!(error("file + ext4 + cgroup-io"), @"
    cgroup-io: read_iops: no limit is given
      file + ext4 + cgroup-io
                    ^^^^^^^^^ column 15
    for example cgroup-io(read_iops=1000) or cgroup-io(read_bw=32M)
    ");
}

#[test]
fn layers_of_network_paths_are_put_where_they_can_be_made() {
    assert_snapshot!(error("loopback + vxlan"), @"
    `vxlan` needs an Ethernet path or an IP path below it, not a service address
      loopback + vxlan
                 ^^^^^ column 12
    put the layer on iotax's own interfaces, below any service address: netns + vxlan
    ");
    assert_snapshot!(error("netns + dnat + tbf(rate=1Gbit)"), @"
    `tbf` needs an Ethernet path or an IP path below it, not a service address
      netns + dnat + tbf(rate=1Gbit)
                     ^^^^^^^^^^^^^^^ column 16
    put the layer on iotax's own interfaces, below any service address: netns + tbf
    ");
    assert!(Stack::parse("netns + dnat + tls").is_ok() && Stack::parse("loopback + ktls").is_ok());
    assert_snapshot!(error("loopback + tls + ktls"), @"
    `ktls` needs a service address or an IP path or an Ethernet path below it, not a path for TCP connections only
      loopback + tls + ktls
                       ^^^^ column 18
    put the layer on a network path: netns + ktls
    ");
    assert_snapshot!(error("netns + wireguard + bridge"), @"
    `bridge` needs an Ethernet path below it, not an IP path
      netns + wireguard + bridge
                          ^^^^^^ column 21
    put the layer on a network path: netns + bridge
    ");
    assert_snapshot!(error("netns + ipsec + mtu(bytes=1280) + ipsec"), @"
    `ipsec` protects traffic between two addresses, and the `ipsec` below it already protects the same traffic
      netns + ipsec + mtu(bytes=1280) + ipsec
                                        ^^^^^ column 35
    keep only one, or put a tunnel in between: ipsec + vxlan + ipsec
    ");
    assert!(Stack::parse("netns + ipsec + vxlan + bridge + ipsec + dnat").is_ok());
    assert_snapshot!(error("file + wireguard"), @"
    `wireguard` needs an Ethernet path or an IP path below it, not a file
      file + wireguard
             ^^^^^^^^^ column 8
    put the layer on a network path: netns + wireguard
    ");
    assert_snapshot!(error("netns + ext4"), @"
    `ext4` needs a block device below it, not an Ethernet path
      netns + ext4
              ^^^^ column 9
    create the file system on a file or device: file(size=2G) + ext4
    ");
    assert_snapshot!(error("netns + mtu(bytes=20)"), @"
    mtu: bytes: 20 is not a valid IPv4 MTU
      netns + mtu(bytes=20)
                        ^^ column 19
    use a value from 68 to 65535
    ");
    assert_snapshot!(error("netns + offload"), @"
    offload: tso: tso, gso or gro is required
      netns + offload
              ^^^^^^^ column 9
    for example gro=false
    ");
    assert_snapshot!(error("netns + netem"), @"
    netem: delay: delay, loss or rate is required
      netns + netem
              ^^^^^ column 9
    for example delay=2ms
    ");
    assert_snapshot!(error("netns + netem(jitter=1ms)"), @"
    netem: jitter: the jitter is larger than the delay
      netns + netem(jitter=1ms)
                           ^^^ column 22
    increase delay, or reduce jitter
    ");
    assert_snapshot!(error("netns + htb"), @"
    htb: rate: is required
      netns + htb
              ^^^ column 9
    for example htb(rate=500Mbit)
    ");
    let stack = Stack::parse("netns + wireguard + vxlan + bridge").unwrap();
    assert_snapshot!(stack.part(0b101).unwrap_err(), @"
    stack: without some of its layers, the stack is `netns + wireguard + bridge`, which cannot be built: `bridge` needs an Ethernet path below it, not an IP path
    compare stacks that can be built: iotax compare a=STACK b=STACK
    ");
}

#[test]
fn only_what_the_load_can_do_without_is_taken_off() {
    let stack = Stack::parse("file + qemu-luks + qemu-luks + dmcrypt + ext4 + gocryptfs").unwrap();
    assert_eq!(stack.layer_names(), ["qemu-luks", "qemu-luks#2", "dmcrypt", "gocryptfs"]);
    assert_snapshot!(stack.subset(0b0000), @"file + loop + ext4");
    assert_snapshot!(stack.subset(0b1010), @"file + qemu-luks + loop + ext4 + gocryptfs");
}

#[test]
fn a_layer_that_others_stand_on_stays() {
    let stack = Stack::parse("dev(path=/dev/sdx) + qemu-luks + throttle(iops=4000)").unwrap();
    assert_snapshot!(stack.part(0b10).unwrap_err(), @"
    stack: without some of its layers, the stack is `dev(path=/dev/sdx) + throttle(iops=4000) + loop`, which cannot be built: `throttle` needs a file below it, not a block device
    compare stacks that can be built: iotax compare a=STACK b=STACK
    ");
    assert!(stack.part(0b11).is_ok());
}

proptest! {
    /// What was put in stays when layers are taken off, and nothing more is needed then: all arms
    /// of a peel differ in the layers named, and in nothing else.
    #[test]
    fn every_part_of_a_stack_is_complete(text in any_text()) {
        if let Ok(stack) = Stack::parse(&text) {
            for mask in 0..1_u32 << stack.layer_names().len() {
                // `dev + qemu-luks + throttle` without `qemu-luks`: refused, not half made.
                let Ok(part) = stack.part(mask) else { continue };
                prop_assert_eq!(part.is_in_process(), stack.is_in_process());
                if !part.is_in_process() {
                    let is_network = part.form().is_network() && stack.form().is_network();
                    prop_assert!(is_network || part.form() == stack.form());
                }
                prop_assert_eq!(Stack::parse(&part.to_string()), Ok(part));
            }
        }
    }
}
