use iotax_diagnose::why::memory::MemoryWhy;
use iotax_quantity::{bytes, grouped, mb_per_s, percent, size, span, whole};

use super::{and_meanwhile, since_boot};

pub(in super::super) fn why(why: &MemoryWhy, device: &str) -> String {
    match why {
        MemoryWhy::ReadAhead { ahead_bytes, reaches, documented } => format!(
            "A thread that reads through page faults has {} in flight. At an assumed latency of 1 \
             ms, the thread reaches {} of the documented {}.",
            size(*ahead_bytes),
            mb_per_s(*reaches),
            mb_per_s(*documented)
        ),
        MemoryWhy::Profile { ahead_bytes, reaches } => format!(
            "Buffered sequential reads from {device} fetch {} at a time. At an assumed latency of \
             1 ms, these reads reach {}.",
            size(*ahead_bytes),
            mb_per_s(*reaches)
        ),
        MemoryWhy::DirtyNow { dirty_bytes, threshold_bytes } => format!(
            "{} of data is dirty or being written, and writers have to wait once this amount \
             reaches about {}. Writers now run at disk speed.",
            bytes(*dirty_bytes as f64),
            bytes(*threshold_bytes as f64)
        ),
        MemoryWhy::DirtyLong { threshold_bytes, seconds, rate } => format!(
            "Up to {} of data can be dirty before writers have to wait. {device} needs {} to write \
             that much at its documented rate of {}. Buffered writes look fast until writers have \
             to wait. An fsync can take as long as writing all dirty data.",
            bytes(*threshold_bytes as f64),
            span(whole(*seconds)),
            mb_per_s(*rate)
        ),
        MemoryWhy::Thrash { waited_percent, refaults, since } => format!(
            "Tasks waited for memory for {} of the last five minutes, and {} evicted file pages \
             were read again {}{}.",
            percent(waited_percent / 100.0),
            grouped(*refaults),
            since_boot(since),
            and_meanwhile(since.meanwhile)
        ),
        MemoryWhy::Swap { used_bytes, path } => format!(
            "{} of swap is in use on the disk under {path}, so swapping counts against the limits \
             of that disk.",
            bytes(*used_bytes as f64)
        ),
    }
}
