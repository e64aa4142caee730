//! Operations on trees of files: create, stat, open, list, rename and delete, as they are.
//!
//! | file | idea |
//! |---|---|
//! | `names` | paths of a tree, formatted once |
//! | `layout` | the tree of each thread, made before the trial, and taken down |
//! | `slots` | which files are there, which names are free |
//! | `mix` | what comes next, by weight |
//! | `act` | one operation: the system calls |
//! | `drive` | the loop of one thread, and its record |
//!
//! Each thread has its own tree in the target, `JOB.THREAD.tree`. So threads never wait for each
//! other's directories, like processes in separate checkouts. Nothing on the hot path allocates:
//! names are formatted before the start.

mod drive;
mod layout;

pub(crate) use drive::perform;
pub(crate) use layout::prepare;
