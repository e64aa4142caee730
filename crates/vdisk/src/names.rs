//! The names of paths in messages.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// Components of `/proc/7/fd/3`.
const DESCRIPTOR_PARTS: usize = 5;

/// `path`, or the name of the open file if the path uses a descriptor. Such paths lead to the same
/// file even if it is renamed.
pub fn shown(path: &Path) -> PathBuf {
    let parts: Vec<Component<'_>> = path.components().collect();
    let Some((anchor, rest)) = parts.split_at_checked(DESCRIPTOR_PARTS) else {
        return path.to_owned();
    };
    let goes_by_one = anchor[1].as_os_str() == "proc" && anchor[3].as_os_str() == "fd";
    let name = goes_by_one.then(|| fs::read_link(anchor.iter().collect::<PathBuf>()).ok());
    name.flatten().map_or_else(|| path.to_owned(), |name| rest.iter().fold(name, |p, c| p.join(c)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd as _;

    #[test]
    fn what_goes_by_a_descriptor_is_called_by_its_name() {
        let directory = tempfile::tempdir().unwrap();
        let name = fs::canonicalize(directory.path()).unwrap();
        let open = fs::File::open(&name).unwrap();
        for process in ["self".to_owned(), std::process::id().to_string()] {
            let anchor = PathBuf::from(format!("/proc/{process}/fd/{}", open.as_raw_fd()));
            assert_eq!(shown(&anchor), name);
            assert_eq!(shown(&anchor.join("job.0")), name.join("job.0"));
        }
        for plain in ["/proc/1/fd", "/proc/self/fd/99999/x", "/a/b/fd/3", "a", "/"] {
            assert_eq!(shown(Path::new(plain)), Path::new(plain));
        }
    }
}
