use std::io::Write as _;
use std::process::{Command, Stdio};

use iotax_experiment::{Engine, Files, FioOption, Job};

use super::*;

#[test]
fn a_workload_reads_like_a_job_file() {
    let workload = Workload::preset("driver-searcher").unwrap();
    insta::assert_snapshot!(text(&sections(&workload)), @"
    [download]
    ioengine=psync
    rw=write
    bs=4M
    iodepth=1
    numjobs=30
    thread=1
    size=2G
    direct=0
    invalidate=0
    fadvise_hint=1
    sync=1
    time_based=1
    thinktime=105ms
    thinktime_blocks=1
    group_reporting=1
    new_group=1

    [mmap_read]
    ioengine=mmap
    rw=randread
    norandommap=1
    bsrange=4k-1M
    iodepth=1
    numjobs=8
    thread=1
    filename=fio_blob
    size=50G
    direct=0
    invalidate=1
    fadvise_hint=1
    time_based=1
    startdelay=2s
    group_reporting=1
    new_group=1
    ");
}

#[test]
fn options_as_written_replace_ours_and_come_last() {
    let option = |name: &str, value: Option<&str>| FioOption {
        name: name.into(),
        value: value.map(str::to_owned),
        place: "job.fio, line 1".into(),
        beyond: None,
    };
    let job = Job {
        engine: Engine::IoUring,
        sqpoll: true,
        fio: vec![option("ioengine", Some("libaio")), option("zero_buffers", None)],
        ..Job::new("io")
    };
    let workload = Workload { jobs: vec![job], ..Workload::preset("randread-4k").unwrap() };
    let text = text(&sections(&workload));
    assert!(text.ends_with("new_group=1\nioengine=libaio\nzero_buffers\n"), "{text}");
    assert!(!text.contains("io_uring") && !text.contains("sqthread"), "{text}");
}

#[test]
fn no_name_or_value_breaks_out_of_its_line() {
    let hostile = "x]\n[y]\nexec_prerun=touch /tmp/x;#`id`$(id)'\"";
    let option = FioOption {
        name: "description".into(),
        value: Some(hostile.into()),
        place: String::new(),
        beyond: None,
    };
    let job = Job {
        files: Files::Shared(hostile.into()),
        fio: vec![FioOption { name: hostile.into(), ..option.clone() }, option],
        ..Job::new(hostile)
    };
    let workload =
        Workload { jobs: vec![job.clone(), job], ..Workload::preset("randread-4k").unwrap() };
    let written = sections(&workload);
    assert_ne!(written[0].name, written[1].name);
    let text = text(&written);
    assert_eq!(text.lines().filter(|line| line.starts_with('[')).count(), 2, "{text}");
    assert!(text.lines().all(|line| !line.starts_with("exec") && !line.starts_with("desc")));
}

/// The result of `fio --parse-only` for a job file, and its output.
fn parse(text: &str) -> (bool, String) {
    let mut fio = Command::new("fio")
        .args(["--parse-only", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    fio.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = fio.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn fio_accepts_every_preset() {
    if !iotax_testing::needs_program("fio") {
        return;
    }
    for workload in Workload::presets().chain([Workload::peel_search(1 << 30)]) {
        let text = text(&sections(&workload));
        let (accepted, said) = parse(&text);
        assert!(accepted && said.is_empty(), "{}: {said}\n{text}", workload.name);
    }
}
