//! Paths below a thread's tree, formatted once.

use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};

use iotax_experiment::{Job, Tree};

/// Names more than files: room to create and to rename into without waiting for a deletion.
const SPARE_SHARE: u32 = 4;
const SPARE_LEAST: u32 = 16;

/// Where the tree of a thread is.
pub(super) fn root(directory: &Path, job: &Job, thread: u32) -> PathBuf {
    directory.join(format!("{}.{thread}.tree", job.name))
}

/// Names that `tree` needs: its files, and some that are free.
pub(super) fn slots(tree: &Tree) -> u32 {
    tree.files.saturating_add((tree.files / SPARE_SHARE).max(SPARE_LEAST))
}

/// All paths of a tree, relative to its root.
pub(super) struct Names {
    files: Vec<CString>,
    directories: Vec<CString>,
    per_directory: u32,
}

impl Names {
    /// Formats them. Free names are spread over the directories as files are.
    pub(super) fn of(tree: &Tree) -> Self {
        let slots = slots(tree);
        let directories = tree.files.div_ceil(tree.files_per_directory.max(1)).max(1);
        let per_directory = slots.div_ceil(directories);
        let name = |text: String| CString::new(text).unwrap_or_default();
        Self {
            files: (0..slots)
                .map(|slot| name(format!("d{:05}/f{:08}", slot / per_directory, slot)))
                .collect(),
            directories: (0..slots.div_ceil(per_directory))
                .map(|directory| name(format!("d{directory:05}")))
                .collect(),
            per_directory,
        }
    }

    pub(super) fn file(&self, slot: u32) -> &CStr {
        &self.files[slot as usize]
    }

    /// Of the directory that a slot is in.
    pub(super) fn directory_of(&self, slot: u32) -> &CStr {
        &self.directories[(slot / self.per_directory) as usize]
    }

    pub(super) fn directories(&self) -> impl Iterator<Item = &CStr> {
        self.directories.iter().map(CString::as_c_str)
    }
}
