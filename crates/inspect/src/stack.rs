//! The layers under a path: mounts to their devices or directories, partitions to their disk,
//! device mapper and md to their parts, loop devices to the mount of their file, `NVMe` multipath
//! to its paths. All code that needs devices or mounts under a path gets them from here.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use crate::block::{DeviceNumber, disk_of, model, names_in};
use crate::deadline::within;
use crate::mounts::{Mount, covering, mounts};
use crate::site::{mount_id, number_of};

/// Time limit for inspecting a path; if its server is gone, it would take forever.
const LIMIT: Duration = Duration::from_secs(1);

/// Layers, each with the indices of the layers below it.
pub(crate) struct Stack<'a> {
    sysfs: &'a Path,
    mounts: Vec<Mount>,
    /// In the order of discovery: each after one that is above it.
    pub layers: Vec<Layer>,
    /// Index of each in `layers`: stacks join, and can contain circles.
    places: BTreeMap<Key, usize>,
    /// Indices of the layers above the one being inspected.
    open: Vec<usize>,
    /// Paths that this user may not fully access; the inaccessible part is kept as written.
    pub barred: Vec<PathBuf>,
}

/// A mount or a device, and the layers below it.
pub(crate) struct Layer {
    pub kind: LayerKind,
    pub below: Vec<usize>,
}

pub(crate) enum LayerKind {
    Mount(Mount),
    /// Its directory in sysfs, without links.
    Device(PathBuf),
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Mount(u64),
    Device(PathBuf),
}

impl<'a> Stack<'a> {
    /// An empty stack for a machine with this sysfs and these mounts.
    pub(crate) fn new(sysfs: &'a Path, mounts: Vec<Mount>) -> Self {
        let (layers, places) = (Vec::new(), BTreeMap::new());
        Self { sysfs, mounts, layers, places, open: Vec::new(), barred: Vec::new() }
    }

    /// Index of the top layer under `path`: a file, a directory or a device node. `None` if the
    /// system does not report one.
    pub(crate) fn path(&mut self, path: &Path) -> io::Result<Option<usize>> {
        let asked = path.to_owned();
        let found = within(LIMIT, move || Existing::at(&asked));
        let Existing { path, metadata, mount_id, is_barred } =
            found.unwrap_or_else(|| Err(io::ErrorKind::TimedOut.into()))?;
        if is_barred {
            self.barred.push(path.clone());
        }
        if metadata.file_type().is_block_device() {
            return Ok(self.number(number_of(metadata.rdev())));
        }
        match covering(&self.mounts, mount_id, &path).cloned() {
            Some(mount) => Ok(Some(self.mount(&mount))),
            None => Ok(self.number(number_of(metadata.dev()))),
        }
    }

    /// Index of the device with this directory in sysfs, which may be a link to it.
    pub(crate) fn device(&mut self, node: &Path) -> Option<usize> {
        let node = node.canonicalize().ok()?;
        // Every device has counters here, whatever else the name leads to.
        if !node.join("stat").is_file() {
            return None;
        }
        Some(self.place(Key::Device(node.clone()), LayerKind::Device(node.clone()), |stack| {
            stack.below_device(&node)
        }))
    }

    fn mount(&mut self, mount: &Mount) -> usize {
        self.place(Key::Mount(mount.id), LayerKind::Mount(mount.clone()), |stack| {
            stack.below_mount(mount)
        })
    }

    fn place(
        &mut self,
        key: Key,
        kind: LayerKind,
        below: impl FnOnce(&mut Self) -> Vec<usize>,
    ) -> usize {
        if let Some(place) = self.places.get(&key) {
            return *place;
        }
        let place = self.layers.len();
        self.places.insert(key, place);
        self.layers.push(Layer { kind, below: Vec::new() });
        self.open.push(place);
        let found = below(self);
        self.open.pop();
        let mut below = Vec::new();
        for lower in found {
            // A layer above cannot also be below. Names in an overlay's options are those of where
            // it was mounted, and may lead elsewhere here.
            if !below.contains(&lower) && !self.open.contains(&lower) && lower != place {
                below.push(lower);
            }
        }
        self.layers[place].below = below;
        place
    }

    fn below_mount(&mut self, mount: &Mount) -> Vec<usize> {
        let mut below: Vec<_> = self.number(mount.device).into_iter().collect();
        let values = |key| option_values(&mount.super_options, key);
        // Overlays have no device; some file systems have more devices than the mounted one.
        let beside = match mount.file_system.as_str() {
            "overlay" => [values("upperdir"), layers_of(&values("lowerdir"))].concat(),
            "xfs" => [values("logdev"), values("rtdev")].concat(),
            _ => Vec::new(),
        };
        for path in beside {
            below.extend(self.path(Path::new(&path)).ok().flatten());
        }
        // For anonymous numbers: the device or directory that was mounted.
        if below.is_empty() && mount.source.starts_with('/') {
            below = self.source(mount);
        }
        below
    }

    /// The source of a mount: one path, or several for a file system that joins them.
    fn source(&mut self, mount: &Mount) -> Vec<usize> {
        let source = Path::new(&mount.source);
        if mount.file_system == "btrfs" {
            let all = self.btrfs(source);
            if !all.is_empty() {
                return all;
            }
        }
        let is_one = source.exists();
        let parts =
            if is_one { vec![mount.source.as_str()] } else { mount.source.split(':').collect() };
        let mut below = Vec::new();
        for part in parts.into_iter().map(Path::new).filter(|part| part.is_absolute()) {
            // A process opens `/dev/fuse` to serve a mount; the data is not there.
            let is_served =
                fs::metadata(part).is_ok_and(|found| found.file_type().is_char_device());
            if !is_served {
                below.extend(self.path(part).ok().flatten());
            }
        }
        below
    }

    /// Btrfs on several devices shows only one of them as the source of the mount.
    fn btrfs(&mut self, source: &Path) -> Vec<usize> {
        let source = source.canonicalize().ok();
        let Some(name) = source.as_deref().and_then(Path::file_name) else { return Vec::new() };
        let volumes = directories(&self.sysfs.join("fs/btrfs"));
        let devices = volumes.iter().map(|volume| volume.join("devices"));
        let Some(devices) = devices.into_iter().find(|devices| devices.join(name).exists()) else {
            return Vec::new();
        };
        directories(&devices).iter().filter_map(|device| self.device(device)).collect()
    }

    fn number(&mut self, number: DeviceNumber) -> Option<usize> {
        self.device(&self.sysfs.join("dev/block").join(number.to_string()))
    }

    fn below_device(&mut self, node: &Path) -> Vec<usize> {
        if node.join("partition").exists() {
            return node.parent().and_then(|disk| self.device(disk)).into_iter().collect();
        }
        let name = node.file_name().unwrap_or_default().to_string_lossy();
        let blocks = self.sysfs.join("block");
        let names = names_in(&blocks);
        let paths = nvme_paths(&name, &names);
        let parts = directories(&node.join("slaves"));
        let nodes = parts.into_iter().chain(paths.into_iter().map(|path| blocks.join(path)));
        let mut below: Vec<_> = nodes.filter_map(|node| self.device(&node)).collect();
        if let Ok(file) = fs::read_to_string(node.join("loop/backing_file")) {
            let file = self.path(Path::new(file.trim_end_matches('\n')));
            below.extend(file.ok().flatten());
        }
        below
    }
}

/// The name of a device in `/proc/diskstats`: sysfs names have no slashes.
pub(crate) fn device_name(node: &Path) -> String {
    node.file_name().unwrap_or_default().to_string_lossy().replace('!', "/")
}

/// An existing file, directory or device.
struct Existing {
    path: PathBuf,
    /// If access is barred, that of the last accessible directory.
    metadata: fs::Metadata,
    mount_id: Option<u64>,
    is_barred: bool,
}

impl Existing {
    /// `path` without links; for a deleted or unnamed file, its directory.
    fn at(path: &Path) -> io::Result<Self> {
        let canonical = |path: &Path| path.canonicalize();
        let found = canonical(path).or_else(|error| {
            let deleted =
                path.to_str().and_then(|text| text.strip_suffix(" (deleted)")).ok_or(error)?;
            Path::new(deleted).parent().unwrap_or(Path::new("/")).canonicalize()
        });
        match found {
            Ok(path) => Ok(Self {
                metadata: fs::metadata(&path)?,
                mount_id: mount_id(&path),
                path,
                is_barred: false,
            }),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let (directory, path) = as_far_as_allowed(path, canonical).ok_or(error)?;
                let metadata = fs::metadata(directory)?;
                Ok(Self { path, metadata, mount_id: None, is_barred: true })
            }
            Err(error) => Err(error),
        }
    }
}

/// The deepest accessible directory on the way to `path`, and that directory with the rest as
/// written: mounts are known everywhere.
fn as_far_as_allowed(
    path: &Path,
    canonical: impl Fn(&Path) -> io::Result<PathBuf>,
) -> Option<(PathBuf, PathBuf)> {
    path.ancestors().skip(1).find_map(|above| {
        let directory = canonical(above).ok()?;
        let rest = path.strip_prefix(above).ok()?;
        let is_plain = rest.components().all(|part| matches!(part, Component::Normal(_)));
        is_plain.then(|| (directory.clone(), directory.join(rest)))
    })
}

/// Values of an option that can be given several times; `lowerdir+` adds one to `lowerdir`.
fn option_values(options: &str, key: &str) -> Vec<String> {
    let pairs = options.split(',').filter_map(|option| option.split_once('='));
    let of_key = pairs.filter(|(name, _)| name.strip_suffix('+').unwrap_or(name) == key);
    of_key.map(|(_, value)| value.to_owned()).collect()
}

/// The directories of `lowerdir=A:B`. A colon in a name is escaped by a backslash, and two colons
/// precede layers that contain only data.
fn layers_of(values: &[String]) -> Vec<String> {
    let mut layers = vec![String::new()];
    for value in values {
        let mut characters = value.chars();
        while let Some(character) = characters.next() {
            let last = layers.last_mut().expect("there is one from the start");
            match character {
                ':' => layers.push(String::new()),
                '\\' => last.extend(characters.next()),
                other => last.push(other),
            }
        }
        layers.push(String::new());
    }
    layers.retain(|layer| layer.starts_with('/'));
    layers
}

/// The paths of the multipath namespace `head`: `nvme0c1n2` is the path of `nvme0n2` through
/// controller 1. Only since Linux 6.6 do heads count I/O themselves.
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

// The devices under a path, all the way down, and the NFS mounts in between.

/// Everything under a path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Storage {
    /// Block devices, each before the devices below it.
    pub devices: Vec<UnderlyingDevice>,
    /// Mount points of NFS in between.
    pub nfs: Vec<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnderlyingDevice {
    /// Its name in `/proc/diskstats`.
    pub name: String,
    /// Its model, if the kernel knows it.
    pub model: Option<String>,
}

/// The devices and NFS mounts under all of `paths` (files, directories, device nodes) and under the
/// devices called `devices`. Anything that cannot be inspected is left out.
pub fn storage<'a>(
    paths: impl IntoIterator<Item = &'a Path>,
    devices: impl IntoIterator<Item = &'a str>,
) -> Storage {
    let mut stack = Stack::new(Path::new("/sys"), mounts().unwrap_or_default());
    for path in paths {
        // Nothing is below a missing device.
        let _ = stack.path(path);
    }
    for device in devices {
        stack.device(&Path::new("/sys/class/block").join(device.replace('/', "!")));
    }
    let mut found = Storage::default();
    for layer in stack.layers {
        match layer.kind {
            LayerKind::Device(node) => {
                let disk = disk_of(&node);
                found
                    .devices
                    .push(UnderlyingDevice { name: device_name(&node), model: model(disk) });
            }
            LayerKind::Mount(mount) => {
                let is_nfs = matches!(mount.file_system.as_str(), "nfs" | "nfs4");
                if is_nfs && !found.nfs.contains(&mount.mount_point) {
                    found.nfs.push(mount.mount_point);
                }
            }
        }
    }
    found
}

/// Whether `path` is on disks of `/`, and on nothing else.
pub(crate) fn is_on_system_disk(path: &Path) -> bool {
    let (disks, of_system) = (disks(path), disks(Path::new("/")));
    disks.zip(of_system).is_some_and(|(disks, of_system)| disks.is_subset(&of_system))
}

/// The disks at the bottom, by their directories in sysfs; `None` if the bottom has anything else.
fn disks(path: &Path) -> Option<BTreeSet<PathBuf>> {
    let mut stack = Stack::new(Path::new("/sys"), mounts().ok()?);
    stack.path(path).ok()??;
    let bottom = stack.layers.into_iter().filter(|layer| layer.below.is_empty());
    bottom
        .map(|layer| match layer.kind {
            LayerKind::Device(node) => Some(node),
            LayerKind::Mount(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;

    use super::*;
    use crate::mounts::parse_mountinfo;

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
            let mut stack = Stack::new(self.0.path(), Vec::new());
            stack.number(DeviceNumber::parse(number).unwrap());
            let name = |layer: &Layer| match &layer.kind {
                LayerKind::Device(node) => device_name(node),
                LayerKind::Mount(mount) => mount.mount_point.display().to_string(),
            };
            stack.layers.iter().map(name).collect()
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
        let mut stack = Stack::new(sysfs.0.path(), Vec::new());
        stack.number(DeviceNumber::parse("253:0").unwrap());
        let below: Vec<_> = stack.layers.iter().map(|layer| layer.below.as_slice()).collect();
        assert_eq!(below, [&[1][..], &[]], "nothing lies on itself");
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
        let number = number_of(fs::metadata(files.path()).unwrap().dev());
        let file = files.path().join("#123 (deleted)");
        fs::write(device.join("loop/backing_file"), format!("{}\n", file.display())).unwrap();
        sysfs.add("vda", Some(&number.to_string()));
        assert_eq!(sysfs.under("7:0"), ["loop0", "vda"]);
    }

    #[test]
    fn stacks_join_at_the_disk_they_share() {
        let sysfs = Sysfs::new();
        let disk = sysfs.add("sda", Some("8:0"));
        let (a, b) = (sysfs.add("dm-0", Some("253:0")), sysfs.add("dm-1", Some("253:1")));
        Sysfs::below(&a, &disk);
        Sysfs::below(&b, &disk);
        let mut stack = Stack::new(sysfs.0.path(), Vec::new());
        let tops =
            ["253:0", "253:1"].map(|number| stack.number(DeviceNumber::parse(number).unwrap()));
        assert_eq!(tops, [Some(0), Some(2)]);
        let below: Vec<_> = stack.layers.iter().map(|layer| layer.below.clone()).collect();
        assert_eq!(below, [vec![1], vec![], vec![1]]);
    }

    #[test]
    fn overlays_lie_on_their_directories_and_joined_directories_on_each() {
        let sysfs = Sysfs::new();
        let files = tempfile::tempdir().unwrap();
        let at = |name: &str| {
            let path = files.path().join(name);
            fs::create_dir(&path).unwrap();
            path.canonicalize().unwrap().display().to_string()
        };
        let (upper, lower, top, odd) = (at("upper"), at("lower"), at("top"), at("o:d"));
        let joined = at("joined");
        let mounts = parse_mountinfo(&format!(
            "900001 0 0:1 / {upper} rw - tmpfs a rw\n900002 0 0:2 / {lower} rw - tmpfs b rw\n\
             900003 0 0:3 / {odd} rw - tmpfs c rw\n900004 0 0:4 / {top} rw - overlay overlay \
             rw,lowerdir={lower}:{},upperdir={upper}\n900005 0 0:5 / {joined} rw - fuse.mergerfs \
             {upper}:{lower} rw\n",
            odd.replace(':', "\\134:")
        ));
        // These are directories and no mounts: the kernel's own number would be of another one.
        let mut stack = Stack::new(sysfs.0.path(), Vec::new());
        stack.mounts = mounts.clone();
        stack.mount(&mounts[3]);
        stack.mount(&mounts[4]);
        let seen = stack.layers.iter().map(|layer| match &layer.kind {
            LayerKind::Mount(mount) => (mount.source.clone(), layer.below.clone()),
            LayerKind::Device(node) => (device_name(node), layer.below.clone()),
        });
        let expected = [
            ("overlay".to_owned(), vec![1, 2, 3]),
            ("a".to_owned(), vec![]),
            ("b".to_owned(), vec![]),
            ("c".to_owned(), vec![]),
            (format!("{upper}:{lower}"), vec![1, 2]),
        ];
        assert_eq!(seen.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_barred_way_is_taken_as_it_is_written_from_the_bar_on() {
        let canonical = |path: &Path| match path.to_str() {
            Some("/link") => Ok(PathBuf::from("/private")),
            Some("/") => Ok(PathBuf::from("/")),
            _ => Err(io::ErrorKind::PermissionDenied.into()),
        };
        let found = as_far_as_allowed(Path::new("/link/data/file"), canonical);
        let expected = (PathBuf::from("/private"), PathBuf::from("/private/data/file"));
        assert_eq!(found, Some(expected));
        assert_eq!(as_far_as_allowed(Path::new("/link/data/../x"), canonical), None);
        assert_eq!(as_far_as_allowed(Path::new("here"), canonical), None);
    }

    #[test]
    fn a_path_that_is_not_there_is_an_error() {
        let mut stack = Stack::new(Path::new("/sys"), Vec::new());
        let error = stack.path(Path::new("/no/such/place")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parsers_panic(text in ".*", lower in r"[/a-b:\\,=+]{0,40}") {
            layers_of(&option_values(&text, "lowerdir"));
            layers_of(&option_values(&format!("lowerdir={lower}"), "lowerdir"));
            nvme_paths(&text, std::slice::from_ref(&text));
        }
    }

    #[test]
    fn the_root_is_on_its_own_disks_and_memory_is_not() {
        assert_eq!(is_on_system_disk(Path::new("/")), disks(Path::new("/")).is_some());
        assert!(!is_on_system_disk(Path::new("/proc")));
    }

    #[test]
    fn nothing_is_under_a_path_that_is_not_there() {
        assert_eq!(storage([Path::new("/no/such/place")], ["no-such-device"]), Storage::default());
    }
}
