//! Another root directory, such as that of a container's host, mounted in the container.

use std::env::set_current_dir;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::process::chroot;

use crate::block::file_name;
use crate::error::Error;
use crate::mounts::{Mount, covering, mounts};
use crate::site::{mount_id, number_of};

/// Makes `root` the root directory of this process permanently, which needs a privilege. Returns
/// the names of `paths` there.
///
/// # Errors
/// [`Error::Path`] if one of them is not found there, or the way to it is barred.
pub fn enter(root: &Path, paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        |source| Error::Path { path, source }
    };
    let there = paths.iter().map(|path| there(root, path).map_err(failed(path)));
    let there = there.collect::<Result<_, _>>()?;
    chroot(root)
        .map_err(io::Error::from)
        .and_then(|()| set_current_dir("/"))
        .map_err(failed(root))?;
    Ok(there)
}

/// The name of `path` for a process whose root directory is `root`.
fn there(root: &Path, path: &Path) -> io::Result<PathBuf> {
    let path = fs::canonicalize(path)?;
    let metadata = fs::metadata(&path)?;
    let names = if metadata.file_type().is_block_device() {
        device_names(&metadata)
    } else {
        let mounts = mounts()?;
        covering(&mounts, mount_id(&path), &path)
            .map(|mount| names(&mounts, root, mount, &path))
            .unwrap_or_default()
    };
    let is_it = |name: &PathBuf| {
        // A mount over it hides it.
        name.strip_prefix("/")
            .is_ok_and(|name| fs::metadata(root.join(name)).is_ok_and(|m| is_same(&m, &metadata)))
    };
    let missing =
        || io::Error::new(ErrorKind::NotFound, format!("not found below {}", root.display()));
    names.into_iter().find(is_it).ok_or_else(missing)
}

fn is_same(a: &Metadata, b: &Metadata) -> bool {
    let is_device = |m: &Metadata| m.file_type().is_block_device();
    match (is_device(a), is_device(b)) {
        (true, true) => a.rdev() == b.rdev(),
        (false, false) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

/// The device file with the kernel's name.
fn device_names(metadata: &Metadata) -> Vec<PathBuf> {
    let node = Path::new("/sys/dev/block").join(number_of(metadata.rdev()).to_string());
    let name = fs::canonicalize(node).ok().as_deref().and_then(file_name);
    name.map(|name| Path::new("/dev").join(name.replace('!', "/"))).into_iter().collect()
}

/// Possible names of `path`, which is on `mount`, wherever the same file system is mounted below
/// `root`. Mounts that show least else come first, then those that are writable for the same user.
fn names(mounts: &[Mount], root: &Path, mount: &Mount, path: &Path) -> Vec<PathBuf> {
    let Ok(below) = path.strip_prefix(&mount.mount_point) else { return Vec::new() };
    let inside = mount.root.join(below);
    let name = |other: &Mount| {
        let at = other.mount_point.strip_prefix(root).ok()?;
        let rest = inside.strip_prefix(&other.root).ok()?;
        let name = Path::new("/").join(at).join(rest).components().collect::<PathBuf>();
        let depth = other.root.components().count();
        Some(((usize::MAX - depth, other.read_only), name))
    };
    let same = mounts.iter().filter(|other| other.device == mount.device);
    let mut named: Vec<_> = same.filter_map(name).collect();
    named.sort_by_key(|(order, _)| *order);
    named.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mounts::parse_mountinfo;

    const MOUNTS: &str = "\
1 0 0:40 / / ro - overlay overlay rw
2 1 8:1 / /host ro - ext4 /dev/sda1 rw
3 2 7:0 / /host/mnt/fast ro,noatime - ext4 /dev/loop0 rw
4 2 7:0 / /host/var/lib/kubelet/pods/1/data rw,noatime - ext4 /dev/loop0 rw
5 1 7:0 / /volumes/pvc-data ro - ext4 /dev/loop0 rw
6 1 8:1 /opt/data/pvc-1 /volumes/pvc-other ro - ext4 /dev/sda1 rw
7 2 0:44 /b /host/mnt/b rw - nfs4 s:/x rw
";

    fn found(path: &str) -> Vec<String> {
        let mounts = parse_mountinfo(MOUNTS);
        let path = Path::new(path);
        let mount = covering(&mounts, None, path).unwrap();
        let names = names(&mounts, Path::new("/host"), mount, path);
        names.iter().map(|name| name.display().to_string()).collect()
    }

    #[test]
    fn a_volume_is_found_where_its_node_has_mounted_it() {
        assert_eq!(found("/volumes/pvc-data"), ["/var/lib/kubelet/pods/1/data", "/mnt/fast"]);
        assert_eq!(found("/volumes/pvc-data/a/b")[0], "/var/lib/kubelet/pods/1/data/a/b");
    }

    #[test]
    fn a_directory_of_a_node_is_found_on_the_disk_that_it_is_on() {
        assert_eq!(found("/volumes/pvc-other"), ["/opt/data/pvc-1"]);
        assert_eq!(found("/etc"), [""; 0]);
    }

    #[test]
    fn what_is_here_is_there_if_the_roots_are_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let here = directory.path().canonicalize().unwrap();
        assert_eq!(there(Path::new("/"), &here).unwrap(), here);
        let error = there(&here, Path::new("/")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }
}
