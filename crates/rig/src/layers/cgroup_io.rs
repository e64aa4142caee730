//! The kernel's I/O limits for a group of processes.
//!
//! Threads of this process drive the load, so the limits apply to this process. It is in the group
//! during the arm's turn, and in its original group otherwise. Limits are per device, so its other
//! I/O is not slowed down.
//!
//! With cgroup version 1, the group is made below the group of this process. With version 2 that is
//! impossible: a group that contains processes cannot have children with controllers. So the group
//! is made at the top of the mounted hierarchy, next to the slices of the service manager. Sources:
//! the kernel's `Documentation/admin-guide/cgroup-v1/blkio-controller.rst` and `cgroup-v2.rst` ("No
//! Internal Process Constraint", `io.max`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use iotax_inspect::{CgroupVersion as Version, Hierarchy, hierarchy};
use iotax_layers::CgroupIo;
use iotax_quantity::size;

use crate::layers::maker::prelude::*;

/// Names of the controller.
const V1: &str = "blkio";
const V2: &str = "io";

impl System for CgroupIo {
    fn make(&self, below: Top, context: &mut BuildContext<'_>) -> Result<Top, Error> {
        let device = Device::under(&below.path)?;
        let group = Group::make(context)?;
        group.limit(self, &device)?;
        for caveat in caveats(self, &device, group.version) {
            context.note(caveat);
        }
        context.turns.push(Box::new(group));
        Ok(below)
    }
}

/// The device whose I/O is limited.
struct Device {
    name: String,
    /// `254:0`
    number: String,
    /// The largest I/O that the device takes in one piece, whatever the layout of its memory.
    piece_bytes: Option<u64>,
}

impl Device {
    /// The whole disk below a path; limits cannot be set on partitions.
    fn under(path: &Path) -> Result<Self, Error> {
        let failed = Error::cannot("limit the I/O here", path);
        let facts = iotax_inspect::site(path).map_err(|error| failed(io::Error::other(error)))?;
        let Some(block) = facts.block else {
            let why = "there is no block device below this path, and I/O limits apply only to \
                       block devices";
            return Err(failed(io::Error::other(why)));
        };
        let name = block.disk.unwrap_or(block.name);
        let directory = Path::new("/sys/class/block").join(&name);
        let number = fs::read_to_string(directory.join("dev")).map_err(failed)?;
        let piece_bytes = piece_bytes(|attribute| {
            fs::read_to_string(directory.join("queue").join(attribute)).ok()?.trim().parse().ok()
        });
        Ok(Self { name, number: number.trim().to_owned(), piece_bytes })
    }
}

/// From the attributes of a queue: each page of memory may need its own segment.
fn piece_bytes(attribute: impl Fn(&str) -> Option<u64>) -> Option<u64> {
    const PAGE_BYTES: u64 = 4096;
    let largest = attribute("max_sectors_kb")? * 1024;
    Some(largest.min(attribute("max_segments")? * PAGE_BYTES))
}

/// A group made for an arm.
#[derive(Debug)]
struct Group {
    version: Version,
    path: PathBuf,
    /// The original group of this process.
    home: PathBuf,
}

impl Group {
    fn make(context: &mut BuildContext<'_>) -> Result<Self, Error> {
        let failed = Error::cannot("find this process's cgroup", Path::new("/sys/fs/cgroup"));
        let found = hierarchy(V1, V2).ok_or(io::ErrorKind::NotFound).map_err(failed)?;
        let Hierarchy { version, top, own: home } = found;
        let parent = if version == Version::V1 { &home } else { &top };
        let path = parent.join(format!("iotax-{}", new_token()?));
        context.journal.announce(Entry::Cgroup { path: path.clone(), home: home.clone() })?;
        fs::create_dir(&path).map_err(Error::cannot("create this cgroup", &path))?;
        if version == Version::V2 && home != top && is_only_one_in(&home) {
            // The service manager removes a scope without processes.
            context.serve(Program::new("sleep").arg("infinity"), || true)?;
        }
        Ok(Self { version, path, home })
    }

    fn limit(&self, limits: &CgroupIo, device: &Device) -> Result<(), Error> {
        for (file, line) in lines(limits, self.version, &device.number) {
            let path = self.path.join(file);
            fs::write(&path, line).map_err(Error::cannot("set this limit", &path))?;
        }
        Ok(())
    }

    /// Moves all threads of this process.
    fn move_to(group: &Path) -> Result<(), Error> {
        let moved = fs::write(group.join("cgroup.procs"), "0");
        moved.map_err(Error::cannot("move this process into this cgroup", group))
    }
}

impl Turn for Group {
    fn begin(&self) -> Result<(), Error> {
        Self::move_to(&self.path)
    }

    fn end(&self) -> Result<(), Error> {
        Self::move_to(&self.home)
    }
}

fn is_only_one_in(group: &Path) -> bool {
    let processes = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    processes.lines().count() <= 1
}

/// Files of the group and what is written to them.
fn lines(limits: &CgroupIo, version: Version, device: &str) -> Vec<(&'static str, String)> {
    let all = [
        ("blkio.throttle.read_iops_device", "riops", limits.read_iops),
        ("blkio.throttle.write_iops_device", "wiops", limits.write_iops),
        ("blkio.throttle.read_bps_device", "rbps", limits.read_bw_bytes),
        ("blkio.throttle.write_bps_device", "wbps", limits.write_bw_bytes),
    ];
    let given = all.into_iter().filter_map(|(file, key, limit)| Some((file, key, limit?)));
    given
        .map(|(file, key, limit)| match version {
            Version::V1 => (file, format!("{device} {limit}")),
            Version::V2 => ("io.max", format!("{device} {key}={limit}")),
        })
        .collect()
}

/// I/O that these limits do not cover, or count twice.
fn caveats(limits: &CgroupIo, device: &Device, version: Version) -> Vec<String> {
    let mut caveats = Vec::new();
    let writes = limits.write_iops.is_some() || limits.write_bw_bytes.is_some();
    if writes && version == Version::V1 {
        caveats.push(format!(
            "on {}, cgroup version 1 limits direct and synchronous writes, but not writes through \
             the page cache",
            device.name
        ));
    }
    if let Some(piece_bytes) = device.piece_bytes {
        let largest = size(piece_bytes);
        let name = &device.name;
        if limits.read_iops.is_some() || limits.write_iops.is_some() {
            caveats.push(format!(
                "the IOPS limit counts pieces of at most {largest}, the largest I/O that {name} \
                 accepts: a larger I/O counts several times"
            ));
        }
        if limits.read_bw_bytes.is_some() || limits.write_bw_bytes.is_some() {
            caveats.push(format!(
                "io_uring I/Os above {largest} are too large for {name}: the kernel may count them \
                 twice, so throughput may reach only half the bandwidth limit"
            ));
        }
    }
    caveats
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> CgroupIo {
        CgroupIo {
            read_iops: Some(200),
            write_iops: None,
            read_bw_bytes: None,
            write_bw_bytes: Some(1 << 20),
        }
    }

    #[test]
    fn limits_are_written_as_each_version_wants_them() {
        let written = |version| {
            let lines = lines(&limits(), version, "7:4");
            lines
                .iter()
                .map(|(file, line)| format!("{file}: {line}"))
                .collect::<Vec<_>>()
                .join("\n")
        };
        insta::assert_snapshot!(written(Version::V1), @"
        blkio.throttle.read_iops_device: 7:4 200
        blkio.throttle.write_bps_device: 7:4 1048576
        ");
        insta::assert_snapshot!(written(Version::V2), @"
        io.max: 7:4 riops=200
        io.max: 7:4 wbps=1048576
        ");
    }

    #[test]
    fn what_is_not_limited_as_written_is_noted() {
        let device =
            Device { name: "loop4".into(), number: "7:4".into(), piece_bytes: Some(512 << 10) };
        insta::assert_snapshot!(caveats(&limits(), &device, Version::V1).join("\n"), @"
        on loop4, cgroup version 1 limits direct and synchronous writes, but not writes through the page cache
        the IOPS limit counts pieces of at most 512 KiB, the largest I/O that loop4 accepts: a larger I/O counts several times
        io_uring I/Os above 512 KiB are too large for loop4: the kernel may count them twice, so throughput may reach only half the bandwidth limit
        ");
        let reads = CgroupIo { read_iops: Some(1), ..CgroupIo::default() };
        assert_eq!(caveats(&reads, &device, Version::V2).len(), 1);
    }

    #[test]
    fn a_piece_is_bounded_by_sectors_and_by_segments() {
        let queue = |sectors_kb, segments| {
            move |attribute: &str| match attribute {
                "max_sectors_kb" => Some(sectors_kb),
                "max_segments" => Some(segments),
                _ => None,
            }
        };
        assert_eq!(piece_bytes(queue(1280, 128)), Some(512 << 10));
        assert_eq!(piece_bytes(queue(128, 65535)), Some(128 << 10));
        assert_eq!(piece_bytes(|_| None), None);
    }
}
