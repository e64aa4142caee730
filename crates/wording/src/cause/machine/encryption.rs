use iotax_diagnose::why::encryption::EncryptionWhy;
use iotax_quantity::size;

pub(in super::super) fn why(why: &EncryptionWhy, of: &str) -> String {
    match why {
        EncryptionWhy::WorkQueues { missing } => {
            let what = match missing.as_slice() {
                ["no_read_workqueue"] => "every read",
                ["no_write_workqueue"] => "every write",
                _ => "every I/O",
            };
            format!(
                "Without {} {what} of {of} passes kernel threads on its way through the cipher.",
                missing.join(" and ")
            )
        }
        EncryptionWhy::Unread => format!(
            "{of} encrypts. Whether its I/Os pass kernel threads stands in its table, which only \
             root may read."
        ),
        EncryptionWhy::SoftwareCipher { driver } => format!(
            "The kernel encrypts {of} with {driver}, which uses no instructions of the CPU for AES."
        ),
        EncryptionWhy::SmallSectors => format!(
            "An I/O of 4 KiB on {of} is eight requests to the cipher, each with its own \
             initialisation vector."
        ),
        EncryptionWhy::LargeWrites => format!(
            "Writes of {of} are encrypted on many CPUs and submitted by one thread, which costs \
             most on large ones."
        ),
        EncryptionWhy::Split { piece_bytes, default_bytes } => format!(
            "dm-crypt splits I/Os of {of} into pieces of {}, by default of {}.",
            size(*piece_bytes),
            size(*default_bytes)
        ),
        EncryptionWhy::Journal => format!(
            "{of} writes data and checksums into a journal first: each byte is written twice."
        ),
        EncryptionWhy::GroupLimits { device } => format!(
            "Kernels before 7.0 may not hold buffered writes through {device} to the limit of {of}."
        ),
    }
}
