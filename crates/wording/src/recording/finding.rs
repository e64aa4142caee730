//! Sentences for the findings in a recording.

use iotax_quantity::{bytes, capital, count, per_second, percent, three_digits};
use iotax_trace::profile::{Summary, Trait};

use super::{sees_latencies, unseen};

/// A finding in a sentence, and what follows from it.
pub fn sentence(about: &Trait, summary: &Summary) -> String {
    let statement = statement(about, summary);
    match advice(about) {
        Some(advice) => format!("{statement} {advice}"),
        None => statement,
    }
}

/// What follows from a finding.
pub const fn advice(about: &Trait) -> Option<&'static str> {
    Some(match about {
        Trait::SyncPerWrite { .. } => "Combine several writes per sync if you can.",
        Trait::OneAtATime { .. } => "More parallel devices or queues would not help.",
        Trait::SequentialSmallReads { .. } => "Larger reads would need fewer calls.",
        Trait::RandomReads { .. } => "Read latency matters more than bandwidth.",
        Trait::RandomFaults { .. } => "Read-ahead does not help.",
        Trait::LittleIo { .. } => "Storage hardly limits the throughput of the program.",
        Trait::SyncsTakeTurns { .. } => "The program probably uses a lock or group commit.",
        Trait::TimeInSyncs { .. }
        | Trait::SmallWrites { .. }
        | Trait::RewrittenPages { .. }
        | Trait::OneBlocksOthers { .. }
        | Trait::ThreadsWait { .. }
        | Trait::HotFile { .. }
        | Trait::Unaligned { .. }
        | Trait::DirectUnaligned { .. }
        | Trait::MetadataHeavy { .. }
        | Trait::ManyTinyReads { .. }
        | Trait::LossReported { .. }
        | Trait::CutOff
        | Trait::Unseen { .. } => return None,
    })
}

/// A finding in a few words, to be continued or after a semicolon. `None` for the quality of the
/// recording.
pub fn clause(about: &Trait, summary: &Summary) -> Option<String> {
    let of_time = |share: f64| {
        let of = if sees_latencies(summary) { "time in I/O calls is spent" } else { "bytes are" };
        format!("{} of the {of}", percent(share))
    };
    Some(match *about {
        Trait::TimeInSyncs { share } => {
            let syncs = match (summary.syncs.count, summary.syncs.write_through) {
                (_, 0) => "syncs",
                (0, _) => "O_SYNC or O_DSYNC writes",
                _ => "syncs and synchronous writes",
            };
            format!("{} of the time in I/O calls is spent in {syncs}", percent(share))
        }
        Trait::SyncPerWrite { ratio } if ratio >= 1.0 => {
            "there is a sync for each write".to_owned()
        }
        Trait::SyncPerWrite { .. } => "on average, at most two writes share a sync".to_owned(),
        Trait::SyncsTakeTurns { threads, .. } => {
            format!("{} sync the same file one after another", count(threads, "thread"))
        }
        Trait::LittleIo { share } => format!("I/O calls take only {} of the time", percent(share)),
        Trait::SmallWrites { median_bytes } => {
            format!("half of the writes are {} or smaller", bytes(median_bytes as f64))
        }
        Trait::OneAtATime { mean_depth, .. } => {
            format!("the mean queue depth is only {}", three_digits(mean_depth))
        }
        Trait::SequentialSmallReads { median_bytes, .. } => {
            format!("reads are sequential but small (median {})", bytes(median_bytes as f64))
        }
        Trait::RandomReads { median_bytes, .. } => {
            format!("reads are random (median {})", bytes(median_bytes as f64))
        }
        Trait::RandomFaults { .. } => "page faults are at random offsets".to_owned(),
        Trait::RewrittenPages { factor } => {
            format!("each byte is written {} times on average", three_digits(factor))
        }
        Trait::OneBlocksOthers { thread, .. } => {
            format!("other threads mostly wait for thread {thread}")
        }
        Trait::ThreadsWait { share_of_think_time } => format!(
            "outside I/O calls, threads wait for each other {} of the time",
            percent(share_of_think_time)
        ),
        Trait::HotFile { share, .. } => format!("{} in one file", of_time(share)),
        Trait::MetadataHeavy { share, .. } => {
            format!("{} of the I/O calls are metadata operations", percent(share))
        }
        Trait::ManyTinyReads { share, .. } => {
            format!("{} of the reads are smaller than 512 bytes", percent(share))
        }
        Trait::Unaligned { .. } | Trait::DirectUnaligned { .. } => {
            statement(about, summary).trim_end_matches('.').to_owned()
        }
        Trait::LossReported { .. } | Trait::CutOff | Trait::Unseen { .. } => return None,
    })
}

/// A finding for a title.
pub fn headline(about: &Trait, summary: &Summary) -> String {
    clause(about, summary).map_or_else(String::new, |clause| capital(&clause))
}

/// A finding in a sentence.
fn statement(about: &Trait, summary: &Summary) -> String {
    match *about {
        Trait::TimeInSyncs { share } => {
            format!(
                "{} of the time in I/O calls is spent in syncs and in O_SYNC or O_DSYNC writes.",
                percent(share)
            )
        }
        Trait::SyncPerWrite { ratio } => format!(
            "The program syncs {} times per write (O_SYNC and O_DSYNC writes count as syncs).",
            three_digits(ratio)
        ),
        Trait::SyncsTakeTurns { file, threads, .. } => format!(
            "{} sync file {file}, but almost never at the same time.",
            count(threads, "thread")
        ),
        Trait::LittleIo { share } => format!("I/O calls take only {} of the time.", percent(share)),
        Trait::SmallWrites { median_bytes } => {
            format!("Half of the writes are {} or smaller.", bytes(median_bytes as f64))
        }
        Trait::OneAtATime { mean_depth, busy_share } => format!(
            "I/O is in flight {} of the time, but at a mean queue depth of only {}.",
            percent(busy_share),
            three_digits(mean_depth)
        ),
        Trait::SequentialSmallReads { median_bytes, sequential_share } => format!(
            "Reads are small (median {}), and {} of them are sequential.",
            bytes(median_bytes as f64),
            percent(sequential_share)
        ),
        Trait::RandomReads { median_bytes, sequential_share } => format!(
            "Reads are random: only {} of them continue an earlier read (median size {}).",
            percent(sequential_share),
            bytes(median_bytes as f64)
        ),
        Trait::RandomFaults { faults_per_s, .. } => format!(
            "{} are at random offsets in mapped files.",
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
        Trait::HotFile { file, share } => {
            let of = if sees_latencies(summary) { "time in I/O calls" } else { "bytes" };
            format!("File {file} accounts for {} of the {of}.", percent(share))
        }
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
             Record fewer processes.",
            count(lost, "event"),
            percent(share)
        ),
        Trait::CutOff => "The recording was cut off because the recorder was killed. It is not \
                          known how many events are missing."
            .to_owned(),
        Trait::Unseen { what } => format!("Not recorded: {}.", unseen(what)),
    }
}
