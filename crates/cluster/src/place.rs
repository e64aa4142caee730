//! What an arm may be in a cluster: `class:fast`, `emptydir`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::error::Error;

/// Where volumes are mounted in a pod.
const VOLUMES: &str = "/volumes";
/// As Kubernetes limits names.
const LONGEST_NAME: usize = 253;

/// What an arm's volume is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A new volume of a storage class.
    Class(String),
    /// A directory of the node's own disk, for as long as the pod lives.
    EmptyDir,
}

impl Place {
    /// The directory in the pod that is the arm's target.
    pub fn directory(&self) -> PathBuf {
        let name = match self {
            Self::Class(name) => format!("class-{name}"),
            Self::EmptyDir => "emptydir".to_owned(),
        };
        PathBuf::from(VOLUMES).join(name)
    }
}

impl FromStr for Place {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.split_once(':') {
            None if text == "emptydir" => Ok(Self::EmptyDir),
            Some(("class", name)) if is_name(name) => Ok(Self::Class(name.to_owned())),
            _ => Err(Error::Target { text: text.to_owned() }),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Class(name) => write!(f, "class:{name}"),
            Self::EmptyDir => f.write_str("emptydir"),
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
            ("emptydir", "/volumes/emptydir"),
        ] {
            let place: Place = text.parse().unwrap();
            assert_eq!(place.to_string(), text);
            assert_eq!(place.directory(), PathBuf::from(directory));
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for text in
            ["", "class", "class:", "class:Fast", "class:a/b", "class:-a", "class:..", "/mnt/a"]
        {
            assert!(text.parse::<Place>().is_err(), "{text}");
        }
        insta::assert_snapshot!("pvc:a/b".parse::<Place>().unwrap_err(), @"`pvc:a/b` is no target in a cluster; write class:NAME for a new volume of a storage class, or emptydir");
    }
}
