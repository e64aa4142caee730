//! What a replay does otherwise than the application, for users.

use iotax_quantity::time;
use iotax_record::ReplayRecord;

use super::survey::Recording;

/// One sentence for each.
pub(super) fn warnings(recording: &Recording, replay: &ReplayRecord) -> Vec<String> {
    let notes = &recording.survey.notes;
    let counted = [
        (
            notes.overlapping_ios,
            "asynchronous I/Os overlap; threads issue them with synchronous calls instead",
        ),
        (
            notes.lanes_exceeded,
            "asynchronous I/Os wait for an earlier one, because a thread has at most 64 in flight",
        ),
        (notes.drains, "requests drain their ring in the recording, but not in the replay"),
        (
            notes.late_events,
            "events are more than a second out of order in the trace; the order near them may differ",
        ),
        (
            notes.copies,
            "copies between files are replayed as reads of their source, because the trace does not \
             say where they went",
        ),
        (notes.directory_reads, "reads of directories are not replayed"),
        (
            notes.files_partly_cached,
            "files were partly cached when the recording began; they begin uncached here",
        ),
    ];
    let counted = counted.into_iter().filter(|(count, _)| *count > 0);
    let mut warnings: Vec<_> = counted.map(|(count, what)| format!("{count} {what}")).collect();
    if recording.end.is_none() {
        warnings.push(
            "the trace has no end: the recorder was killed, and the number of lost events is not \
             known"
                .to_owned(),
        );
    }
    if replay.is_too_late {
        let at = |q| time(replay.lateness.quantile_ns(q) as f64);
        warnings.push(format!(
            "I/Os started {} late at p99 ({} on average), but the recorded time per I/O is {}: the \
             result shows this machine, not the storage; stop other programs, or use a machine with \
             more CPUs",
            at(0.99),
            time(replay.lateness.mean_ns()),
            time(replay.recorded_cycle_ns as f64)
        ));
    }
    warnings
}
