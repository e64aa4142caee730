//! The devices under a path, all the way down: partitions to their disk, device mapper and md to
//! their parts, loop devices to the device of their file, `NVMe` multipath to its paths.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::block::{BlockDevice, DeviceNumber, names_in, text_in};
use crate::mounts::{Mount, covering, parse_mountinfo};

/// What lies under a path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Storage {
    /// Block devices, each above those it lies on.
    pub devices: Vec<Part>,
    /// Where NFS is mounted on the way down.
    pub nfs: Vec<PathBuf>,
}

/// One block device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The name it has in `/proc/diskstats`.
    pub name: String,
    /// What it is, if the kernel says.
    pub model: Option<String>,
}

/// The devices and NFS mounts under all of `paths` (files, directories, device nodes) and under the
/// devices called `devices`. What cannot be looked at is left out.
pub fn storage<'a>(
    paths: impl IntoIterator<Item = &'a Path>,
    devices: impl IntoIterator<Item = &'a str>,
) -> Storage {
    let mountinfo = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mut descent = Descent {
        sysfs: Path::new("/sys"),
        mounts: parse_mountinfo(&mountinfo),
        seen: BTreeSet::new(),
        found: Storage::default(),
    };
    for path in paths {
        descent.path(path);
    }
    for device in devices {
        descent.node(&Path::new("/sys/class/block").join(device.replace('/', "!")));
    }
    descent.found
}

struct Descent<'a> {
    sysfs: &'a Path,
    mounts: Vec<Mount>,
    /// Devices that were visited, by their directory in sysfs, and paths: stacks can be circles.
    seen: BTreeSet<PathBuf>,
    found: Storage,
}

impl Descent<'_> {
    fn path(&mut self, path: &Path) {
        let Some((path, metadata)) = existing(path) else { return };
        if !self.seen.insert(path.clone()) {
            return;
        }
        if metadata.file_type().is_block_device() {
            self.number(crate::site::number_of(metadata.rdev()));
            return;
        }
        self.number(crate::site::number_of(metadata.dev()));
        let Some(mount) = covering(&self.mounts, None, &path).cloned() else { return };
        match mount.file_system.as_str() {
            "nfs" | "nfs4" if !self.found.nfs.contains(&mount.mount_point) => {
                self.found.nfs.push(mount.mount_point);
            }
            "overlay" => {
                let upper =
                    mount.super_options.split(',').find_map(|o| o.strip_prefix("upperdir="));
                upper.inspect(|upper| self.path(Path::new(upper)));
            }
            // Those with anonymous numbers: the device or the directory that was mounted.
            _ if mount.source.starts_with('/') => self.source(&mount),
            _ => {}
        }
    }

    /// Btrfs on several devices names one of them as what was mounted.
    fn source(&mut self, mount: &Mount) {
        let source = Path::new(&mount.source);
        if mount.file_system == "btrfs" {
            let name =
                source.canonicalize().ok().and_then(|path| Some(path.file_name()?.to_owned()));
            for volume in directories(&self.sysfs.join("fs/btrfs")) {
                let devices = volume.join("devices");
                if name.as_ref().is_some_and(|name| devices.join(name).exists()) {
                    for device in directories(&devices) {
                        self.node(&device);
                    }
                }
            }
        }
        self.path(source);
    }

    fn number(&mut self, number: DeviceNumber) {
        self.node(&self.sysfs.join("dev/block").join(number.to_string()));
    }

    /// The device with this directory in sysfs, and everything below it.
    fn node(&mut self, node: &Path) {
        let Ok(node) = node.canonicalize() else { return };
        let Some(name) = node.file_name().map(|name| name.to_string_lossy().into_owned()) else {
            return;
        };
        // Whatever else a name may lead to: every device has its counters here.
        if !node.join("stat").is_file() || !self.seen.insert(node.clone()) {
            return;
        }
        // sysfs has no slashes in names.
        let number = text_in(&node.join("dev")).and_then(|text| DeviceNumber::parse(&text));
        let device = number.and_then(|number| BlockDevice::read(self.sysfs, number));
        let model = device.and_then(|device| device.model);
        self.found.devices.push(Part { name: name.replace('!', "/"), model });
        if node.join("partition").exists() {
            node.parent().inspect(|disk| self.node(disk));
            return;
        }
        for below in names_in(&node.join("slaves")) {
            self.node(&node.join("slaves").join(below));
        }
        for path in nvme_paths(&name, &names_in(&self.sysfs.join("block"))) {
            self.node(&self.sysfs.join("block").join(path));
        }
        if let Ok(file) = fs::read_to_string(node.join("loop/backing_file")) {
            self.path(Path::new(file.trim_end_matches('\n')));
        }
    }
}

/// `path` without links; of a file that was deleted, or never had a name, its directory.
fn existing(path: &Path) -> Option<(PathBuf, fs::Metadata)> {
    let path = path.canonicalize().or_else(|error| {
        let deleted =
            path.to_str().and_then(|text| text.strip_suffix(" (deleted)")).ok_or(error)?;
        Path::new(deleted).parent().unwrap_or(Path::new("/")).canonicalize()
    });
    let path = path.ok()?;
    let metadata = fs::metadata(&path).ok()?;
    Some((path, metadata))
}

/// The paths of the multipath namespace `head`: `nvme0c1n2` is the path of `nvme0n2` through
/// controller 1. Heads count I/O themselves only since Linux 6.6.
fn nvme_paths<'a>(head: &str, names: &'a [String]) -> Vec<&'a String> {
    let Some((subsystem, namespace)) =
        head.strip_prefix("nvme").and_then(|rest| rest.split_once('n'))
    else {
        return Vec::new();
    };
    let is_path = |name: &str| {
        let rest = name.strip_prefix("nvme")?.strip_prefix(subsystem)?.strip_prefix('c')?;
        let (controller, number) = rest.split_once('n')?;
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        Some(is_number(controller) && number == namespace)
    };
    names.iter().filter(|name| is_path(name) == Some(true)).collect()
}

fn directories(directory: &Path) -> Vec<PathBuf> {
    names_in(directory).into_iter().map(|name| directory.join(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A sysfs of devices with the devices below them.
    struct Sysfs(tempfile::TempDir);

    impl Sysfs {
        fn new() -> Self {
            let root = tempfile::tempdir().unwrap();
            fs::create_dir_all(root.path().join("dev/block")).unwrap();
            fs::create_dir_all(root.path().join("block")).unwrap();
            Self(root)
        }

        fn add(&self, node: &str, number: Option<&str>) -> PathBuf {
            let directory = self.0.path().join("block").join(node);
            fs::create_dir_all(directory.join("slaves")).unwrap();
            fs::write(directory.join("stat"), "0").unwrap();
            if let Some(number) = number {
                fs::write(directory.join("dev"), number).unwrap();
                symlink(&directory, self.0.path().join("dev/block").join(number)).unwrap();
            }
            directory
        }

        fn below(upper: &Path, lower: &Path) {
            symlink(lower, upper.join("slaves").join(lower.file_name().unwrap())).unwrap();
        }

        fn under(&self, number: &str) -> Vec<String> {
            let mut descent = Descent {
                sysfs: self.0.path(),
                mounts: Vec::new(),
                seen: BTreeSet::new(),
                found: Storage::default(),
            };
            descent.number(DeviceNumber::parse(number).unwrap());
            descent.found.devices.into_iter().map(|part| part.name).collect()
        }
    }

    #[test]
    fn a_stack_is_followed_to_its_disks() {
        let sysfs = Sysfs::new();
        let crypt = sysfs.add("dm-1", Some("253:1"));
        let raid = sysfs.add("md0", Some("9:0"));
        sysfs.add("sda", Some("8:0"));
        let part = sysfs.add("sda/sda1", Some("8:1"));
        fs::write(part.join("partition"), "1").unwrap();
        let other = sysfs.add("sdb", Some("8:16"));
        sysfs.add("sdc", Some("8:32"));
        Sysfs::below(&crypt, &raid);
        Sysfs::below(&raid, &part);
        Sysfs::below(&raid, &other);
        assert_eq!(sysfs.under("253:1"), ["dm-1", "md0", "sda1", "sda", "sdb"]);
        assert_eq!(sysfs.under("8:32"), ["sdc"]);
        assert_eq!(sysfs.under("8:99"), [""; 0]);
    }

    #[test]
    fn a_circle_ends() {
        let sysfs = Sysfs::new();
        let (a, b) = (sysfs.add("dm-0", Some("253:0")), sysfs.add("dm-1", Some("253:1")));
        Sysfs::below(&a, &b);
        Sysfs::below(&b, &a);
        assert_eq!(sysfs.under("253:0"), ["dm-0", "dm-1"]);
    }

    #[test]
    fn multipath_namespaces_have_hidden_paths() {
        let sysfs = Sysfs::new();
        sysfs.add("nvme0n1", Some("259:0"));
        for (path, number) in [
            ("nvme0c0n1", None),
            ("nvme0c1n1", None),
            ("nvme0c0n2", None),
            ("nvme1n1", Some("259:9")),
        ] {
            sysfs.add(path, number);
        }
        assert_eq!(sysfs.under("259:0"), ["nvme0n1", "nvme0c0n1", "nvme0c1n1"]);
    }

    #[test]
    fn names_with_slashes_are_those_of_diskstats() {
        let sysfs = Sysfs::new();
        sysfs.add("cciss!c0d0", Some("104:0"));
        assert_eq!(sysfs.under("104:0"), ["cciss/c0d0"]);
    }

    #[test]
    fn a_loop_device_leads_to_where_its_file_lies() {
        let sysfs = Sysfs::new();
        let device = sysfs.add("loop0", Some("7:0"));
        fs::create_dir_all(device.join("loop")).unwrap();
        let files = tempfile::tempdir().unwrap();
        let number = crate::site::number_of(fs::metadata(files.path()).unwrap().dev());
        let file = files.path().join("#123 (deleted)");
        fs::write(device.join("loop/backing_file"), format!("{}\n", file.display())).unwrap();
        sysfs.add("vda", Some(&number.to_string()));
        assert_eq!(sysfs.under("7:0"), ["loop0", "vda"]);
    }

    #[test]
    fn nothing_is_under_a_path_that_is_not_there() {
        assert_eq!(storage([Path::new("/no/such/place")], ["no-such-device"]), Storage::default());
    }
}
