//! Which file has which name. Names are keyed hashes: of the directory that a path begins in, of the
//! text up to the last slash, and of what follows it.

use std::collections::HashMap;

use crate::raw::RawEvent;
use crate::translate::Place;

/// A path as a BPF program reports it; see `struct path_hash` in `bpf/event.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PathHash {
    /// Directory of the last component, or 0 if only its prefix is known.
    pub directory: u32,
    pub prefix: u32,
    pub last: u32,
}

impl PathHash {
    const fn new(directory_and_prefix: u64, last: u32) -> Self {
        let directory = (directory_and_prefix & 0xffff_ffff) as u32;
        Self { directory, prefix: (directory_and_prefix >> 32) as u32, last }
    }

    pub(crate) const fn of_opened(raw: &RawEvent) -> Self {
        Self::new(raw.length, raw.name)
    }

    /// The directory that was opened, and the prefix of paths that lead into it.
    pub(crate) const fn of_directory(raw: &RawEvent) -> Self {
        Self::new(raw.offset, 0)
    }

    pub(crate) const fn of_call(raw: &RawEvent) -> Self {
        Self::new(raw.offset, raw.name)
    }

    pub(crate) const fn of_target(raw: &RawEvent) -> Self {
        Self::new(raw.length, (raw.detail & 0xffff_ffff) as u32)
    }
}

/// A directory and a name in it.
type Entry = (u32, u32);

#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Directories by the path to them.
    directories: HashMap<u32, u32>,
    files: HashMap<Entry, Place>,
}

impl Names {
    /// The kernel opened a file by a path, so it knows the directory.
    pub(crate) fn opened(&mut self, path: PathHash, file: Place) {
        self.learn(path);
        self.insert(path, file);
    }

    /// A path with this prefix leads to this directory.
    pub(crate) fn learn(&mut self, path: PathHash) {
        if path.prefix != 0 {
            self.directories.insert(path.prefix, path.directory);
        }
    }

    pub(crate) fn get(&self, path: PathHash) -> Option<Place> {
        self.files.get(&self.entry(path)?).copied()
    }

    /// The name is another file's from now on; returns the file that had it.
    pub(crate) fn insert(&mut self, path: PathHash, file: Place) -> Option<Place> {
        self.files.insert(self.entry(path)?, file)
    }

    pub(crate) fn remove(&mut self, path: PathHash) -> Option<Place> {
        self.files.remove(&self.entry(path)?)
    }

    fn entry(&self, path: PathHash) -> Option<Entry> {
        // Until the directory is known, its prefix stands for it.
        let directory = match path.directory {
            0 => *self.directories.get(&path.prefix).unwrap_or(&path.prefix),
            directory => directory,
        };
        (path.last != 0).then_some((directory, path.last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIRECTORY: u32 = 5;
    const FILE: Place = Place { device: 1, inode: 7 };
    const OTHER: Place = Place { device: 1, inode: 8 };

    const fn path(directory: u32, prefix: u32, last: u32) -> PathHash {
        PathHash { directory, prefix, last }
    }

    #[test]
    fn a_name_is_that_of_its_directory() {
        let mut names = Names::default();
        names.opened(path(DIRECTORY, 0, 99), FILE);
        names.opened(path(DIRECTORY + 1, 0, 99), OTHER);
        assert_eq!(names.get(path(DIRECTORY, 0, 99)), Some(FILE));
        assert_eq!(names.remove(path(DIRECTORY + 1, 0, 99)), Some(OTHER));
        assert_eq!(names.get(path(DIRECTORY, 0, 99)), Some(FILE));
    }

    #[test]
    fn a_path_leads_to_the_directory_that_it_led_to_before() {
        let mut names = Names::default();
        assert_eq!(names.get(path(0, 44, 99)), None);
        names.opened(path(DIRECTORY, 44, 1), OTHER);
        names.opened(path(DIRECTORY, 0, 99), FILE);
        assert_eq!(names.get(path(0, 44, 99)), Some(FILE), "from another working directory");
        assert_eq!(names.insert(path(0, 44, 1), FILE), Some(OTHER), "renamed");
        names.insert(path(0, 55, 2), FILE);
        assert_eq!(names.get(path(0, 55, 2)), Some(FILE), "by the same path");
        names.learn(path(DIRECTORY, 66, 0));
        assert_eq!(names.get(path(0, 66, 99)), Some(FILE), "the directory was opened");
    }
}
