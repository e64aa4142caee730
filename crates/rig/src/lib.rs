//! Turns targets into something that can be loaded, and takes them down again.
//!
//! [`Rig::open`] checks *all* arms first, and reports all reasons for refusal at once. Only then
//! does it make anything. Everything it makes with a name in a file system is written to an undo
//! journal *before* it is made. So nothing is left behind: not on success, error, panic or Ctrl-C
//! (the rig is dropped), and not after `kill -9` or power loss ([`undo`]).
//!
//! | module | idea |
//! |---|---|
//! | `rig` | the public face: up, down |
//! | `build`, `arm_state` | arms being made, and what they are then |
//! | `check` | every reason to refuse an arm's target |
//! | `resolved_target` | what each target is |
//! | `free_space` | whether there is enough space and memory for everything that will be made |
//! | `space_for_files` | how large test files may be |
//! | `journal`, `entry` | what to undo, on disk before it is made; one file for each kind |
//! | `identity`, `undone` | the identity of a file; the result of undoing |
//! | `ownership` | who may change a file or a directory |
//! | `state` | the state directory, held so that nobody else decides what is undone |
//! | `layers` | the layers of the system, one file each |
//! | `namespace` | network namespaces without a name |
//! | `network` | links and their bases, the peer at the far end |
//! | `assembly` | an arm made of them, and what they are made with |
//! | `programs`, `marked` | other programs: run, checked for progress, and ended by their marks |
//! | `mounts` | things mounted and unmounted |
//! | `disks` | virtual disks for other programs |
//! | `own_disk` | such a disk as a target |
//! | `device`, `archive` | devices that may be overwritten, and every reason not to |
//! | `alone` | arms that cannot be up at the same time |
//! | `signatures` | signatures on devices: found, recognised, wiped |
//! | `needs` | what layers need from the machine, and whether it has it |
//! | `abandon` | the last resort when I/O hangs in the kernel |
//! | `undo` | takes down what dead runs left |
//! | `held` | files and directories held by descriptor |
//! | `scratch` | private directories, and held files where other programs reach them |
//! | `disk_file` | files at the base of stacks: anonymous, or named by the user |
//! | `fill` | data that neither compresses nor dedupes |
//! | `vdisk` | in-process stacks |
//! | `site` | what the record says about each arm |
//!
//! To add a layer that changes the system (a device mapping, a mount), add a file in `layers` that
//! makes it. If it is a new kind of thing, also add a variant of `entry::Entry` and a file in
//! `entry` that undoes it.
//!
//! Code that undoes is below the journal, code that makes is above it; there are no cycles.
//!
//! The rig imports `inspect`, although the architecture's table does not list it: refusing a target
//! needs exactly the facts that `inspect` reads (kind, free space, mounts, direct I/O). `inspect`
//! changes nothing and does not depend on the rig, so there is no cycle.
#![deny(unsafe_code)]

mod abandon;
mod alone;
mod archive;
mod arm_state;
mod assembly;
mod build;
mod build_context;
mod check;
mod device;
mod disk_file;
mod disks;
mod entry;
mod error;
mod fill;
mod free_space;
mod held;
mod host_setting;
mod identity;
mod journal;
mod layers;
mod marked;
mod mounts;
mod namespace;
mod needs;
mod network;
mod overlap;
mod own_disk;
mod programs;
mod read_ahead;
mod refusal;
mod resolved_target;
mod rig;
mod scratch;
mod signatures;
mod site;
mod space_for_files;
mod state;
mod token;
mod undo;
mod undone;
mod vdisk;

pub use abandon::{abandon, break_off};
pub use check::refuse;
pub use device::GivenUp;
pub use disks::{Disk, ServeOptions, Served, serve, served, take_down};
pub use error::Error;
pub use fill::Preparing;
pub use held::Held;
pub use layers::peer::{has_token, peer_elsewhere};
pub use needs::Missing;
pub use needs::{Requirement, availability, requirements};
pub use overlap::{Common, Overlap, overlaps};
pub use refusal::{Obstacle, Refusal};
pub use rig::{Options, Rig};
pub use site::cgroup_limits;
pub use space_for_files::span_bytes;
pub use space_for_files::{least_stack_bytes, space_for_files};
pub use state::state_dir;
pub use token::{Token, read_token};
pub use undo::{UndoReport, undo};
