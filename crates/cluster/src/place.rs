//! What an arm may be in a cluster: `class:fast`, `ephemeral:fast`, `emptydir`, each also `@NODE`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::error::Error;

/// Where volumes are mounted in a pod.
const VOLUMES: &str = "/volumes";
/// As Kubernetes limits names.
const LONGEST_NAME: usize = 253;

/// What an arm is: a volume, and the node that it is used from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// What its volume is.
    pub volume: Volume,
    /// The node of its pod, where it was asked for.
    pub node: Option<String>,
}

/// What an arm's volume is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Volume {
    /// A new volume of a storage class.
    Class(String),
    /// One that the cluster makes and deletes with the pod (a generic ephemeral volume).
    Ephemeral(String),
    /// A directory of the node's own disk, for as long as the pod lives.
    EmptyDir,
}

impl Volume {
    /// The directory in the pod that is the arm's target.
    pub fn directory(&self) -> PathBuf {
        PathBuf::from(VOLUMES).join(self.to_string().replace(':', "-"))
    }
}

impl FromStr for Place {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let no_target = || Error::Target { text: text.to_owned() };
        let (volume, node) = match text.split_once('@') {
            Some((volume, node)) if is_name(node) => (volume, Some(node.to_owned())),
            Some(_) => return Err(no_target()),
            None => (text, None),
        };
        let volume = match volume.split_once(':') {
            None if volume == "emptydir" => Volume::EmptyDir,
            Some(("class", name)) if is_name(name) => Volume::Class(name.to_owned()),
            Some(("ephemeral", name)) if is_name(name) => Volume::Ephemeral(name.to_owned()),
            _ => return Err(no_target()),
        };
        Ok(Self { volume, node })
    }
}

impl fmt::Display for Volume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Class(name) => write!(f, "class:{name}"),
            Self::Ephemeral(name) => write!(f, "ephemeral:{name}"),
            Self::EmptyDir => f.write_str("emptydir"),
        }
    }
}

impl fmt::Display for Place {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_has_a_directory() {
        for (text, directory) in [
            ("class:fast", "/volumes/class-fast"),
            ("class:ebs.gp3-xfs", "/volumes/class-ebs.gp3-xfs"),
            ("class:fast@n1.example.org", "/volumes/class-fast"),
            ("ephemeral:fast", "/volumes/ephemeral-fast"),
            ("emptydir", "/volumes/emptydir"),
            ("emptydir@n2", "/volumes/emptydir"),
        ] {
            let place: Place = text.parse().unwrap();
            assert_eq!(place.to_string(), text);
            assert_eq!(place.volume.directory(), PathBuf::from(directory));
        }
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
            "ephemeral",
            "ephemeral:A",
            "class:fast@",
            "class:fast@N1",
            "class:fast@n1@n2",
            "@n1",
        ] {
            assert!(text.parse::<Place>().is_err(), "{text}");
        }
        insta::assert_snapshot!("pvc:a/b".parse::<Place>().unwrap_err(), @"`pvc:a/b` is no target in a cluster; write class:NAME for a new volume of a storage class, ephemeral:NAME for one that lives as long as its pod, or emptydir; with @NODE after it, it is used from that node");
    }
}
