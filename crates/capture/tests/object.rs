//! The checked-in BPF objects match the checked-in source.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn the_objects_are_those_of_the_source() {
    if !iotax_testing::needs_programs(&["clang-19", "llvm-strip-19", "make"]) {
        return;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("bpf");
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(&source).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "o") {
            fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    let made = Command::new("make").arg("-C").arg(copy.path()).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    for name in ["record.x86_64.o", "record.aarch64.o"] {
        let is_same =
            fs::read(copy.path().join(name)).unwrap() == fs::read(source.join(name)).unwrap();
        assert!(is_same, "run make in {} and commit {name}", source.display());
    }
}
