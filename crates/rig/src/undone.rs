//! The result of undoing.

/// The result of undoing an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Undone {
    /// It existed and was removed.
    Removed,
    /// It was never made, or was already gone.
    Absent,
    /// Its directory is gone: its owner removed or moved it.
    Lost,
}
