//! Which file a path names while a trace is imported. The names are dropped after that.

use std::collections::{BTreeMap, HashSet};

use crate::event::File;

/// Paths that are known not to exist are forgotten beyond this number.
const MOST_ABSENT: usize = 1 << 16;
/// Prefixes of block device names in `/dev`.
const DEVICES: &[&[u8]] = &[
    b"sd", b"vd", b"xvd", b"hd", b"nvme", b"dm-", b"mapper/", b"md", b"loop", b"mmcblk", b"nbd",
    b"rbd", b"zd", b"ram", b"zram", b"disk/", b"drbd", b"pmem", b"ublkb",
];

#[derive(Debug, Default)]
pub(super) struct Paths {
    files: BTreeMap<Vec<u8>, File>,
    absent: HashSet<Vec<u8>>,
}

impl Paths {
    pub(super) fn get(&self, path: &[u8]) -> Option<File> {
        self.files.get(path).copied()
    }

    /// The file that was there before, if any.
    pub(super) fn set(&mut self, path: Vec<u8>, file: File) -> Option<File> {
        self.absent.remove(&path);
        self.files.insert(path, file)
    }

    pub(super) fn remove(&mut self, path: &[u8]) -> Option<File> {
        let file = self.files.remove(path);
        self.set_absent(path);
        file
    }

    pub(super) fn set_absent(&mut self, path: &[u8]) {
        if self.absent.len() >= MOST_ABSENT {
            self.absent.clear();
        }
        self.absent.insert(path.to_vec());
    }

    pub(super) fn is_absent(&self, path: &[u8]) -> bool {
        self.absent.contains(path)
    }

    /// Gives what is below a directory its new name.
    pub(super) fn move_below(&mut self, old: &[u8], new: &[u8]) {
        let begin = [old, b"/"].concat();
        let end = [old, b"0"].concat();
        let moved: Vec<Vec<u8>> =
            self.files.range(begin..end).map(|(path, _)| path.clone()).collect();
        for path in moved {
            if let Some(file) = self.files.remove(&path) {
                self.files.insert([new, &path[old.len()..]].concat(), file);
            }
        }
    }
}

impl Paths {
    /// The directory that relative paths begin at has become known.
    pub(super) fn settle(&mut self, directory: &[u8]) {
        let mut relative: Vec<(Vec<u8>, File)> = Vec::new();
        self.files.retain(|path, file| {
            let is_absolute = path.starts_with(b"/");
            if !is_absolute {
                relative.push((path.clone(), *file));
            }
            is_absolute
        });
        for (path, file) in relative {
            self.files.entry(joined(directory, &path)).or_insert(file);
        }
        self.absent = self.absent.iter().map(|path| joined(directory, path)).collect();
    }
}

/// `path`, seen from `directory`, without `.`, `..` and empty parts.
pub(super) fn joined(directory: &[u8], path: &[u8]) -> Vec<u8> {
    let is_absolute = path.starts_with(b"/");
    let whole = if is_absolute { path.to_vec() } else { [directory, b"/", path].concat() };
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in whole.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." if parts.last().is_some_and(|last| *last != b"..") => {
                parts.pop();
            }
            // The root is its own parent.
            b".." if is_absolute || directory.starts_with(b"/") => {}
            _ => parts.push(part),
        }
    }
    let joined = parts.join(&b'/');
    let has_root = is_absolute || directory.starts_with(b"/");
    if has_root { [b"/", joined.as_slice()].concat() } else { joined }
}

pub(super) fn is_block_device(path: &[u8]) -> bool {
    path.strip_prefix(b"/dev/")
        .is_some_and(|name| DEVICES.iter().any(|begin| name.starts_with(begin)))
}

/// Whether the path is a kernel interface, terminal or memory file rather than stored data.
pub(super) fn is_elsewhere(path: &[u8]) -> bool {
    let is_special = [b"/proc/".as_slice(), b"/sys/", b"/dev/"]
        .iter()
        .any(|begin| path.starts_with(begin) || path == &begin[..begin.len() - 1]);
    is_special && !is_block_device(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined() {
        for (directory, path, expected) in [
            ("/a/b", "c", "/a/b/c"),
            ("/a/b", "../c/./d/", "/a/c/d"),
            ("/a", "/x//y", "/x/y"),
            ("", "c", "c"),
            ("", "../c", "../c"),
            ("/", "../../c", "/c"),
            ("a", "../../c", "../c"),
        ] {
            assert_eq!(joined(directory.as_bytes(), path.as_bytes()), expected.as_bytes());
        }
    }

    #[test]
    fn directories_take_their_files_along() {
        let mut paths = Paths::default();
        for (path, file) in [("/a/x", 1), ("/a/y/z", 2), ("/ab", 3), ("/a", 4)] {
            paths.set(path.into(), file);
        }
        paths.move_below(b"/a", b"/new");
        assert_eq!((paths.get(b"/new/x"), paths.get(b"/new/y/z")), (Some(1), Some(2)));
        assert_eq!((paths.get(b"/ab"), paths.get(b"/a/x")), (Some(3), None));
    }

    #[test]
    fn only_storage_counts() {
        assert!(is_elsewhere(b"/proc/1/maps") && is_elsewhere(b"/dev/null"));
        assert!(!is_elsewhere(b"/dev/nvme0n1") && !is_elsewhere(b"/process"));
    }
}
