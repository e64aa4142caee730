use std::sync::Arc;

use super::*;
use crate::{LayerConfig, MonotonicClock, Session, VirtualDisk};

fn config(path: Option<PathBuf>, dir: &Path, size_bytes: Option<u64>) -> FileConfig {
    FileConfig { path, dir: dir.to_owned(), size_bytes, direct: false }
}

fn open(config: FileConfig) -> Result<VirtualDisk, Error> {
    VirtualDisk::open(&[LayerConfig::File(config)], Arc::new(MonotonicClock))
}

#[test]
fn an_anonymous_file_leaves_no_name() {
    let dir = tempfile::tempdir().unwrap();
    let disk = open(config(None, dir.path(), Some(1 << 20))).unwrap();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    let facts = disk.backing();
    assert_eq!((facts.path, facts.created), (None, true));
    assert!(facts.allocated_bytes >= 1 << 20, "allocated ahead: {}", facts.allocated_bytes);
}

#[test]
fn a_missing_file_is_created_with_its_size_and_stays() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("disk.img");
    let disk = open(config(Some(path.clone()), dir.path(), Some(8192))).unwrap();
    assert!(disk.backing().created);
    Session::new(&disk, 1, 4096).unwrap().write_at(4096, &[9; 4096]).unwrap();
    drop(disk);
    let content = std::fs::read(&path).unwrap();
    assert_eq!(content.len(), 8192);
    assert!(content[4096..].iter().all(|&byte| byte == 9));
}

#[test]
fn an_existing_file_keeps_its_content_and_length() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("disk.img");
    std::fs::write(&path, [5; 12_288]).unwrap();
    let disk = open(config(Some(path.clone()), dir.path(), Some(8192))).unwrap();
    assert_eq!((disk.size_bytes(), disk.backing().created), (8192, false));
    let mut buffer = [0; 4096];
    Session::new(&disk, 1, 4096).unwrap().read_at(0, &mut buffer).unwrap();
    assert_eq!(buffer, [5; 4096]);
    drop(disk);
    assert_eq!(std::fs::read(&path).unwrap(), [5; 12_288]);
    assert_eq!(open(config(Some(path), dir.path(), None)).unwrap().size_bytes(), 12_288);
}

#[test]
fn a_file_cut_under_the_disk_reads_short() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("disk.img");
    let disk = open(config(Some(path.clone()), dir.path(), Some(8192))).unwrap();
    StdFile::options().write(true).open(&path).unwrap().set_len(5120).unwrap();
    let mut session = Session::new(&disk, 1, 8192).unwrap();
    assert_eq!(session.read_at(0, &mut [0; 8192]), Ok(5120));
}

#[test]
fn a_disk_that_did_not_fit_leaves_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("huge.img");
    let error = open(config(Some(path), dir.path(), Some(1 << 60))).unwrap_err();
    assert!(matches!(error, Error::NoSpace { wanted_bytes, .. } if wanted_bytes == 1 << 60));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn direct_io_is_used_where_it_can_be_and_the_disk_works_either_way() {
    let dir = tempfile::tempdir().unwrap();
    for dir in [dir.path(), Path::new("/dev/shm")] {
        if !dir.is_dir() {
            continue;
        }
        let disk = open(FileConfig { direct: true, ..config(None, dir, Some(1 << 20)) }).unwrap();
        let facts = disk.backing();
        assert!(facts.direct_effective || disk.block_bytes() == BUFFERED_BLOCK_BYTES);
        let mut session = Session::new(&disk, 1, 8192).unwrap();
        session.write_at(4096, &[3; 8192]).unwrap();
        disk.drop_caches().unwrap();
        let mut buffer = [0; 8192];
        session.read_at(4096, &mut buffer).unwrap();
        assert_eq!(buffer, [3; 8192]);
    }
}

#[test]
fn a_disk_opened_for_reading_only_needs_no_permission_to_write() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("disk.img");
    let open = |path: &Path| {
        let config = config(Some(path.to_owned()), dir.path(), None);
        VirtualDisk::open_read_only(&[LayerConfig::File(config)], Arc::new(MonotonicClock))
    };
    insta::assert_snapshot!(
        open(&path).unwrap_err().to_string().replace(path.to_str().unwrap(), "PATH"),
        @"`file`: cannot open PATH: No such file or directory (os error 2): only an existing file can be read"
    );
    std::fs::write(&path, [5; 8192]).unwrap();
    let disk = open(&path).unwrap();
    assert!(disk.is_read_only());
    let mut session = Session::new(&disk, 1, 4096).unwrap();
    let mut read = [0; 4096];
    assert_eq!(session.read_at(4096, &mut read), Ok(4096));
    assert_eq!(read, [5; 4096]);
    assert_eq!(session.write_at(0, &[6; 4096]), Err(Errno::ROFS));
    assert_eq!(session.flush(), Ok(()));
    // The running program: the kernel lets nobody open it for writing, root included.
    let program = std::env::current_exe().unwrap();
    let config = FileConfig { size_bytes: Some(512), ..config(Some(program), dir.path(), None) };
    let layers = [LayerConfig::File(config)];
    let clock = Arc::new(MonotonicClock);
    assert!(VirtualDisk::open(&layers, clock.clone()).is_err());
    assert!(VirtualDisk::open_read_only(&layers, clock).is_ok());
}
