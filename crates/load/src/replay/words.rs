//! What a replay does otherwise than the application, for users.

use iotax_quantity::grouped;

use super::survey::Recording;

/// One sentence for each.
pub(super) fn notes(recording: &Recording) -> Vec<String> {
    let notes = &recording.survey.notes;
    let counted = [
        (
            notes.overlapping_ios,
            "Asynchronous I/Os that overlap in a thread are issued with synchronous calls of \
             several threads",
        ),
        (
            notes.lanes_exceeded,
            "Asynchronous I/Os wait for an earlier one, because a thread has at most 64 in flight",
        ),
        (notes.drains, "Requests that drain their ring are replayed like any other"),
        (
            notes.late_events,
            "Events are more than a second out of order in the trace, and replayed later",
        ),
        (
            notes.copies,
            "Copies between files are replayed as reads, because the trace does not say where in \
             the other file they went",
        ),
        (notes.directory_reads, "Reads of directories are not replayed"),
        (
            notes.files_partly_cached,
            "Files were partly in the page cache when the recording began, but are not here",
        ),
    ];
    let counted = counted.into_iter().filter(|(count, _)| *count > 0);
    let shown = |(count, what)| format!("{what} (number: {})", grouped(count));
    let mut notes: Vec<_> = counted.map(shown).collect();
    if recording.end.is_none() {
        let what = "The trace has no end: the recorder was killed, and may have lost events";
        notes.push(what.to_owned());
    }
    notes
}
