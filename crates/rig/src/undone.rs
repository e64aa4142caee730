//! What undoing came to.

/// What became of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Undone {
    /// It was there and is gone.
    Removed,
    /// It was never made, or is gone already.
    Absent,
    /// The directory that it was in is gone: its owner removed it, or moved it away.
    Lost,
}
