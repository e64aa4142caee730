//! NFS mounts: what the kernel counts of them, and the way to their server.

mod listener;
mod network;

pub use self::listener::listening;
pub(super) use self::network::has_policy;

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use iotax_record::machine::{MountSeen, NfsSeen, NfsTransport, Unseen};

use super::programs::Programs;
use crate::counters::{NfsMount, NfsTransportStats, nfs_mounts};

/// The port of NFS where a mount names none.
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
        // The last one mounted at a place is the one that is seen there.
        let is_it = |stats: &&NfsMount| stats.mount_point.to_str() == Some(&*mount.mount_point);
        let mut seen = all.iter().rev().find(is_it).map(summed).unwrap_or_default();
        // Addresses of link-local networks have the interface behind them.
        let server = mount.option("addr").map(|addr| addr.split('%').next().unwrap_or_default());
        let server = server.and_then(|server| server.parse().ok());
        let is_own = server.map(|server: IpAddr| server.is_loopback());
        seen.network = server.and_then(|server| network::path(server, programs, unseen));
        let port = seen.option("port").or_else(|| mount.option("port")).unwrap_or(NFS_PORT);
        let port = port.parse().ok();
        if let (Some(way), Some(true), Some(port)) = (&mut seen.network, is_own, port) {
            way.listener = listener::listener(Path::new("/proc"), port);
        }
        mount.nfs = Some(seen);
    }
}

/// A counter of all operations of a mount.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::scripts::PATIENT;

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
}
