//! Data that people write straight to a device, without any file system: archives, images, text.
//!
//! libblkid knows file systems, volumes and partition tables. It sees no signature in a backup
//! written with `tar cf /dev/sdx`, which is nevertheless data.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Magic numbers of four bytes or more, with their offsets; shorter ones would match random data
/// by accident. From file(1)'s database.
const MAGIC: [(usize, &[u8], &str); 13] = [
    (257, b"ustar", "a tar archive"),
    (0, b"070701", "a cpio archive"),
    (0, b"070707", "a cpio archive"),
    (0, b"\xfd7zXZ\0", "an xz archive"),
    (0, b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (0, b"\x04\x22\x4d\x18", "an lz4 archive"),
    (0, b"\x1f\x8b\x08\x00\x00", "a gzip archive"),
    (0, b"\x1f\x8b\x08\x08", "a gzip archive"),
    (0, b"BZh91AY", "a bzip2 archive"),
    (0, b"PK\x03\x04", "a zip archive"),
    (0, b"QFI\xfb", "a qcow2 image"),
    (0, b"SQLite format 3\0", "an SQLite database"),
    (0, b"\x7fELF", "an executable program"),
];
/// Header of a GUID partition table, with a backup copy in the last sector (UEFI 5.3.2).
const GPT: &[u8] = b"EFI PART";
/// This many printable bytes at the start are text.
const TEXT_BYTES: usize = 512;

/// The kind of data that the start or the end of the device or file at `path` looks like, if any.
pub(crate) fn found_on(path: &Path, size_bytes: u64) -> io::Result<Option<&'static str>> {
    let device = File::open(path)?;
    let mut head = [0; 4096];
    let length = usize::try_from(size_bytes).map_or(head.len(), |size| size.min(head.len()));
    device.read_exact_at(&mut head[..length], 0)?;
    for sector_bytes in [512, 4096] {
        let mut start = [0; GPT.len()];
        if size_bytes >= sector_bytes {
            device.read_exact_at(&mut start, size_bytes - sector_bytes)?;
        }
        if start == GPT {
            return Ok(Some("a backup partition table"));
        }
    }
    Ok(recognise(&head[..length]))
}

fn recognise(head: &[u8]) -> Option<&'static str> {
    let has = |(at, magic, _): &&(usize, &[u8], &str)| {
        head.get(*at..).is_some_and(|bytes| bytes.starts_with(magic))
    };
    let text = || {
        let start = head.get(..TEXT_BYTES)?;
        let is_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
        start.iter().all(is_text).then_some("text")
    };
    MAGIC.iter().find(has).map(|(.., what)| *what).or_else(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    #[test]
    fn archives_and_text_are_recognised() {
        let mut tar = vec![0; 512];
        tar[257..262].copy_from_slice(b"ustar");
        assert_eq!(recognise(&tar), Some("a tar archive"));
        assert_eq!(recognise(b"SQLite format 3\0and so on"), Some("an SQLite database"));
        assert_eq!(recognise("Dear diary,\n".repeat(99).as_bytes()), Some("text"));
        assert_eq!(recognise("Dear diary,\n".as_bytes()), None);
    }

    #[test]
    fn blank_space_and_random_data_are_not() {
        assert_eq!(recognise(&[0; 4096]), None);
        assert_eq!(recognise(&[]), None);
        let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        let mut head = [0; 4096];
        for _ in 0..1000 {
            rng.fill_bytes(&mut head);
            assert_eq!(recognise(&head), None);
        }
    }

    #[test]
    fn the_spare_partition_table_is_found_at_the_end() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1 << 20).unwrap();
        assert_eq!(found_on(file.path(), 1 << 20).unwrap(), None);
        file.as_file().write_all_at(GPT, (1 << 20) - 512).unwrap();
        assert_eq!(found_on(file.path(), 1 << 20).unwrap(), Some("a backup partition table"));
    }
}
