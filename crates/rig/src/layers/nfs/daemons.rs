//! Daemons that the kernel's NFS client needs, and the kernel's version.

use std::{fmt, fs};

use crate::needs::Missing;

/// The PID namespace of the machine, not of a container: `PROC_PID_INIT_INO` of the kernel.
const ALL_PROCESSES: &str = "pid:[4026531836]";

/// Whether a program runs, or may run where this process cannot see it.
pub(super) fn may_run(name: &str) -> bool {
    let sees_all =
        fs::read_link("/proc/self/ns/pid").is_ok_and(|it| it.as_os_str() == ALL_PROCESSES);
    !sees_all || runs(name)
}

fn runs(name: &str) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else { return true };
    let name_of = |process: fs::DirEntry| fs::read_to_string(process.path().join("comm")).ok();
    processes.flatten().filter_map(name_of).any(|comm| comm.trim_end() == name)
}

/// Major and minor version of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KernelVersion(pub(super) u32, pub(super) u32);

impl fmt::Display for KernelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

pub(super) fn kernel() -> KernelVersion {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    version(&release).unwrap_or(KernelVersion(u32::MAX, 0))
}

fn version(release: &str) -> Option<KernelVersion> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some(KernelVersion(numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// The first kernel that has `xprtsec`.
const SINCE: KernelVersion = KernelVersion(6, 5);

/// Why NFS over TLS is not available. Checked before anything is made, because older kernels only
/// report a wrong option.
pub(super) fn tls_lacks() -> Option<Missing> {
    lacking(kernel(), may_run("tlshd"))
}

fn lacking(kernel: KernelVersion, has_tlshd: bool) -> Option<Missing> {
    if kernel < SINCE {
        return Some(Missing {
            what: format!(
                "the kernel version is {kernel}, but NFS over TLS (xprtsec) needs {SINCE} or newer"
            ),
            remedy: "use a newer kernel, sec=krb5p, or a tunnel (WireGuard) below the mount".into(),
        });
    }
    (!has_tlshd).then(|| Missing {
        what: "tlshd, which performs TLS handshakes for the kernel, is not running".into(),
        remedy: "install the package ktls-utils, and start tlshd (systemctl start tlshd)".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;

    #[test]
    fn kernels_are_told_by_two_numbers() {
        assert_eq!(version("6.1.0-56-cloud-amd64"), Some(KernelVersion(6, 1)));
        assert_eq!(version("6.12.117"), Some(KernelVersion(6, 12)));
        assert_eq!(version("next"), None);
    }

    #[test]
    fn what_runs_is_found_by_its_name() {
        let own = fs::read_to_string("/proc/self/comm").unwrap();
        assert!(runs(own.trim_end()));
        assert!(!runs("no-such-daemon"));
    }

    #[test]
    fn what_is_missing_comes_with_what_to_do() {
        let told = |kernel, has_tlshd| {
            let missing = lacking(kernel, has_tlshd);
            missing.map_or(String::new(), |Missing { what, remedy }| format!("{what}; {remedy}"))
        };
        assert_snapshot!(told(KernelVersion(6, 1), true), @"the kernel version is 6.1, but NFS over TLS (xprtsec) needs 6.5 or newer; use a newer kernel, sec=krb5p, or a tunnel (WireGuard) below the mount");
        assert_snapshot!(told(KernelVersion(6, 12), false), @"tlshd, which performs TLS handshakes for the kernel, is not running; install the package ktls-utils, and start tlshd (systemctl start tlshd)");
        assert_eq!(told(KernelVersion(6, 5), true), "");
    }
}
