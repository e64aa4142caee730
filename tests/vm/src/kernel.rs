//! A guest with one of Debian's own kernels, run by QEMU. Its CPUs are emulated, so it needs no KVM: it
//! boots in about ten seconds, and programs take some twenty times as long as on this machine.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use iotax_testing::{needs, needs_programs};

use crate::{Turn, VmOutput, attend, collect};

/// Where `.ci/run` unpacks a kernel, and where a package installs one.
const PLACES: [&str; 2] = ["/var/cache/iotax-test-kernel", "/"];
/// A directory into which a kernel package was unpacked (`dpkg -x`), to be used instead.
const OTHER: &str = "IOTAX_TEST_KERNEL";
const MEMORY_MIB: u32 = 2048;

/// A kernel package, unpacked.
struct Kernel {
    image: PathBuf,
    modules: PathBuf,
    release: String,
}

/// A guest with a Debian kernel.
pub struct KernelVm {
    kernel: Kernel,
    work: PathBuf,
    disk_bytes: u64,
    limit: Duration,
}

impl Kernel {
    /// The kernel in this directory whose release begins so.
    fn find(root: &Path, version: &str) -> Option<Self> {
        fs::read_dir(root.join("boot")).ok()?.flatten().find_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let release = name.strip_prefix("vmlinuz-").filter(|it| it.starts_with(version))?;
            let places = ["lib/modules", "usr/lib/modules"].map(|place| root.join(place));
            let modules = places.into_iter().find(|place| place.join(release).is_dir())?;
            Some(Self { image: entry.path(), modules, release: release.to_owned() })
        })
    }
}

impl KernelVm {
    /// A guest with a kernel of this version, such as `6.1.`, and an empty disk (`$DISK`), that
    /// shares a new directory in `work` with this machine; `None`, printed loudly, on a machine that
    /// lacks the kernel or the programs for it. `IOTAX_TEST_KERNEL` names another kernel.
    pub fn new(version: &str, work: &Path, disk_bytes: u64) -> Option<Self> {
        let programs = ["qemu-system-x86_64", "busybox", "cpio", "insmod", "setpriv"];
        if !needs(cfg!(target_arch = "x86_64"), "x86-64") || !needs_programs(&programs) {
            return None;
        }
        let kernel = match std::env::var_os(OTHER) {
            Some(other) => Kernel::find(Path::new(&other), ""),
            None => PLACES.iter().find_map(|place| Kernel::find(Path::new(place), version)),
        };
        let which = format!("Debian's kernel {version}* (.ci/run fetches it)");
        if !needs(kernel.is_some(), &which) {
            return None;
        }
        let limit = Duration::from_mins(10);
        Some(Self { kernel: kernel?, work: work.to_owned(), disk_bytes, limit })
    }

    /// Boots, runs a bash script as root in a directory shared with this machine, and powers off.
    /// The script finds `$DISK`.
    pub fn run(&self, script: &str) -> VmOutput {
        let _turn = Turn::take(&self.work, 1);
        let share = tempfile::tempdir_in(&self.work).unwrap();
        let store = tempfile::tempdir_in(&self.work).unwrap();
        fs::write(share.path().join("env"), "DISK=/dev/vda\n").unwrap();
        fs::write(share.path().join("script"), script).unwrap();
        let disk = store.path().join("disk");
        File::create(&disk).unwrap().set_len(self.disk_bytes).unwrap();
        let initramfs = self.initramfs(store.path());
        attend(&mut self.qemu(share.path(), &disk, &initramfs), share.path());
        collect(share, self.limit).unwrap_or_else(|console| panic!("{console}"))
    }

    fn initramfs(&self, store: &Path) -> PathBuf {
        let file = store.join("initramfs");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/initramfs.sh");
        let mut pack = Command::new(script);
        pack.arg(&self.kernel.modules).arg(&self.kernel.release).arg(&file);
        assert!(pack.status().unwrap().success(), "{script} failed");
        file
    }

    fn qemu(&self, share: &Path, disk: &Path, initramfs: &Path) -> Command {
        let mut command = Command::new("setpriv");
        command
            .args(["--pdeathsig", "TERM", concat!(env!("CARGO_MANIFEST_DIR"), "/qemu.sh")])
            .args([&self.kernel.image, &self.kernel.modules])
            .args([initramfs, share])
            .arg(self.limit.as_secs().to_string())
            .args(["-m", &MEMORY_MIB.to_string(), "-drive"])
            .arg(format!("file={},format=raw,if=virtio,cache=unsafe", disk.display()));
        command
    }
}
