//! Turns a target into something a load can be driven at, and takes it down again.
//!
//! [`Rig::open`] looks at *all* arms first and refuses with all reasons at once; only then does it
//! make anything. Whatever it makes that has a name in a file system is written to an undo journal
//! *before* it is made, so that nothing is left behind: not on success, error, panic or Ctrl-C
//! (the rig is dropped), and not after `kill -9` or power loss ([`undo`]).
//!
//! | module | idea |
//! |---|---|
//! | `rig` | the public face: up, down |
//! | `build`, `arm_state` | arms being made, and what they are then |
//! | `check` | every reason to refuse an arm's target |
//! | `resolved_target` | what each turned out to be |
//! | `free_space` | is there enough space and memory for all that will be made |
//! | `space_for_files` | how large test files may be |
//! | `journal`, `entry` | what to undo, on disk before it is done; undoing, one file for each kind |
//! | `identity`, `undone` | which file a file is; what undoing came to |
//! | `ownership` | who may change a file or a directory |
//! | `state` | the state directory, held so that nobody else decides what is undone |
//! | `layers` | the layers of the system, one file each |
//! | `namespace` | network namespaces without a name |
//! | `network` | links and their bases, the peer at the far end |
//! | `assembly` | an arm made of them, and what they are made with |
//! | `programs`, `marked` | other programs run, told to be stuck, and ended by what they bear |
//! | `mounts` | things mounted and unmounted |
//! | `disks` | virtual disks for other programs |
//! | `own_disk` | such a disk as a target |
//! | `device`, `archive` | devices given up to be overwritten, and every reason not to |
//! | `alone` | arms that cannot be up side by side |
//! | `signatures` | signatures on devices: found, told apart, wiped |
//! | `needs` | what layers need of the machine, and whether it has it |
//! | `abandon` | the last way out, when I/O hangs in the kernel |
//! | `undo` | takes down what dead runs left |
//! | `held` | files and directories by descriptor, whatever becomes of their names |
//! | `scratch` | private directories, and what is held where other programs reach it |
//! | `disk_file` | files that stacks stand on: anonymous, or named by the user |
//! | `fill` | data that neither compresses nor dedupes |
//! | `vdisk` | stacks of this process |
//! | `site` | what the record says about each arm |
//!
//! To add a layer that changes the system (a device mapping, a mount): one file in `layers` that
//! makes it, and, if it is something of a new kind, one variant of `entry::Entry` and a file in
//! `entry` that says how to undo it.
//!
//! What undoes lies below the journal, what makes above it: no file uses one that uses it.
//!
//! The rig imports `inspect`, which the table of rooms does not list for it: refusing a target
//! needs exactly the facts that `inspect` reads (kind, free space, mounts, direct I/O), and two
//! readers of them would disagree one day. `inspect` changes nothing and knows no rig, so nothing
//! runs in a circle.
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
