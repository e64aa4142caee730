use iotax_diagnose::Component;
use iotax_diagnose::why::file_system::{FileSystemWhy, StandsFor};

use super::super::names::names;

pub(in super::super) fn why(why: &FileSystemWhy, about: &[Component]) -> String {
    let mounts = names(about);
    match why {
        FileSystemWhy::Fsync => format!(
            "An fsync on {mounts} waits for data, journal and flush, each a round trip to a disk \
             in the network."
        ),
        FileSystemWhy::DataJournal => format!(
            "All data of {mounts} are written to the journal first, and direct I/O is buffered."
        ),
        FileSystemWhy::Sync { is_directories } => {
            let what = if *is_directories { "change of a directory" } else { "write" };
            format!("Every {what} on {mounts} waits until it is on the disk.")
        }
        FileSystemWhy::Discard => format!(
            "Deletes on {mounts} discard freed blocks at once; large ones may stall other I/O."
        ),
        FileSystemWhy::Overlay => "The first write to a file of a lower layer copies all of it; \
                                   data that change belong on a volume."
            .to_owned(),
        FileSystemWhy::CopyOnWrite { file_system } => format!(
            "{file_system} writes changed blocks elsewhere: random writes into large files \
             fragment them."
        ),
        FileSystemWhy::StrictAtime => {
            format!("Each read of a file on {mounts} writes its access time.")
        }
        FileSystemWhy::Ntfs { has_big_writes } => {
            let pieces = if *has_big_writes {
                ""
            } else {
                " Without big_writes older versions write 4 KiB at a time."
            };
            format!(
                "One process (ntfs-3g) serves all of {mounts}: each operation goes to it and back, \
                 and one CPU is the limit.{pieces}"
            )
        }
        FileSystemWhy::Fuse { stands_for } => {
            let stands_for = match stands_for {
                StandsFor::ObjectStore => {
                    ", here one that stands for object storage in the network"
                }
                StandsFor::Machine => {
                    ", here one that stands for another machine: a round trip for each"
                }
                StandsFor::Device => ", here on a device: mostly ntfs-3g or exfat-fuse",
                StandsFor::Unknown => "",
            };
            format!("Each operation goes to a process and back{stands_for}.")
        }
    }
}
