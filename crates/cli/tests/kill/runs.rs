//! What is killed: together, the runs have every layer that this machine can make.

use std::path::Path;

/// How a run comes to its end if nobody kills it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    ByItself,
    /// By itself, and leaves a server behind, as it should.
    LeavesServer,
    /// Not for so long that nobody waits for it.
    Never,
}

/// A command of iotax's.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub ends: Ends,
    pub arguments: Vec<String>,
}

/// Stands for the device that is given up.
const DEVICE: &str = "DEVICE";
/// What makes a run as short as it can be.
const SHORT: &str = "--ramp 0 --time 50ms --set size=1M --out out";
const SHORT_TIME: &str = "--ramp 0 --time 50ms --out out";
const SHORT_BLOCK: &str = "--quick --max-blocks 1 --no-depth-check";

/// All runs; `device` is the one that is given up. It and the directories `theirs` and `vm` must be
/// there.
pub(crate) fn all(device: &Path) -> Vec<Run> {
    let run = |target: &str| words(&["run", "randwrite-4k", target], SHORT);
    let compare = |arms: &[&str]| {
        let compare = [&["compare", "-w", "randwrite-4k"], arms].concat();
        words(&compare, &format!("{SHORT} {SHORT_BLOCK}"))
    };
    let network = |arms: &[&str]| {
        let compare = [&["compare", "-w", "tcp-rr"], arms].concat();
        words(&compare, &format!("{SHORT_TIME} {SHORT_BLOCK}"))
    };
    let peel = |stack: &str| words(&["peel", stack], &format!("{SHORT} {SHORT_BLOCK}"));
    let requests = |path: &str| words(&["run", "tcp-rr", path], "--ramp 0 --time 50ms --out out");
    let by_itself = [
        requests("netns + vxlan + wireguard(by=wireguard-go)"),
        requests(
            "netns + bridge + conntrack + tbf(rate=1Gbit) + htb(rate=500Mbit) \
             + offload(gro=false) + mtu(bytes=1280) + dnat",
        ),
        requests("netns + mtu(bytes=1400) + openvpn"),
        requests("netns + libipsec"),
        requests("netns + ssh"),
        peel("file(size=16M) + qemu-luks + qemu-luks + ext4"),
        compare(&["file(size=16M) + ext4(encrypt=true) + fscrypt", "tmpfs(size=16M) + gocryptfs"]),
        compare(&["theirs", "dir(path=theirs) + gocryptfs(cipher=aes-siv)"]),
        run("file(size=16M) + throttle(iops=100000) + ext4 + cgroup-io(write_iops=100000)"),
        run(r#"vdisk(stack="file(size=320M, thin) + flash + aes") + xfs"#),
        compare(&[
            "theirs",
            "file(path=new, size=4M) + queue",
            "mem(size=4M) + cache(size=1M) + delay(latency=1us)",
        ]),
        compare(&["cloud(vm=DS1_v2, disk=P10, size=4M)", "mem(size=4M)"]),
        network(&["loopback + tls", "netns + bridge + conntrack + dnat + tls"]),
        network(&[
            "netns + mtu(bytes=1400) + offload(tso=false) + vxlan + wireguard",
            "netns + htb(rate=1Gbit)",
            "netns + tbf(rate=1Gbit)",
        ]),
        // On one device they take turns, and what one has written is wiped before the next.
        [
            compare(&["dev(path=DEVICE) + btrfs", "dev(path=DEVICE) + qemu-luks + ext4"]),
            words(&["--destroy", DEVICE], ""),
        ]
        .concat(),
        [run("theirs"), words(&["--engine", "fio"], "")].concat(),
    ];
    let disk = "vm=file(path=new, size=4M) + tier(size=1M) + fault(eio=1%)";
    let limits = "file(size=64M) + loop + cgroup-io(read_iops=1000)";
    let others = [
        (Ends::Never, words(&["limits", limits], "--quick --out out")),
        // What `disk up` starts.
        (Ends::Never, words(&["disk", "serve", disk], "")),
        (Ends::LeavesServer, words(&["disk", "up", disk], "")),
    ];
    let with_device = |argument: String| argument.replace(DEVICE, device.to_str().unwrap());
    let all = by_itself.into_iter().map(|arguments| (Ends::ByItself, arguments)).chain(others);
    all.map(|(ends, arguments)| {
        let arguments = arguments.into_iter().map(with_device).collect();
        Run { ends, arguments }
    })
    .collect()
}

/// Arguments that may have blanks in them, and further ones that have none.
fn words(arguments: &[&str], further: &str) -> Vec<String> {
    arguments.iter().copied().chain(further.split_whitespace()).map(str::to_owned).collect()
}

impl Run {
    pub(crate) fn arguments(&self) -> Vec<&str> {
        self.arguments.iter().map(String::as_str).collect()
    }

    /// Whether a layer is in one of its stacks.
    pub(crate) fn has(&self, layer: &str) -> bool {
        let is_part = |c: char| !c.is_ascii_alphanumeric() && c != '-';
        self.arguments.iter().any(|argument| argument.split(is_part).any(|word| word == layer))
    }
}
