//! Requirements of tests. If one is missing, the test prints that it was skipped. In CI, where
//! everything is installed, the test fails instead.
//!
//! ```no_run
//! # use iotax_testing::{needs_program, needs_root};
//! if !needs_root() || !needs_program("fio") {
//!     return;
//! }
//! ```
#![forbid(unsafe_code)]

use std::io::Write as _;
use std::os::fd::IntoRawFd as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// Programs and their Debian packages, one per line.
const PROGRAMS: &str = include_str!("../programs.txt");

/// Whether tests must not be skipped: `CI` is set, but not to an empty value, `0` or `false`.
pub fn in_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| !["", "0", "false"].iter().any(|no| value == *no))
}

/// Prints that the running test, or the rest of it, is skipped, with the reason.
///
/// # Panics
/// In CI.
#[track_caller]
pub fn skipped(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    assert!(!in_ci(), "{test} cannot be skipped in CI: {why}");
    // Not `eprintln!`: the test harness hides its output if a test passes.
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {why}");
}

/// Returns `is_there`. Calls [`skipped`] if it is false.
#[track_caller]
pub fn needs(is_there: bool, what: &str) -> bool {
    if !is_there {
        skipped(&format!("needs {what}"));
    }
    is_there
}

#[track_caller]
pub fn needs_root() -> bool {
    needs(rustix::process::geteuid().is_root(), "root")
}

/// Whether the kernel describes its types, which BPF programs need.
#[track_caller]
pub fn kernel_has_btf() -> bool {
    needs(Path::new("/sys/kernel/btf/vmlinux").exists(), "a kernel with CONFIG_DEBUG_INFO_BTF")
}

/// Whether this process can record other programs with BPF.
#[track_caller]
pub fn needs_bpf() -> bool {
    needs_root() && kernel_has_btf()
}

/// Whether this process can mount FUSE file systems: it is root, and `/dev/fuse` exists.
#[track_caller]
pub fn needs_fuse() -> bool {
    needs_root() && needs(Path::new("/dev/fuse").exists(), "/dev/fuse (modprobe fuse)")
}

/// Whether the program is installed. `.ci/run` must install it.
///
/// # Panics
/// In CI if it is not installed, and if it is not in `tests/support/programs.txt`.
#[track_caller]
pub fn needs_program(program: &str) -> bool {
    let package = package(program)
        .unwrap_or_else(|| panic!("{program} is missing from tests/support/programs.txt"));
    let install = format!("{program} (apt-get install {package})");
    needs(find_program(program).is_some(), &install)
}

/// Whether all programs are installed, as in [`needs_program`].
#[track_caller]
pub fn needs_programs(programs: &[&str]) -> bool {
    programs.iter().all(|program| needs_program(program))
}

/// The path of a program in `PATH` or in Debian's directories for root's programs.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let for_root = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    let mut directories = std::env::split_paths(&path).chain(for_root);
    directories.find_map(|directory| Some(directory.join(name)).filter(|file| file.is_file()))
}

/// The package of a program; `None` if it is not in the list.
fn package(program: &str) -> Option<&'static str> {
    PROGRAMS
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(' '))
        .find_map(|(name, package)| (name == program).then_some(package))
}

/// Creates a file without a name in a directory. The returned path is valid until this process
/// ends.
///
/// # Panics
/// If the file cannot be created.
pub fn nameless_file(directory: &Path, size_bytes: u64) -> PathBuf {
    let (flags, mode) = (OFlags::TMPFILE | OFlags::RDWR, Mode::RUSR | Mode::WUSR);
    let file = rustix::fs::open(directory, flags, mode).expect("a file in the directory");
    rustix::fs::ftruncate(&file, size_bytes).expect("a size for it");
    PathBuf::from(format!("/proc/self/fd/{}", file.into_raw_fd()))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// The body of a test that is run again in a separate process.
    const NEEDING: &str = "IOTAX_TEST_NEEDING";

    /// Runs a skipped test with this value of `CI`; whether it passes, and its output.
    fn skip_where(ci: &str) -> (bool, String) {
        let output = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "tests::a_skipped_test_is_seen_and_fails_in_ci"])
            .env(NEEDING, "1")
            .env("CI", ci)
            .output()
            .expect("this program starts");
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&said).into_owned())
    }

    #[test]
    fn a_skipped_test_is_seen_and_fails_in_ci() {
        if std::env::var_os(NEEDING).is_some() {
            assert!(!needs(false, "a machine of gold"));
            return;
        }
        let told = "SKIPPED tests::a_skipped_test_is_seen_and_fails_in_ci: needs a machine of gold";
        for ci in ["", "0", "false"] {
            let (passed, said) = skip_where(ci);
            assert!(passed && said.contains(told), "{said}");
        }
        for ci in ["true", "1"] {
            let (passed, said) = skip_where(ci);
            assert!(!passed && said.contains("skipped in CI: needs a machine of gold"), "{said}");
        }
    }

    #[test]
    fn programs_are_found_and_their_packages_known() {
        assert!(find_program("sh").is_some());
        assert_eq!(find_program("no such program"), None);
        assert_eq!(package("linux.uml"), Some("user-mode-linux"));
        assert_eq!(package("#"), None);
    }

    #[test]
    #[should_panic(expected = "is missing from tests/support/programs.txt")]
    fn a_program_that_ci_does_not_install_is_no_need_of_a_test() {
        needs_program("no such program");
    }
}
