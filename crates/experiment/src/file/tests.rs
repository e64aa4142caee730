use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::abbreviated;
use crate::engine::Engine;
use crate::rule::UndecidedAs;
use crate::spec::{Design, Driver, Stop, StopMode};
use crate::workload::{BlockSizes, Pace, Pattern, Workload};

pub(super) fn from_toml(text: &str) -> Result<Draft, Error> {
    Draft::from_toml("x.toml", text, &no_fio)
}

fn no_fio(_: WorkloadElsewhere<'_>) -> Result<Vec<Workload>, Error> {
    Err(Error::syntax("fio is not read here", ""))
}

fn recorded(text: &str) -> Result<Draft, Error> {
    Draft::from_toml("x.toml", text, &|elsewhere| match elsewhere {
        WorkloadElsewhere::Recording(named) if named.recording == "app.iotx" => {
            Ok(vec![crate::recorded::example()])
        }
        WorkloadElsewhere::Recording(named) => {
            Err(Error::syntax(format!("cannot open {}", named.recording), ""))
        }
        WorkloadElsewhere::Fio(_) => no_fio(elsewhere),
    })
}

#[test]
fn a_recording_is_a_workload() {
    let arms = "\n[arms]\na = \"/mnt/a\"\nb = \"/mnt/b\"\n";
    for written in ["workload.recording = \"app.iotx\"", "workload = { recording = \"app.iotx\" }"]
    {
        let spec = recorded(&format!("{written}\nmode = \"quick\"{arms}")).unwrap();
        assert_eq!(spec.phases, [crate::recorded::example()]);
    }
    let error = |text: &str| recorded(&format!("{text}{arms}")).unwrap_err().to_string();
    assert_snapshot!(error("workload.recording = \"app.iotx\"\ndrain = true"), @"
    x.toml:2:9: drain: draining repeats a load for a given time, and a recording has its own length
      2 | drain = true
        |         ^^^^
    leave out drain, or drain the target in a separate run with another workload
    ");
    let spec =
        recorded(&format!("time = \"3s\"\nworkload.recording = \"app.iotx\"{arms}")).unwrap();
    assert_eq!(spec.phases[0].time_ns, 3_000_000_000);
    assert_snapshot!(error("workload.recording = \"app.iotx\"\nscale = 0.5"), @"
    x.toml:2:9: scale: a recording is replayed as it was recorded
      2 | scale = 0.5
        |         ^^^
    leave out scale; to replay less or more of it, set time
    ");
    assert_snapshot!(error("workload.recording = \"app.iotx\"\nset.threads = 4"), @r#"
    x.toml:2:15: set.threads: job `replay`: recording: a recording is replayed as it was recorded
      2 | set.threads = 4
        |               ^
    remove the options that change it
    "#);
    assert_snapshot!(error("engines.b = \"fio\"\nworkload.recording = \"app.iotx\""), @r#"
    x.toml:1:1: engines: arm `b`: only iotax's own engine replays recordings
      1 | engines.b = "fio"
        | ^^^^^^^
    leave out the engine; to replay a recording with fio, write its log with iotax capture export
    "#);
    assert_snapshot!(error("\nworkload.recording = \"other.iotx\""), @r#"
    x.toml:2:22: workload.recording: cannot open other.iotx
      2 | workload.recording = "other.iotx"
        |                      ^^^^^^^^^^^^
    "#);
    assert_snapshot!(error("[workload]\nrecording = \"app.iotx\"\nname = \"x\""), @"
    x.toml:1:1: `recording` describes the whole workload; leave out `name`
      1 | [workload]
        | ^^^^^^^^^^
    ");
    let job = "[workload]\nname = \"x\"\n[[workload.job]]\nname = \"a\"\nengine = \"replay\"";
    assert_snapshot!(error(job), @r#"
    x.toml:5:10: workload.job[0].engine: `replay` needs a recording
      5 | engine = "replay"
        |          ^^^^^^^^
    name the recording as the workload, without an engine: iotax run app.iotx DIR, or workload.recording = "app.iotx" in an experiment file
    "#);
}

fn parse(text: &str) -> Draft {
    from_toml(text).unwrap_or_else(|error| panic!("{error}"))
}

fn error(text: &str) -> String {
    abbreviated(from_toml(text).expect_err("refused"))
}

#[test]
fn a_small_file_gets_every_default() {
    let spec = parse("workload = \"randread-4k\"\n[arms]\nb = \"/mnt/b\"\na = \"mem\"\n");
    assert_eq!(spec.arms.iter().map(|arm| arm.name.as_str()).collect::<Vec<_>>(), ["b", "a"]);
    assert_eq!(spec.design, Design::Compare);
    assert_eq!(spec.stop, Stop::default());
    assert_eq!(spec.seed, Draft::DEFAULT_SEED);
    assert_eq!(spec.phases, [Workload::preset("randread-4k").unwrap()]);
}

#[test]
fn every_top_level_key_is_understood() {
    let spec = parse(
        r#"
        workload = "driver-searcher"
        mode = "tight"
        margin = "3%"
        alpha = 0.01
        simultaneous = true
        max-blocks = 20
        min-blocks = 5
        max-time = "10m"
        seed = 7
        time = "9s"
        ramp = 0
        scale = 0.05
        baseline = "second"
        set.index = false
        set.download.threads = 3
        [set.mmap_read]
        threads = 4
        [arms]
        first = "/mnt/a"
        second = "/mnt/b"
        "#,
    );
    let stop = Stop {
        mode: StopMode::Tight,
        margin: 0.03,
        alpha: 0.01,
        simultaneous: true,
        max_blocks: 20,
        max_blocks_asked: true,
        min_blocks: 5,
        max_time_ns: Some(600_000_000_000),
    };
    assert_eq!(spec.stop, stop);
    assert_eq!(spec.arms[0].name, "second");
    assert_eq!((spec.workload().time_ns, spec.workload().ramp_ns), (9_000_000_000, 0));
    assert_eq!(spec.workload().index, None);
    assert_eq!(spec.workload().jobs.iter().map(|job| job.threads).collect::<Vec<_>>(), [3, 4]);
    assert_eq!(spec.seed, 7);
}

#[test]
fn workloads_can_be_described() {
    let spec = parse(
        r#"
        [workload]
        name = "mine"
        index = { size = "8M" }
        [[workload.job]]
        name = "log"
        read-percent = 20
        rw = "rw"
        block-size = "4k/60:64k/40"
        rate = "poisson:50"
        fsync-every = 1
        [[workload.job]]
        name = "scan"
        engine = "io_uring"
        depth = 8
        direct = true
        [arms]
        only = "/mnt/a"
        "#,
    );
    assert_eq!(spec.design, Design::Single);
    let workload = spec.workload();
    assert_eq!(workload.primary, "log");
    assert_eq!(workload.index.unwrap().index_bytes, 8 << 20);
    let [log, scan] = workload.jobs.as_slice() else { panic!("two jobs") };
    assert_eq!((&log.pattern, log.read_percent), (&Pattern::Sequential, 20));
    assert!(matches!(&log.block_sizes, BlockSizes::Split(shares) if shares.len() == 2));
    assert_eq!(log.pace, Pace::Poisson { iops: 50.0 });
    assert_eq!(log.fsync_every, Some(1));
    assert_eq!((scan.engine, scan.queue_depth, scan.direct), (Engine::IoUring, 8, true));
}

#[test]
fn a_stack_can_be_peeled() {
    let spec = parse("workload = \"seqread-1m\"\npeel = \"mem + aes + aes\"\n");
    assert!(matches!(spec.design, Design::Peel { .. }));
    assert_eq!(spec.arms.len(), 4);
}

#[test]
fn undecided_rules_count_as_kept_or_broken_where_the_file_says_so() {
    let of = |line: &str| {
        format!(
            "workload = \"randread-4k\"\nfail-if = [\"iops < 5\"]\n{line}\n[arms]\na = \"mem\"\n"
        )
    };
    assert_eq!(parse(&of("")).undecided, None);
    assert_eq!(parse(&of("undecided = \"pass\"")).undecided, Some(UndecidedAs::Pass));
    assert_eq!(parse(&of("undecided = \"fail\"")).undecided, Some(UndecidedAs::Fail));
    assert_snapshot!(error(&of("undecided = \"kept\"")), @r#"
    x.toml:3:13: unknown variant `kept`, expected `pass` or `fail`
      3 | undecided = "kept"
        |             ^^^^^^
    "#);
}

#[test]
fn misspelt_keys_are_pointed_at() {
    let arms = "\n[arms]\na = \"mem\"\n";
    assert_snapshot!(error(&format!("workload = \"randread-4k\"\nmargn = \"5%\"{arms}")), @r#"
    x.toml:2:1: margn: unknown key `margn`; did you mean `margin`?
      2 | margn = "5%"
        | ^^^^^
    known keys: after, all-subsets, alpha, arms, baseline, before, below-cap, depth-check, documented, drain, engines, exclude, fail-if, hold, margin, matrix, max-blocks, max-time, min-blocks, mode, peel, precondition, ramp, scale, seed, set, simultaneous, time, undecided, workload
    "#);
    assert_snapshot!(error(&format!("workload = \"randred-4k\"{arms}")), @r#"
    x.toml:1:12: workload: unknown workload `randred-4k`; did you mean `randread-4k`?
      1 | workload = "randred-4k"
        |            ^^^^^^^^^^^^
    known workloads: randread-4k, randwrite-4k, seqread-1m, seqwrite-1m, mixed-70-30, driver-searcher, driver-searcher-published, git-checkout, git-status, git-gc, tcp-stream, tcp-stream-back, tcp-stream-both, tcp-rr, tcp-connect, udp-stream, udp-stream-back, etcd-wal, etcd-wal-loaded, postgres, mysql, kafka, rocksdb, lucene, nats-sync, ml-load
    "#);
    assert_snapshot!(error(&format!("[workload]\nname = \"m\"\njbo = []{arms}")), @"
    x.toml:3:1: workload.jbo: unknown key `jbo`; did you mean `job`?
      3 | jbo = []
        | ^^^
    known keys: about, index, job, name, primary, fio, recording
    ");
    let job = |line: &str| {
        format!("[workload]\nname = \"m\"\n[[workload.job]]\nname = \"io\"\n{line}{arms}")
    };
    assert_snapshot!(error(&job("blok-size = \"4k\"")), @r#"
    x.toml:5:1: workload.job[0].blok-size: unknown key `blok-size`; did you mean `block-size`?
      5 | blok-size = "4k"
        | ^^^^^^^^^
    known keys: name, engine, threads, depth, rw, read-percent, trim, pattern, block-size, write-block-size, write-pattern, size, target, file, rate, io-size, start-delay, end-after, direct, invalidate, fsync-every, end-fsync, verify, verify-every, verify-apart, verify-ends, sqpoll, advise, files, files-per-directory, file-size, operations, align, offset, write-through, think, cpus, files-per-thread, pre-read, ends-all, submit-batch, uncached, fresh, stretches, offset-increment, compress, compress-chunk, fill-pattern, dedupe, dedupe-set, dedupe-global, flow, latency-target, priority, numa, zero-copy
    "#);
    assert_snapshot!(error(&job("block-size = \"4KB\"")), @r#"
    x.toml:5:14: workload.job[0].block-size: `4KB` is not a size: `KB` is ambiguous: fio reads it as 2^10 bytes, disk vendors as 10^3
      5 | block-size = "4KB"
        |              ^^^^^
    use 4k or 4000
    "#);
    assert_snapshot!(error(&job("depth = 4")), @"
    x.toml:5:9: workload.job[0].depth: job `io`: psync keeps one I/O in flight per thread, not 4
      5 | depth = 4
        |         ^
    use engine=io_uring, or more threads
    ");
    assert_snapshot!(error(&job("depth = [4]")), @"
    x.toml:5:9: expected a number, text or true/false
      5 | depth = [4]
        |         ^^^
    ");
    assert_snapshot!(error(&format!("workload = \"randread-4k\"\nset.dept = 4{arms}")), @"
    x.toml:2:5: set.dept: unknown key `dept`; did you mean `depth`?
      2 | set.dept = 4
        |     ^^^^
    known keys: engine, threads, depth, rw, read-percent, trim, pattern, block-size, write-block-size, write-pattern, size, target, file, rate, io-size, start-delay, end-after, direct, invalidate, fsync-every, end-fsync, verify, verify-every, verify-apart, verify-ends, sqpoll, advise, files, files-per-directory, file-size, operations, align, offset, write-through, think, cpus, files-per-thread, pre-read, ends-all, submit-batch, uncached, fresh, stretches, offset-increment, compress, compress-chunk, fill-pattern, dedupe, dedupe-set, dedupe-global, flow, latency-target, priority, numa, zero-copy, time, ramp, primary, index
    ");
    assert_snapshot!(error(&format!("workload = \"randread-4k\"\nset.oi.depth = 4{arms}")), @"
    x.toml:2:8: set.oi.depth: unknown job `oi`; did you mean `io`?
      2 | set.oi.depth = 4
        |        ^^^^^
    known jobs: io
    ");
    assert_snapshot!(error(&format!("workload = \"randread-4k\"\nset.io.depth = 0{arms}")), @"
    x.toml:2:16: set.io.depth: job `io`: 0 is not between 1 and 32768
      2 | set.io.depth = 0
        |                ^
    ");
    assert_snapshot!(error(&format!("[workload]\nname=\"m\"\njob=[{{name=\"a\"}}]\nindex.sise=1{arms}")), @"
    x.toml:4:7: workload.index.sise: unknown key `sise`; did you mean `size`?
      4 | index.sise=1
        |       ^^^^
    known keys: versions, size, slow-load, queries, query-size
    ");
}

#[test]
fn wrong_values_are_pointed_at() {
    let with = |line: &str| {
        error(&format!("workload = \"randread-4k\"\n{line}\n[arms]\na = \"mem\"\nb = \"/x\"\n"))
    };
    assert_snapshot!(with("time = 5"), @"
    x.toml:2:8: time: `5` is not a duration: the unit is missing
      2 | time = 5
        |        ^
    use 5s, 5ms or 5us
    ");
    assert_snapshot!(with("time = 0"), @"
    x.toml:2:8: time: nothing would be measured
      2 | time = 0
        |        ^
    use a time such as 5s
    ");
    assert_snapshot!(with("margin = 5"), @"
    x.toml:2:10: margin: `5` is not a share: more than 1
      2 | margin = 5
        |          ^
    use 5% if you mean percent
    ");
    assert_snapshot!(with("margin = 0"), @"
    x.toml:2:10: margin: 0 is not between 0 and 1
      2 | margin = 0
        |          ^
    5% is a typical value
    ");
    assert_snapshot!(with("mode = \"fast\""), @r#"
    x.toml:2:8: unknown variant `fast`, expected one of `quick`, `default`, `tight`
      2 | mode = "fast"
        |        ^^^^^^
    "#);
    assert_snapshot!(with("max-blocks = -1"), @"
    x.toml:2:14: invalid value: integer `-1`, expected u32
      2 | max-blocks = -1
        |              ^^
    ");
    assert_snapshot!(with("seed = \"x\""), @r#"
    x.toml:2:8: invalid type: string "x", expected u64
      2 | seed = "x"
        |        ^^^
    "#);
    assert_snapshot!(with("scale = 0"), @"
    x.toml:2:9: scale: 0 is not a valid scale factor
      2 | scale = 0
        |         ^
    specify a factor above 0, such as 0.05 for one twentieth
    ");
    assert_snapshot!(with("baseline = \"c\""), @r#"
    x.toml:2:12: baseline: unknown arm `c`
      2 | baseline = "c"
        |            ^^^
    known arms: a, b
    "#);
    assert_snapshot!(with("peel = \"mem + aes\""), @r#"
    x.toml:2:8: peel: both `peel` and `arms` are given
      2 | peel = "mem + aes"
        |        ^^^^^^^^^^^
    keep only one of them; `peel` creates its own arms
    "#);
    assert_snapshot!(with("set.threads = []"), @"
    x.toml:2:15: expected a value (number, text or true/false), or a table of job keys
      2 | set.threads = []
        |               ^^
    ");
    assert_snapshot!(with("time = "), @"
    x.toml:2:8: string values must be quoted, expected literal string
      2 | time =
        |        ^
    ");
    assert_snapshot!(with("time = \"5s\"\ntime = \"6s\""), @r#"
    x.toml:3:1: duplicate key
      3 | time = "6s"
        | ^^^^
    "#);
}

#[test]
fn arms_are_checked() {
    let arms = |lines: &str| error(&format!("workload = \"seqread-1m\"\n{lines}"));
    assert_snapshot!(arms("[arms]\na = \"/x\"\nb = 'mem(size=64M) + dlay(latency=1ms)'\n"), @"
    x.toml:4:5: arms.b: unknown layer `dlay`; did you mean `delay`?
      4 | b = 'mem(size=64M) + dlay(latency=1ms)'
        |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      mem(size=64M) + dlay(latency=1ms)
                      ^^^^ column 17
    known layers: ALL
    ");
    assert_snapshot!(arms(""), @r#"
    x.toml: arms: no arms are given
    add an [arms] table, for example with base = "/mnt/a" and other = "/mnt/b"
    "#);
    assert_snapshot!(arms("[arms]\na = 5"), @"
    x.toml:3:5: expected a target, or a table that assigns a target to each name used by the jobs
      3 | a = 5
        |     ^
    ");
    assert_snapshot!(arms("[arms]\na = ''"), @"
    x.toml:3:5: arms.a: the target is empty
      3 | a = ''
        |     ^^
    specify a path, or a stack such as mem(size=64M) + aes
    ");
    assert_snapshot!(arms("[arms]\na = '/x'\nb = 'mem(size=64k)'"), @"
    x.toml:4:5: arms.b: arm `b`, job `io`: block-size: 1M blocks do not fit on the 64k disk
      4 | b = 'mem(size=64k)'
        |     ^^^^^^^^^^^^^^^
    increase the size of the stack or reduce block-size
    ");
    assert_snapshot!(error("workload = 'driver-searcher'\nset.primary='x'\n[arms]\na='/x'"), @"
    x.toml:2:13: set.primary: unknown primary job `x`
      2 | set.primary='x'
        |             ^^^
    known primary jobs: download, mmap_read
    ");
    assert_snapshot!(error("workload = 'driver-searcher'\n[set]\nindex.queries=0\n[arms]\na='/x'"), @"
    x.toml:3:15: set.index.queries: must be above 0
      3 | index.queries=0
        |               ^
    ");
    assert_snapshot!(error("[workload]\nname='m'\n[[workload.job]]\ndepth=1\n[arms]\na='/x'"), @r#"
    x.toml:3:1: workload.job[0]: the job has no name
      3 | [[workload.job]]
        | ^^^^^^^^^^^^^^^^
    add a name, as in name = "reader"
    "#);
    assert_snapshot!(error("[workload]\nname='m'\njob=[{name='a'},{name='a'}]\n[arms]\na='/x'"), @"
    x.toml:3:1: workload.job: job `a` is given twice
      3 | job=[{name='a'},{name='a'}]
        | ^^^
    ");
    assert_snapshot!(arms("peel = 'mem'"), @"
    x.toml:2:8: peel: stack: the stack has no layer to remove
      2 | peel = 'mem'
        |        ^^^^^
    add layers to the base, as in file(size=2G) + aes + aes; a peel keeps file systems and loop devices, because the load needs them
    ");
    assert_snapshot!(error("[arms]\na = '/x'"), @"
    x.toml:1:1: missing field `workload`
      1 | [arms]
        | ^
    ");
}

#[test]
fn examples_are_understood() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut read = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text = std::fs::read_to_string(&path).unwrap();
            let parsed = Draft::from_toml(&path.to_string_lossy(), &text, &no_fio);
            assert!(parsed.is_ok(), "{}", parsed.unwrap_err());
            read += 1;
        }
    }
    assert!(read >= 3, "only {read} examples found");
}

proptest! {
    #[test]
    fn no_text_panics(
        text in prop_oneof![
            ".*",
            r#"((workload|arms|set|time|job|name|mode|peel|x)( = |\.|\n)|["\[\]{}ü=\n]|5s|mem|4){0,30}"#,
        ]
    ) {
        if let Err(error) = from_toml(&text) {
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn a_broken_byte_in_a_good_file_never_panics(at in 0usize..400, with in "[ -~ü\n]{0,2}") {
        let good = include_str!("../../../../examples/driver-searcher.toml");
        let at = good.floor_char_boundary(at.min(good.len()));
        let next = good[at..].chars().next().map_or(at, |c| at + c.len_utf8());
        let broken = format!("{}{with}{}", &good[..at], &good[next..]);
        let _ = from_toml(&broken);
    }
}

#[test]
fn a_suite_and_engines_of_arms_are_named() {
    let file = "workload = 'nfs-kerberos'\n[arms]\na = '/a'\nb = '/b'\n[engines]\nb = 'fio'\n";
    let spec = from_toml(file).unwrap();
    assert_eq!(spec.name(), "nfs-kerberos");
    assert_eq!(spec.phases().count(), Workload::suite("nfs-kerberos").unwrap().len());
    let drivers: Vec<Driver> = spec.arms.iter().map(|arm| arm.driver).collect();
    assert_eq!(drivers, [Driver::Native, Driver::Fio]);
    let engines = |text: &str| {
        let file = format!("workload = 'randread-4k'\narms.a = '/a'\n[engines]\n{text}\n");
        from_toml(&file).expect_err("refused").to_string()
    };
    assert_snapshot!(engines("c = 'fio'"), @"
    x.toml:4:5: engines.c: unknown arm `c`
      4 | c = 'fio'
        |     ^^^^^
    known arms: a
    ");
    assert_snapshot!(engines("a = 'fi'"), @"
    x.toml:4:5: unknown variant `fi`, expected one of `native`, `fio`, `iperf3`
      4 | a = 'fi'
        |     ^^^^
    ");
}

#[test]
fn phases_of_fio_are_named_by_their_job_file() {
    let read = |text: &str| {
        Draft::from_toml("x.toml", text, &|elsewhere| {
            let WorkloadElsewhere::Fio(entry) = elsewhere else { return no_fio(elsewhere) };
            assert_eq!(entry.is_command(), entry.fio.starts_with("fio "));
            ["randread-4k", "randwrite-4k"].into_iter().map(Workload::preset).collect()
        })
    };
    let spec = read("workload.fio = \"jobs/two.fio\"\narms.a = \"/mnt/a\"\n").unwrap();
    assert_eq!((spec.name(), spec.phases().count()), ("two", 2));
    let spec = read("workload.fio = \"fio two.fio\"\narms.a = \"/mnt/a\"\n").unwrap();
    assert_eq!(spec.name(), "fio");
    let more = "workload.fio = \"job.fio\"\nworkload.name = \"x\"\narms.a = \"/mnt/a\"\n";
    assert_snapshot!(read(more).unwrap_err(), @r#"
    x.toml:1:1: `fio` describes the whole workload; leave out `name`, or change it in [set]
      1 | workload.fio = "job.fio"
        | ^^^^^^^^
    "#);
}

#[test]
fn an_arm_may_have_several_targets() {
    let text = r#"
workload = { name = "two", job = [
    { name = "a", target = "e", rate = 500 },
    { name = "b", target = "f", rate = 2000 },
] }
[arms]
near = { e = "/mnt/e", f = "mem(size=1M)" }
far = { e = "/far/e", f = "/far/f" }
"#;
    let spec = parse(text);
    let arms: Vec<String> =
        spec.arms.iter().map(|arm| format!("{}: {}", arm.name, arm.target)).collect();
    assert_eq!(arms, ["near: e=/mnt/e, f=mem(size=1M)", "far: e=/far/e, f=/far/f"]);
    let refused = |from: &str, to: &str| error(&text.replace(from, to));
    assert_snapshot!(refused("f = \"/far/f\"", "g = \"/far/f\""), @"
    x.toml:6:2: arms: unknown target `g`
      6 | [arms]
        |  ^^^^
    known targets: e, f, a, b
    ");
    assert_snapshot!(refused("target = \"f\"", "target = \"the f\""), @r#"
    x.toml:4:28: workload.job[1].target: `the f` is not a valid target name
      4 |     { name = "b", target = "the f", rate = 2000 },
        |                            ^^^^^^^
    use letters, digits, `.`, `_` and `-`, as in target = "e"
    "#);
    assert_snapshot!(refused("f = \"/far/f\"", "f = \"mme(size=1M)\""), @r#"
    x.toml:8:1: arms.far: unknown layer `mme`; did you mean `mem`?
      8 | far = { e = "/far/e", f = "mme(size=1M)" }
        | ^^^
      mme(size=1M)
      ^^^ column 1
    known layers: ALL
    "#);
}
