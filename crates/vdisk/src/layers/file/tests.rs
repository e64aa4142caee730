use std::sync::Arc;

use iotax_layers::Layer;

use super::*;
use crate::{MonotonicClock, Session, VirtualDisk};

fn open(path: &Path, size_bytes: u64) -> Result<VirtualDisk, Error> {
    let file = File { path: Some(path.to_owned()), size_bytes, thin: false };
    VirtualDisk::open(&[Layer::File(file)], Arc::new(MonotonicClock))
}

#[test]
fn an_existing_file_keeps_its_content_and_length() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("disk.img");
    std::fs::write(&path, [5; 12_288]).unwrap();
    let disk = open(&path, 8192).unwrap();
    assert_eq!((disk.size_bytes(), disk.backing().created), (8192, false));
    let mut buffer = [0; 4096];
    Session::new(&disk, 1, 4096).unwrap().read_at(0, &mut buffer).unwrap();
    assert_eq!(buffer, [5; 4096]);
    drop(disk);
    assert_eq!(std::fs::read(&path).unwrap(), [5; 12_288]);
}

#[test]
fn a_file_cut_under_the_disk_reads_short() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("disk.img");
    std::fs::write(&path, [5; 8192]).unwrap();
    let disk = open(&path, 8192).unwrap();
    StdFile::options().write(true).open(&path).unwrap().set_len(5120).unwrap();
    let mut session = Session::new(&disk, 1, 8192).unwrap();
    assert_eq!(session.read_at(0, &mut [0; 8192]), Ok(5120));
}

#[test]
fn direct_io_is_used_where_it_can_be_and_the_disk_works_either_way() {
    for dir in [Path::new("/dev/shm"), &std::env::temp_dir()].into_iter().filter(|dir| dir.is_dir())
    {
        let file = tempfile::NamedTempFile::new_in(dir).unwrap();
        file.as_file().set_len(1 << 20).unwrap();
        let disk = open(file.path(), 1 << 20).unwrap();
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
