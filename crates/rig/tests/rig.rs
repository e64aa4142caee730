//! Rigs as the rest of the program sees them: what is made, shared, reported and removed.
#![allow(clippy::unwrap_used, reason = "a test; only functions under #[test] are known as such")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use iotax_experiment::{Blame as _, Fault, Layer, Spec, Target};
use iotax_layers::{Aes, Cache, Delay, File, Mem};
use iotax_load::IoTarget;
use iotax_rig::{Error, Rig, undo};
use iotax_testing::skipped;
use iotax_vdisk::Session;

mod common;
use common::{file, path, spec, stack, writing};

/// A directory for targets, one for work, one for state.
struct Bench {
    root: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for name in ["target", "other", "work"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        Self { root }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn open(&self, spec: &Spec) -> Result<Rig, Error> {
        self.open_watched(spec, &mut |_| (), &Arc::default())
    }

    fn open_watched(
        &self,
        spec: &Spec,
        progress: &mut dyn FnMut(&iotax_rig::Preparing<'_>),
        stop: &Arc<AtomicBool>,
    ) -> Result<Rig, Error> {
        let work_dir = &self.at("work");
        Rig::open(spec, common::options(work_dir, Some(self.at("state")), progress, stop))
    }

    /// The error's text, with this test's directory written as `ROOT`.
    fn refusal(&self, spec: &Spec) -> String {
        let error = self.open(spec).unwrap_err();
        error.to_string().replace(&self.root.path().display().to_string(), "ROOT")
    }

    /// Names in the target directories, the working directory and the journals' directory.
    fn left(&self) -> Vec<String> {
        let names = |directory: &str| {
            let entries = fs::read_dir(self.at(directory)).into_iter().flatten();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap())
        };
        ["target", "other", "work", "state/undo"].into_iter().flat_map(names).collect()
    }
}

fn directory_of(rig: &mut Rig, arm: usize) -> PathBuf {
    let IoTarget::Path(path) = rig.up(arm).unwrap() else { panic!("not a path") };
    // It goes by a descriptor.
    fs::canonicalize(path).unwrap()
}

fn read(rig: &mut Rig, arm: usize, offset: u64) -> Vec<u8> {
    let IoTarget::Disk(disk) = rig.up(arm).unwrap() else { panic!("not a disk") };
    let mut block = vec![0; 4096];
    assert_eq!(Session::new(disk, 1, 4096).unwrap().read_at(offset, &mut block), Ok(4096));
    block
}

#[test]
fn a_directory_gets_a_private_directory_that_goes_again() {
    let bench = Bench::new();
    let mut rig = bench.open(&spec(&[("a", path(bench.at("target")))])).unwrap();
    let private = directory_of(&mut rig, 0);
    assert_eq!(private.parent(), Some(bench.at("target").as_path()));
    assert_eq!(fs::metadata(&private).unwrap().permissions().mode() & 0o777, 0o700);
    fs::create_dir(private.join("index")).unwrap();
    fs::write(private.join("index/1"), "data").unwrap();
    assert_eq!(rig.site(0).kind, "directory");
    rig.down().unwrap();
    assert!(bench.left().is_empty(), "{:?}", bench.left());
}

#[test]
fn the_same_directory_by_another_name_is_the_same_storage() {
    let bench = Bench::new();
    std::os::unix::fs::symlink(bench.at("target"), bench.at("link")).unwrap();
    let arms = [
        ("a", path(bench.at("target"))),
        ("b", path(bench.at("link"))),
        ("c", path(bench.at("other"))),
    ];
    let mut rig = bench.open(&spec(&arms)).unwrap();
    let directories: Vec<_> = (0..3).map(|arm| directory_of(&mut rig, arm)).collect();
    assert_eq!(directories[0], directories[1]);
    assert_ne!(directories[0], directories[2]);
    let ids: Vec<_> = rig.sites().into_iter().map(|site| site.storage_id).collect();
    assert_eq!(ids[0], ids[1]);
    assert_ne!(ids[0], ids[2]);
}

#[test]
fn a_panic_leaves_nothing_behind() {
    let bench = Bench::new();
    let arms = [("a", path(bench.at("target"))), ("b", file(Some(bench.at("other/x")), 1 << 20))];
    let result = catch_unwind(AssertUnwindSafe(|| {
        let mut rig = bench.open(&spec(&arms)).unwrap();
        fs::write(directory_of(&mut rig, 0).join("job.0"), "data").unwrap();
        assert!(bench.at("other/x").exists());
        panic!("in the middle of a trial");
    }));
    assert!(result.is_err());
    assert!(bench.left().is_empty(), "{:?}", bench.left());
}

#[test]
fn stopping_while_a_disk_is_filled_leaves_nothing_behind() {
    let bench = Bench::new();
    let arms = [("a", path(bench.at("target"))), ("b", file(Some(bench.at("other/x")), 8 << 20))];
    let stop = Arc::new(AtomicBool::new(false));
    let mut last = (0, 0);
    let mut progress = |progress: &iotax_rig::Preparing<'_>| {
        let iotax_rig::Preparing::Filling { done_bytes, size_bytes, .. } = *progress else {
            return;
        };
        last = (done_bytes, size_bytes);
        stop.store(done_bytes >= 2 << 20, Ordering::Relaxed);
    };
    let error = bench.open_watched(&spec(&arms), &mut progress, &stop).unwrap_err();
    assert_eq!(error.fault(), Fault::Interrupted);
    assert_eq!(last, (2 << 20, 8 << 20));
    assert!(bench.left().is_empty(), "{:?}", bench.left());
    insta::assert_snapshot!(error, @"interrupted during preparation; everything created so far was removed");
}

#[test]
fn stacks_on_nameless_files_share_one_file_with_data_in_it() {
    let bench = Bench::new();
    let small = Layer::File(File { path: None, size_bytes: 1 << 20, thin: false });
    let large = Layer::File(File { path: None, size_bytes: 2 << 20, thin: false });
    let delay = Layer::Delay(Delay { latency_ns: 1000, jitter_ns: 0 });
    let arms = [("raw", stack([small])), ("delayed", stack([large, delay]))];
    let mut rig = bench.open(&writing(&arms)).unwrap();
    assert_eq!(rig.site(0).storage_id, rig.site(1).storage_id);
    assert!(rig.site(0).direct.is_some());
    let (raw, delayed) = (read(&mut rig, 0, 8192), read(&mut rig, 1, 8192));
    assert_eq!(raw, delayed);
    assert!(raw.iter().any(|byte| *byte != 0));
    assert_ne!(read(&mut rig, 1, (2 << 20) - 4096), vec![0; 4096]);
    let IoTarget::Disk(disk) = rig.up(0).unwrap() else { panic!("not a disk") };
    assert_eq!(disk.size_bytes(), 1 << 20);
    Session::new(disk, 1, 4096).unwrap().write_at(8192, &[9; 4096]).unwrap();
    assert_eq!(read(&mut rig, 1, 8192), [9; 4096]);
    assert!(bench.left().is_empty(), "no name anywhere: {:?}", bench.left());
}

#[test]
fn thin_files_may_be_larger_than_the_volume_and_are_shared_by_nobody() {
    let bench = Bench::new();
    let size_bytes = 1 << 42;
    let thin = || stack([Layer::File(File { path: None, size_bytes, thin: true })]);
    let mut rig = bench.open(&writing(&[("a", thin()), ("b", thin())])).unwrap();
    let last = size_bytes - 4096;
    assert_eq!(read(&mut rig, 0, last), vec![0; 4096]);
    let IoTarget::Disk(disk) = rig.up(0).unwrap() else { panic!("not a disk") };
    assert_eq!(disk.size_bytes(), size_bytes);
    Session::new(disk, 1, 4096).unwrap().write_at(last, &[9; 4096]).unwrap();
    assert!(disk.backing().allocated_bytes < 1 << 20);
    assert_eq!(read(&mut rig, 0, last), [9; 4096]);
    assert_eq!(read(&mut rig, 1, last), [0; 4096]);
    let site = rig.site(0);
    assert!(!site.has_device && site.notes.iter().any(|note| note.starts_with("thin")));
    assert!(bench.left().is_empty(), "no name anywhere: {:?}", bench.left());
}

#[test]
fn memory_is_filled_needs_no_journal_and_is_shared_by_nobody() {
    let bench = Bench::new();
    let mem = || stack([Layer::Mem(Mem { size_bytes: 1 << 20 })]);
    let spec = spec(&[("a", mem()), ("b", mem())]);
    let (stop, work_dir) = (Arc::new(AtomicBool::new(false)), bench.at("work"));
    let mut silent = |_: &iotax_rig::Preparing<'_>| ();
    let options = common::options(&work_dir, None, &mut silent, &stop);
    let mut rig = Rig::open(&spec, options).unwrap();
    assert_ne!(read(&mut rig, 0, 4096), vec![0; 4096]);
    assert_ne!(rig.site(0).storage_id, rig.site(1).storage_id);
    assert_eq!((rig.site(0).direct, rig.site(0).has_device), (None, false));
}

#[test]
fn a_named_file_that_is_missing_is_made_for_all_its_arms_and_removed() {
    let bench = Bench::new();
    let name = bench.at("target/disk.img");
    let arms = [("a", file(Some(name.clone()), 1 << 20)), ("b", file(Some(name.clone()), 2 << 20))];
    let mut rig = bench.open(&writing(&arms)).unwrap();
    assert_eq!(fs::metadata(&name).unwrap().size(), 2 << 20);
    assert_eq!(read(&mut rig, 0, 4096), read(&mut rig, 1, 4096));
    assert_eq!(rig.site(0).storage_id, rig.site(1).storage_id);
    rig.down().unwrap();
    assert!(bench.left().is_empty(), "{:?}", bench.left());
}

#[test]
fn a_file_of_the_users_is_read_and_left_as_it_was() {
    let bench = Bench::new();
    let name = bench.at("target/data");
    fs::write(&name, vec![5; 1 << 20]).unwrap();
    let arms = [("disk", file(Some(name.clone()), 1 << 20)), ("file", path(&name))];
    let mut rig = bench.open(&spec(&arms)).unwrap();
    assert_eq!(read(&mut rig, 0, 4096), [5; 4096]);
    assert_eq!(directory_of(&mut rig, 1), name);
    assert_eq!(rig.site(0).storage_id, rig.site(1).storage_id);
    assert_eq!((rig.site(0).kind.as_str(), rig.site(1).kind.as_str()), ("vdisk", "file"));
    rig.down().unwrap();
    assert_eq!(fs::read(&name).unwrap(), vec![5; 1 << 20]);
    assert_eq!(bench.left(), ["data"]);
}

#[test]
fn a_file_smaller_than_a_job_is_used_whole_and_the_record_says_so() {
    let bench = Bench::new();
    fs::write(bench.at("target/data"), vec![5; 32 << 10]).unwrap();
    let rig = bench.open(&spec(&[("a", path(bench.at("target/data")))])).unwrap();
    insta::assert_snapshot!(rig.site(0).notes.join("\n"), @"has only 32 KiB, less than the size set for job; the run uses the whole target");
}

#[test]
fn all_problems_of_all_arms_are_told_at_once_and_nothing_is_made() {
    let bench = Bench::new();
    fs::write(bench.at("target/empty"), "").unwrap();
    fs::write(bench.at("target/small"), [1; 5000]).unwrap();
    let small = bench.at("target/small");
    let spec = spec(&[
        ("good", path(bench.at("other"))),
        ("missing", path(bench.at("nowhere"))),
        ("odd", path("/dev/null")),
        ("empty", path(bench.at("target/empty"))),
        ("inside", path(bench.at("target/small/x"))),
        ("short", file(Some(small), 1 << 20)),
        ("dir", file(Some(bench.at("target")), 1 << 20)),
        ("orphan", file(Some(bench.at("nowhere/disk")), 1 << 20)),
    ]);
    insta::assert_snapshot!(bench.refusal(&spec), @"
    7 targets cannot be used:
      arm missing: ROOT/nowhere: does not exist; create the directory first, or check the spelling
      arm odd: /dev/null: is not a directory, a regular file or a block device; name a directory in which iotax can create its test files
      arm empty: ROOT/target/empty: is empty; name a larger file, or a directory in which iotax can create its test files
      arm inside: ROOT/target/small/x: does not exist; create the directory first, or check the spelling
      arm short: ROOT/target/small: has only 4.88 KiB, but 1 MiB is needed; choose a smaller size in the stack, or name a new file for iotax to create
      arm dir: ROOT/target: is a directory, but the base of the stack must be a file; name a file in it
      arm orphan: ROOT/nowhere/disk: cannot be created, because its directory does not exist; create the directory first
    ");
    assert_eq!(bench.left().len(), 2, "{:?}", bench.left());
}

#[test]
fn a_file_smaller_than_one_block_is_refused() {
    let bench = Bench::new();
    fs::write(bench.at("target/small"), [1; 1000]).unwrap();
    insta::assert_snapshot!(bench.refusal(&spec(&[("a", path(bench.at("target/small")))])), @"arm a: ROOT/target/small: has only 1,000 B, but 4 KiB is needed; name a larger file, or a directory in which iotax can create its test files");
}

#[test]
fn nothing_is_written_to_files_of_the_users() {
    let bench = Bench::new();
    let name = bench.at("target/data");
    fs::write(&name, vec![5; 1 << 20]).unwrap();
    let spec = writing(&[("file", path(&name)), ("disk", file(Some(name.clone()), 4096))]);
    insta::assert_snapshot!(bench.refusal(&spec), @"
    2 targets cannot be used:
      arm file: ROOT/target/data: the workload writes, but iotax did not create this file; name its directory instead, or a file that does not exist yet
      arm disk: ROOT/target/data: the workload writes, but iotax did not create this file; name its directory instead, or a file that does not exist yet
    ");
}

#[test]
fn disks_larger_than_the_file_system_or_memory_are_refused() {
    let bench = Bench::new();
    let huge = 1 << 55;
    let arms = [
        ("a", file(None, huge)),
        ("b", file(Some(bench.at("target/x")), 4096)),
        ("c", stack([Layer::Mem(Mem { size_bytes: huge })])),
    ];
    let error = bench.open(&spec(&arms)).unwrap_err();
    let Error::Refused { refusals } = error else { panic!("{error}") };
    let told: Vec<_> = refusals.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[0].starts_with("arm a, b: ") && told[0].contains("32 PiB of free space"),
        "{told:?}"
    );
    assert!(told[1].starts_with("arm c: 32 PiB"), "{told:?}");
    assert!(bench.left().is_empty());
}

#[test]
fn impossible_stacks_are_among_the_problems_told_at_once() {
    let bench = Bench::new();
    let bad = || Layer::Cache(Cache { size_bytes: 5 });
    let arms = [
        ("a", path(bench.at("target"))),
        ("b", stack([Layer::File(File { path: None, size_bytes: 1 << 20, thin: false }), bad()])),
        ("c", stack([Layer::Mem(Mem { size_bytes: 1 << 20 }), bad()])),
        ("d", stack([bad()])),
        ("e", stack([])),
    ];
    insta::assert_snapshot!(bench.refusal(&spec(&arms)), @"
    4 targets cannot be used:
      arm b: `cache`: size=5 is not valid: it must be a multiple of its page size, 4096 bytes, and not 0
      arm c: `cache`: size=5 is not valid: it must be a multiple of its page size, 4096 bytes, and not 0
      arm d: `cache(size=5)` is not an in-process disk: such a disk needs one base (mem or file) at the bottom
      arm e: `` is not an in-process disk: such a disk needs one base (mem or file) at the bottom
    ");
}

#[test]
fn a_stack_that_does_not_open_takes_down_what_was_made_before() {
    let bench = Bench::new();
    let odd = bench.at("other/x");
    let size_bytes = (1 << 20) + 512;
    let aes = Layer::Aes(Aes { key_bits: 256, sector_bytes: 4096 });
    let arms = [
        ("a", path(bench.at("target"))),
        ("b", stack([Layer::File(File { path: Some(odd), size_bytes, thin: false }), aes])),
    ];
    insta::assert_snapshot!(bench.refusal(&spec(&arms)), @"arm b: `file`: size=1049088 is not valid: it must be a multiple of 4096 bytes, the unit of `aes`, and not 0");
    assert!(bench.left().is_empty(), "{:?}", bench.left());
}

#[test]
fn a_target_that_disappears_is_an_error_when_the_arm_comes_up() {
    let bench = Bench::new();
    let name = bench.at("target/data");
    fs::write(&name, [5; 8192]).unwrap();
    let mut rig = bench.open(&spec(&[("a", path(&name))])).unwrap();
    fs::rename(&name, bench.at("target/moved")).unwrap();
    let gone = rig.up(0).unwrap_err().to_string();
    fs::write(&name, [5; 8192]).unwrap();
    let replaced = rig.up(0).unwrap_err().to_string();
    let told = format!("{gone}\n{replaced}").replace(bench.root.path().to_str().unwrap(), "ROOT");
    insta::assert_snapshot!(told, @"
    arm a: ROOT/target/data has changed since the run started: No such file or directory (os error 2)
    arm a: ROOT/target/data has changed since the run started: something else is in its place
    ");
}

#[test]
fn without_a_place_for_the_journal_nothing_is_made() {
    let bench = Bench::new();
    fs::write(bench.at("state"), "in the way").unwrap();
    insta::assert_snapshot!(bench.refusal(&spec(&[("a", path(bench.at("target")))])), @"ROOT/state/undo: cannot write the undo journal here: Not a directory (os error 20); nothing was created. Set IOTAX_STATE_DIR to a writable directory");
    assert!(bench.left().is_empty());
    let (stop, work_dir) = (Arc::new(AtomicBool::new(false)), bench.at("work"));
    let mut silent = |_: &iotax_rig::Preparing<'_>| ();
    let options = common::options(&work_dir, None, &mut silent, &stop);
    let error = Rig::open(&spec(&[("a", path(bench.at("target")))]), options).unwrap_err();
    insta::assert_snapshot!(error, @"there is no directory for the undo journal, because neither HOME nor XDG_STATE_HOME is set; nothing was created. Set IOTAX_STATE_DIR to a writable directory");
    assert!(bench.left().is_empty());
}

#[test]
fn undo_leaves_a_living_run_alone() {
    let bench = Bench::new();
    let mut rig = bench.open(&spec(&[("a", path(bench.at("target")))])).unwrap();
    let other = bench.open(&spec(&[("a", path(bench.at("target")))])).unwrap();
    let report = undo(&bench.at("state"));
    assert_eq!((report.live, report.removed.len(), report.problems.len()), (2, 0, 0));
    assert_eq!(report.processes, [std::process::id()].into());
    other.down().unwrap();
    assert!(directory_of(&mut rig, 0).is_dir());
}

#[test]
fn what_replaced_our_file_is_not_removed() {
    let bench = Bench::new();
    let name = bench.at("target/disk.img");
    let rig = bench.open(&spec(&[("a", file(Some(name.clone()), 1 << 20))])).unwrap();
    fs::remove_file(&name).unwrap();
    fs::write(&name, "the user's").unwrap();
    let error = rig.down().unwrap_err();
    assert!(matches!(error, Error::NotOurs { .. }), "{error}");
    assert_eq!(fs::read_to_string(&name).unwrap(), "the user's");
    let report = undo(&bench.at("state"));
    assert_eq!(report.problems.len(), 1, "told again, until the user decides");
}

#[test]
fn a_link_to_nowhere_in_the_disk_s_place_is_left_and_forgotten() {
    let bench = Bench::new();
    let image = bench.at("target").join("disk.img");
    std::os::unix::fs::symlink(bench.at("target").join("nowhere"), &image).unwrap();
    let error = bench.open(&writing(&[("a", file(Some(image), 1 << 20))])).unwrap_err();
    assert!(error.to_string().contains("cannot create this file"), "{error}");
    assert_eq!(bench.left(), ["disk.img"]);
    assert!(undo(&bench.at("state")).problems.is_empty());
}

#[test]
fn block_devices_are_only_read() {
    let Some(device) = some_block_device() else {
        return skipped("there is no block device");
    };
    let bench = Bench::new();
    let spec = writing(&[("a", path(&device)), ("b", file(Some(device.clone()), 1 << 20))]);
    let told = bench.refusal(&spec).replace(device.to_str().unwrap(), "DEVICE");
    insta::assert_snapshot!(told, @"
    2 targets cannot be used:
      arm a: DEVICE: the workload writes, but iotax never writes to a device given by its path; choose a read-only workload, name a directory on the device, or let iotax overwrite the device: dev(path=...) with --destroy
      arm b: DEVICE: is a block device, not a file; to put system layers on it, use dev(path=...), which destroys the data on it
    ");
}

fn some_block_device() -> Option<PathBuf> {
    let names = fs::read_dir("/sys/class/block").ok()?.flatten();
    names.map(|entry| Path::new("/dev").join(entry.file_name())).find(|node| node.exists())
}

#[test]
fn targets_are_shown_as_the_user_wrote_them() {
    let bench = Bench::new();
    let target: Target = stack([
        Layer::File(File { path: None, size_bytes: 1 << 20, thin: false }),
        Layer::Aes(Aes { key_bits: 256, sector_bytes: 4096 }),
    ]);
    let rig = bench.open(&spec(&[("a", target.clone())])).unwrap();
    assert_eq!(rig.site(0).target, target.to_string());
}
