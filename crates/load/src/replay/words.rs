//! Warnings about differences between a replay and the recorded application.

use iotax_quantity::grouped;

use super::needs::Buffering;
use super::survey::Recording;

pub(super) fn notes(recording: &Recording) -> Vec<String> {
    let notes = &recording.survey.notes;
    let counted = [
        (
            notes.overlapping_ios,
            "Overlapping asynchronous I/Os of a thread are replayed with synchronous calls in \
             several threads",
        ),
        (
            notes.lanes_exceeded,
            "Asynchronous I/Os wait for earlier ones: each thread has at most 64 in flight",
        ),
        (
            notes.drains,
            "io_uring requests with IOSQE_IO_DRAIN are replayed without waiting for earlier \
             requests",
        ),
        (
            notes.late_events,
            "Events are more than 1 s out of order in the recording and are replayed late",
        ),
        (
            notes.copies,
            "copy_file_range calls are replayed as reads, because the recording does not contain \
             the target offset",
        ),
        (notes.directory_reads, "Directory reads (readdir) are not replayed"),
        (
            notes.files_partly_cached,
            "Files that were partly in the page cache when the recording began are not cached in the \
             replay, because the recorded reads do not show which part it was",
        ),
    ];
    let counted = counted.into_iter().filter(|(count, _)| *count > 0);
    let shown = |(count, what)| format!("{what} (number: {})", grouped(count));
    let mut notes: Vec<_> = counted.map(shown).collect();
    notes.extend(Buffering::of(&recording.survey).note());
    if recording.end.is_none() {
        let what = "The recording was cut off: the recorder was killed, and events may be missing";
        notes.push(what.to_owned());
    }
    notes
}
