//! What git does to a tree of files. Proportions, directories and sizes were counted with strace
//! on real operations: `docs/measure/git-metadata.sh`, figures in `docs/suites.md`.

use super::scales::SECOND_NS;
use crate::engine::Engine;
use crate::spec::Yields;
use crate::tree::{Operation, OperationShare, Tree};
use crate::workload::{Job, Workload};

/// Files of each thread: more than a small metadata cache holds, laid out in seconds.
const FILES: u32 = 5000;

pub(super) fn checkout() -> Workload {
    metadata(
        "git-checkout",
        "The operations of a git checkout that replaces every file: files looked at, deleted, \
         created and filled, in its proportions. Real operations in a tree of 5000 files of 7 kB; \
         the result is operations per second.",
        working_tree(),
        &[
            (Operation::Create, 20),
            (Operation::Stat, 51),
            (Operation::Open, 9),
            (Operation::Delete, 20),
        ],
    )
}

pub(super) fn status() -> Workload {
    metadata(
        "git-status",
        "The operations of git status: files looked at, directories listed, a few files read. \
         Nothing is written.",
        working_tree(),
        &[(Operation::Stat, 80), (Operation::Open, 8), (Operation::List, 12)],
    )
}

pub(super) fn gc() -> Workload {
    metadata(
        "git-gc",
        "The operations of a repository that grows object by object until git gc collects them: \
         objects created, put in place by a rename, read and deleted.",
        objects(),
        &[
            (Operation::Create, 12),
            (Operation::Stat, 12),
            (Operation::Open, 49),
            (Operation::List, 4),
            (Operation::Rename, 11),
            (Operation::Delete, 12),
        ],
    )
}

/// A tree of sources as git has it checked out.
fn working_tree() -> Tree {
    Tree { files: FILES, files_per_directory: 5, file_bytes: 7111, operations: Vec::new() }
}

/// Loose objects: git spreads them over 256 directories. Their size is ours: most are compressed
/// sources and small lists.
fn objects() -> Tree {
    Tree { files: FILES, files_per_directory: 20, file_bytes: 2048, operations: Vec::new() }
}

fn metadata(name: &str, about: &str, mut tree: Tree, shares: &[(Operation, u32)]) -> Workload {
    tree.operations =
        shares.iter().map(|&(operation, weight)| OperationShare { operation, weight }).collect();
    let job = Job { engine: Engine::Metadata, tree: Some(tree), ..Job::new("files") };
    Workload {
        about: about.into(),
        ramp_ns: SECOND_NS,
        time_ns: 5 * SECOND_NS,
        yields: Some(Yields::Spans),
        ..Workload::new(name, vec![job])
    }
}
