use iotax_diagnose::why::zfs::ZfsWhy;
use iotax_quantity::{bytes, count, size};

pub(in super::super) fn why(why: &ZfsWhy, mount: &str) -> String {
    match why {
        ZfsWhy::RecordSize { record_bytes, times } => format!(
            "In a file larger than {}, each random read or write below this size moves a whole \
             record. For a 16 KiB I/O, a record is {times} times as large as the requested data.",
            size(*record_bytes)
        ),
        ZfsWhy::PrimaryCache { mode } => format!(
            "With primarycache={mode}, no file data from {mount} stays in memory. Each read \
             fetches whole records from the disks."
        ),
        ZfsWhy::Sync { is_always, waits_for_data, rotates } => {
            let which =
                if *is_always { "Every write" } else { "Every fsync and every stable NFS write" };
            let log = if *waits_for_data {
                " The pool has no log device, so the intent log is on the data disks."
            } else {
                ""
            };
            let turns = if *rotates { " These are rotating disks." } else { "" };
            format!("{which} on {mount} waits for the intent log.{log}{turns}")
        }
        ZfsWhy::Ashift { bytes } => format!(
            "The pool writes as little as {bytes} bytes at a time. Current disks have 4096-byte \
             sectors, so each such write makes them read and rewrite a whole sector."
        ),
        ZfsWhy::Special { small_bytes, record_bytes } => format!(
            "Blocks of up to {} go to the special vdev, and the record size is {}, so all data on \
             {mount} goes there.",
            bytes(*small_bytes as f64),
            bytes(*record_bytes as f64)
        ),
        ZfsWhy::RaidZ { kind, disks, vdevs } => format!(
            "A record is spread over the disks of a {kind} vdev. For random I/O, {disks} disks in \
             {} perform about as well as {}.",
            count(*vdevs as u64, "vdev"),
            count(*vdevs as u64, "disk")
        ),
    }
}
