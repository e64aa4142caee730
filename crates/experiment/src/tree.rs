//! Work on trees of small files, as in version control systems, mail stores or builds.

use serde::{Deserialize, Serialize};

/// A tree of small files for each thread, and the proportions of operations on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tree {
    pub files: u32,
    pub files_per_directory: u32,
    /// Size of a file, in bytes.
    pub file_bytes: u32,
    /// Weights of the operations; those without one do not occur.
    pub operations: Vec<OperationShare>,
}

impl Default for Tree {
    /// A thousand files, with only `stat`.
    fn default() -> Self {
        Self {
            files: 1000,
            files_per_directory: 10,
            file_bytes: 4096,
            operations: vec![OperationShare { operation: Operation::Stat, weight: 1 }],
        }
    }
}

impl Tree {
    /// The weight of an operation; 0 if it does not occur.
    pub fn weight(&self, operation: Operation) -> u32 {
        let shares = self.operations.iter().filter(|share| share.operation == operation);
        shares.map(|share| share.weight).fold(0, u32::saturating_add)
    }
}

/// How often an operation occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationShare {
    pub operation: Operation,
    /// Its weight among the others.
    pub weight: u32,
}

/// One operation on a tree of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// A new file is created and filled.
    Create,
    /// `stat` of a file.
    Stat,
    /// A file is opened, read and closed.
    Open,
    /// The entries of a directory are listed.
    List,
    /// A file is renamed.
    Rename,
    /// A file is deleted.
    Delete,
}

impl Operation {
    /// All of them, in the order of reports.
    pub const ALL: [Self; 6] =
        [Self::Create, Self::Stat, Self::Open, Self::List, Self::Rename, Self::Delete];

    /// Whether it changes the tree. Such operations count as writes, others as reads.
    pub const fn changes(self) -> bool {
        matches!(self, Self::Create | Self::Rename | Self::Delete)
    }

    /// The name used in specs and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Stat => "stat",
            Self::Open => "open",
            Self::List => "list",
            Self::Rename => "rename",
            Self::Delete => "delete",
        }
    }
}
