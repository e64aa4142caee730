//! One result on its way to a trial.

use std::path::PathBuf;

use crate::importers::Imported;

/// One file that was read.
pub(super) struct ResultFile {
    pub arm: usize,
    pub block: u32,
    /// As the user wrote it.
    pub file: PathBuf,
    pub result: Imported,
}
