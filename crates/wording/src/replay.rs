//! The replay of a recording.

use iotax_analyze::{Analysis, ArmSummary, ReplaySummary};
use iotax_experiment::RecordedLoad;
use iotax_quantity::{count, grouped, percent, span_of_ns};
use iotax_record::ReplayTimes;

use crate::format::time;

pub const DELAYS: &str = "Delays of the replay";
/// Head of a column.
pub const RECORDED_CYCLE: &str = "recorded time per I/O";
pub const DELAYS_NOTE: &str = "Delay: the time from when an operation is due until it starts. It is due when its recorded think \
     time is over and the threads that it waits for are done. Delays come from this machine, not \
     from the storage. Compare them with the recorded time per I/O (think time and latency). Not \
     reached: operations left when the trial ended. Shared syncs: syncs that the sync of another \
     thread covered. Added syncs: syncs of threads that waited for another thread's sync in the \
     recording.";

pub const TIMES: &str = "What the threads of the replay did";
pub const TIMES_NOTE: &str = "Shares of the time of all threads, except those driven by timers, without delays. On faster \
     storage, only I/O and the waits for other threads get shorter.";
/// Heads of columns.
pub const TIMES_OF: [&str; 5] =
    ["I/O", "waiting for threads", "waiting for timers", "CPU", "think time"];

/// Shares of the columns [`TIMES_OF`]; `None` if no time was counted.
pub fn times(of: &ReplayTimes) -> Option<[String; 5]> {
    let parts = [of.io_ns, of.threads_ns, of.timers_ns, of.cpu_ns, of.think_ns];
    let all = parts.iter().fold(0, |sum: u64, part| sum.saturating_add(*part));
    (all > 0).then(|| parts.map(|part| percent(part as f64 / all as f64)))
}

/// What a trial replays: `Each trial replays app.iotx: 16 s of 9 threads, 71,748 operations.` And what
/// the intervals of a comparison do not include.
pub fn about(recorded: &RecordedLoad, analysis: &Analysis) -> String {
    let operations = operations(analysis).map(|all| format!(", {}", count(all, "operation")));
    let compared = if analysis.arms.len() > 1 {
        " The intervals do not include how much a replay differs from the program."
    } else {
        ""
    };
    format!(
        "Each trial replays {}: {} of {}{}.{compared}",
        recorded.path.file_name().unwrap_or_default().to_string_lossy(),
        length(recorded),
        count(recorded.threads, "thread"),
        operations.unwrap_or_default()
    )
}

/// The recording as names and values.
pub fn facts(recorded: &RecordedLoad, analysis: &Analysis) -> Vec<(&'static str, String)> {
    let facts = [
        ("file", Some(recorded.path.display().to_string())),
        ("length", Some(length(recorded))),
        ("threads with I/O", Some(grouped(u64::from(recorded.threads)))),
        ("operations per trial", operations(analysis).map(grouped)),
        ("hash", Some(recorded.hash.clone())),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn length(recorded: &RecordedLoad) -> String {
    if recorded.length_ns < 1_000_000_000 {
        time(recorded.length_ns as f64)
    } else {
        span_of_ns(recorded.length_ns)
    }
}

/// Operations of a trial that replays all of the recording.
fn operations(analysis: &Analysis) -> Option<u64> {
    analysis.arms.iter().filter_map(per_trial).max()
}

fn per_trial(arm: &ArmSummary) -> Option<u64> {
    let ReplaySummary { operations, left_over, .. } = arm.replay?;
    (operations + left_over).checked_div(u64::from(arm.trials))
}
