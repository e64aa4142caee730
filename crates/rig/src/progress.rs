//! What whoever waits for a rig may be told.

/// What is being prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress<'a> {
    /// A disk is filled with data.
    Filling {
        /// What, for people: a file, or a stack in memory.
        what: &'a str,
        /// Bytes that are on the device.
        done_bytes: u64,
        /// Bytes there will be.
        size_bytes: u64,
    },
    /// The layers of an arm are made.
    Making { arm: &'a str },
}
