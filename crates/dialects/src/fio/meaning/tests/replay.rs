//! Jobs that replay logs.

use std::cell::RefCell;

use insta::assert_snapshot;
use iotax_experiment::{
    Arrivals, Engine, Error, FioLogs, Job, Pattern, RecordedLoad, Uncut, Workload,
};

use crate::fio::{Logs, Outside, Replayed, from_job_file};

const LENGTH_NS: u64 = 60_000_000_000;

/// Knows logs of a minute, and remembers what it was asked for.
struct Shelf {
    files: usize,
    is_block_trace: bool,
    asked: RefCell<Vec<Logs>>,
}

impl Shelf {
    fn with(files: usize, is_block_trace: bool) -> Self {
        Self { files, is_block_trace, asked: RefCell::default() }
    }

    fn read(&self, text: &str) -> Result<Vec<Workload>, Error> {
        from_job_file("test.fio", text, self)
    }
}

impl Outside for Shelf {
    fn file(&self, name: &str) -> Result<String, String> {
        Err(format!("{name} is not there"))
    }

    fn recording(&self, logs: &Logs) -> Result<Replayed, String> {
        self.asked.borrow_mut().push(logs.clone());
        if logs.paths.iter().any(|path| path == "none.log") {
            return Err("cannot open none.log".to_owned());
        }
        let recording = RecordedLoad {
            path: "/logs/a.log".into(),
            hash: "0".repeat(16),
            length_ns: LENGTH_NS,
            threads: 1,
            requests: 0,
            waits_for_syncs: false,
            allow_loss: false,
            arrivals: Arrivals::default(),
            copies: 1,
            parts: 1,
            uncut: Some(Uncut::Short),
            writes: true,
            device_bytes: None,
            logs: Some(FioLogs {
                others: Vec::new(),
                direct: logs.direct,
                no_stall: logs.no_stall,
            }),
        };
        let job = Job {
            engine: Engine::Replay,
            pattern: Pattern::Random,
            advise: false,
            recording: Some(recording),
            ..Job::new("replay")
        };
        let workload = Workload { time_ns: LENGTH_NS, ..Workload::new("replay", vec![job]) };
        Ok(Replayed { workload, files: self.files, is_block_trace: self.is_block_trace })
    }
}

fn notes(options: &str) -> String {
    let shelf = Shelf::with(1, false);
    let read = shelf.read(&format!("[a]\nread_iolog=a.log\n{options}\n"));
    let workloads = read.unwrap_or_else(|error| panic!("{error}"));
    let [workload] = workloads.as_slice() else { panic!("{workloads:?}") };
    assert_eq!(workload.validate(), Ok(()), "{options}");
    assert_eq!((workload.ramp_ns, workload.time_ns), (0, LENGTH_NS));
    assert_eq!((workload.jobs[0].name.as_str(), workload.jobs[0].engine), ("a", Engine::Replay));
    workload.notes.join("\n")
}

fn error(shelf: &Shelf, text: &str) -> String {
    shelf.read(text).expect_err("refused").to_string()
}

fn refused(options: &str) -> String {
    error(&Shelf::with(1, false), &format!("[a]\nread_iolog=a.log\n{options}\n"))
}

#[test]
fn a_log_is_replayed_whatever_else_the_job_says_about_its_ios() {
    assert_eq!(notes(""), "");
    assert_eq!(notes("group_reporting\nthread\nreplay_time_scale=100\nloops=1"), "");
    assert_snapshot!(notes("rw=randwrite\nbs=4k\nsize=1g\nfilename=/data/f\ndirectory=/mnt"), @"
    test.fio, line 3: rw=randwrite: has no effect, because the log names the files and I/Os
    test.fio, line 4: bs=4k: has no effect, because the log names the files and I/Os
    test.fio, line 5: size=1g: has no effect, because the log names the files and I/Os
    test.fio, line 6: filename=/data/f: has no effect, because the log names the files and I/Os
    test.fio, line 7: directory=/mnt: replaced by TARGET
    ");
    assert_snapshot!(notes("ioengine=libaio\niodepth=1\nruntime=2m\ntime_based"), @"
    test.fio, line 6: time_based: has no effect, because a trial is one replay of the log
    test.fio, line 3: ioengine=libaio: iotax uses synchronous calls
    test.fio, line 5: runtime=2m: iotax replays the whole log, which is shorter
    ");
    assert_snapshot!(notes("replay_redirect=/dev/sdb"), @"test.fio, line 3: replay_redirect=/dev/sdb: replaced by TARGET");
}

#[test]
fn each_thread_has_its_log() {
    let shelf = Shelf::with(2, false);
    let text = "[a]\nread_iolog=a.log:b\\:c.log\nnumjobs=3\nreplay_no_stall=1\ndirect=1\n";
    shelf.read(text).unwrap();
    shelf.read("[a]\nread_iolog=a.log:b.log\nbuffered=0\n").unwrap();
    let asked = shelf.asked.into_inner();
    assert_eq!(asked[0].paths, ["a.log", "b:c.log", "a.log"]);
    assert!(asked[0].direct && asked[0].no_stall);
    assert_eq!(asked[1].paths, ["a.log"]);
    assert!(asked[1].direct && !asked[1].no_stall);
}

#[test]
fn options_that_change_a_log_are_refused() {
    for option in [
        "replay_time_scale=50",
        "replay_scale=2",
        "replay_align=4k",
        "replay_skip=trim",
        "merge_blktrace_file=x",
        "merge_blktrace_scalars=50",
        "merge_blktrace_iters=2",
        "loops=2",
        "rate_iops=100",
        "thinktime=1ms",
        "fsync=1",
        "sync=1",
        "verify=crc32c",
        "zero_buffers",
        "startdelay=5",
        "ramp_time=5",
        "number_ios=5",
        "cpus_allowed=0",
        "nice=2",
        "exec_prerun=true",
        "write_iolog=b.log",
        "ioengine=mmap",
        "ioengine=exec",
    ] {
        let said = refused(option);
        let name = option.split('=').next().unwrap();
        assert!(said.starts_with("test.fio:3:"), "{said}");
        assert!(said.contains(&format!("{name}: ")) && said.contains("leave it out"), "{said}");
    }
    assert_snapshot!(refused("replay_time_scale=50"), @"
    test.fio:3:1: replay_time_scale: changes the speed of the log, which is then no longer the load of the application
      3 | replay_time_scale=50
        | ^^^^^^^^^^^^^^^^^^^^
    leave it out; for more load, replay several copies with numjobs
    ");
    assert_snapshot!(refused("rate_iops=100"), @"
    test.fio:3:1: rate_iops: is not supported together with read_iolog
      3 | rate_iops=100
        | ^^^^^^^^^^^^^
    leave it out
    ");
    assert_snapshot!(refused("ioengine=io_uring\niodepth=8"), @"
    test.fio:4:1: iodepth: iotax replays each log one I/O at a time, because a log does not say which I/Os were in flight together
      4 | iodepth=8
        | ^^^^^^^^^
    leave it out, or give each of several threads its own log: read_iolog=a.log:b.log with numjobs=2
    ");
    assert_snapshot!(refused("runtime=30"), @"
    test.fio:3:9: runtime: the log takes 1m, and iotax replays all of it
      3 | runtime=30
        |         ^^
    leave it out, or shorten the log
    ");
}

#[test]
fn what_depends_on_the_log_is_refused_at_its_option() {
    let two = Shelf::with(2, false);
    assert_snapshot!(error(&two, "[a]\nread_iolog=a.log\nreplay_redirect=/dev/sdb\n"), @"
    test.fio:3:1: replay_redirect: the log uses 2 files
      3 | replay_redirect=/dev/sdb
        | ^^^^^^^^^^^^^^^^^^^^^^^^
    leave it out, and name a directory as the target: iotax keeps the files apart
    ");
    assert_snapshot!(error(&two, "[a]\nread_iolog=none.log\n"), @"
    test.fio:2:12: read_iolog: cannot open none.log
      2 | read_iolog=none.log
        |            ^^^^^^^^
    ");
    assert_snapshot!(error(&two, "[a]\nread_iolog=-\n"), @"
    test.fio:2:12: read_iolog: is not the name of a file
      2 | read_iolog=-
        |            ^
    name a file, as in read_iolog=app.log
    ");
    assert_snapshot!(error(&two, "[a]\nread_iolog=a.log\n[b]\nread_iolog=b.log\n"), @"
    test.fio:2:1: read_iolog: a log is replayed alone, but other jobs run at the same time
      2 | read_iolog=a.log
        | ^^^^^^^^^^^^^^^^
    separate the jobs with stonewall; to replay several logs together, give them to one job: read_iolog=a.log:b.log with numjobs=2
    ");
    let block = Shelf::with(1, true);
    let read = block.read("[a]\nread_iolog=sda.bin\nioengine=libaio\niodepth=64\n").unwrap();
    assert_snapshot!(read[0].notes.join("\n"), @"
    test.fio, line 3: ioengine=libaio: iotax uses synchronous calls
    test.fio, line 4: iodepth=64: iotax keeps as many I/Os in flight as the trace, but at most 64
    ");
    // Without somebody who has the logs, as in a fuzz target.
    let none = |_: &str| Err(String::new());
    let said = from_job_file("test.fio", "[a]\nread_iolog=a.log\n", &none).unwrap_err();
    assert!(said.to_string().contains("logs cannot be replayed here"));
}

#[test]
fn phases_with_and_without_logs_follow_each_other() {
    let text = "[a]\nread_iolog=a.log\n[b]\nstonewall\nsize=1m\nruntime=5\ntime_based\n";
    let read = Shelf::with(1, false).read(text).unwrap();
    let times: Vec<_> = read.iter().map(|phase| (phase.is_recorded(), phase.time_ns)).collect();
    assert_eq!(times, [(true, LENGTH_NS), (false, 5_000_000_000)]);
}
