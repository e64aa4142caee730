use iotax_diagnose::why::memory::MemoryWhy;
use iotax_quantity::{bytes, grouped, mb_per_s, percent, size, span, whole};

use super::{and_meanwhile, since_boot};

pub(in super::super) fn why(why: &MemoryWhy, device: &str) -> String {
    match why {
        MemoryWhy::ReadAhead { ahead_bytes, reaches, documented } => format!(
            "A thread that reads by page faults has {} in flight: at 1 ms, which is an \
             assumption, {} of the {} that are documented.",
            size(*ahead_bytes),
            mb_per_s(*reaches),
            mb_per_s(*documented)
        ),
        MemoryWhy::Profile { ahead_bytes, reaches } => format!(
            "Buffered sequential reads of {device} fetch {} at a time: at 1 ms, which is an \
             assumption, {}.",
            size(*ahead_bytes),
            mb_per_s(*reaches)
        ),
        MemoryWhy::DirtyNow { dirty_bytes, threshold_bytes } => format!(
            "{} are dirty or being written, and writers wait near {}: they run at the speed of \
             the disk now.",
            bytes(*dirty_bytes as f64),
            bytes(*threshold_bytes as f64)
        ),
        MemoryWhy::DirtyLong { threshold_bytes, seconds, rate } => format!(
            "Up to {} may be dirty before writers wait. {device} takes {} for that at \
             its documented {}: buffered writes look fast until then, and an fsync may wait as \
             long.",
            bytes(*threshold_bytes as f64),
            span(whole(*seconds)),
            mb_per_s(*rate)
        ),
        MemoryWhy::Thrash { waited_percent, refaults, since } => format!(
            "Work waited for memory {} of the last five minutes, and {} pages of files were read again {} after they had been thrown out{}.",
            percent(waited_percent / 100.0),
            grouped(*refaults),
            since_boot(since),
            and_meanwhile(since.meanwhile)
        ),
        MemoryWhy::Swap { used_bytes, path } => format!(
            "{} of swap are in use on the disk of {path}: what is swapped takes from its limits.",
            bytes(*used_bytes as f64)
        ),
    }
}
