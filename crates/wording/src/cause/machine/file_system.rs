use iotax_diagnose::Component;
use iotax_diagnose::why::file_system::{FileSystemWhy, StandsFor};

use super::super::names::names;

pub(in super::super) fn why(why: &FileSystemWhy, about: &[Component]) -> String {
    let mounts = names(about);
    match why {
        FileSystemWhy::Fsync => format!(
            "An fsync on {mounts} waits for two or three round trips to a network disk: for the \
             data, the journal and a flush."
        ),
        FileSystemWhy::DataJournal => format!(
            "All data on {mounts} is written to the journal first, and direct I/O is buffered."
        ),
        FileSystemWhy::Sync { is_directories } => {
            let what = if *is_directories { "directory change" } else { "write" };
            format!(
                "Every {what} on {mounts} is synchronous: the program waits until the change is on \
                 the disk."
            )
        }
        FileSystemWhy::Discard => format!(
            "Deletes on {mounts} discard freed blocks immediately; large deletes can stall other \
             I/O."
        ),
        FileSystemWhy::Overlay => "The first write to a file in a lower layer copies the whole \
                                   file. Use a volume for data that changes."
            .to_owned(),
        FileSystemWhy::CopyOnWrite { file_system } => format!(
            "{file_system} writes changed blocks to a new location, so random writes fragment \
             large files."
        ),
        FileSystemWhy::StrictAtime => {
            format!("Each read of a file on {mounts} also updates the file's access time.")
        }
        FileSystemWhy::Ntfs { has_big_writes } => {
            let pieces = if *has_big_writes {
                ""
            } else {
                " Without big_writes, older versions of ntfs-3g write 4 KiB at a time."
            };
            format!(
                "One process (ntfs-3g) serves all of {mounts}: each operation goes to this process \
                 and back, and the process can use only one CPU.{pieces}"
            )
        }
        FileSystemWhy::Fuse { stands_for } => {
            let stands_for = match stands_for {
                StandsFor::ObjectStore => {
                    ", and this process accesses object storage over the network"
                }
                StandsFor::Machine => {
                    ", and for each operation, this process sends a request to another machine"
                }
                StandsFor::Device => {
                    ", and this process (usually ntfs-3g or exfat-fuse) accesses a device"
                }
                StandsFor::Unknown => "",
            };
            format!("Each operation goes to a user-space process and back{stands_for}.")
        }
    }
}
