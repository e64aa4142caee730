//! The files behind the counters of a trial, opened once and read repeatedly.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use iotax_record::{CPU_MODES, DISK_COUNTERS};

use super::links::{InterfaceMeter, InterfaceStats};
use super::mountstats::{NfsMount, nfs_mounts};
use super::plain::{
    Memory, NfsClient, Stall, cpu_ticks, figures, memory, nfs_client, stall, throttled_us,
};
use crate::cgroup::cpu_quota;

/// Room for a whole file on most machines; grows if needed.
const ROOM_BYTES: usize = 64 << 10;
/// No known machine has a longer `/proc` file among those read here. A file that never ends must
/// not fill memory.
const MOST_BYTES: usize = 64 << 20;

/// All readings at one instant. `None`: this system does not report it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    /// One per requested device; `None` while it is missing.
    pub devices: Vec<Option<[u64; DISK_COUNTERS]>>,
    /// CPU time by mode, in ticks.
    pub cpu_ticks: Option<[u64; CPU_MODES]>,
    /// Waiting for a CPU, for I/O, for memory.
    pub pressure: [Option<Stall>; 3],
    /// Page faults and page cache.
    pub memory: Option<Memory>,
    /// The requested NFS mounts that exist.
    pub nfs: Vec<NfsMount>,
    /// All NFS mounts together, if any was requested.
    pub nfs_client: Option<NfsClient>,
    /// Time in which this process's group had used up its CPU quota, in microseconds.
    pub throttled_us: Option<u64>,
    /// The interfaces of each given meter; none if they cannot be read.
    pub interfaces: Vec<Vec<InterfaceStats>>,
}

/// Open files.
#[derive(Debug)]
pub struct Meters {
    devices: Vec<String>,
    mount_points: Vec<PathBuf>,
    diskstats: Option<File>,
    stat: Option<File>,
    pressure: [Option<File>; 3],
    vmstat: Option<File>,
    mountstats: Option<File>,
    nfs_client: Option<File>,
    cpu_stat: Option<File>,
    interfaces: Vec<InterfaceMeter>,
    buffer: Vec<u8>,
}

impl Meters {
    /// Opens the files for these devices (by the kernel's names) and NFS mounts. `proc` is `/proc`.
    /// Files that cannot be opened are skipped.
    pub fn open(proc: &Path, devices: Vec<String>, mount_points: Vec<PathBuf>) -> Self {
        let open = |name: &str| File::open(proc.join(name)).ok();
        Self {
            diskstats: open("diskstats").filter(|_| !devices.is_empty()),
            stat: open("stat"),
            pressure: ["cpu", "io", "memory"].map(|name| open(&format!("pressure/{name}"))),
            vmstat: open("vmstat"),
            mountstats: open("self/mountstats").filter(|_| !mount_points.is_empty()),
            nfs_client: open("net/rpc/nfs").filter(|_| !mount_points.is_empty()),
            cpu_stat: cpu_quota().and_then(|quota| File::open(quota.level.cpu_stat()).ok()),
            devices,
            mount_points,
            interfaces: Vec::new(),
            buffer: vec![0; ROOM_BYTES],
        }
    }

    /// The same with network interfaces.
    #[must_use]
    pub fn with_interfaces(self, interfaces: Vec<InterfaceMeter>) -> Self {
        Self { interfaces, ..self }
    }

    /// Reads all counters now, devices first.
    pub fn read(&mut self) -> Reading {
        let (buffer, devices) = (&mut self.buffer, &self.devices);
        let mut reading = Reading {
            devices: with_text(self.diskstats.as_ref(), buffer, |text| {
                disk_counters(text, devices)
            })
            .unwrap_or_else(|| vec![None; devices.len()]),
            cpu_ticks: with_text(self.stat.as_ref(), buffer, cpu_ticks).flatten(),
            pressure: [None; 3],
            memory: with_text(self.vmstat.as_ref(), buffer, memory).flatten(),
            nfs: with_text(self.mountstats.as_ref(), buffer, nfs_mounts).unwrap_or_default(),
            nfs_client: with_text(self.nfs_client.as_ref(), buffer, nfs_client).flatten(),
            throttled_us: with_text(self.cpu_stat.as_ref(), buffer, throttled_us).flatten(),
            interfaces: (self.interfaces.iter_mut())
                .map(|meter| meter.read().unwrap_or_default())
                .collect(),
        };
        for (read, file) in reading.pressure.iter_mut().zip(&self.pressure) {
            *read = with_text(file.as_ref(), buffer, stall).flatten();
        }
        reading.nfs.retain(|mount| self.mount_points.contains(&mount.mount_point));
        reading
    }
}

/// Applies `parse` to the file, reread from its start; `None` if it cannot be read.
fn with_text<T>(
    file: Option<&File>,
    buffer: &mut Vec<u8>,
    parse: impl FnOnce(&str) -> T,
) -> Option<T> {
    let length = read_again(file?, buffer).ok()?;
    Some(parse(&String::from_utf8_lossy(&buffer[..length])))
}

/// The kernel generates files of `/proc` when they are read at offset 0. They stay consistent as
/// long as each read starts where the last one ended.
fn read_again(file: &File, buffer: &mut Vec<u8>) -> io::Result<usize> {
    let mut length = 0;
    loop {
        if length == buffer.len() {
            if length >= MOST_BYTES {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            buffer.resize(2 * length.max(1), 0);
        }
        match file.read_at(&mut buffer[length..], length as u64) {
            Ok(0) => return Ok(length),
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

// `/proc/diskstats`: one line per device, described in the kernel's
// `Documentation/admin-guide/iostats.rst`.

/// Minimum number of counters in a line: discards came with Linux 4.18, flushes with 5.5. Missing
/// counters are 0.
const FEWEST: usize = 11;

/// The counters of the devices called `names`, in that order. `None` for a device without a line in
/// the documented format.
pub fn disk_counters(text: &str, names: &[String]) -> Vec<Option<[u64; DISK_COUNTERS]>> {
    let mut found = vec![None; names.len()];
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace().skip(2);
        let Some(name) = words.next() else { continue };
        if let Some(device) = names.iter().position(|wanted| wanted == name) {
            found[device] = figures(words, FEWEST);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    fn proc() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("diskstats", "1 0 a 1 2 3 4 5 6 7 8 9 10 11\n");
        put("stat", "cpu  1 2 3 4\n");
        put("pressure/io", "some total=5\nfull total=6\n");
        put(
            "self/mountstats",
            "device s:/ mounted on /m with fstype nfs4 statvers=1.1\n\
             device t:/ mounted on /n with fstype nfs4 statvers=1.1\n",
        );
        root
    }

    #[test]
    fn files_are_read_anew_each_time() {
        let root = proc();
        let mut meters = Meters::open(root.path(), vec!["a".into(), "b".into()], vec!["/m".into()]);
        let before = meters.read();
        assert_eq!(before.devices[0].unwrap()[..3], [1, 2, 3]);
        assert_eq!(before.devices[1], None);
        assert_eq!(before.pressure[1], Some(Stall { some_us: 5, full_us: 6 }));
        assert_eq!((before.pressure[0], before.memory), (None, None));
        assert_eq!(before.nfs.len(), 1);
        // Unplugged; and longer than the file was.
        fs::write(root.path().join("diskstats"), "1 1 b 1 1 1 1 1 1 1 1 1 1 12345678\n").unwrap();
        let after = meters.read();
        assert_eq!(after.devices[0], None);
        assert_eq!(after.devices[1].unwrap()[10], 12_345_678);
    }

    #[test]
    fn a_file_longer_than_the_buffer_is_read_whole() {
        let root = proc();
        let filler = "1 0 x 1 1 1 1 1 1 1 1 1 1 1\n".repeat(3 * ROOM_BYTES / 20);
        fs::write(root.path().join("diskstats"), filler + "1 0 last 7 1 1 1 1 1 1 1 1 1 1\n")
            .unwrap();
        let mut meters = Meters::open(root.path(), vec!["last".into()], Vec::new());
        assert_eq!(meters.read().devices[0].unwrap()[0], 7);
        assert_eq!(meters.read().devices[0].unwrap()[0], 7);
    }

    #[test]
    fn bytes_that_are_no_text_are_no_figures() {
        let root = proc();
        fs::write(root.path().join("diskstats"), b"\xff\xfe\n1 0 a \xff 2 3\n").unwrap();
        let mut meters = Meters::open(root.path(), vec!["a".into()], Vec::new());
        assert_eq!(meters.read().devices, [None]);
    }

    #[test]
    fn this_machine_tells_its_cpu_time() {
        let mut meters = Meters::open(Path::new("/proc"), Vec::new(), Vec::new());
        let ticks = |reading: &Reading| reading.cpu_ticks.unwrap().iter().sum::<u64>();
        let before = meters.read();
        assert!(ticks(&meters.read()) >= ticks(&before));
        assert!(before.memory.is_some());
    }

    const FIXTURE: &str = "\
   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 254       0 vda 234195 36416 19853338 178607 34727 139084 63440448 339790 3 46320 521119 6290 55 1738584 2671 890 49
 254       1 vda1 1 2 3 4 5 6 7 8 9 10 11
 254       2 vda2 1 2 3 4
 254       3 vda3 1 2 3 4 5 6 7 8 9 10 -11
 104       0 cciss/c0d0 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9
garbage
";

    fn of(name: &str) -> Option<[u64; DISK_COUNTERS]> {
        disk_counters(FIXTURE, &[name.to_owned()])[0]
    }

    #[test]
    fn a_device_has_seventeen_counters() {
        let vda = of("vda").unwrap();
        assert_eq!((vda[0], vda[8], vda[16]), (234_195, 3, 49));
        assert_eq!(of("cciss/c0d0"), Some([9; 17]), "later kernels may add more");
    }

    #[test]
    fn old_kernels_count_neither_discards_nor_flushes() {
        let vda1 = of("vda1").unwrap();
        assert_eq!(vda1[..11], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        assert_eq!(vda1[11..], [0; 6]);
    }

    #[test]
    fn names_are_matched_whole_and_broken_lines_are_no_figures() {
        let names = ["vd", "vda2", "vda3", "vdb", "loop0"].map(str::to_owned);
        let found = disk_counters(FIXTURE, &names);
        assert_eq!(found, [None, None, None, None, Some([0; 17])]);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in ".*", counters in "([0-9]{1,25} ){0,20}") {
            let names = ["a".to_owned(), String::new()];
            disk_counters(&text, &names);
            disk_counters(&format!("1 2 a {counters}"), &names);
        }
    }
}
