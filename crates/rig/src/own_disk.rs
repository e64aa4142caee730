//! iotax's own virtual disks as targets: what `iotax disk up` has mounted is a directory that takes
//! no further file, and a file in it that is no user's. Either stands for the disk, which a load
//! may write as long as nobody has made something of it.

use iotax_inspect::{Facts, Mount, SiteKind, mounts};

use crate::device;
use crate::error::Obstacle;
use crate::resolved_target::look;

/// The file of a mounted disk.
pub(crate) const FILE: &str = "disk";
/// What the names of mounts begin with.
pub(crate) const NAME: &str = "iotax:";

/// The disk at `facts`, if they are those of a disk's mount point or of the file in it.
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

/// Whether it lies on a disk that this user mounted.
fn is_ours(facts: &Facts) -> bool {
    let mounts = mounts().unwrap_or_default();
    let top = mounts.iter().rfind(|mount| Some(&mount.mount_point) == facts.mount_point.as_ref());
    top.is_some_and(is_mount)
}

/// Whether a mount is a disk of this user's. Anybody may call a mount what they like, and its
/// server could lead a writer elsewhere; whose it is, is the kernel's to say.
pub(crate) fn is_mount(mount: &Mount) -> bool {
    let user = format!("user_id={}", rustix::process::geteuid().as_raw());
    mount.source.starts_with(NAME)
        && mount.file_system.starts_with("fuse")
        && mount.super_options.split(',').any(|option| option == user)
}

/// Fails if the disk does not take writes, or carries something that they would destroy.
pub(crate) fn writable(facts: &Facts) -> Result<(), Obstacle> {
    if facts.read_only {
        return Err(Obstacle::ReadOnlyDisk);
    }
    device::content(facts).into_iter().next().map_or(Ok(()), Err)
}
