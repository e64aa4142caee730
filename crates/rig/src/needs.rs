//! What layers need from this machine, and how to get it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use iotax_experiment::{LayerInfo, Need};
use iotax_inspect::hierarchy;

use crate::namespace::Namespace;
use crate::programs::{self, Program};

/// A need that is not met.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Missing {
    /// What: `qemu-storage-daemon is not installed`.
    pub what: String,
    /// What to do: `apt-get install qemu-system-common`.
    pub remedy: String,
}

/// `None` if it is met.
pub(crate) fn unmet(need: Need) -> Option<Missing> {
    let missing = |what: String, remedy: String| Some(Missing { what, remedy });
    match need {
        Need::Root if rustix::process::geteuid().is_root() => None,
        Need::Root => missing("not root".into(), "run as root (sudo)".into()),
        Need::Program { name, package, at_least } => {
            let install = format!("install the package {package} (apt-get install {package})");
            let Some(path) = programs::find_program(name) else {
                return missing(format!("{name} is not installed"), install);
            };
            let least = at_least?;
            let has = version_of(&path);
            if has.is_none_or(|has| has >= least) {
                return None;
            }
            let has = has.unwrap_or_default();
            missing(
                format!(
                    "{name} is version {}.{}, but {}.{} or newer is needed",
                    has.0, has.1, least.0, least.1
                ),
                install,
            )
        }
        Need::File { path, .. } if Path::new(path).exists() => None,
        Need::File { path, package } => missing(
            format!("{path} does not exist"),
            format!("install the package {package} (apt-get install {package})"),
        ),
        Need::FileSystem { name } if has_file_system(name) => None,
        Need::FileSystem { name } => missing(
            format!("the kernel does not support {name}"),
            format!("use a kernel with {name} built in or available as a module"),
        ),
        Need::Device { path, .. } if Path::new(path).exists() => None,
        Need::Device { module, .. } if loadable(module) => None,
        Need::Device { path, module } => missing(
            format!("{path} does not exist"),
            format!("use a kernel that has the module {module} (modprobe {module})"),
        ),
        Need::Module { module, .. } if built_in(module) || loadable(module) => None,
        Need::Module { module, about } => missing(
            format!("the kernel does not support {about}"),
            format!("use a kernel that has the module {module} (modprobe {module})"),
        ),
        Need::Feature { path, .. } if Path::new(path).exists() => None,
        // Unknown until the module is loaded.
        Need::Feature { path, module, .. } if !has_parent(path) && loadable(module) => None,
        // Only root could check, and the lack of root is reported anyway.
        Need::Network { .. } if !rustix::process::geteuid().is_root() => None,
        Need::Network { probe, .. } if can_be_made(probe) => None,
        Need::Feature { about, .. } | Need::Network { about, .. } => missing(
            format!("the kernel does not support {about}"),
            format!("use a kernel built with {about}"),
        ),
        Need::Either { one, other } => {
            let (one, other) = (unmet(*one)?, unmet(*other)?);
            missing(
                format!("{}, and {}", one.what, other.what),
                format!("{}, or {}", one.remedy, other.remedy),
            )
        }
        Need::Cgroup { v1, v2 } if hierarchy(v1, v2).is_some() => None,
        Need::Cgroup { v1, v2 } => missing(
            format!(
                "I/O limits for cgroups are not available here: neither the controller {v1} (cgroup \
                 version 1) nor the controller {v2} (version 2) is enabled"
            ),
            format!(
                "for version 2, run echo +{v2} > /sys/fs/cgroup/cgroup.subtree_control; in a \
                 container, use the host's cgroups"
            ),
        ),
    }
}

/// Every need that is not met, each once.
pub(crate) fn missing(needs: impl IntoIterator<Item = Need>) -> Vec<Missing> {
    let mut needs: Vec<Need> = needs.into_iter().collect();
    needs.sort();
    needs.dedup();
    needs.into_iter().filter_map(unmet).collect()
}

fn has_file_system(name: &str) -> bool {
    let known = fs::read_to_string("/proc/filesystems").unwrap_or_default();
    known.lines().any(|line| line.split_whitespace().last() == Some(name)) || loadable(name)
}

fn has_parent(path: &str) -> bool {
    Path::new(path).parent().is_some_and(Path::exists)
}

fn built_in(module: &str) -> bool {
    Path::new("/sys/module").join(module.replace('-', "_")).exists()
}

/// Whether the kernel can make such a network object. Tried in a namespace that ends with the
/// probe.
fn can_be_made(probe: &str) -> bool {
    let Some((program, words)) = probe.split_once(' ') else { return false };
    let Ok(namespace) = Namespace::new() else { return false };
    // nft would take arguments that start with a dash for options, but it also reads rules from one
    // argument.
    let words = if program == "nft" { vec![words] } else { words.split(' ').collect() };
    let program = Program::new(program).args(words).in_namespace(Arc::new(namespace));
    program.run("", &AtomicBool::new(false)).is_ok()
}

/// Whether the kernel would find the module; loads nothing.
fn loadable(module: &str) -> bool {
    let Some(modprobe) = programs::find_program("modprobe") else { return false };
    let mut probe = Command::new(modprobe);
    probe.args(["--dry-run", "--quiet", "--", module]).stdin(Stdio::null());
    probe.stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

fn version_of(program: &Path) -> Option<(u32, u32)> {
    let mut command = Command::new(program);
    let output = command.arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = [output.stdout, output.stderr].concat();
    version_in(&String::from_utf8_lossy(&text))
}

/// The first number with a dot in it: `qemu-storage-daemon version 7.2.19 (Debian ...)`.
fn version_in(text: &str) -> Option<(u32, u32)> {
    text.split_whitespace().find_map(|word| {
        let word = word.trim_start_matches(|c: char| !c.is_ascii_digit());
        let mut parts = word.split(|c: char| !c.is_ascii_digit());
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    })
}

/// Something that a layer needs of the system, and whether it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// What, for people: `mkfs.ext4 (package e2fsprogs)`.
    pub what: String,
    /// Why it is not met, and what to do; `None` if it is.
    pub missing: Option<Missing>,
}

/// Everything that `layer` needs in the system; nothing for in-process layers. Changes nothing.
pub fn requirements(layer: &'static LayerInfo) -> Vec<Requirement> {
    let mut needs = layer.needs.to_vec();
    needs.sort();
    let requirement = |need: Need| Requirement { what: need.to_string(), missing: unmet(need) };
    needs.into_iter().map(requirement).collect()
}

/// Why `layer` cannot be made on this system; empty if it can.
pub fn availability(layer: &'static LayerInfo) -> Vec<Missing> {
    requirements(layer).into_iter().filter_map(|requirement| requirement.missing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotax_experiment::{Layer, World};

    #[test]
    fn versions_are_found_in_what_programs_say() {
        let said = [
            "qemu-storage-daemon version 7.2.19 (Debian 1:7.2+dfsg-7)",
            "cryptsetup 2.6.1 flags: UDEV BLKID KEYRING",
            "gocryptfs 2.3.1; go-fuse [vendored]; 2022-12-28 go1.19.8 linux/amd64",
            "mkfs.xfs version 6.1.0",
            "nothing of the kind",
        ];
        let found = said.map(version_in);
        assert_eq!(found, [Some((7, 2)), Some((2, 6)), Some((2, 3)), Some((6, 1)), None]);
    }

    #[test]
    fn what_is_missing_comes_with_what_to_do() {
        let needs = [
            Need::Program { name: "no-such-program", package: "its-package", at_least: None },
            Need::FileSystem { name: "nosuchfs" },
            Need::Device { path: "/dev/no-such", module: "no_such" },
            Need::Module { module: "no-such", about: "device mapper encryption" },
            Need::Feature { path: "/sys/no-such", module: "no_such", about: "mind reading" },
        ];
        let text: Vec<_> =
            missing(needs).into_iter().map(|m| format!("{}: {}", m.what, m.remedy)).collect();
        insta::assert_snapshot!(text.join("\n"), @"
        no-such-program is not installed: install the package its-package (apt-get install its-package)
        the kernel does not support nosuchfs: use a kernel with nosuchfs built in or available as a module
        /dev/no-such does not exist: use a kernel that has the module no_such (modprobe no_such)
        the kernel does not support device mapper encryption: use a kernel that has the module no-such (modprobe no-such)
        the kernel does not support mind reading: use a kernel built with mind reading
        ");
    }

    #[test]
    fn in_process_layers_need_nothing_and_all_others_root() {
        for layer in Layer::catalog() {
            let needs: Vec<_> = requirements(layer).into_iter().map(|need| need.what).collect();
            // What they are is there already: the user's, the machine's, or load's own.
            let is_there =
                ["dir", "loopback", "peer", "remote", "tls", "ktls"].contains(&layer.name);
            if layer.world != World::System || is_there {
                continue;
            }
            assert!(needs.iter().any(|need| need == "root"), "{}: {needs:?}", layer.name);
        }
        let aes = LayerInfo::named("aes").unwrap();
        assert_eq!(requirements(aes), []);
    }

    #[test]
    fn needs_are_told_with_package_or_module() {
        let told: Vec<_> =
            requirements(LayerInfo::named("ext4").unwrap()).into_iter().map(|r| r.what).collect();
        insta::assert_snapshot!(told.join("\n"), @"
        root
        mkfs.ext4 (package e2fsprogs)
        ext4 in the kernel
        ");
    }
}
