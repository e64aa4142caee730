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
                "Without {}, {what} on {of} passes through kernel threads to be encrypted or \
                 decrypted.",
                missing.join(" and ")
            )
        }
        EncryptionWhy::Unread => format!(
            "{of} encrypts data. The device-mapper table of {of} shows whether I/Os pass through \
             kernel threads, but only root can read this table."
        ),
        EncryptionWhy::SoftwareCipher { driver } => format!(
            "The kernel encrypts {of} with {driver}, which does not use the CPU's AES instructions."
        ),
        EncryptionWhy::SmallSectors => format!(
            "A 4 KiB I/O on {of} becomes eight cipher requests, each with its own initialization \
             vector."
        ),
        EncryptionWhy::LargeWrites => format!(
            "Many CPUs encrypt writes to {of}, but a single thread submits all these writes. The \
             single thread slows down large writes the most."
        ),
        EncryptionWhy::Split { piece_bytes, default_bytes } => format!(
            "dm-crypt splits I/Os on {of} into pieces of {} (default: {}).",
            size(*piece_bytes),
            size(*default_bytes)
        ),
        EncryptionWhy::Journal => format!(
            "{of} writes data and checksums to a journal first, so each byte is written twice."
        ),
        EncryptionWhy::GroupLimits { device } => format!(
            "For buffered writes through {device}, kernels before 7.0 may ignore {of}'s limit."
        ),
    }
}
