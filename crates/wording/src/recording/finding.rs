//! What stands out in a recording.

use iotax_quantity::{bytes, count, percent, three_digits};
use iotax_trace::profile::Trait;

use super::{each_second, unseen};

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
            "The program makes data durable {} times per write, so most writes wait for the device.",
            three_digits(ratio)
        ),
        Trait::SyncsTakeTurns { file, threads, .. } => format!(
            "{} sync file {file}, but never at the same time: they hold a lock, or share syncs \
             (group commit).",
            count(threads, "thread")
        ),
        Trait::SmallWrites { median_bytes } => {
            format!("Half of the writes have {} or less.", bytes(median_bytes as f64))
        }
        Trait::OneAtATime { mean_depth, busy_share } => format!(
            "I/O is in flight {} of the time, but mostly one at a time (on average {}): more \
             parallel devices or queues would not help.",
            percent(busy_share),
            three_digits(mean_depth)
        ),
        Trait::SequentialSmallReads { median_bytes, sequential_share } => format!(
            "Reads are small (median {}) and {} of them are sequential: larger reads would need \
             fewer calls.",
            bytes(median_bytes as f64),
            percent(sequential_share)
        ),
        Trait::RandomReads { median_bytes, sequential_share } => format!(
            "Reads are random: only {} of them continue an earlier one (median {}). Their latency \
             matters, not the bandwidth.",
            percent(sequential_share),
            bytes(median_bytes as f64)
        ),
        Trait::RandomFaults { faults_per_s, .. } => format!(
            "{} hit random places of mapped files, where read-ahead does not help.",
            each_second(faults_per_s, "page faults/s")
        ),
        Trait::RewrittenPages { factor } => {
            format!("The program writes the same places {} times on average.", three_digits(factor))
        }
        Trait::OneBlocksOthers { thread, share } => format!(
            "Threads wait mostly for thread {thread}: it accounts for {} of the time that threads \
             wait for each other.",
            percent(share)
        ),
        Trait::ThreadsWait { share_of_think_time } => format!(
            "Between I/O calls, threads spend {} of the time waiting for each other.",
            percent(share_of_think_time)
        ),
        Trait::HotFile { file, share } => {
            format!("File {file} takes {} of the time of all I/O calls.", percent(share))
        }
        Trait::Unaligned { share } => {
            format!("{} of the writes do not start and end at multiples of 4 KiB.", percent(share))
        }
        Trait::DirectUnaligned { share } => format!(
            "{} of the I/Os with O_DIRECT do not start and end at multiples of 4 KiB.",
            percent(share)
        ),
        Trait::MetadataHeavy { share, share_of_time } => match share_of_time {
            Some(time) => format!(
                "Metadata operations are {} of all I/O calls and take {} of their time.",
                percent(share),
                percent(time)
            ),
            None => format!("Metadata operations are {} of all I/O calls.", percent(share)),
        },
        Trait::ManyTinyReads { share, per_s } => format!(
            "{} of the reads have less than 512 bytes: {}.",
            percent(share),
            each_second(per_s, "calls/s")
        ),
        Trait::LossReported { lost, share } => format!(
            "The recorder lost {} ({} of all): it could not keep up.",
            count(lost, "event"),
            percent(share)
        ),
        Trait::CutOff => "The recording has no end, because the recorder was killed; how much it \
                          lost is unknown."
            .to_owned(),
        Trait::Unseen { what } => format!("The recording does not show {}.", unseen(what)),
    }
}
