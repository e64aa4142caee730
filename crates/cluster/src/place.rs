//! The syntax of targets in a cluster: `class:fast`, `pvc:data`, each also with `@NODE`.

use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use iotax_experiment::Target;
use iotax_run::agent::GivenUp;

use crate::error::Error;

/// The directory of volumes in a pod.
const VOLUMES: &str = "/volumes";
/// Kubernetes' limit for names.
const LONGEST_NAME: usize = 253;

/// The place of an arm: a volume, and the node to use it from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArmPlace {
    pub volume: Volume,
    /// The node of its pod, if requested.
    pub node: Option<String>,
}

/// The volume of an arm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Volume {
    /// A new volume of a storage class.
    Class(String),
    /// A new one without a file system (`volumeMode: Block`).
    Block(String),
    /// A volume that the cluster creates and deletes with the pod (a generic ephemeral volume).
    Ephemeral(String),
    /// A directory on the node's disk, which lives as long as the pod.
    EmptyDir,
    /// The volume of an existing claim.
    Claim {
        /// Of the claim; `None`: the run's.
        namespace: Option<String>,
        /// Of the claim.
        name: String,
    },
    /// An existing directory of the node.
    HostPath(PathBuf),
}

impl Volume {
    /// Its path in a pod: a directory, or a device.
    pub(crate) fn path(&self) -> PathBuf {
        let name = match self {
            Self::Class(name) => format!("class-{name}"),
            Self::Block(name) => format!("block-{name}"),
            Self::Ephemeral(name) => format!("ephemeral-{name}"),
            Self::EmptyDir => "emptydir".to_owned(),
            Self::Claim { name, .. } => format!("pvc-{name}"),
            Self::HostPath(_) => "hostpath".to_owned(),
        };
        Path::new(VOLUMES).join(name)
    }

    /// The target of the load in a pod.
    ///
    /// # Panics
    /// Never: names of classes have no special characters of stacks.
    pub fn target(&self) -> Target {
        match self {
            Self::Block(_) => Target::parse(&format!("dev(path={})", self.path().display()))
                .expect("it is a stack"),
            _ => Target::Path(self.path()),
        }
    }

    /// Whether it existed before, so it may contain data.
    pub fn is_theirs(&self) -> bool {
        matches!(self, Self::Claim { .. } | Self::HostPath(_))
    }

    /// Advice if its pod may not use it.
    pub(crate) fn advice_if_denied(&self) -> Option<&'static str> {
        match self {
            Self::Block(_) => Some(
                "the container runtime lets only root use devices; with containerd, set \
                 device_ownership_from_security_context = true on the nodes",
            ),
            Self::Claim { .. } | Self::HostPath(_) => Some(
                "run the pod as the volume's owner with --user UID; iotax does not change the \
                 owner of existing files",
            ),
            Self::Class(_) | Self::Ephemeral(_) | Self::EmptyDir => None,
        }
    }

    /// Devices that may be overwritten because they are new.
    pub(crate) fn given_up(&self) -> GivenUp {
        let devices = matches!(self, Self::Block(_)).then(|| self.path()).into_iter().collect();
        GivenUp { devices, are_new: true }
    }
}

impl FromStr for Volume {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let no_target = || Error::Target { text: text.to_owned() };
        let (kind, name) = match text.split_once(':') {
            Some((kind, name)) => (kind, name),
            None if text == "emptydir" => return Ok(Self::EmptyDir),
            None => return Err(no_target()),
        };
        Ok(match kind {
            "class" if is_name(name) => Self::Class(name.to_owned()),
            "block" if is_name(name) => Self::Block(name.to_owned()),
            "ephemeral" if is_name(name) => Self::Ephemeral(name.to_owned()),
            "hostpath" if is_directory(name) => Self::HostPath(PathBuf::from(name)),
            "pvc" => {
                let (namespace, name) = match name.split_once('/') {
                    Some((namespace, name)) => (Some(namespace), name),
                    None => (None, name),
                };
                if !is_name(name) || !namespace.is_none_or(is_name) {
                    return Err(no_target());
                }
                Self::Claim { namespace: namespace.map(str::to_owned), name: name.to_owned() }
            }
            _ => return Err(no_target()),
        })
    }
}

impl FromStr for ArmPlace {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let no_target = |_| Error::Target { text: text.to_owned() };
        let (volume, node) = match text.rsplit_once('@') {
            Some((volume, node)) if is_name(node) => (volume, Some(node.to_owned())),
            Some(_) => return Err(Error::Target { text: text.to_owned() }),
            None => (text, None),
        };
        let volume = volume.parse().map_err(no_target)?;
        if matches!(volume, Volume::HostPath(_)) && node.is_none() {
            return Err(Error::NoNode { text: text.to_owned() });
        }
        Ok(Self { volume, node })
    }
}

impl fmt::Display for Volume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Class(name) => write!(f, "class:{name}"),
            Self::Block(name) => write!(f, "block:{name}"),
            Self::Ephemeral(name) => write!(f, "ephemeral:{name}"),
            Self::EmptyDir => f.write_str("emptydir"),
            Self::Claim { namespace: None, name } => write!(f, "pvc:{name}"),
            Self::Claim { namespace: Some(namespace), name } => write!(f, "pvc:{namespace}/{name}"),
            Self::HostPath(path) => write!(f, "hostpath:{}", path.display()),
        }
    }
}

impl fmt::Display for ArmPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { volume, node } = self;
        match node {
            Some(node) => write!(f, "{volume}@{node}"),
            None => volume.fmt(f),
        }
    }
}

/// Whether it can be the name of an object: a DNS subdomain (RFC 1123).
fn is_name(text: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.len() <= LONGEST_NAME
        && text.split('.').all(|label| {
            label.starts_with(is_inner)
                && label.ends_with(is_inner)
                && label.chars().all(|c| is_inner(c) || c == '-')
        })
}

/// Whether it is an absolute path of one directory, except the root.
fn is_directory(text: &str) -> bool {
    let mut parts = Path::new(text).components();
    parts.next() == Some(Component::RootDir)
        && parts.clone().next().is_some()
        && parts.all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_is_somewhere_in_a_pod() {
        for (text, path) in [
            ("class:fast", "/volumes/class-fast"),
            ("class:ebs.gp3-xfs", "/volumes/class-ebs.gp3-xfs"),
            ("class:fast@n1.example.org", "/volumes/class-fast"),
            ("block:fast", "/volumes/block-fast"),
            ("ephemeral:fast", "/volumes/ephemeral-fast"),
            ("emptydir", "/volumes/emptydir"),
            ("emptydir@n2", "/volumes/emptydir"),
            ("pvc:data-0", "/volumes/pvc-data-0"),
            ("pvc:db/data-0@n1", "/volumes/pvc-data-0"),
            ("hostpath:/mnt/a@b@n1", "/volumes/hostpath"),
        ] {
            let place: ArmPlace = text.parse().unwrap();
            assert_eq!(place.to_string(), text);
            assert_eq!(place.volume.path(), PathBuf::from(path));
        }
        let target = |text: &str| text.parse::<Volume>().unwrap().target().to_string();
        assert_eq!(target("block:fast"), "dev(path=/volumes/block-fast)");
        assert_eq!(target("class:fast"), "/volumes/class-fast");
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "",
            "class",
            "class:",
            "class:Fast",
            "class:a/b",
            "class:-a",
            "class:..",
            "/mnt/a",
            "block:A",
            "ephemeral",
            "ephemeral:A",
            "class:fast@",
            "class:fast@N1",
            "class:fast@n1@n2",
            "@n1",
            "pvc:",
            "pvc:a/",
            "pvc:/a",
            "pvc:a/b/c",
            "hostpath:a@n1",
            "hostpath:/@n1",
            "hostpath:/a/../b@n1",
        ] {
            assert!(text.parse::<ArmPlace>().is_err(), "{text}");
        }
        let refused = |text: &str| text.parse::<ArmPlace>().unwrap_err();
        insta::assert_snapshot!(refused("nfs:a/b"), @"
        `nfs:a/b` is not a cluster target; use one of these, with @NODE at the end to choose the pod's node:
          class:NAME      a new volume of a storage class
          block:NAME      the same, but without a file system
          ephemeral:NAME  a new volume that is deleted with its pod
          emptydir        a directory on the node's disk
          pvc:NAME        an existing claim (requires --write-to)
          hostpath:/PATH  a directory on the node (requires --write-to)
        ");
        insta::assert_snapshot!(refused("hostpath:/mnt/a"), @"`hostpath:/mnt/a` needs a node name: hostpath:/mnt/a@NODE");
    }
}
