//! iotax's own virtual disks as targets. `iotax disk up` mounts a directory that takes no further
//! files and contains one file. Either of the two names the disk. A load may write to the disk
//! unless it already contains something.

use iotax_inspect::{Facts, Mount, SiteKind, mounts};

use crate::device;
use crate::error::Obstacle;
use crate::resolved_target::look;

/// The file of a mounted disk.
pub(crate) const FILE: &str = "disk";
/// Prefix of the names of mounts.
pub(crate) const NAME: &str = "iotax:";

/// The disk, if `facts` are about a disk's mount point or the file in it.
///
/// # Errors
/// If it does not answer.
pub(crate) fn at(facts: &Facts) -> Result<Option<Facts>, Obstacle> {
    let Some(mount_point) = facts.mount_point.as_deref().filter(|_| is_ours(facts)) else {
        return Ok(None);
    };
    let file = mount_point.join(FILE);
    match facts.kind {
        SiteKind::Directory if facts.path == mount_point => look(&file).map(Some),
        SiteKind::File if facts.path == file => Ok(Some(facts.clone())),
        _ => Ok(None),
    }
}

/// Whether it is on a disk that this user mounted.
fn is_ours(facts: &Facts) -> bool {
    let mounts = mounts().unwrap_or_default();
    let top = mounts.iter().rfind(|mount| Some(&mount.mount_point) == facts.mount_point.as_ref());
    top.is_some_and(is_mount)
}

/// Whether a mount is a disk of this user. Any user can choose the name of a mount, and its server
/// could redirect writes; but the kernel reports its owner.
pub(crate) fn is_mount(mount: &Mount) -> bool {
    let user = format!("user_id={}", rustix::process::geteuid().as_raw());
    mount.source.starts_with(NAME)
        && mount.file_system.starts_with("fuse")
        && mount.super_options.split(',').any(|option| option == user)
}

/// Fails if the disk cannot be written, or contains something that writes would destroy.
pub(crate) fn writable(facts: &Facts) -> Result<(), Obstacle> {
    if facts.read_only {
        return Err(Obstacle::ReadOnlyDisk);
    }
    device::content(facts).into_iter().next().map_or(Ok(()), Err)
}
