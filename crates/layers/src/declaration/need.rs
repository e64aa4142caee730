//! What layers need of a machine.

use std::fmt;

/// Something a layer cannot be made without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// The right to mount and to make devices.
    Root,
    Program {
        name: &'static str,
        /// The Debian package that has it; others have the same or a similar one.
        package: &'static str,
        /// The least version, major and minor.
        at_least: Option<(u32, u32)>,
    },
    /// A file of a program, such as a plugin, which is in another package.
    File {
        /// Where Debian has it.
        path: &'static str,
        package: &'static str,
    },
    /// A file system of the kernel.
    FileSystem {
        /// Its name in /proc/filesystems, and its module's.
        name: &'static str,
    },
    /// A device node, which a module of the kernel brings.
    Device {
        /// The node.
        path: &'static str,
        module: &'static str,
    },
    /// Another part of the kernel.
    Module {
        /// The module, as `modprobe` knows it.
        module: &'static str,
        /// What it is, for people.
        about: &'static str,
    },
    /// Something that a kernel may have been built without.
    Feature {
        /// The file that is there if it has it.
        path: &'static str,
        /// The module whose file that is.
        module: &'static str,
        /// What it is, for people.
        about: &'static str,
    },
    /// A part of the kernel's network, which a namespace that is thrown away shows whether it is
    /// there.
    Network {
        /// The command that makes it, in such a namespace, and that does nothing else.
        probe: &'static str,
        /// What it is, for people.
        about: &'static str,
    },
    /// One of two.
    Either {
        /// What is used if it is there.
        one: &'static Need,
        /// What is used otherwise.
        other: &'static Need,
    },
    /// A control of cgroups, version 1 or 2.
    Cgroup {
        /// The controller: `blkio` in version 1, `io` in version 2.
        v1: &'static str,
        /// Its name in version 2.
        v2: &'static str,
    },
}

impl Need {
    /// File systems of programs.
    pub(crate) const FUSE: Self = Self::Device { path: "/dev/fuse", module: "fuse" };

    /// Interfaces whose packets a program takes and gives.
    pub(crate) const TUN: Self = Self::Device { path: "/dev/net/tun", module: "tun" };

    /// What makes interfaces and their addresses.
    pub(crate) const IP: Self = Self::program("ip", "iproute2");

    /// What makes queueing disciplines.
    pub(crate) const TC: Self = Self::program("tc", "iproute2");

    /// What makes rules for packets.
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
