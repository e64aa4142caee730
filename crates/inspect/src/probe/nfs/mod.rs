//! NFS mounts: the kernel's counters, and the path to their server.

use std::fs;
use std::net::IpAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use iotax_record::machine::{Listener, MountSeen, NetworkPath, NfsSeen, NfsTransport, Unseen};

use super::programs::Programs;
use crate::block::number_in;
use crate::counters::{NfsMount, NfsTransportStats, nfs_mounts};

/// The port of NFS if a mount names none.
const NFS_PORT: &str = "2049";

/// Reads `/proc/self/mountstats` for those of `mounts` that are NFS.
pub(super) fn fill<'a>(
    mounts: impl Iterator<Item = &'a mut MountSeen>,
    programs: &Programs<'_>,
    unseen: &mut Vec<Unseen>,
) {
    let is_nfs = |mount: &&mut MountSeen| matches!(mount.file_system.as_str(), "nfs" | "nfs4");
    let mut mounts = mounts.filter(is_nfs).peekable();
    if mounts.peek().is_none() {
        return;
    }
    let all = nfs_mounts(&fs::read_to_string("/proc/self/mountstats").unwrap_or_default());
    for mount in mounts {
        // Only the last mount at a mount point is visible.
        let is_it = |stats: &&NfsMount| stats.mount_point.to_str() == Some(&*mount.mount_point);
        let mut seen = all.iter().rev().find(is_it).map(summed).unwrap_or_default();
        // Link-local addresses include the interface.
        let server = mount.option("addr").map(|addr| addr.split('%').next().unwrap_or_default());
        let server = server.and_then(|server| server.parse().ok());
        let is_own = server.map(|server: IpAddr| server.is_loopback());
        seen.network = server.and_then(|server| path(server, programs, unseen));
        let port = seen.option("port").or_else(|| mount.option("port")).unwrap_or(NFS_PORT);
        let port = port.parse().ok();
        if let (Some(way), Some(true), Some(port)) = (&mut seen.network, is_own, port) {
            way.listener = listener(Path::new("/proc"), port);
        }
        mount.nfs = Some(seen);
    }
}

/// The sum of a counter over all operations of a mount.
fn sum(stats: &NfsMount, counter: usize) -> u64 {
    let counters = stats.operations.iter().map(|(_, counters)| counters[counter]);
    counters.fold(0, u64::saturating_add)
}

/// Transmissions beyond the first of each operation.
pub(super) fn sent_again(stats: &NfsMount) -> u64 {
    sum(stats, 1).saturating_sub(sum(stats, 0))
}

fn summed(stats: &NfsMount) -> NfsSeen {
    let transport = |stats: &NfsTransportStats| NfsTransport {
        protocol: stats.protocol.clone(),
        most_slots: stats.most_slots,
    };
    NfsSeen {
        options: stats.options.clone(),
        transports: stats.transports.iter().map(transport).collect(),
        operations: sum(stats, 0),
        transmissions: sum(stats, 1),
        major_timeouts: sum(stats, 2),
        age_s: stats.age_s,
        sent_again_while_watched: None,
        network: None,
    }
}

// The path to a server: the kernel's outgoing interface, and whether `IPsec` policies apply to it.
// Nothing is sent.

/// The path to `server`, from `ip route get`, which applies all tables and rules.
fn path(server: IpAddr, programs: &Programs<'_>, unseen: &mut Vec<Unseen>) -> Option<NetworkPath> {
    let address = server.to_string();
    let told = programs.output("ip", &["-o", "route", "get", &address]);
    let Some(interface) = told.as_deref().and_then(interface) else {
        let what = format!("the network interface to the NFS server {address}");
        unseen.push(Unseen { what, how: format!("ip route get {address}") });
        return None;
    };
    let ipsec = has_policy(server, &format!("the NFS server {address}"), programs, unseen);
    let directory = Path::new("/sys/class/net").join(interface);
    let uevent = fs::read_to_string(directory.join("uevent")).unwrap_or_default();
    Some(NetworkPath {
        server: address,
        interface: interface.to_owned(),
        mtu_bytes: number_in(&directory.join("mtu")).and_then(|mtu| u32::try_from(mtu).ok()),
        kind: uevent.lines().find_map(|line| line.strip_prefix("DEVTYPE=")).map(str::to_owned),
        ipsec,
        listener: None,
    })
}

/// Whether IPsec encrypts the path to `server`, called `name` in messages.
pub(in crate::probe) fn has_policy(
    server: IpAddr,
    name: &str,
    programs: &Programs<'_>,
    unseen: &mut Vec<Unseen>,
) -> Option<bool> {
    let policies = programs.output("ip", &["xfrm", "policy"]);
    if policies.is_none() {
        let what = format!("whether IPsec encrypts the path to {name}");
        unseen.push(Unseen { what, how: "as root: ip xfrm policy".to_owned() });
    }
    policies.map(|policies| is_covered(&policies, server))
}

/// `10.0.0.9 via 192.0.2.1 dev eth0 src 192.0.2.2`
fn interface(route: &str) -> Option<&str> {
    let mut words = route.split_ascii_whitespace();
    words.find(|word| *word == "dev")?;
    // A plain name that cannot leave the directory of interfaces.
    words.next().filter(|name| !name.contains('/') && !name.starts_with('.'))
}

/// Whether one of the policies transforms outgoing packets to `server`:
///
/// ```text
/// src 10.1.0.0/16 dst 10.2.0.0/16
///         dir out priority 2883
///         tmpl src 10.1.0.1 dst 10.2.0.1
/// ```
fn is_covered(policies: &str, server: IpAddr) -> bool {
    let mut holds = false;
    let mut is_out = false;
    for line in policies.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words.as_slice() {
            ["src", _, "dst", to, ..] => {
                holds = is_within(server, to);
                is_out = false;
            }
            ["dir", direction, ..] => is_out = *direction == "out",
            // Without one, a policy lets traffic through unchanged.
            ["tmpl", ..] if holds && is_out => return true,
            _ => {}
        }
    }
    false
}

/// Whether an address is in `10.2.0.0/16`, or is this address.
fn is_within(address: IpAddr, network: &str) -> bool {
    let (network, length) = match network.split_once('/') {
        Some((network, length)) => (network, length.parse::<u32>().ok()),
        None => (network, Some(128)),
    };
    let same = |a: u128, b: u128, bits: u32| {
        let ignored = bits - length.unwrap_or(bits).min(bits);
        // All 128 bits cannot be shifted out at once.
        a.checked_shr(ignored).unwrap_or(0) == b.checked_shr(ignored).unwrap_or(0)
    };
    match (address, network.parse()) {
        (IpAddr::V4(a), Ok(IpAddr::V4(b))) => {
            same(u128::from(a.to_bits()), u128::from(b.to_bits()), 32)
        }
        (IpAddr::V6(a), Ok(IpAddr::V6(b))) => same(a.to_bits(), b.to_bits(), 128),
        _ => false,
    }
}

// The process that listens on a port of this machine: a proxy that receives the calls of an NFS
// mount.
//
// The kernel names the socket in `/proc/net/tcp`. The process that has it open is found among all
// processes; only root can see the files of other users' processes.

/// The state of a listening socket in `/proc/net/tcp`.
const LISTENS: &str = "0A";
/// Time limit for searching processes; a machine can have very many.
const LIMIT: Duration = Duration::from_millis(300);

/// The process that listens on this port of the loopback interface.
fn listener(proc: &Path, port: u16) -> Option<Listener> {
    let text = |name: &str| fs::read_to_string(proc.join("net").join(name)).unwrap_or_default();
    let sockets: Vec<u64> =
        ["tcp", "tcp6"].iter().flat_map(|name| listening(&text(name), port)).collect();
    let process = owner(proc, &sockets)?;
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    let up_s = fs::read_to_string(proc.join("uptime")).ok();
    let up_s = up_s.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    let ticks_per_s = rustix::param::clock_ticks_per_second().max(1);
    of_stat(&stat, up_s, ticks_per_s)
}

/// Inodes of the sockets that listen on a port.
///
/// ```text
///   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
///    0: 0100007F:4FA1 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 21345
/// ```
pub fn listening(text: &str, port: u16) -> Vec<u64> {
    let socket = |line: &str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, local, _, state, _, _, _, _, _, inode, ..] = fields.as_slice() else { return None };
        let (_, local) = local.rsplit_once(':')?;
        let is_it = u16::from_str_radix(local, 16).ok()? == port && *state == LISTENS;
        // 0 is a socket of the kernel.
        inode.parse().ok().filter(|inode| is_it && *inode > 0)
    };
    text.lines().filter_map(socket).collect()
}

/// The directory of the process that has one of these sockets open.
fn owner(proc: &Path, sockets: &[u64]) -> Option<std::path::PathBuf> {
    if sockets.is_empty() {
        return None;
    }
    let names: Vec<_> = sockets.iter().map(|inode| format!("socket:[{inode}]")).collect();
    let until = Instant::now() + LIMIT;
    let is_process =
        |name: &std::ffi::OsStr| name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
    let processes =
        fs::read_dir(proc).ok()?.flatten().filter(|entry| is_process(&entry.file_name()));
    for process in processes.take_while(|_| Instant::now() < until) {
        let files = fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten();
        let has_it = |file: fs::DirEntry| {
            fs::read_link(file.path())
                .is_ok_and(|to| names.iter().any(|name| to.as_os_str() == &**name))
        };
        if files.take_while(|_| Instant::now() < until).any(has_it) {
            return Some(process.path());
        }
    }
    None
}

/// Name, threads and CPU time of `/proc/PID/stat`, described in proc(5).
fn of_stat(stat: &str, up_s: Option<f64>, ticks_per_s: u64) -> Option<Listener> {
    // The name can contain blanks and brackets.
    let (before, after) = stat.rsplit_once(')')?;
    let (_, program) = before.split_once('(')?;
    // From the third field on.
    let fields: Vec<&str> = after.split_ascii_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let ms = |ticks: u64| ticks.saturating_mul(1_000) / ticks_per_s;
    let began_s = field(22).map(|ticks| ticks as f64 / ticks_per_s as f64);
    let age = up_s.zip(began_s).map(|(up, began)| (up - began).max(0.0));
    let age = age.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    Some(Listener {
        program: program.to_owned(),
        threads: field(20),
        cpu_ms: field(14).zip(field(15)).map(|(user, system)| ms(user.saturating_add(system))),
        age_ms: age.and_then(|age| u64::try_from(age.as_millis()).ok()),
    })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use proptest::prelude::*;

    use super::*;
    use crate::probe::scripts::{PATIENT, with};

    #[test]
    fn operations_of_a_mount_are_summed() {
        let text = "\
device s:/x mounted on /m with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.2,nconnect=2,sec=krb5p
\txprt:\ttcp 0 0 2 0 0 61 61 0 63 0 64 0 0
\txprt:\ttcp 0 0 2 0 0 61 61 0 63 0 65 0 0
\tage:\t86400
\tper-op statistics
\t        READ: 16 17 1 3072 4196608 2 11 13 3
\t       WRITE: 5 6 2 1 2 3 4 5
";
        let seen = summed(&nfs_mounts(text)[0]);
        assert_eq!((seen.operations, seen.transmissions, seen.major_timeouts), (21, 23, 3));
        assert_eq!(seen.age_s, Some(86_400));
        assert_eq!((seen.option("sec"), seen.option("nconnect")), (Some("krb5p"), Some("2")));
        let slots: Vec<_> = seen.transports.iter().map(|transport| transport.most_slots).collect();
        assert_eq!(slots, [Some(64), Some(65)]);
        assert_eq!(seen.transports[0].protocol, "tcp");
    }

    #[test]
    fn other_mounts_have_none() {
        let mut mount = MountSeen { file_system: "ext4".to_owned(), ..MountSeen::default() };
        let mut unseen = Vec::new();
        fill([&mut mount].into_iter(), &Programs::new(&[], PATIENT), &mut unseen);
        assert_eq!((mount.nfs, unseen.len()), (None, 0));
    }

    const POLICIES: &str = "\
src 10.2.0.0/16 dst 10.1.0.0/16
\tdir in priority 2883 ptype main
\ttmpl src 10.2.0.1 dst 10.1.0.1
\t\tproto esp reqid 1 mode tunnel
src 10.1.0.0/16 dst 10.2.0.0/16
\tdir out priority 2883 ptype main
\ttmpl src 10.1.0.1 dst 10.2.0.1
\t\tproto esp reqid 1 mode tunnel
src 0.0.0.0/0 dst 0.0.0.0/0
\tdir out priority 0 ptype main
src ::/0 dst fd00:2::/32
\tdir out priority 7
\ttmpl src :: dst ::
";

    #[test]
    fn a_policy_covers_its_networks_in_its_direction() {
        let is_covered = |address: &str| is_covered(POLICIES, address.parse().unwrap());
        assert!(is_covered("10.2.3.4"));
        assert!(!is_covered("10.1.3.4"), "only what comes in");
        assert!(!is_covered("192.0.2.1"), "let through as it is");
        assert!(is_covered("fd00:2::7"));
        assert!(!is_covered("fd01::7"));
    }

    #[test]
    fn networks_of_any_length_are_compared() {
        let is_within = |address: &str, network| is_within(address.parse().unwrap(), network);
        assert!(is_within("10.0.0.7", "10.0.0.7"));
        assert!(is_within("10.0.0.7", "0.0.0.0/0"));
        assert!(is_within("fd00::1", "::/0"));
        assert!(!is_within("10.0.0.7", "10.0.0.8/31"));
        assert!(!is_within("10.0.0.7", "::/0"));
    }

    #[test]
    fn the_way_to_this_machine_is_its_loopback() {
        let route = "local 127.0.0.1 dev lo src 127.0.0.1 uid 0 \\    cache <local>";
        let script = format!("case $1 in -o) echo '{route}';; *) exit 2;; esac");
        let directory = with("ip", &script);
        let mut unseen = Vec::new();
        let server = "127.0.0.1".parse().unwrap();
        let directories = [directory.path().to_owned()];
        let programs = Programs::new(&directories, PATIENT);
        let path = path(server, &programs, &mut unseen).unwrap();
        assert_eq!((path.interface.as_str(), path.kind, path.ipsec), ("lo", None, None));
        assert!(path.mtu_bytes.unwrap() >= 1280);
        assert_eq!(unseen[0].how, "as root: ip xfrm policy");
    }

    #[test]
    fn without_the_program_the_way_is_unseen() {
        let mut unseen = Vec::new();
        let server = "192.0.2.9".parse().unwrap();
        assert_eq!(path(server, &Programs::new(&[], PATIENT), &mut unseen), None);
        assert_eq!(unseen[0].how, "ip route get 192.0.2.9");
        assert_eq!(interface("x dev ../../etc"), None);
        assert_eq!(interface("unreachable"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parsers_of_routes_panic(text in ".*", network in "[0-9a-f.:/]{0,20}") {
            let server = "10.2.3.4".parse().unwrap();
            interface(&text);
            is_covered(&text, server);
            is_within(server, &network);
            is_within("fd00::1".parse().unwrap(), &format!("::/{network}"));
        }
    }

    #[test]
    fn a_socket_listens_on_its_port_alone() {
        let text = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:4FA1 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 21345 1 0 100 0
   1: 0100007F:4FA1 0100007F:0801 01 00000000:00000000 00:00000000 00000000     0        0 21346 1 0 20 4
   2: 0100007F:0801 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 0 1 0 100 0
";
        assert_eq!(listening(text, 20385), [21345]);
        assert_eq!(listening(text, 2049), [0; 0], "the kernel's own");
        let six = "0: 00000000000000000000000001000000:4FA1 00000000000000000000000000000000:0000 0A \
                   00000000:00000000 00:00000000 00000000 0 0 77";
        assert_eq!(listening(six, 20385), [77]);
    }

    #[test]
    fn this_process_is_found_by_its_own_socket() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        let found = listener(Path::new("/proc"), port).unwrap();
        assert!(!found.program.is_empty());
        assert!(found.threads >= Some(1) && found.cpu_ms.is_some() && found.age_ms.is_some());
        drop(socket);
        assert_eq!(listener(Path::new("/proc"), port), None);
    }

    #[test]
    fn a_stat_tells_threads_and_cpu_time() {
        let stat = "4112 (efs proxy) (x)) S 1 4112 4112 0 -1 4194560 1 2 3 4 1500 500 0 0 20 0 5 0 10000 9 9";
        let found = of_stat(stat, Some(200.0), 100).unwrap();
        let expected = Listener {
            program: "efs proxy) (x)".to_owned(),
            threads: Some(5),
            cpu_ms: Some(20_000),
            age_ms: Some(100_000),
        };
        assert_eq!(found, expected);
        assert_eq!(of_stat("x", None, 100), None);
        assert_eq!(of_stat("1 (a) S", None, 100).unwrap().threads, None);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parsers_of_sockets_panic(text in ".*", line in r"[0-9A-F:\- a()]{0,120}") {
            listening(&text, 1);
            listening(&line, 0x0801);
            of_stat(&text, Some(1.0), 100);
            of_stat(&format!("1 ({line}) S {line}"), None, 100);
        }
    }
}
