//! Properties of a ZFS dataset and the layout of its pool, from `zfs` and `zpool`. Both only read.

use std::fs;
use std::path::Path;

use iotax_record::machine::{MountSeen, ZfsSeen, ZfsVdev};

use super::programs::Programs;
use crate::block::{disk_of, number_in};

/// Properties that rules use: all of them, and those that versions before 0.8 have.
const PROPERTIES: [&str; 2] = [
    "recordsize,primarycache,sync,compression,special_small_blocks",
    "recordsize,primarycache,sync,compression",
];
/// Headings in `zpool status` of vdevs that do not store data.
const ROLES: [&str; 5] = ["logs", "special", "dedup", "cache", "spares"];
/// No pool has more; a program that prints more is not `zpool`.
const MOST_VDEVS: usize = 4096;

/// Reads the properties of those `mounts` that are ZFS.
pub(super) fn fill<'a>(
    mounts: impl Iterator<Item = &'a mut MountSeen>,
    sysfs: &Path,
    programs: &Programs<'_>,
) {
    for mount in mounts.filter(|mount| mount.file_system == "zfs") {
        // A snapshot has the properties of its dataset.
        let dataset = mount.source.split('@').next().unwrap_or_default();
        let pool = dataset.split('/').next().unwrap_or_default();
        if pool.is_empty() || dataset.starts_with('-') {
            continue;
        }
        let get = |names: &&str| {
            programs.output("zfs", &["get", "-Hp", "-o", "property,value", names, dataset])
        };
        let Some(properties) = PROPERTIES.iter().find_map(get) else { continue };
        let ashift = programs.output("zpool", &["get", "-Hp", "-o", "value", "ashift", pool]);
        let status = programs.output("zpool", &["status", "-P", pool]);
        let rotates = |device: &str| rotates(Path::new(device), sysfs);
        mount.zfs = Some(ZfsSeen {
            ashift: ashift.and_then(|text| text.trim().parse().ok()),
            vdevs: status.map(|text| vdevs(&text, rotates)).unwrap_or_default(),
            ..with_properties(&properties)
        });
    }
}

/// Lines of a property, a tab and its value.
fn with_properties(text: &str) -> ZfsSeen {
    let value = |name: &str| {
        let mut pairs = text.lines().filter_map(|line| line.split_once('\t'));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value.trim().to_owned())
    };
    ZfsSeen {
        record_bytes: value("recordsize").and_then(|bytes| bytes.parse().ok()),
        primary_cache: value("primarycache"),
        sync: value("sync"),
        compression: value("compression"),
        special_small_bytes: value("special_small_blocks").and_then(|bytes| bytes.parse().ok()),
        ..ZfsSeen::default()
    }
}

/// The vdevs of a pool, parsed from the output of `zpool status`: indentation shows which line
/// belongs to which. `rotates` tells whether a device rotates.
///
/// ```text
/// config:
///
///         NAME          STATE     READ WRITE CKSUM
///         tank          ONLINE       0     0     0
///           raidz2-0    ONLINE       0     0     0
///             /dev/sda1 ONLINE       0     0     0
///         logs
///           /dev/nvme0n1p1  ONLINE   0     0     0
/// ```
pub fn vdevs(text: &str, rotates: impl Fn(&str) -> Option<bool>) -> Vec<ZfsVdev> {
    let mut lines = text.lines().skip_while(|line| !line.trim_start().starts_with("NAME"));
    let Some(head) = lines.next() else { return Vec::new() };
    let depth = |line: &str| line.len() - line.trim_start().len();
    let base = depth(head);
    let mut found: Vec<ZfsVdev> = Vec::new();
    let mut role = "data";
    // Indentation of the devices of the previous vdev.
    let mut inside: Option<usize> = None;
    for line in lines.take_while(|line| !line.trim().is_empty()) {
        let Some(name) = line.split_whitespace().next() else { break };
        let at = depth(line);
        if at <= base {
            role = ROLES.into_iter().find(|role| *role == name).unwrap_or("data");
            inside = None;
            continue;
        }
        if let (Some(least), Some(vdev)) = (inside, found.last_mut())
            && at >= least
        {
            // A device that is being replaced is below the name of the replacement.
            vdev.devices += 1;
            vdev.rotates = either(vdev.rotates, rotates(name));
            continue;
        }
        if found.len() >= MOST_VDEVS {
            break;
        }
        let kind = kind(name);
        inside = (kind != "disk").then_some(at + 1);
        let of_device = if kind == "disk" { rotates(name) } else { None };
        let devices = u64::from(kind == "disk");
        found.push(ZfsVdev { role: role.to_owned(), kind, devices, rotates: of_device });
    }
    found
}

/// `raidz2` of `raidz2-0`, `draid1` of `draid1:4d:8c:0s-0`; a device is a `disk`.
fn kind(name: &str) -> String {
    let known = ["mirror", "raidz", "draid"];
    let word = name.split(['-', ':']).next().unwrap_or_default();
    let is_group = known.iter().any(|known| {
        let level = word.strip_prefix(known);
        level.is_some_and(|level| {
            level.len() <= 1 && level.bytes().all(|digit| digit.is_ascii_digit())
        })
    });
    match word {
        "raidz" if is_group => "raidz1".to_owned(),
        "draid" if is_group => "draid1".to_owned(),
        word if is_group => word.to_owned(),
        _ => "disk".to_owned(),
    }
}

/// One rotating device makes the vdev as slow as itself.
fn either(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    match (one, other) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (None, other) => other,
        (one, None) => one,
        _ => Some(false),
    }
}

/// Whether the disk of a device node reports rotation.
fn rotates(device: &Path, sysfs: &Path) -> Option<bool> {
    let node = fs::canonicalize(device).ok()?;
    let node = fs::canonicalize(sysfs.join("class/block").join(node.file_name()?)).ok()?;
    number_in(&disk_of(&node).join("queue/rotational")).map(|flag| flag != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::scripts::{PATIENT, with};
    use proptest::prelude::*;

    const STATUS: &str = "  pool: tank
 state: ONLINE
  scan: resilvered 1.01T in 03:01:25 with 0 errors on Sat Jan 25 10:31:43 2025
config:

\tNAME                    STATE     READ WRITE CKSUM
\ttank                    ONLINE       0     0     0
\t  raidz2-0              ONLINE       0     0     0
\t    /dev/sda1           ONLINE       0     0     0
\t    replacing-1         DEGRADED     0     0     0
\t      /dev/sdb1         OFFLINE      0     0     0
\t      /dev/sdc1         ONLINE       0     0     0
\t  mirror-1              ONLINE       0     0     0
\t    /dev/nvme0n1p1      ONLINE       0     0     0
\t    /dev/nvme1n1p1      ONLINE       0     0     0
\tspecial
\t  mirror-2              ONLINE       0     0     0
\t    /dev/nvme2n1p1      ONLINE       0     0     0
\t    /dev/nvme3n1p1      ONLINE       0     0     0
\tlogs
\t  /dev/nvme4n1p1        ONLINE       0     0     0
\tcache
\t  /dev/nvme5n1p1        ONLINE       0     0     0
\tspares
\t  /dev/sdz1             AVAIL

errors: No known data errors
";

    const ROTATING: fn(&str) -> Option<bool> = |device| Some(device.starts_with("/dev/sd"));

    #[test]
    fn vdevs_stand_under_their_role() {
        let found = vdevs(STATUS, ROTATING);
        let told: Vec<_> = found
            .iter()
            .map(|vdev| (vdev.role.as_str(), vdev.kind.as_str(), vdev.devices, vdev.rotates))
            .collect();
        assert_eq!(
            told,
            [
                ("data", "raidz2", 4, Some(true)),
                ("data", "mirror", 2, Some(false)),
                ("special", "mirror", 2, Some(false)),
                ("logs", "disk", 1, Some(false)),
                ("cache", "disk", 1, Some(false)),
                ("spares", "disk", 1, Some(true)),
            ]
        );
        assert_eq!(vdevs("cannot open 'x': no such pool\n", ROTATING), []);
    }

    #[test]
    fn single_disks_are_vdevs_of_their_own() {
        let status = "\tNAME   STATE READ WRITE CKSUM\n\ttank   ONLINE 0 0 0\n\t  /dev/sda  ONLINE 0 0 0\n\t  \
                      /dev/mirrored ONLINE 0 0 0\n\t  raidz1-0  ONLINE 0 0 0\n\t    /dev/sdc ONLINE 0 0 0\n";
        let kinds: Vec<_> = vdevs(status, |_| None).into_iter().map(|vdev| vdev.kind).collect();
        assert_eq!(kinds, ["disk", "disk", "raidz1"]);
        assert_eq!(kind("draid2:4d:8c:1s-0"), "draid2");
        assert_eq!(kind("raidz-0"), "raidz1");
    }

    #[test]
    fn properties_are_asked_of_the_dataset_and_of_its_pool() {
        let script = r#"case "$*" in
            *recordsize*tank/db) printf 'recordsize\t16384\nprimarycache\tall\nsync\tstandard\ncompression\tlz4\nspecial_small_blocks\t0\n';;
            *) exit 1;; esac"#;
        let directory = with("zfs", script);
        let mut mount = MountSeen {
            file_system: "zfs".to_owned(),
            source: "tank/db".to_owned(),
            ..MountSeen::default()
        };
        let directories = [directory.path().to_owned()];
        let programs = Programs::new(&directories, PATIENT);
        fill([&mut mount].into_iter(), Path::new("/sys"), &programs);
        let zfs = mount.zfs.unwrap();
        assert_eq!((zfs.record_bytes, zfs.special_small_bytes), (Some(16384), Some(0)));
        assert_eq!(
            (zfs.primary_cache.as_deref(), zfs.sync.as_deref()),
            (Some("all"), Some("standard"))
        );
        assert_eq!((zfs.ashift, zfs.vdevs.len()), (None, 0), "there is no zpool");
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parsers_panic(text in ".*", lines in "(\t? {0,8}(NAME|tank|logs|mirror-0|sda)?[ a-z0-9]{0,9}\n){0,20}") {
            with_properties(&text);
            vdevs(&text, |_| None);
            vdevs(&lines, |_| Some(true));
        }
    }
}
