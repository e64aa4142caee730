//! Sentences for the findings in a recording.

use iotax_quantity::{bytes, count, per_second, percent, three_digits};
use iotax_trace::profile::Trait;

use super::unseen;

/// A finding in a sentence.
pub fn sentence(about: &Trait) -> String {
    match *about {
        Trait::TimeInSyncs { share } => {
            format!(
                "{} of the time in I/O calls is spent in syncs and in O_SYNC or O_DSYNC writes.",
                percent(share)
            )
        }
        Trait::SyncPerWrite { ratio } => format!(
            "The program makes data durable {} times per write: on average, at most two writes \
             share a sync. Combine several writes per sync if you can.",
            three_digits(ratio)
        ),
        Trait::SyncsTakeTurns { file, threads, .. } => format!(
            "{} sync file {file}, but almost never at the same time: the program probably uses a \
             lock or group commit.",
            count(threads, "thread")
        ),
        Trait::SmallWrites { median_bytes } => {
            format!("Half of the writes are {} or smaller.", bytes(median_bytes as f64))
        }
        Trait::OneAtATime { mean_depth, busy_share } => format!(
            "I/O is in flight {} of the time, but at a mean queue depth of only {}: more parallel \
             devices or queues would not help.",
            percent(busy_share),
            three_digits(mean_depth)
        ),
        Trait::SequentialSmallReads { median_bytes, sequential_share } => format!(
            "Reads are small (median {}), and {} of them are sequential: larger reads would need \
             fewer calls.",
            bytes(median_bytes as f64),
            percent(sequential_share)
        ),
        Trait::RandomReads { median_bytes, sequential_share } => format!(
            "Reads are random: only {} of them continue an earlier read (median size {}). Read \
             latency matters more than bandwidth.",
            percent(sequential_share),
            bytes(median_bytes as f64)
        ),
        Trait::RandomFaults { faults_per_s, .. } => format!(
            "{} are at random offsets in mapped files: read-ahead does not help.",
            per_second(faults_per_s, "page faults/s")
        ),
        Trait::RewrittenPages { factor } => format!(
            "The program overwrites its data: it writes each byte {} times on average.",
            three_digits(factor)
        ),
        Trait::OneBlocksOthers { thread, share } => format!(
            "Other threads mostly wait for thread {thread}: {} of the time that threads wait for \
             each other.",
            percent(share)
        ),
        Trait::ThreadsWait { share_of_think_time } => format!(
            "Outside I/O calls, threads spend {} of the time waiting for other threads.",
            percent(share_of_think_time)
        ),
        Trait::HotFile { file, share } => format!(
            "File {file} accounts for {} of the time in I/O calls (of the bytes, if latencies are \
             unknown).",
            percent(share)
        ),
        Trait::Unaligned { share } => {
            format!("{} of the writes are not aligned to 4 KiB.", percent(share))
        }
        Trait::DirectUnaligned { share } => {
            format!("{} of the O_DIRECT I/Os are not aligned to 4 KiB.", percent(share))
        }
        Trait::MetadataHeavy { share, share_of_time } => match share_of_time {
            Some(time) => format!(
                "{} of the I/O calls are metadata operations (open, stat, ...); they take {} of \
                 the time in I/O calls.",
                percent(share),
                percent(time)
            ),
            None => format!(
                "{} of the I/O calls are metadata operations (open, stat, ...).",
                percent(share)
            ),
        },
        Trait::ManyTinyReads { share, per_s } => format!(
            "{} of the reads are smaller than 512 bytes ({}).",
            percent(share),
            per_second(per_s, "calls/s")
        ),
        Trait::LossReported { lost, share } => format!(
            "The recording is incomplete: the recorder could not keep up, and lost {} ({} of all). \
             Record fewer processes, or for a shorter time.",
            count(lost, "event"),
            percent(share)
        ),
        Trait::CutOff => "The recording was cut off because the recorder was killed. It is not \
                          known how many events are missing."
            .to_owned(),
        Trait::Unseen { what } => format!("Not recorded: {}.", unseen(what)),
    }
}
