//! What layers require of a machine.

use std::fmt;

/// A requirement of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// The right to mount and to create devices.
    Root,
    Program {
        name: &'static str,
        /// The Debian package; other distributions use the same or a similar name.
        package: &'static str,
        /// The minimum version, major and minor.
        at_least: Option<(u32, u32)>,
    },
    /// A file of a program, such as a plugin, that is in another package.
    File {
        /// Its path on Debian.
        path: &'static str,
        package: &'static str,
    },
    /// A file system of the kernel.
    FileSystem {
        /// Its name in /proc/filesystems and of its module.
        name: &'static str,
    },
    /// A device node that a kernel module provides.
    Device {
        /// The node.
        path: &'static str,
        module: &'static str,
    },
    /// Another part of the kernel.
    Module {
        /// The module, as `modprobe` knows it.
        module: &'static str,
        /// Description for users.
        about: &'static str,
    },
    /// A feature that a kernel may have been built without.
    Feature {
        /// A file that exists if the kernel has it.
        path: &'static str,
        /// The module that provides the file.
        module: &'static str,
        /// Description for users.
        about: &'static str,
    },
    /// A part of the kernel's network, tested in a temporary network namespace.
    Network {
        /// The command that creates it in that namespace, and does nothing else.
        probe: &'static str,
        /// Description for users.
        about: &'static str,
    },
    /// One of two requirements.
    Either {
        /// Used if available.
        one: &'static Need,
        /// Used otherwise.
        other: &'static Need,
    },
    /// A cgroup controller, version 1 or 2.
    Cgroup {
        /// Its name in version 1: `blkio`.
        v1: &'static str,
        /// Its name in version 2: `io`.
        v2: &'static str,
    },
}

impl Need {
    /// FUSE file systems.
    pub(crate) const FUSE: Self = Self::Device { path: "/dev/fuse", module: "fuse" };

    /// Interfaces that pass packets to a program.
    pub(crate) const TUN: Self = Self::Device { path: "/dev/net/tun", module: "tun" };

    /// Creates interfaces and addresses.
    pub(crate) const IP: Self = Self::program("ip", "iproute2");

    /// Creates queueing disciplines.
    pub(crate) const TC: Self = Self::program("tc", "iproute2");

    /// Creates packet rules.
    pub(crate) const NFT: Self = Self::program("nft", "nftables");

    /// Any version of a program.
    pub(crate) const fn program(name: &'static str, package: &'static str) -> Self {
        Self::Program { name, package, at_least: None }
    }

    pub(crate) const fn program_since(
        name: &'static str,
        package: &'static str,
        major: u32,
        minor: u32,
    ) -> Self {
        Self::Program { name, package, at_least: Some((major, minor)) }
    }

    pub(crate) const fn network(probe: &'static str, about: &'static str) -> Self {
        Self::Network { probe, about }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str("root"),
            Self::Program { name, package, at_least } => {
                write!(f, "{name}")?;
                if let Some((major, minor)) = at_least {
                    write!(f, " {major}.{minor} or later")?;
                }
                write!(f, " (package {package})")
            }
            Self::File { path, package } => {
                let name = path.rsplit('/').next().unwrap_or(path);
                write!(f, "{name} (package {package})")
            }
            Self::FileSystem { name } => write!(f, "{name} in the kernel"),
            Self::Device { path, module } => write!(f, "{path} (kernel module {module})"),
            Self::Module { module, about } | Self::Feature { module, about, .. } => {
                write!(f, "{about} in the kernel (module {module})")
            }
            Self::Network { about, .. } => write!(f, "{about} in the kernel"),
            Self::Either { one, other } => write!(f, "{one}, or {other}"),
            Self::Cgroup { v1, v2 } => {
                write!(f, "cgroups with I/O limits ({v1} in version 1, {v2} in version 2)")
            }
        }
    }
}
