mod errors;

use insta::assert_snapshot;
use iotax_experiment::{BlockSizes, Engine, Files, Pace, Pattern, RunLength, Workload};
use proptest::prelude::*;

use super::from_command;

const PUBLISHED: &str = r"diskspd -b256k -d30 -o10 -t1 -Sh -w100 -L -Z1G -c2G e:\io.tst.bin";

fn read(text: &str) -> Workload {
    let mut phases = from_command(text).unwrap();
    assert_eq!(phases.len(), 1, "{text}");
    let workload = phases.remove(0);
    workload.validate().unwrap();
    workload
}

fn error(text: &str) -> String {
    from_command(text).unwrap_err().to_string()
}

fn told(workload: &Workload) -> String {
    workload.explain().into_iter().chain(workload.notes.clone()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_published_command_reads_as_it_was_meant() {
    let workload = read(PUBLISHED);
    assert_eq!((workload.ramp_ns, workload.time_ns), (5_000_000_000, 30_000_000_000));
    let [job] = workload.jobs.as_slice() else { panic!("one job") };
    assert_eq!(
        (job.name.as_str(), &job.files),
        ("io.tst.bin", &Files::Shared("io.tst.bin".into()))
    );
    assert_eq!(job.block_sizes, BlockSizes::Fixed(256 << 10));
    assert_eq!((job.engine, job.queue_depth, job.threads), (Engine::IoUring, 10, 1));
    assert_eq!((job.direct, job.write_through, job.read_percent), (true, true, 0));
    assert_eq!((job.size_bytes, &job.pattern), (2 << 30, &Pattern::Sequential));
    assert_snapshot!(told(&workload), @"
    every trial: 5s ramp, then 30s measured
    io.tst.bin: 1 thread, sequential 256k writes, over 2G of `io.tst.bin` on e, io_uring depth 10 direct, write-through
    -L: iotax always measures latencies
    -Z1G: iotax writes random data, generated before the measurement
    ");
}

#[test]
fn four_published_commands_are_one_workload() {
    let four: Vec<String> =
        ["e", "f", "g", "h"].map(|drive| PUBLISHED.replace("e:", &format!("{drive}:"))).into();
    let workload = read(&four.join(" & "));
    let names: Vec<_> = workload.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["e_io.tst.bin", "f_io.tst.bin", "g_io.tst.bin", "h_io.tst.bin"]);
    assert_eq!(read(&four.join(" &\n")).jobs, workload.jobs);
    assert_snapshot!(told(&workload), @"
    every trial: 5s ramp, then 30s measured
    e_io.tst.bin (compared): 1 thread, sequential 256k writes, over 2G of `e_io.tst.bin` on e, io_uring depth 10 direct, write-through
    f_io.tst.bin: 1 thread, sequential 256k writes, over 2G of `f_io.tst.bin` on f, io_uring depth 10 direct, write-through
    g_io.tst.bin: 1 thread, sequential 256k writes, over 2G of `g_io.tst.bin` on g, io_uring depth 10 direct, write-through
    h_io.tst.bin: 1 thread, sequential 256k writes, over 2G of `h_io.tst.bin` on h, io_uring depth 10 direct, write-through
    -L: iotax always measures latencies
    -Z1G: iotax writes random data, generated before the measurement
    ");
}

#[test]
fn lines_of_a_batch_file_run_one_after_the_other() {
    let text = "@echo off\r\nset DIR=e:\r\nREM the warm-up\r\n:: and the rest\r\n\
                diskspd -c1G -b4K -W0 -d5 ^\r\n    -r e:\\a.dat > a.xml\r\ntimeout /t 10 /nobreak\r\n\
                start \"two\" /b diskspd -c1G e:\\a.dat\r\ntimeout /t 2\r\n\
                diskspd -c1G f:\\b.dat\r\necho done & diskspd -c1G g:\\c.dat\r\n";
    let phases = from_command(text).unwrap();
    let told = |phase: &Workload| {
        let jobs = phase.jobs.iter().map(|job| {
            let at = job.start_delay_ns / 1_000_000_000;
            format!("{} on {} at {at} s", job.name, job.target.as_deref().unwrap_or("-"))
        });
        let (ramp, time) = (phase.ramp_ns / 1_000_000_000, phase.time_ns / 1_000_000_000);
        format!("{}: {}; {ramp} s + {time} s", phase.name, jobs.collect::<Vec<_>>().join(", "))
    };
    assert_snapshot!(phases.iter().map(told).collect::<Vec<_>>().join("\n"), @"
    a.dat: a.dat on e at 0 s; 0 s + 5 s
    a.dat + b.dat: a.dat on e at 0 s, b.dat on f at 2 s; 7 s + 8 s
    c.dat: c.dat on g at 0 s; 5 s + 10 s
    ");
    assert_snapshot!(phases[0].notes.join("\n"), @"
    @echo off: ignored; iotax writes its own reports
    set DIR=e:: ignored; this command affects only the shell
    > a.xml: ignored; iotax writes its own reports
    echo done: ignored; iotax writes its own reports
    ");
}

#[test]
fn defaults_are_those_of_diskspd() {
    let workload = read("diskspd.exe -c1G io.dat");
    assert_eq!((workload.ramp_ns, workload.time_ns), (5_000_000_000, 10_000_000_000));
    let job = &workload.jobs[0];
    assert_eq!(job.block_sizes, BlockSizes::Fixed(64 << 10));
    assert_eq!((job.queue_depth, job.threads, job.read_percent), (2, 1, 100));
    assert_eq!((job.direct, job.write_through, job.advise), (false, false, false));
}

#[test]
fn sizes_may_count_in_blocks_wherever_the_block_size_stands() {
    let job = |text: &str| read(text).jobs.remove(0);
    let strided = job("-s2b -c64b -B4b -b16K x");
    assert_eq!(strided.pattern, Pattern::Strided(32 << 10));
    assert_eq!((strided.offset_bytes, strided.size_bytes), (64 << 10, 60 * (16 << 10)));
    assert_eq!(job("-b4K -B1M:8M x").size_bytes, 8 << 20);
    assert_eq!(job("-b4K -B1M -f8M -c1G x").size_bytes, 7 << 20);
}

#[test]
fn order_rate_and_bursts_are_kept() {
    let job = |text: &str| read(text).jobs.remove(0);
    let random = job("-b64K -r4K -c1G x");
    assert_eq!((&random.pattern, random.align_bytes), (&Pattern::Random, Some(4096)));
    assert_eq!(job("-rs25 -c1G x").pattern, Pattern::Runs(RunLength::Geometric(4.0)));
    assert_eq!(job("-rs0 -c1G x").pattern, Pattern::Sequential);
    assert_eq!(job("-r -s128K -c1G x").pattern, Pattern::Random);
    // 32 bytes per millisecond for each of 2 threads are 64,000 bytes per second.
    assert_eq!(job("-g32 -b32 -t2 -c1G x").pace, Pace::Even { iops: 2000.0 });
    assert_eq!(job("-g500i -t4 -c1G x").pace, Pace::Even { iops: 2000.0 });
    let think = job("-i10 -j250 -c1G x").think.unwrap();
    assert_eq!((think.after_ios, think.time_ns), (10, 250_000_000));
}

#[test]
fn caches_are_what_the_flags_say() {
    let switches = |flags: &str| {
        let job = read(&format!("diskspd {flags} -c1G x")).jobs.remove(0);
        (job.engine, job.direct, job.write_through)
    };
    assert_eq!(switches("-S"), (Engine::IoUring, true, false));
    assert_eq!(switches("-Sbw"), (Engine::IoUring, false, true));
    assert_eq!(switches("-Su -Sw"), (Engine::IoUring, true, true));
    assert_eq!(switches("-h -o1"), (Engine::Psync, true, true));
    assert_eq!(switches("-Sm"), (Engine::Mmap, false, false));
    assert_eq!(switches("-Sr"), (Engine::IoUring, true, false));
}

#[test]
fn threads_count_per_target_or_in_all() {
    let workload = read("-t2 -o4 -c1G -a0,2 a b");
    let facts = |i: usize| (workload.jobs[i].threads, workload.jobs[i].queue_depth);
    assert_eq!((workload.jobs.len(), facts(0), facts(1)), (2, (2, 4), (2, 4)));
    assert_eq!(workload.jobs[0].cpus, [0, 2]);
    let job = &read("-F3 -O8 -c1G a").jobs[0];
    assert_eq!((job.threads, job.queue_depth), (3, 8));
}

#[test]
fn threads_begin_apart_or_take_turns() {
    let job = |text: &str| read(text).jobs.remove(0);
    let staggered = |step_bytes, apart_bytes| Pattern::Staggered { step_bytes, apart_bytes };
    assert_eq!(job("-t2 -T1M -c1G a").pattern, staggered(64 << 10, 1 << 20));
    let wiki = "diskspd -c2G -b4K -F8 -T1b -s8b -o32 -W60 -d60 -Sh testfile.dat";
    let wiki = read(wiki);
    assert_eq!((wiki.jobs[0].threads, &wiki.jobs[0].pattern), (8, &staggered(32 << 10, 4096)));
    let share = r"diskspd -c256M -d120 -si -w0 -t2 -o8 -b4K -h -L \\srv\share\t.dat";
    let share = read(share);
    assert_eq!((share.jobs[0].threads, &share.jobs[0].pattern), (2, &Pattern::Interlocked(4096)));
    assert_eq!(job("-t3 -si64K -b4K -c1G a").pattern, Pattern::Interlocked(64 << 10));
    assert_eq!(job("-t1 -si -b4K -c1G a").pattern, Pattern::Sequential);
    assert_snapshot!(told(&wiki), @"
    every trial: 1m ramp, then 1m measured
    testfile.dat: 8 threads, staggered 4k reads every 32k, threads 4k apart, over 2G of `testfile.dat`, io_uring depth 32 direct, write-through
    ");
    assert_snapshot!(told(&share), @"
    every trial: 5s ramp, then 2m measured
    t.dat: 2 threads, interlocked 4k reads every 4k, over 256M of `t.dat` on share, io_uring depth 8 direct, write-through
    -L: iotax always measures latencies
    ");
}

#[test]
fn ranges_get_shares_of_the_random_ios() {
    let zones = |flags: &str| {
        let job = read(&format!("diskspd -b4K -r {flags} -c64G a")).jobs.remove(0);
        let Pattern::Zoned(zones) = job.pattern else { panic!("{flags}: {:?}", job.pattern) };
        let told = zones.iter().map(|zone| format!("{} {:?}", zone.accesses_percent, zone.extent));
        told.collect::<Vec<_>>().join(", ")
    };
    assert_snapshot!(zones("-rdpct90/10:0/10:5/20"), @"90 Percent(10), 0 Percent(10), 5 Percent(20), 5 Rest");
    assert_snapshot!(zones("-rdabs90/10G:0/10G:5/20G"), @"90 Bytes(10737418240), 0 Bytes(10737418240), 5 Bytes(21474836480), 5 Rest");
    assert_snapshot!(zones("-rdpct10/10:90/90"), @"10 Percent(10), 90 Percent(90)");
    assert_snapshot!(zones("-rdabs100/8b"), @"100 Bytes(32768)");
    let fleet = "diskspd -b8K -t1 -o8 -Suw -L -r -rdpct95/5:4/10 -w30 -c10G -d60 -W15 x.dat";
    assert_snapshot!(told(&read(fleet)), @"
    every trial: 15s ramp, then 1m measured
    x.dat: 1 thread, zoned (zoned:95/5%:4/10%:1/rest) 8k I/Os (70 % reads), over 10G of `x.dat`, io_uring depth 8 direct, write-through
    -L: iotax always measures latencies
    ");
    let refused = "-rdpct90/10:20/90 / -rdpct90/90:5/20 / -rdpct90/10:5/90 / -rdpct100/90 / \
                   -rdpct90/0 / -rdabs90/1K / -rdfoo / -rdpct90 / -rdpctx/5 / -rdpct90/10 -rs50";
    let errors: Vec<_> = refused
        .split(" / ")
        .map(|flags| error(&format!("diskspd -b4K -r {flags} -c1G a")))
        .collect();
    assert_snapshot!(errors.join("\n\n"), @"
    -rdpct90/10:20/90: the parts add up to more than 100 % of the I/Os
      diskspd -b4K -r -rdpct90/10:20/90 -c1G a
                      ^^^^^^^^^^^^^^^^^ column 17
    specify each part as IO%/TARGET%, as in -rdpct90/10:5/20, or as IO%/SIZE, as in -rdabs90/10G:5/20G

    -rdpct90/90:5/20: the parts add up to more than 100 % of the target
      diskspd -b4K -r -rdpct90/90:5/20 -c1G a
                      ^^^^^^^^^^^^^^^^ column 17
    specify each part as IO%/TARGET%, as in -rdpct90/10:5/20, or as IO%/SIZE, as in -rdabs90/10G:5/20G

    -rdpct90/10:5/90: the parts cover the whole target, but 5 % of the I/Os are not assigned to a part
      diskspd -b4K -r -rdpct90/10:5/90 -c1G a
                      ^^^^^^^^^^^^^^^^ column 17
    specify each part as IO%/TARGET%, as in -rdpct90/10:5/20, or as IO%/SIZE, as in -rdabs90/10G:5/20G

    -rdpct100/90: 10 % of the target gets no share of the I/Os
      diskspd -b4K -r -rdpct100/90 -c1G a
                      ^^^^^^^^^^^^ column 17
    specify each part as IO%/TARGET%, as in -rdpct90/10:5/20, or as IO%/SIZE, as in -rdabs90/10G:5/20G

    -rdpct90/0: `90/0` covers 0 % of the target
      diskspd -b4K -r -rdpct90/0 -c1G a
                      ^^^^^^^^^^ column 17
    specify each part as IO%/TARGET%, as in -rdpct90/10:5/20, or as IO%/SIZE, as in -rdabs90/10G:5/20G

    -rdabs90/1K: `90/1K` is smaller than a block
      diskspd -b4K -r -rdabs90/1K -c1G a
                      ^^^^^^^^^^^ column 17
    specify each part as IO%/TARGET%, as in -rdpct90/10:5/20, or as IO%/SIZE, as in -rdabs90/10G:5/20G

    -rdfoo: it has neither pct nor abs
      diskspd -b4K -r -rdfoo -c1G a
                      ^^^^^^ column 17
    specify each part as IO%/TARGET%, as in -rdpct90/10:5/20, or as IO%/SIZE, as in -rdabs90/10G:5/20G

    -rdpct90: `90` does not have the form IO%/TARGET
      diskspd -b4K -r -rdpct90 -c1G a
                      ^^^^^^^^ column 17
    specify each part as IO%/TARGET%, as in -rdpct90/10:5/20, or as IO%/SIZE, as in -rdabs90/10G:5/20G

    `x` is not a whole number: it must consist of digits
      diskspd -b4K -r -rdpctx/5 -c1G a
                      ^^^^^^^^^ column 17
    use only digits, directly after the flag

    -rd with -rs: ranges mixed with sequential offsets are not supported
      diskspd -b4K -r -rdpct90/10 -rs50 -c1G a
                      ^^^^^^^^^^^ column 17
    use -r instead of -rs, or leave out -rd
    ");
    assert_snapshot!(error("diskspd -b4K -rdpct90/10 -c1G a"), @"
    -rd has no effect with sequential offsets
      diskspd -b4K -rdpct90/10 -c1G a
                   ^^^^^^^^^^^ column 14
    add -r
    ");
}

#[test]
fn commands_are_split_as_by_a_shell() {
    let text = "\"C:\\Program Files\\diskspd.exe\" -c1G \"d:\\my files\\io 1.dat\" > out.txt\r\n\
                diskspd -c1G ^\n 'other.dat' &";
    let phases = from_command(text).unwrap();
    let names: Vec<_> = phases.iter().map(|phase| phase.jobs[0].name.as_str()).collect();
    assert_eq!(names, ["io_1.dat", "other.dat"]);
    let twice = read("-c1G a & -c1G a");
    assert_eq!(twice.jobs[1].name, "a-2");
    assert_eq!(twice.jobs[1].files, Files::Shared("a".into()));
}

#[test]
fn flags_may_begin_with_a_slash_as_on_windows() {
    let dashes = read("diskspd -b4K -d5 -w100 -c16M /mnt/a/io.tst");
    assert_eq!(read("diskspd /b4K /d5 /w100 /c16M /mnt/a/io.tst").jobs, dashes.jobs);
}

#[test]
fn lines_that_differ_are_measured_while_all_run() {
    let workload = read("-c1G -W2 -d30 a & -c1G -W5 -d20 b");
    assert_eq!((workload.ramp_ns, workload.time_ns), (5_000_000_000, 20_000_000_000));
    assert_snapshot!(error("-c1G -W2 -d3 a & -c1G -W5 -d20 b"), @"
    there is no period in which all commands are measured together
      -c1G -W2 -d3 a & -c1G -W5 -d20 b
                                ^^^^ column 27
    give all commands the same -d and -W
    ");
}

#[test]
fn flags_without_effect_are_told() {
    let text = "-L -D500 -C3 -Zr -z7 -Rxml -v -P -l -n -x -u -ft -I3 io.dat";
    assert_snapshot!(read(text).notes.join("\n"), @"
    -L: iotax always measures latencies
    -D500: iotax always records rates per second
    -C3: iotax measures nothing after the measured window, so it needs no cool-down
    -Zr: iotax writes random data, generated before the measurement
    -z7: offsets depend on iotax's --seed
    -Rxml: choose the output with --format
    -v: iotax has no verbose output
    -P: iotax shows one progress line
    -l: iotax uses ordinary pages for I/O buffers
    -n: only -a binds threads to CPUs
    -x: iotax gets completions from io_uring
    -u: iotax uses io_uring anyway
    -ft: files have no `temporary` attribute on Linux
    without -c, -f or a length in -B, the size is 1G; change it with --set size=SIZE
    ");
}

proptest! {
    #[test]
    fn no_text_panics(text in prop_oneof![
        ".*",
        "(diskspd| |-[a-zA-Z?][0-9]{0,3}[KMGTbi]?|-rs50|-Suw|a\\\\b|e:x|&|\n|\")*",
    ]) {
        for workload in from_command(&text).into_iter().flatten() {
            let _ = workload.validate();
            prop_assert!(!workload.explain().is_empty());
        }
    }
}

#[test]
fn a_path_may_end_in_separators_and_hold_any_letter() {
    for text in ["diskspd -S a\\\\", "-S ?\u{7e3}\u{58c}\\\\", "diskspd c:\\", "diskspd /"] {
        let _ = from_command(text);
    }
}

#[test]
fn flags_are_named_as_they_were_typed() {
    assert_snapshot!(error("diskspd /b4K /Xrun.xml /c1G io.dat"), @"
    /Xrun.xml: iotax cannot run XML profiles
      diskspd /b4K /Xrun.xml /c1G io.dat
                   ^^^^^^^^^ column 14
    specify the profile's values as flags; iotax compare reads XML results directly
    ");
    assert_snapshot!(error("diskspd /b4K /t2 /F2 io.dat"), @"
    /t and /F are mutually exclusive
      diskspd /b4K /t2 /F2 io.dat
                   ^^^ column 14
    keep /t for threads per target, or /F for the total number of threads
    ");
    assert_snapshot!(told(&read("diskspd /b4K /L /Z1M /g80 /Rxml /c1G io.dat")), @"
    every trial: 5s ramp, then 10s measured
    io.dat: 1 thread, sequential 4k reads, over 1G of `io.dat`, io_uring depth 2 buffered, 19.53125/s at even intervals
    /L: iotax always measures latencies
    /Z1M: iotax writes random data, generated before the measurement
    /Rxml: choose the output with --format
    /g: I/Os are offered at this rate, and latencies are measured from the time at which each I/O was due
    ");
}
