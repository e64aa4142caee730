use iotax_diagnose::why::zfs::ZfsWhy;
use iotax_quantity::{bytes, count, size};

pub(in super::super) fn why(why: &ZfsWhy, mount: &str) -> String {
    match why {
        ZfsWhy::RecordSize { record_bytes, times } => format!(
            "A random read or write of less than {} in a larger file moves a whole record: \
             {times} times as much for 16 KiB.",
            size(*record_bytes)
        ),
        ZfsWhy::PrimaryCache { mode } => format!(
            "With primarycache={mode} no file data of {mount} stay in memory: each read goes to \
             the disks, by whole records."
        ),
        ZfsWhy::Sync { is_always, waits_for_data, rotates } => {
            let which = if *is_always {
                "Every write to"
            } else {
                "Every fsync on, and every stable write of an NFS server to,"
            };
            let log = if *waits_for_data {
                " The pool has no log device: it waits for the data disks."
            } else {
                ""
            };
            let turns = if *rotates { " They rotate." } else { "" };
            format!("{which} {mount} waits for the intent log.{log}{turns}")
        }
        ZfsWhy::Ashift { bytes } => format!(
            "The pool writes as little as {bytes} bytes, and disks of today have sectors of 4096: \
             they read and write a sector for it."
        ),
        ZfsWhy::Special { small_bytes, record_bytes } => format!(
            "Blocks up to {} go to the special vdev, and records are {}: all data of {mount} go \
             there.",
            bytes(*small_bytes as f64),
            bytes(*record_bytes as f64)
        ),
        ZfsWhy::RaidZ { kind, disks, vdevs } => format!(
            "A record is spread over the disks of a {kind} vdev: for random I/O, {disks} disks in \
             {} do about as much as {}.",
            count(*vdevs as u64, "vdev"),
            count(*vdevs as u64, "disk")
        ),
    }
}
