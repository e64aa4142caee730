//! Targets that are partly or entirely the same bytes on the same storage.
//!
//! Names are not enough: there are hard links, symbolic links, bind mounts and several nodes of one
//! device. So targets are compared by device and inode.

use std::fmt;
use std::path::{Path, PathBuf};

use iotax_experiment::{Arm, Base, Target};
use iotax_inspect::{Facts, SiteKind, site};
use iotax_layers::File;

use crate::device;

/// Two arms on the same storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlap {
    /// Name of the first arm.
    pub a: String,
    /// Name of the second.
    pub b: String,
    /// What both have in common.
    pub what: Common,
    /// Whether neither arm has layers between the load and the common storage.
    pub is_bare: bool,
}

/// What two arms have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Common {
    /// The same file: device and inode are equal.
    File(PathBuf),
    /// The same directory.
    Directory(PathBuf),
    /// The same block device.
    Device(PathBuf),
    /// One is a partition of the other.
    Partition { part: PathBuf, disk: PathBuf },
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { a, b, what, is_bare } = self;
        let verb = if *is_bare { "are" } else { "use" };
        match what {
            Common::File(path) => write!(f, "{a} and {b} {verb} the same file, {}", path.display()),
            Common::Directory(path) => {
                write!(f, "{a} and {b} {verb} the same directory, {}", path.display())
            }
            Common::Device(path) => {
                write!(f, "{a} and {b} {verb} the same device, {}", path.display())
            }
            Common::Partition { part, disk } => write!(
                f,
                "{a} and {b} {verb} a partition and the disk that contains it: {} on {}",
                part.display(),
                disk.display()
            ),
        }
    }
}

/// All pairs of arms on the same file, directory or device, in the order of the arms. Targets that
/// cannot be examined are left out: [`Rig::open`](crate::Rig::open) reports them.
pub fn overlaps(arms: &[Arm]) -> Vec<Overlap> {
    let looked = |arm: &Arm| {
        let (path, is_bare) = place(arm)?;
        Some((arm.name.clone(), site(path).ok()?, is_bare))
    };
    let places: Vec<(String, Facts, bool)> = arms.iter().filter_map(looked).collect();
    let mut found = Vec::new();
    for (at, (a, first, first_is_bare)) in places.iter().enumerate() {
        for (b, second, second_is_bare) in &places[at + 1..] {
            if let Some(what) = common(first, second) {
                let is_bare = *first_is_bare && *second_is_bare;
                found.push(Overlap { a: a.clone(), b: b.clone(), what, is_bare });
            }
        }
    }
    found
}

/// The path of an arm, and whether the arm has no layers.
fn place(arm: &Arm) -> Option<(&Path, bool)> {
    match &arm.target {
        Target::Path(path) => Some((path, true)),
        Target::Several(_) => None,
        Target::Stack(stack) => match stack.base() {
            Some(Base::File(File { path: Some(path), .. })) => Some((path, false)),
            _ => device::path_in(arm).map(|path| (path, false)),
        },
    }
}

fn common(a: &Facts, b: &Facts) -> Option<Common> {
    let path = a.path.clone();
    match (a.kind, b.kind) {
        (SiteKind::BlockDevice, SiteKind::BlockDevice) if a.device_number == b.device_number => {
            Some(Common::Device(path))
        }
        (SiteKind::BlockDevice, SiteKind::BlockDevice) => {
            partition(a, b).or_else(|| partition(b, a))
        }
        (SiteKind::File | SiteKind::Directory, _)
            if a.kind == b.kind && (a.device_number, a.inode) == (b.device_number, b.inode) =>
        {
            let is_file = a.kind == SiteKind::File;
            Some(if is_file { Common::File(path) } else { Common::Directory(path) })
        }
        _ => None,
    }
}

fn partition(part: &Facts, disk: &Facts) -> Option<Common> {
    let block = disk.block.as_ref()?;
    let is_part = block.partition_numbers.contains(&part.device_number);
    is_part.then(|| Common::Partition { part: part.path.clone(), disk: disk.path.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotax_experiment::parse_arms;
    use std::fs;

    fn found(directory: &Path, texts: &[&str]) -> String {
        let mut arms = parse_arms(texts.iter().copied()).unwrap();
        for arm in &mut arms {
            arm.target.resolve_paths(directory, None);
        }
        let whole = overlaps(&arms).iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        let directory = fs::canonicalize(directory).unwrap();
        whole.replace(directory.to_str().unwrap(), "DIR")
    }

    #[test]
    fn one_file_by_several_names_is_seen() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        fs::write(at("one"), [1; 4096]).unwrap();
        fs::write(at("two"), [1; 4096]).unwrap();
        fs::hard_link(at("one"), at("hard")).unwrap();
        std::os::unix::fs::symlink(at("one"), at("soft")).unwrap();
        std::os::unix::fs::symlink(home.path(), at("here")).unwrap();
        let found = |texts: &[&str]| found(home.path(), texts);
        insta::assert_snapshot!(found(&["a=one", "b=hard", "c=two"]), @"a and b are the same file, DIR/one");
        insta::assert_snapshot!(found(&["a=soft", "b=two", "c=one"]), @"a and c are the same file, DIR/one");
        insta::assert_snapshot!(found(&["a=.", "b=here"]), @"a and b are the same directory, DIR");
        insta::assert_snapshot!(found(&["a=one", "b=file(path=hard) + delay(latency=1ms)"]), @"a and b use the same file, DIR/one");
        assert_eq!(found(&["one", "two", "mem", "nowhere", "."]), "");
    }

    #[test]
    fn a_partition_lies_on_its_disk_and_on_no_other() {
        let block = |number: u32, parts: &[u32]| {
            let of = |minor| iotax_inspect::DeviceNumber { major: 8, minor };
            let mut facts = site(Path::new("/dev/null")).unwrap();
            facts.kind = SiteKind::BlockDevice;
            facts.path = format!("/dev/sd{number}").into();
            facts.device_number = of(number);
            facts.block = Some(iotax_inspect::BlockDevice {
                name: format!("sd{number}"),
                number: of(number),
                disk: None,
                model: None,
                size_bytes: 0,
                logical_block_bytes: None,
                rotational: None,
                read_only: false,
                partitions: Vec::new(),
                partition_numbers: parts.iter().copied().map(of).collect(),
                holders: Vec::new(),
                mounted_at: Vec::new(),
            });
            facts
        };
        let (disk, part, other) = (block(0, &[1, 2]), block(1, &[]), block(16, &[17]));
        let both = Common::Partition { part: part.path.clone(), disk: disk.path.clone() };
        assert_eq!(common(&disk, &part), Some(both.clone()));
        assert_eq!(common(&part, &disk), Some(both));
        assert_eq!(common(&other, &part), None);
        assert_eq!(common(&disk, &other), None);
        assert_eq!(common(&part, &part), Some(Common::Device(part.path.clone())));
    }
}
