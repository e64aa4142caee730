use insta::assert_snapshot;
use iotax_experiment::Bound;

use super::{job, phases};

#[test]
fn files() {
    assert_snapshot!(job("filename=blob"), @"files={shared:blob}");
    assert_snapshot!(job("filename=/dev/nvme0n1"), @"
    files={shared:nvme0n1} target=nvme0n1
    note: filename=/dev/nvme0n1: replaced by TARGET
    ");
    assert_snapshot!(job("directory=/data\nfilename=a/blob"), @"
    files={shared:blob} target=data
    note: directory=/data: replaced by TARGET
    note: filename=a/blob: replaced by TARGET
    ");
    assert_snapshot!(job("filename=one:two"), @"
    files={shared:one} files_per_thread=2
    note: filename=one:two: 2 files, named by iotax
    ");
    assert_snapshot!(job(r"filename=\\.\x\:y"), @"files={shared:__._x_y}");
    assert_snapshot!(job("filename_format=test.$jobnum.$filenum"), @"
    as usual
    note: filename_format=test.$jobnum.$filenum: files are named after the job and thread
    ");
    assert_snapshot!(job("filename_format=$jobname.$filenum"), @"
    files={shared:a}
    note: filename_format=$jobname.$filenum: the threads share the files
    ");
    assert_snapshot!(job("nrfiles=8\nnumjobs=4"), @"files_per_thread=8 threads=4");
    assert_snapshot!(job("nrfiles=8\nfile_service_type=random"), @"files_per_thread=8 [file_service_type=random: accesses its files in an order other than round-robin]");
    assert_snapshot!(job("nrfiles=1\nfile_service_type=random"), @"as usual");
    assert_snapshot!(job("opendir=/home"), @"[opendir=/home: uses existing files]");
}

#[test]
fn sizes_and_offsets() {
    assert_snapshot!(job("size=50%"), @"[size=50%: a percentage of the target's size]");
    assert_snapshot!(job("nrfiles=4\nfilesize=1m"), @"files_per_thread=4 size_bytes=4194304");
    assert_snapshot!(job("offset=1m"), @"offset_bytes=1048576");
    // Determined with fio 3.33 from the files that it creates and the places it reads.
    assert_snapshot!(job("filesize=8m\noffset=2m"), @"offset_bytes=2097152 size_bytes=6291456");
    assert_snapshot!(job("filesize=8m\noffset=2m\nsize=1m\nnrfiles=2"), @"files_per_thread=2 offset_bytes=2097152 size_bytes=12582912");
    assert_snapshot!(job("filesize=8m\nsize=50%"), @"size_bytes=4194304");
    assert_snapshot!(job("filesize=8m\nsize=90%\noffset=2m"), @"offset_bytes=2097152 size_bytes=6291456");
    assert_snapshot!(job("offset=10%"), @"[offset=10%: a percentage of the target's size]");
    assert_snapshot!(job("offset_increment=1g"), @"as usual");
    assert_snapshot!(job("numjobs=2\noffset_increment=1g"), @"offset_increment_bytes=1073741824 threads=2");
}

const MIB: u64 = 1 << 20;

/// Counted in fio 3.33.
#[test]
fn bytes_are_those_that_fio_moves() {
    let moved = |options: &str| {
        let text = format!("[a]\nruntime=10\n{options}\n");
        match super::read(&text).unwrap()[0].jobs[0].bound {
            Bound::Bytes(bytes) => bytes,
            Bound::Time | Bound::Span => panic!("{options}"),
        }
    };
    assert_eq!(moved("size=1m\nnumber_ios=10\nloops=3"), 30 * 4096);
    assert_eq!(moved("size=1m\nio_size=3m\nloops=2"), 3 * MIB);
    assert_eq!(moved("size=8m\nio_size=1m\nloops=3"), 3 * MIB);
    assert_eq!(moved("size=1m\nrw=read:8k"), 86 * 4096);
    assert_eq!(moved("size=1000k\nbs=7k"), 142 * 7 * 1024);
    assert_eq!(moved("size=1m\nnrfiles=3"), 255 * 4096);
    assert_eq!(moved("filesize=8m\noffset=2m"), 6 * MIB);
    assert_eq!(moved("filesize=8m\noffset=2m\nsize=1m"), MIB);
    assert_eq!(moved("filesize=8m\noffset=2m\nsize=64m"), 6 * MIB);
    assert_eq!(moved("filesize=8m\nsize=50%"), 4 * MIB);
    assert_eq!(moved("filesize=8m\nsize=50%\nnrfiles=2\nloops=3"), 24 * MIB);
}

#[test]
fn ends() {
    assert_snapshot!(phases("[a]\nsize=64m"), @"
    test: 0s ramp, 10m
      a: bound={bytes:67108864} size_bytes=67108864
      note: test.fio, line 1: job `a` has no runtime; a trial ends when all bytes are transferred, or after 10m
    ");
    assert_snapshot!(phases("[a]\nsize=64m\nruntime=10"), @"
    test: 0s ramp, 10s
      a: bound={bytes:67108864} size_bytes=67108864
    ");
    assert_snapshot!(phases("[a]\nsize=64m\nruntime=10\ntime_based"), @"
    test: 0s ramp, 10s
      a: size_bytes=67108864
    ");
    assert_snapshot!(phases("[a]\nsize=64m\ntime_based"), @"
    test: 0s ramp, 10m
      a: bound={bytes:67108864} size_bytes=67108864
      note: test.fio, line 3: time_based: has no effect without a runtime, as in fio
      note: test.fio, line 1: job `a` has no runtime; a trial ends when all bytes are transferred, or after 10m
    ");
    assert_snapshot!(phases("[a]\nsize=64m\nio_size=1m\nruntime=10"), @"
    test: 0s ramp, 10s
      a: bound={bytes:1048576} size_bytes=67108864
    ");
    assert_snapshot!(phases("[a]\nsize=64m\nio_size=25%\nruntime=10"), @"
    test: 0s ramp, 10s
      a: bound={bytes:16777216} size_bytes=67108864
    ");
    assert_snapshot!(job("startdelay=1-3"), @"[startdelay=1-3: waits for a random length of time]");
    assert_snapshot!(phases("[a]\nsize=1m\nloops=100\nruntime=10"), @"
    test: 0s ramp, 10s
      a: bound={bytes:104857600} size_bytes=1048576
    ");
    assert_snapshot!(phases("[a]\nsize=64m\nnumber_ios=10\ntime_based\nruntime=10"), @"
    test: 0s ramp, 10s
      a: size_bytes=67108864
      note: test.fio, line 3: number_ios=10: has no effect with time_based, as in fio
    ");
    assert_snapshot!(phases("[a]\nsize=2m\nfilesize=1m\nnrfiles=4\nruntime=10"), @"
    test: 0s ramp, 10s
      a: bound={bytes:2097152} files_per_thread=4 size_bytes=4194304
    ");
    assert_snapshot!(phases("[a]\nruntime=10"), @"
    test: 0s ramp, 10s
      a: bound={bytes:1073741824}
      note: test.fio, line 1: job `a` has no size; iotax uses 1G of the target
    ");
}
