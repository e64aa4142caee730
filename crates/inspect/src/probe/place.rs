//! A path as somebody finds it who wants to measure it: what it is, what a shell calls it, and where
//! files can be made that lie where it lies.

use std::fs::{self, FileType};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use iotax_record::machine::{PathKind, PathSeen};
use rustix::fs::{Access, access, statvfs};

/// The path, with all of this that can be told. It may wait for a server that is gone.
pub(super) fn place(path: &Path) -> PathSeen {
    let named = named(path);
    let Ok(metadata) = fs::metadata(path) else { return named };
    let kind = kind(metadata.file_type());
    let directory = match kind {
        PathKind::Directory => is_for_files(path).then(|| path.to_owned()),
        PathKind::Device | PathKind::Peer | PathKind::Interface => None,
        PathKind::File | PathKind::Other => beside(path, metadata.dev()),
    };
    PathSeen {
        kind: Some(kind),
        size_bytes: (kind == PathKind::File).then_some(metadata.len()),
        directory: directory.and_then(|path| path.to_str().map(str::to_owned)),
        ..named
    }
}

/// The path as it is to be shown, of which nothing else is known.
pub(super) fn named(path: &Path) -> PathSeen {
    PathSeen { path: path.display().to_string(), shell: escaped(path), ..PathSeen::default() }
}

fn kind(found: FileType) -> PathKind {
    if found.is_dir() {
        PathKind::Directory
    } else if found.is_file() {
        PathKind::File
    } else if found.is_block_device() {
        PathKind::Device
    } else {
        PathKind::Other
    }
}

/// The directory of a file, if files can be made in it and lie on the same file system.
fn beside(path: &Path, device: u64) -> Option<PathBuf> {
    let directory = path.canonicalize().ok()?.parent()?.to_owned();
    let is_same = fs::metadata(&directory).is_ok_and(|found| found.dev() == device);
    (is_same && is_for_files(&directory)).then_some(directory)
}

/// Whether this user may make files there. File systems of the kernel's own facts have no blocks.
fn is_for_files(directory: &Path) -> bool {
    access(directory, Access::WRITE_OK | Access::EXEC_OK).is_ok()
        && statvfs(directory).is_ok_and(|found| found.f_blocks > 0)
}

/// `$'a\377'`, if a path has bytes that are no text, or characters that move the cursor.
fn escaped(path: &Path) -> Option<String> {
    let bytes = path.as_os_str().as_bytes();
    let is_plain = path.to_str().is_some_and(|text| !text.chars().any(char::is_control));
    if is_plain {
        return None;
    }
    let mut text = String::from("$'");
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\'' | '\\' => text.extend(['\\', character]),
                _ if character.is_control() => {
                    let mut buffer = [0; 4];
                    for byte in character.encode_utf8(&mut buffer).bytes() {
                        text.push_str(&octal(byte));
                    }
                }
                _ => text.push(character),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&octal(*byte));
        }
    }
    text.push('\'');
    Some(text)
}

/// `\377`
fn octal(byte: u8) -> String {
    format!("\\{byte:03o}")
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_a_path_is_and_where_files_can_be_made() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        fs::write(&file, "12345").unwrap();
        let socket = root.path().join("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        let here = root.path().canonicalize().unwrap().to_str().map(str::to_owned);
        let found = place(&file);
        assert_eq!((found.kind, found.size_bytes), (Some(PathKind::File), Some(5)));
        assert_eq!(found.directory, here);
        let found = place(&socket);
        assert_eq!((found.kind, found.directory), (Some(PathKind::Other), here));
        let found = place(root.path());
        assert_eq!(found.kind, Some(PathKind::Directory));
        assert_eq!(found.directory.as_deref(), root.path().to_str());
        let found = place(Path::new("/proc"));
        assert_eq!((found.kind, found.directory), (Some(PathKind::Directory), None));
        let found = place(Path::new("/no/such/place"));
        assert_eq!((found.kind, found.path.as_str()), (None, "/no/such/place"));
    }

    #[test]
    fn only_paths_that_cannot_be_written_as_they_are_are_escaped() {
        let told = |bytes: &[u8]| escaped(Path::new(OsStr::from_bytes(bytes)));
        assert_eq!(told(b"/a b/'\xc3\xa4"), None);
        assert_eq!(told(b"a\xff\xc3\xa4'\\").as_deref(), Some("$'a\\377\u{e4}\\'\\\\'"));
        assert_eq!(told(b"a\nb").as_deref(), Some(r"$'a\012b'"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

        #[test]
        fn a_shell_reads_it_as_it_was(bytes in proptest::collection::vec(1..=255_u8, 1..40)) {
            let Some(text) = escaped(Path::new(OsStr::from_bytes(&bytes))) else { return Ok(()) };
            let script = format!("printf %s {text}");
            // Where there is no bash, the cases above have to do.
            if let Ok(said) = Command::new("bash").env("LC_ALL", "C").args(["-c", &script]).output() {
                prop_assert_eq!(said.stdout, bytes, "{}", text);
            }
        }
    }
}
