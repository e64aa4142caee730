//! Features of an ext4 file system, from its superblock. No file that ordinary users can read
//! contains them.
//!
//! Sources: the kernel's `Documentation/filesystems/ext4/super.rst`; names as `dumpe2fs` prints
//! them (`lib/e2p/feature.c` of e2fsprogs).

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use crate::deadline::within;

/// Where the superblock begins, and its size.
const OFFSET_BYTES: u64 = 1024;
const SUPERBLOCK_BYTES: usize = 1024;
const MAGIC: u16 = 0xEF53;
const MAGIC_AT: usize = 0x38;
/// Three words of flags: `s_feature_compat`, `s_feature_incompat`, `s_feature_ro_compat`.
const FEATURES_AT: usize = 0x5C;
/// The block is in the page cache of a mounted file system; a failing device would take long.
const LIMIT: Duration = Duration::from_millis(200);

/// Words, bits and names.
const NAMES: [(usize, u32, &str); 36] = [
    (0, 0x0001, "dir_prealloc"),
    (0, 0x0002, "imagic_inodes"),
    (0, 0x0004, "has_journal"),
    (0, 0x0008, "ext_attr"),
    (0, 0x0010, "resize_inode"),
    (0, 0x0020, "dir_index"),
    (0, 0x0200, "sparse_super2"),
    (0, 0x0400, "fast_commit"),
    (0, 0x0800, "stable_inodes"),
    (0, 0x1000, "orphan_file"),
    (1, 0x0001, "compression"),
    (1, 0x0002, "filetype"),
    (1, 0x0004, "needs_recovery"),
    (1, 0x0008, "journal_dev"),
    (1, 0x0010, "meta_bg"),
    (1, 0x0040, "extent"),
    (1, 0x0080, "64bit"),
    (1, 0x0100, "mmp"),
    (1, 0x0200, "flex_bg"),
    (1, 0x0400, "ea_inode"),
    (1, 0x1000, "dirdata"),
    (1, 0x2000, "metadata_csum_seed"),
    (1, 0x4000, "large_dir"),
    (1, 0x8000, "inline_data"),
    (1, 0x1_0000, "encrypt"),
    (1, 0x2_0000, "casefold"),
    (2, 0x0001, "sparse_super"),
    (2, 0x0002, "large_file"),
    (2, 0x0008, "huge_file"),
    (2, 0x0010, "uninit_bg"),
    (2, 0x0020, "dir_nlink"),
    (2, 0x0040, "extra_isize"),
    (2, 0x0100, "quota"),
    (2, 0x0200, "bigalloc"),
    (2, 0x0400, "metadata_csum"),
    (2, 0x8000, "verity"),
];

/// The features of the file system on the device at `path`; empty if this user may not read it, or
/// if it has another file system.
pub(super) fn features(path: &Path) -> Vec<String> {
    let path = path.to_owned();
    let superblock = within(LIMIT, move || {
        let mut superblock = [0; SUPERBLOCK_BYTES];
        let device = File::open(path).ok()?;
        device.read_exact_at(&mut superblock, OFFSET_BYTES).ok().map(|()| superblock)
    });
    superblock.flatten().map(|superblock| named(&superblock)).unwrap_or_default()
}

fn named(superblock: &[u8; SUPERBLOCK_BYTES]) -> Vec<String> {
    let bytes = |at: usize| [superblock[at], superblock[at + 1]];
    let half = |at: usize| u32::from(u16::from_le_bytes(bytes(at)));
    if u16::from_le_bytes(bytes(MAGIC_AT)) != MAGIC {
        return Vec::new();
    }
    let word = |word: usize| {
        let at = FEATURES_AT + 4 * word;
        half(at) | half(at + 2) << 16
    };
    let words = [word(0), word(1), word(2)];
    let set = NAMES.iter().filter(|(word, bit, _)| words[*word] & bit != 0);
    set.map(|(_, _, name)| (*name).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::process::Command;

    #[test]
    fn features_are_those_that_mkfs_was_asked_for() {
        let directory = tempfile::tempdir().unwrap();
        let image = directory.path().join("image");
        File::create(&image).unwrap().set_len(8 << 20).unwrap();
        assert_eq!(features(&image), [""; 0], "no file system yet");
        let mkfs = ["/usr/sbin/mkfs.ext4", "/sbin/mkfs.ext4"].map(Path::new);
        if let Some(mkfs) = mkfs.iter().find(|path| path.exists()) {
            let options = ["-q", "-F", "-O", "fast_commit,encrypt,^64bit,^metadata_csum"];
            assert!(Command::new(mkfs).args(options).arg(&image).status().unwrap().success());
            let found = features(&image);
            for feature in ["has_journal", "fast_commit", "encrypt", "extent", "large_file"] {
                assert!(found.iter().any(|name| name == feature), "{feature}: {found:?}");
            }
            for feature in ["64bit", "metadata_csum", "bigalloc", "verity", "journal_dev"] {
                assert!(found.iter().all(|name| name != feature), "{feature}: {found:?}");
            }
        }
    }

    #[test]
    fn each_word_of_flags_has_its_names() {
        let mut superblock = [0; SUPERBLOCK_BYTES];
        superblock[MAGIC_AT..][..2].copy_from_slice(&MAGIC.to_le_bytes());
        for (word, flags) in [0x404_u32, 0x3_0040, 0x8200].into_iter().enumerate() {
            superblock[FEATURES_AT + 4 * word..][..4].copy_from_slice(&flags.to_le_bytes());
        }
        let expected =
            ["has_journal", "fast_commit", "extent", "encrypt", "casefold", "bigalloc", "verity"];
        assert_eq!(named(&superblock), expected);
        superblock[MAGIC_AT] = 0;
        assert_eq!(named(&superblock), [""; 0]);
    }

    #[test]
    fn a_short_file_and_none_have_no_features() {
        let directory = tempfile::tempdir().unwrap();
        let short = directory.path().join("short");
        fs::write(&short, "short").unwrap();
        for path in [short.as_path(), Path::new("/no/such/device")] {
            assert_eq!(features(path), [""; 0]);
        }
    }
}
