//! The mount, through a real kernel. Needs root and `/dev/fuse`.

mod data;
mod life;
mod parallel;

use std::fs::{File, OpenOptions};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use iotax_layers::{Layer, Mem};
use iotax_testing::{needs, needs_fuse};
use iotax_vdisk::fuse::{MountOptions, Mounted, mount};
use iotax_vdisk::{MonotonicClock, VirtualDisk};
use tempfile::TempDir;

const MIB: u64 = 1 << 20;
const HOUR_NS: u64 = 3_600_000_000_000;
const FILE: &str = "VDISK_FUSE_TEST_FILE";

/// A mounted disk in a directory of its own. Fields go in this order: the mount before its place.
struct Scene {
    mounted: Mounted,
    dir: TempDir,
}

impl Scene {
    /// Mounts `layers`; `None`, loudly, where this machine cannot.
    fn of(layers: &[Layer]) -> Option<Self> {
        Self::with(layers, &MountOptions::default())
    }

    fn with(layers: &[Layer], options: &MountOptions) -> Option<Self> {
        if !needs_fuse() {
            return None;
        }
        let dir = tempfile::tempdir().expect("a temporary directory");
        let disk = VirtualDisk::open(layers, Arc::new(MonotonicClock)).expect("a valid stack");
        let mounted = mount(&disk, dir.path(), options).expect("root and /dev/fuse are there");
        Some(Self { mounted, dir })
    }

    fn disk(&self) -> &VirtualDisk {
        self.mounted.disk()
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("disk")
    }

    fn open(&self) -> File {
        OpenOptions::new().read(true).write(true).open(self.path()).expect("the disk's file")
    }

    /// Runs an ignored test on the disk's file in another process: one that maps a file and
    /// serves it as well can wait for itself.
    fn in_another_process(&self, name: &str) {
        let output = Command::new(std::env::current_exe().expect("this test's path"))
            .args(["--ignored", "--exact", name])
            .env(FILE, self.path())
            .output()
            .expect("this test's program");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
    }

    fn stats(&self) -> serde_json::Value {
        let text = std::fs::read_to_string(self.dir.path().join("stats.json"));
        serde_json::from_str(&text.expect("the statistics' file")).expect("JSON")
    }
}

/// In the process of [`Scene::in_another_process`]: the disk's file.
fn open_elsewhere() -> File {
    let path = std::env::var_os(FILE).expect("the other process's variable");
    OpenOptions::new().read(true).write(true).open(path).expect("the disk's file")
}

/// Of files with direct I/O: since Linux 6.6.
fn can_map_shared() -> bool {
    let uname = rustix::system::uname();
    let release = uname.release().to_string_lossy();
    let mut numbers = release.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    let version = (numbers.next(), numbers.next());
    let what = format!("Linux 6.6 for shared mappings, not {release}");
    needs(version >= (Some(6), Some(6)), &what)
}

fn mem(size_bytes: u64) -> Layer {
    Layer::Mem(Mem { size_bytes })
}

/// How `/proc/mounts` shows what is mounted at the scene's place.
fn mount_entries(at: &std::path::Path) -> Vec<String> {
    let at = at.to_str().expect("temporary directories have plain names").to_owned();
    let mounts = std::fs::read_to_string("/proc/mounts").expect("the table of mounts");
    mounts.lines().filter(|line| line.split(' ').nth(1) == Some(&at)).map(str::to_owned).collect()
}
