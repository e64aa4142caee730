//! Files that a process has open or mapped, from `/proc`.

use std::fs;
use std::io;
use std::path::PathBuf;

/// The path of a process's descriptor.
pub(crate) fn descriptor_path(process: u32, descriptor: i32) -> PathBuf {
    PathBuf::from(format!("/proc/{process}/fd/{descriptor}"))
}

/// The descriptors that a process has open.
pub(crate) fn descriptors(process: u32) -> Vec<i32> {
    let entries = fs::read_dir(format!("/proc/{process}/fd"));
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    entries.into_iter().flatten().flatten().filter_map(number).collect()
}

/// Whether the open files of a process can be read. Those of other users need `CAP_SYS_PTRACE`.
pub(crate) fn can_read(process: u32) -> bool {
    let is_refused = |error: &io::Error| error.kind() == io::ErrorKind::PermissionDenied;
    let entries = match fs::read_dir(format!("/proc/{process}/fd")) {
        Ok(entries) => entries,
        Err(error) => return !is_refused(&error),
    };
    entries
        .flatten()
        .all(|entry| fs::metadata(entry.path()).err().is_none_or(|it| !is_refused(&it)))
}

/// A part of a file that is mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MappedPart {
    pub start: u64,
    pub end: u64,
    /// In the file.
    pub offset: u64,
    pub inode: u64,
    /// Stores reach the file. Programs and libraries are mapped privately.
    pub is_shared: bool,
    /// As the kernel prints it, only to compare.
    pub device: String,
    name: String,
}

impl MappedPart {
    /// A line such as `7f0c1000-7f0c3000 rw-s 00001000 fd:01 1234    /data/base`.
    fn parse(line: &str) -> Option<Self> {
        let mut rest = line;
        let mut field = || {
            let (field, after) = rest.trim_start().split_once(' ').unwrap_or((rest.trim(), ""));
            rest = after;
            field
        };
        let (start, end) = field().split_once('-')?;
        let is_shared = field().ends_with('s');
        let (offset, device, inode) = (field(), field().to_owned(), field().parse().ok()?);
        let hex = |text| u64::from_str_radix(text, 16).ok();
        let name = rest.trim_start().to_owned();
        let part = Self {
            start: hex(start)?,
            end: hex(end)?,
            offset: hex(offset)?,
            inode,
            is_shared,
            device,
            name,
        };
        (inode != 0 && part.start < part.end).then_some(part)
    }

    /// Paths through which the file may be opened.
    pub(crate) fn paths(&self, process: u32) -> [PathBuf; 2] {
        [
            // Also leads to deleted files, but needs CAP_CHECKPOINT_RESTORE.
            format!("/proc/{process}/map_files/{:x}-{:x}", self.start, self.end).into(),
            format!("/proc/{process}/root{}", self.name).into(),
        ]
    }
}

/// The parts of files that a process has mapped.
pub(crate) fn mapped_parts(process: u32) -> Vec<MappedPart> {
    let text = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    text.lines().filter_map(MappedPart::parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt as _;

    #[test]
    fn lines_of_maps_are_parsed() {
        let line = "7f0c1000-7f0c3000 rw-s 00001000 fd:01 1234    /data/a b (deleted)";
        let part = MappedPart::parse(line).unwrap();
        assert_eq!((part.start, part.end, part.offset), (0x7f0c_1000, 0x7f0c_3000, 4096));
        assert_eq!((part.inode, part.device.as_str(), part.is_shared), (1234, "fd:01", true));
        assert_eq!(part.paths(7)[0].to_str(), Some("/proc/7/map_files/7f0c1000-7f0c3000"));
        assert_eq!(part.paths(7)[1].to_str(), Some("/proc/7/root/data/a b (deleted)"));
        for line in ["7f0c1000-7f0c3000 rw-p 00000000 00:00 0 ", "x", "", "1-2 r 3 4 five"] {
            assert_eq!(MappedPart::parse(line), None, "{line}");
        }
    }

    #[test]
    fn the_own_program_is_mapped() {
        let program = fs::metadata("/proc/self/exe").unwrap().ino();
        let parts = mapped_parts(std::process::id());
        assert!(parts.iter().any(|part| part.inode == program));
        assert!(can_read(std::process::id()));
        assert!(descriptors(std::process::id()).len() > 2);
    }
}
