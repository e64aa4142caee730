//! NFS operations of each mount: `/proc/self/mountstats`.
//!
//! The lines are written by `rpc_clnt_show_stats` of the kernel (`net/sunrpc/stats.c`); nfsiostat
//! and mountstats of nfs-utils read them.

use std::path::PathBuf;

use iotax_record::{NFS_COUNTERS, NFS_TRANSPORT_COUNTERS};

use super::plain::figures;
use crate::mounts::unescape;

/// Minimum number of counters of an operation: errors came with Linux 5.3.
const FEWEST: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NfsMount {
    pub mount_point: PathBuf,
    /// The source of the mount: `server:/export`.
    pub source: String,
    /// Seconds since it was mounted.
    pub age_s: Option<u64>,
    /// Options in force: `rw,vers=4.2,rsize=1048576,sec=sys`.
    pub options: String,
    pub transports: Vec<NfsTransportStats>,
    /// Operations and their counters, in the kernel's order.
    pub operations: Vec<(String, [u64; NFS_COUNTERS])>,
}

/// One connection.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NfsTransportStats {
    /// `tcp`, `rdma`, `udp`, `local`.
    pub protocol: String,
    /// The highest number of requests in flight on it.
    pub most_slots: Option<u64>,
    /// Its counters, only for `tcp` and `rdma`. `rdma` lacks the last two.
    pub counters: Option<[u64; NFS_TRANSPORT_COUNTERS]>,
}

/// All NFS mounts; lines that are not in the documented format are skipped.
pub fn nfs_mounts(text: &str) -> Vec<NfsMount> {
    let mut mounts: Vec<NfsMount> = Vec::new();
    // Whether the next lines are operations of the last of `mounts`.
    let mut in_operations = false;
    // Whether they belong to an NFS mount at all; most file systems have only a first line.
    let mut in_mount = false;
    for line in text.lines() {
        if let Some(device) = line.strip_prefix("device ") {
            in_operations = false;
            let mount = mount(device);
            in_mount = mount.is_some();
            mounts.extend(mount);
        } else if line.trim() == "per-op statistics" {
            in_operations = true;
        } else if in_operations && let Some(mount) = mounts.last_mut() {
            mount.operations.extend(operation(line));
        } else if let Some(mount) = mounts.last_mut().filter(|_| in_mount) {
            let line = line.trim_start();
            if let Some(options) = line.strip_prefix("opts:") {
                options.trim().clone_into(&mut mount.options);
            } else if let Some(age) = line.strip_prefix("age:") {
                mount.age_s = age.trim().parse().ok();
            } else if let Some(transport) = line.strip_prefix("xprt:") {
                mount.transports.extend(self::transport(transport));
            }
        }
    }
    mounts
}

/// `server:/export mounted on /mnt with fstype nfs4 statvers=1.1`
fn mount(line: &str) -> Option<NfsMount> {
    let mut words = line.split(' ');
    let source = unescape(words.next()?);
    let (_mounted, _on, mount_point) = (words.next()?, words.next()?, words.next()?);
    let (_with, _fstype, name) = (words.next()?, words.next()?, words.next()?);
    let is_nfs = matches!(name, "nfs" | "nfs4");
    is_nfs.then(|| NfsMount {
        mount_point: unescape(mount_point).into(),
        source,
        ..NfsMount::default()
    })
}

/// `tcp 0 0 2 0 0 61 61 0 63 0 2 0 0`; the meaning of the figures depends on the transport:
/// `xs_tcp_print_stats` and its neighbours in the kernel's `net/sunrpc/xprtsock.c`, and
/// `xprt_rdma_print_stats`.
fn transport(line: &str) -> Option<NfsTransportStats> {
    let mut words = line.split_ascii_whitespace();
    let protocol = words.next()?;
    let numbers: Vec<&str> = words.collect();
    let at = |place: usize| numbers.get(place)?.parse::<u64>().ok();
    let most_slots = match protocol {
        "tcp" => at(10),
        "local" => at(9),
        "udp" => at(7),
        _ => None,
    };
    let [sending, waiting] = match protocol {
        "tcp" => [11, 12].map(at),
        _ => [Some(0); 2],
    };
    let counters = || Some([at(2)?, at(5)?, at(6)?, at(7)?, at(8)?, at(9)?, sending?, waiting?]);
    let counters = matches!(protocol, "tcp" | "rdma").then(counters).flatten();
    Some(NfsTransportStats { protocol: protocol.to_owned(), most_slots, counters })
}

/// `READ: 16 16 0 3072 4196608 0 11 13 0`
fn operation(line: &str) -> Option<(String, [u64; NFS_COUNTERS])> {
    let (name, words) = line.trim().split_once(':')?;
    Some((name.to_owned(), figures(words.split_ascii_whitespace(), FEWEST)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FIXTURE: &str = "\
device proc mounted on /proc with fstype proc
device server:/export mounted on /mnt/two\\040words with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.2,rsize=1048576,wsize=1048576,sec=sys
\tage:\t12
\tcaps:\tcaps=0x3ffbffff,wtmult=512,dtsize=1048576,bsize=0,namlen=255
\tevents:\t7 5 1 0 5 2 16 0 0 1 0 0 0 1 2 0 0 1 0 0 0 0 0 0 0 0 0
\tbytes:\t4194304 0 0 0 4194304 0 1024 0
\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)
\txprt:\ttcp 0 0 2 0 0 61 61 0 63 0 2 0 0
\tper-op statistics
\t        NULL: 1 1 0 44 24 0 0 0 0
\t        READ: 16 17 1 3072 4196608 2 11 13 3
\t       WRITE: 5 5 0 1 2 3 4 5
\t      BROKEN: 1 2 3

device tmpfs mounted on /tmp with fstype tmpfs
\t        READ: 9 9 9 9 9 9 9 9 9
device other:/x mounted on /x with fstype nfs statvers=1.1
\tper-op statistics
\t     GETATTR: 1 1 1 1 1 1 1 1 1
";

    #[test]
    fn operations_belong_to_the_mount_above_them() {
        let mounts = nfs_mounts(FIXTURE);
        assert_eq!(mounts.len(), 2);
        assert_eq!(mounts[0].source, "server:/export");
        assert_eq!(mounts[0].mount_point, PathBuf::from("/mnt/two words"));
        assert_eq!(mounts[0].options, "rw,vers=4.2,rsize=1048576,wsize=1048576,sec=sys");
        assert_eq!(mounts[0].transports.len(), 1);
        assert_eq!(mounts[0].transports[0].most_slots, Some(2));
        let names: Vec<_> = mounts[0].operations.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["NULL", "READ", "WRITE"]);
        assert_eq!(mounts[0].operations[1].1, [16, 17, 1, 3072, 4_196_608, 2, 11, 13, 3]);
        assert_eq!(mounts[0].operations[2].1[8], 0, "kernels before 5.3 count no errors");
        assert_eq!(mounts[1].operations, [("GETATTR".to_owned(), [1; 9])]);
    }

    #[test]
    fn each_transport_has_its_slots_elsewhere() {
        let slots = |line: &str| transport(line).unwrap().most_slots;
        assert_eq!(slots("udp 1 2 3 4 5 6 7 64 8 9"), Some(64));
        assert_eq!(slots("local 1 2 3 4 5 6 7 8 9 64 8 9"), Some(64));
        assert_eq!(slots("rdma 1 2 3"), None);
        assert_eq!(transport(""), None);
    }

    #[test]
    fn connections_have_counters() {
        let counters = |line: &str| transport(line).unwrap().counters;
        let tcp = "tcp 746 0 2 0 -1 61 60 1 63 4 2 5 6";
        assert_eq!(counters(tcp), Some([2, 61, 60, 1, 63, 4, 5, 6]));
        assert_eq!(counters("rdma 0 1 2 3 4 61 60 1 63 4 9 9"), Some([2, 61, 60, 1, 63, 4, 0, 0]));
        assert_eq!(counters("tcp 0 0 2"), None);
        assert_eq!(counters("local 1 2 3 4 5 6 7 8 9 64 8 9"), None);
    }

    #[test]
    fn a_mount_may_have_no_operations_yet() {
        let text = "device a:/ mounted on /a with fstype nfs4 statvers=1.1\n";
        assert_eq!(nfs_mounts(text)[0].operations, []);
        assert_eq!(nfs_mounts("device a:/ mounted on /a with"), []);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in ".*", counters in "[0-9 :]{0,40}") {
            nfs_mounts(&text);
            transport(&format!("tcp {counters}"));
            nfs_mounts(&format!("device a mounted on b with fstype nfs\nper-op statistics\n{counters}"));
        }
    }
}
