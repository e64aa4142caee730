//! Every layer and its parameters, declared once: name, unit, default, meaning, and how the typed
//! [`Layer`](crate::Layer) is built from them and taken apart again.
//!
//! Stack text, its errors, its canonical form and the listing for users all read this table. A new
//! layer is one entry here and one variant of [`Layer`](crate::Layer).

mod bases;
mod encryption;
mod file_systems;
mod in_process;
mod info;
mod limits;

pub use info::{Form, LayerInfo, World};

/// All layers, bases first.
pub(super) static CATALOG: [LayerInfo; 24] = [
    bases::MEM,
    bases::FILE,
    bases::DIR,
    bases::DEV,
    bases::TMPFS,
    bases::NFS,
    bases::VDISK,
    in_process::AES,
    in_process::QUEUE,
    in_process::DELAY,
    in_process::CACHE,
    in_process::TIER,
    in_process::FAULT,
    limits::THROTTLE,
    limits::FLASH,
    limits::CGROUP_IO,
    bases::LOOP,
    encryption::LUKS,
    encryption::DMCRYPT,
    file_systems::EXT4,
    file_systems::XFS,
    file_systems::BTRFS,
    encryption::FSCRYPT,
    encryption::GOCRYPTFS,
];
