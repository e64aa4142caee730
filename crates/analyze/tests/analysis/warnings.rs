//! What each self-check says, word for word, and that it stays silent otherwise.

use iotax_analyze::Check;
use iotax_experiment::layers::{Cache, Queue};
use iotax_experiment::{Engine, Layer};
use iotax_record::{Busiest, BusyOne, FarEndRecord, PathEnd, Trial};
use iotax_wording::doubt::doubt;
use iotax_wording::name;
use iotax_wording::question::question;

use crate::support::{BLOCK, Bed, Found, SECOND_NS, SECONDS, aes, disk_site, failed, job, load};

/// The warnings of one check as text.
pub(crate) fn said(found: &Found, check: Check) -> String {
    let doubts = found.warnings.iter().filter(|doubt| doubt.check() == check);
    let lines = doubts.map(|of| {
        let arm = of.of.as_ref().map_or_else(|| "-".to_owned(), name::subject);
        let said = doubt(of, &found.experiment);
        format!("[{arm}, {} trials] {}\n  -> {}", of.trials, said.message(), said.advice)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// All warnings as text.
pub(crate) fn doubted(found: &Found) -> Vec<String> {
    found.warnings.iter().map(|of| doubt(of, &found.experiment).message()).collect()
}

/// The open questions as text.
pub(crate) fn asked(found: &Found) -> Vec<String> {
    found.open_questions.iter().map(|open| question(open, &found.experiment)).collect()
}

/// Four blocks of two arms, equally fast, with every trial of the second one changed.
fn changed(bed: &mut Bed, change: impl Fn(&mut Trial)) -> Found {
    let other = bed.experiment.spec.arms[1].name.clone();
    let mut trials = bed.blocks(4, &[500.0, 500.0], 0.002);
    trials.iter_mut().filter(|trial| trial.arm == other).for_each(change);
    bed.analyze(&trials)
}

pub(crate) fn pair() -> Bed {
    Bed::compare(&["base", "other"])
}

#[test]
fn a_sound_record_has_no_warning() {
    for mut bed in [pair(), pair().on_disk()] {
        assert_eq!(changed(&mut bed, |_| ()).warnings, []);
    }
}

#[test]
fn verify_mismatch() {
    let analysis = changed(&mut pair(), |trial| job(trial).verify_mismatches = Some(3));
    insta::assert_snapshot!(said(&analysis, Check::VerifyMismatch), @"
    [other, 4 trials] in one trial, 3 blocks differed from what had been written; mismatches occurred in 4 of 4 trials
      -> This storage loses or corrupts data under this load: do not store important data on it. The speed of the storage is meaningless until this problem is fixed.
    ");
}

#[test]
fn io_errors() {
    let analysis = changed(&mut pair(), |trial| {
        if trial.block == 2 {
            job(trial).read.errors = 5;
            job(trial).read.short_ios = 1;
            job(trial).first_error = Some("read at 4096: Input/output error".into());
        }
    });
    insta::assert_snapshot!(said(&analysis, Check::IoErrors), @"
    [other, 1 trials] 5 I/Os failed and 1 transferred too few bytes, out of 9991; the first error: read at 4096: Input/output error
      -> Find out why I/Os fail (check the kernel log, device health, and free space) before you trust the comparison. Failed I/Os do not count as completed, but the figures include the time lost on them.
    ");
}

#[test]
fn failed_trials() {
    let analysis = changed(&mut pair(), |trial| {
        if trial.block > 1 {
            *trial = failed(trial.clone());
        }
    });
    insta::assert_snapshot!(said(&analysis, Check::FailedTrials), @"
    [other, 2 trials] 2 of 4 trials failed: /dev/sdx: no such device
      -> The blocks that contain these trials are left out of the comparison. A verdict is given only if it stays the same when each failed trial counts as one that completed nothing. Fix the error and measure again.
    ");
}

#[test]
fn littles_law_when_the_count_says_otherwise() {
    let analysis = changed(&mut pair(), |trial| job(trial).in_flight_io_ns /= 2);
    insta::assert_snapshot!(said(&analysis, Check::LittlesLaw), @"
    [other, 4 trials] job reader: throughput times latency gives 1.0 I/Os in flight, but 0.5 were counted (a difference of 100 %) (in 4 of 4 trials)
      -> This arm's latencies or rates are wrong, or the counts include I/Os that the job did not issue: do not use these figures. If sqpoll is on, turn it off; if not, try engine=psync. If the warning persists, report it as a bug.
    ");
}

#[test]
fn littles_law_when_more_ios_are_counted_than_have_a_latency() {
    let analysis = changed(&mut pair(), |trial| job(trial).read.ios *= 3);
    insta::assert_snapshot!(said(&analysis, Check::LittlesLaw), @"
    [other, 4 trials] job reader: throughput times latency gives 3.0 I/Os in flight, but its threads and depth allow only 1 (in 4 of 4 trials)
      -> This arm's latencies or rates are wrong, or the counts include I/Os that the job did not issue: do not use these figures. If sqpoll is on, turn it off; if not, try engine=psync. If the warning persists, report it as a bug.
    ");
}

#[test]
fn littles_law_when_latencies_exceed_what_the_depth_allows() {
    // It happened: kernel-side polling, one second of latency at depth 1 with 1,944 IOPS.
    let mut bed = pair();
    let mut trials = bed.blocks(3, &[500.0, 500.0], 0.01);
    for block in 0..3 {
        let mut trial = bed.trial_with(block, 1, 1944.0, 1e9);
        job(&mut trial).in_flight_io_ns = SECONDS * SECOND_NS;
        let at = trials.iter().position(|t| t.block == block && t.arm == "other").unwrap();
        trials[at] = trial;
    }
    insta::assert_snapshot!(said(&bed.analyze(&trials), Check::LittlesLaw), @"
    [other, 3 trials] job reader: throughput times latency gives 1,954 I/Os in flight, but its threads and depth allow only 1 (in 3 of 3 trials)
      -> This arm's latencies or rates are wrong, or the counts include I/Os that the job did not issue: do not use these figures. If sqpoll is on, turn it off; if not, try engine=psync. If the warning persists, report it as a bug.
    ");
}

#[test]
fn littles_law_allows_for_clock_readings_and_edges() {
    let analysis = changed(&mut pair(), |trial| {
        let ios = job(trial).read.ios;
        job(trial).in_flight_io_ns += 90 * ios;
    });
    assert_eq!(said(&analysis, Check::LittlesLaw), "");
}

#[test]
fn generator_bound() {
    let mut bed = pair();
    bed.experiment.hosts[0].generator_ns_per_io = Some(300_000.0);
    let analysis = changed(&mut bed, |trial| job(trial).read.ios *= 4);
    insta::assert_snapshot!(said(&analysis, Check::GeneratorBound), @"
    [base, 4 trials] job reader: a thread spends 2.00 ms on an I/O, including 300 µs (15 %) to generate it (in 4 of 4 trials)
      -> Generating the load takes the same time with and without a layer, so the layer's tax looks smaller than it is. To see the tax more clearly, use larger blocks, or compare CPU per I/O instead of throughput.
    [other, 4 trials] job reader: a thread spends 500 µs on an I/O, including 300 µs (60 %) to generate it (in 4 of 4 trials)
      -> Generating the load takes the same time with and without a layer, so the layer's tax looks smaller than it is. To see the tax more clearly, use larger blocks, or compare CPU per I/O instead of throughput.
    ");
}

#[test]
fn all_cpus_busy() {
    let busy = |own: u64| {
        changed(&mut pair(), move |trial| {
            load(trial).system.cpu_busy_ns = Some(2 * SECONDS * SECOND_NS * 98 / 100);
            load(trial).system.process_cpu_ns = Some(own * SECONDS * SECOND_NS / 10);
        })
    };
    assert_eq!(said(&busy(12), Check::GeneratorBound), "", "others are busy, not the load");
    insta::assert_snapshot!(said(&busy(19), Check::GeneratorBound), @"
    [other, 4 trials] all 2 CPUs were busy for 98 % of the time (in 4 of 4 trials)
      -> CPU-bound: the CPUs, not the storage, limit the rate, so a tax reflects CPU time. To measure the storage, use fewer threads, larger blocks or more CPUs.
    ");
    insta::assert_snapshot!(said(&busy(12), Check::Precision), @"
    [other, 4 trials] other programs and kernel threads used 38 % of this machine's CPU time (in 4 of 4 trials)
      -> If other programs are running, stop them: they slow down some trials and not others. If none are running, this CPU time is the kernel's own work for this arm, such as encryption or networking in kernel threads. This work is not included in CPU per I/O.
    ");
}

#[test]
fn one_core_limits_a_flow_while_others_idle() {
    let all_ns = SECONDS * SECOND_NS;
    let with = move |end, one: BusyOne, same_host, busy_percent: u64| {
        changed(&mut pair(), move |trial| {
            load(trial).system.cpu_busy_ns = Some(all_ns);
            load(trial).far_end = Some(FarEndRecord {
                cpu_ns: all_ns,
                cpu_busy_ns: Some(2 * all_ns),
                same_host,
                cpus: 8,
            });
            let busy_ns = all_ns * busy_percent / 100;
            load(trial).busiest = vec![Busiest { end, one: one.clone(), busy_ns }];
        })
    };
    let told = |end, one: BusyOne, same_host| {
        let told = said(&with(end, one, same_host, 99), Check::OneCore);
        told.lines().next().unwrap_or_default().to_owned()
    };
    let thread = || BusyOne::Thread { name: "peer".to_owned() };
    let cpu = |share: u64| BusyOne::Cpu { number: 3, interrupts_ns: all_ns * share / 100 };
    insta::assert_snapshot!(said(&with(PathEnd::Far, thread(), false, 99), Check::OneCore), @"
    [other, 4 trials] flow limited by one core at the far end: thread `peer` used 99 % of a CPU while 75 % of the machine's CPU time was idle (in 4 of 4 trials)
      -> One core, not the wire, limits the rate. More flows (--set threads=N) use more cores; the interrupts of one flow stay on one core.
    ");
    insta::assert_snapshot!(told(PathEnd::Near, thread(), true), @"[other, 4 trials] flow limited by one core at the near end: thread `peer` used 99 % of a CPU while 50 % of the machine's CPU time was idle (in 4 of 4 trials)");
    insta::assert_snapshot!(told(PathEnd::Far, cpu(70), false), @"[other, 4 trials] flow limited by one core at the far end: CPU 3 was busy for 99 % of the time, 71 % of it with interrupts, while 75 % of the machine's CPU time was idle (in 4 of 4 trials)");
    insta::assert_snapshot!(told(PathEnd::Near, cpu(70), true), @"[other, 4 trials] flow limited by one core: CPU 3 was busy for 99 % of the time, 71 % of it with interrupts, while 50 % of the machine's CPU time was idle (in 4 of 4 trials)");
    assert_eq!(told(PathEnd::Far, cpu(70), true), "", "the near end has told it");
    assert_eq!(told(PathEnd::Near, cpu(20), true), "", "another program's");
    assert_eq!(said(&with(PathEnd::Far, thread(), false, 90), Check::OneCore), "");
    let all_busy = changed(&mut pair(), move |trial| {
        load(trial).system.cpu_busy_ns = Some(2 * all_ns * 98 / 100);
        let one = BusyOne::Thread { name: "flow".to_owned() };
        load(trial).busiest = vec![Busiest { end: PathEnd::Near, one, busy_ns: all_ns }];
    });
    assert_eq!(said(&all_busy, Check::OneCore), "", "another check says so");
}

#[test]
fn the_cpu_limit_of_a_container_counts_as_the_machine() {
    let mut bed = pair();
    bed.experiment.hosts[0].environment.cgroup_cpus = Some(0.5);
    let analysis = changed(&mut bed, |trial| {
        load(trial).system.process_cpu_ns = Some(SECONDS * SECOND_NS / 2);
    });
    insta::assert_snapshot!(said(&analysis, Check::GeneratorBound), @"
    [other, 4 trials] the 0.5 CPUs that this container may use were busy for 100 % of the time (in 4 of 4 trials)
      -> CPU-bound: the CPUs, not the storage, limit the rate, so a tax reflects CPU time. To measure the storage, use fewer threads, larger blocks or more CPUs.
    ");
}

#[test]
fn encryption_in_process_is_cpu_bound_by_design() {
    let mut bed = Bed::new(&[("base", &[]), ("aes", &[aes()])], iotax_experiment::Design::Compare);
    let analysis = changed(&mut bed, |trial| {
        load(trial).system.cpu_busy_ns = Some(2 * SECONDS * SECOND_NS);
    });
    assert_eq!(said(&analysis, Check::GeneratorBound), "");
    let cpu = asked(&analysis).into_iter().find(|q| q.starts_with("CPU-bound")).unwrap();
    insta::assert_snapshot!(cpu, @"CPU-bound: aes. The tax is CPU time here, and would be different on faster CPUs.");
}

#[test]
fn schedule_not_reached() {
    let analysis = changed(&mut pair().offer(500.0), |trial| job(trial).offered_ios = Some(3000));
    insta::assert_snapshot!(said(&analysis, Check::ScheduleSlip), @"
    [other, 4 trials] job reader completed only 83 % of the offered I/Os (in 4 of 4 trials)
      -> The arm is overloaded: its response times reflect the backlog and grow during the trial. Offer at most 0.7 times the throughput of the slowest arm (--set rate=...).
    ");
}

#[test]
fn what_is_due_as_a_window_ends_is_not_missing() {
    let missing = |ios: u64| {
        let analysis = changed(&mut pair().offer(500.0), |trial| {
            let job = job(trial);
            (job.offered_ios, job.read.ios) = (Some(15 + ios), 15);
        });
        said(&analysis, Check::ScheduleSlip)
    };
    assert_eq!(missing(1), "");
    assert!(missing(2).contains("completed only 88 % of the offered I/Os"), "{}", missing(2));
}

#[test]
fn schedule_slip() {
    let analysis = changed(&mut pair().offer(500.0), |trial| {
        job(trial).offered_ios = Some(job(trial).read.ios);
        job(trial).max_slip_ns = 8_000_000;
    });
    insta::assert_snapshot!(said(&analysis, Check::ScheduleSlip), @"
    [other, 4 trials] job reader: an I/O started 8.00 ms after its intended time; the p99 latency is 3.00 ms (in 4 of 4 trials)
      -> Either all slots (threads x depth) were in use, or this machine woke the load generator late. Response times include this wait, as they should. Try a greater depth (--set depth=...) or an idle machine to find out which was the cause.
    ");
}

/// The second arm's job was to start with a cold cache, and devices delivered so many times what
/// it read; the first one's reads were cold.
fn cold(bed: Bed, share: Option<f64>) -> Found {
    let mut bed = bed;
    bed.edit(|spec| spec.phases[0].jobs[0].invalidate = true);
    let mut trials = bed.blocks(4, &[500.0, 500.0], 0.01);
    for trial in &mut trials {
        let read = job(trial).read.bytes as f64;
        let share = if trial.arm == "base" { Some(1.0) } else { share };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let delivered = share.map(|share| (read * share) as u64);
        load(trial).system.device_read_bytes = delivered;
    }
    bed.analyze(&trials)
}

#[test]
fn cold_cache_unproven() {
    let words = |share| said(&cold(pair().on_disk(), share), Check::ColdCacheUnproven);
    assert_eq!(words(Some(0.97)), "");
    insta::assert_snapshot!(words(Some(0.2)), @"
    [other, 4 trials] a cold cache was requested, but devices delivered only 1.93 MiB of the 9.65 MiB read (20 %) (in 4 of 4 trials)
      -> Part of the data came from a cache on this machine or on a mount's server. On this machine, another process may have the file mapped, or the span may fit into the read-ahead window. Use a span larger than memory, or direct=true.
    ");
    insta::assert_snapshot!(words(Some(8.0)), @"
    [other, 4 trials] devices delivered 76.7 MiB, which is 8 times the 9.59 MiB that the job read (in 4 of 4 trials)
      -> Because of read-ahead or a large device block size, more data was fetched than the job requested. Later reads may have found this data in memory, so some reads may not have been cold. The extra data also uses up bandwidth. Tell the kernel that the access order is random (advise=true), or use direct=true.
    ");
    insta::assert_snapshot!(words(None), @"
    [other, 4 trials] a cold cache was requested, but this system does not show how much data devices delivered (in 4 of 4 trials)
      -> Assume that the cache was warm, unless other evidence, such as iostat output from the run, shows that it was not.
    ");
}

#[test]
fn no_cold_cache_without_a_device() {
    let mut bed = pair().on_disk();
    let site = &mut bed.experiment.sites[1];
    (site.has_device, site.file_system) = (false, Some("tmpfs".into()));
    insta::assert_snapshot!(said(&cold(bed, Some(1.0)), Check::ColdCacheUnproven), @"
    [other, 4 trials] a cold cache was requested, but this arm is on tmpfs, not on a device (in 4 of 4 trials)
      -> A cold cache is impossible here: the figures reflect memory. Choose a target on a disk (--dir for files that iotax creates), or set invalidate=false.
    ");
}

#[test]
fn impossible_speed() {
    let mut bed = pair();
    let analysis = changed(&mut bed, |trial| job(trial).read.bytes = 13_000_000_000 * SECONDS);
    insta::assert_snapshot!(said(&analysis, Check::ImpossibleSpeed), @"
    [other, 4 trials] job reader read at 12,398 MiB/s, faster than one CPU can copy in memory (9,537 MiB/s; in 4 of 4 trials)
      -> No storage was measured: the bytes were not moved, or never left the CPU's caches. Use a larger span (--set size=...) of real data, and check that the target is not a hole in a sparse file.
    ");
    let mapped = changed(&mut bed, |trial| {
        job(trial).engine = "mmap".into();
        job(trial).read.bytes = 13_000_000_000 * SECONDS;
    });
    assert_eq!(said(&mapped, Check::ImpossibleSpeed), "", "a mapping is read without copying");
}

#[test]
fn cache_answered() {
    let mut bed = pair().on_disk();
    bed.edit(|spec| spec.phases[0].jobs[0].direct = true);
    let reads = changed(&mut bed, |trial| load(trial).system.device_read_bytes = Some(BLOCK));
    insta::assert_snapshot!(said(&reads, Check::CacheAnswered), @"
    [other, 4 trials] 9.77 MiB was read with direct I/O, but devices transferred only 4 KiB (0.04 %) (in 4 of 4 trials)
      -> The figures reflect a cache, not the storage. Check whether direct I/O reaches the device on this file system. If it does not, use a span larger than memory, and sync the writes.
    ");
    let writes = changed(&mut bed, |trial| {
        job(trial).write.bytes = 1_000_000_000;
        load(trial).system.device_write_bytes = Some(1_000_000);
    });
    insta::assert_snapshot!(said(&writes, Check::CacheAnswered), @"
    [other, 4 trials] 954 MiB was written with direct I/O, but devices transferred only 977 KiB (0.1 %) (in 4 of 4 trials)
      -> The figures reflect a cache, not the storage. Check whether direct I/O reaches the device on this file system. If it does not, use a span larger than memory, and sync the writes.
    ");
    bed.experiment.sites[1].direct = Some(false);
    insta::assert_snapshot!(said(&changed(&mut bed, |_| ()), Check::CacheAnswered), @"
    [other, 4 trials] the page cache could not be bypassed: reads may come from memory (in 4 of 4 trials)
      -> The figures reflect a cache, not the storage. Check whether direct I/O reaches the device on this file system. If it does not, use a span larger than memory, and sync the writes.
    ");
}

#[test]
fn the_page_cache_took_what_was_written() {
    let mut bed = pair().on_disk();
    bed.edit(|spec| {
        for arm in &mut spec.arms {
            arm.target = iotax_experiment::Target::Path("/data".into());
        }
        spec.phases[0].jobs[0].direct = false;
    });
    let kept = changed(&mut bed, |trial| {
        job(trial).write.bytes = 1_000_000_000;
        load(trial).system.device_write_bytes = Some(1_000_000);
    });
    insta::assert_snapshot!(said(&kept, Check::CacheAnswered), @"
    [other, 4 trials] 954 MiB was written to the page cache and never synced; devices transferred only 977 KiB (0.1 %) (in 4 of 4 trials)
      -> The write rate reflects memory, not the storage. Set direct=true, or sync as the application does (fsync-every=...).
    ");
    bed.edit(|spec| spec.phases[0].jobs[0].fsync_every = Some(1));
    let synced = changed(&mut bed, |trial| {
        job(trial).write.bytes = 1_000_000_000;
        load(trial).system.device_write_bytes = Some(1_000_000);
    });
    assert_eq!(said(&synced, Check::CacheAnswered), "", "its syncs are what is measured");
}

#[test]
fn buffered_io_may_be_answered_by_a_cache() {
    let mut bed = pair();
    bed.edit(|spec| {
        for arm in &mut spec.arms {
            arm.target = iotax_experiment::Target::Path("/data".into());
        }
        spec.phases[0].jobs[0].engine = Engine::Psync;
    });
    let mut bed = bed.on_disk();
    let analysis = changed(&mut bed, |trial| load(trial).system.device_read_bytes = Some(0));
    assert_eq!(analysis.warnings, []);
}

#[test]
fn wrong_sign() {
    let mut bed = Bed::new(&[("base", &[]), ("aes", &[aes()])], iotax_experiment::Design::Compare);
    let trials = bed.blocks(5, &[500.0, 900.0], 0.01);
    insta::assert_snapshot!(said(&bed.analyze(&trials), Check::WrongSign), @"
    [aes, 5 trials] arm aes only adds work, but is 79 % faster in throughput
      -> Do not treat this as a gain until you can explain it. Common reasons: direct I/O became buffered I/O, a cache answered, small I/Os were merged, or the arms are on different storage. The device's counters (iostat) show which of these applies.
    ");
    let mut peel = Bed::peel(&["aes", "cache"]);
    let trials = peel.blocks(5, &[500.0, 800.0, 800.0, 1200.0], 0.01);
    insta::assert_snapshot!(said(&peel.analyze(&trials), Check::WrongSign), @"
    [aes, 5 trials] layer aes only adds work, but with it, the stack is 55 % faster in throughput
      -> Do not treat this as a gain until you can explain it. Common reasons: direct I/O became buffered I/O, a cache answered, small I/Os were merged, or the arms are on different storage. The device's counters (iostat) show which of these applies.
    ");
}

#[test]
fn faster_with_a_cache_or_on_something_else_is_no_wonder() {
    let cache = [Layer::Cache(Cache { size_bytes: 1 << 20 })];
    let queue = [Layer::Queue(Queue { workers: 1 })];
    for (base, other) in [(&[][..], &cache[..]), (&queue[..], &cache[..])] {
        let mut bed =
            Bed::new(&[("base", base), ("other", other)], iotax_experiment::Design::Compare);
        let trials = bed.blocks(5, &[500.0, 900.0], 0.01);
        assert_eq!(said(&bed.analyze(&trials), Check::WrongSign), "");
    }
}

#[test]
fn stolen_time() {
    let analysis = changed(&mut pair(), |trial| {
        load(trial).system.cpu_steal_ns = Some(u64::from(trial.block) * SECOND_NS / 10);
    });
    insta::assert_snapshot!(said(&analysis, Check::Steal), @"
    [other, 1 trials] the hypervisor took 3 % of the CPU time for other virtual machines (in 1 of 4 trials)
      -> Neighbors on this host use its CPUs and cause part of the noise. Interleaved blocks spread the noise over all arms. A dedicated host, or another time of day, makes the intervals narrower.
    ");
}

#[test]
fn different_storage() {
    let mut bed = pair().on_disk();
    bed.experiment.sites[1].device = Some("vdb".into());
    insta::assert_snapshot!(said(&changed(&mut bed, |_| ()), Check::DifferentStorage), @"
    [other, 0 trials] base is on vda (ext4), and other is on vdb (ext4): a difference may come from the storage instead of the settings
      -> To separate the effect of the storage from that of the settings, swap the volumes and measure again. If the difference moves with a volume, that volume causes it.
    ");
    bed.experiment.sites[1] = disk_site();
    bed.experiment.sites[1].storage_id = "254:0 /data/elsewhere".into();
    assert_eq!(said(&changed(&mut bed, |_| ()), Check::DifferentStorage), "");
}

#[test]
fn dependent_blocks() {
    let mut bed = pair();
    let trials: Vec<Trial> = (0..16)
        .flat_map(|block| {
            let drift = 500.0 * (0.01 * f64::from(block)).exp();
            bed.block(block, &[500.0, drift])
        })
        .collect();
    insta::assert_snapshot!(said(&bed.analyze(&trials), Check::Dependence), @"
    [other, 16 trials] successive blocks are correlated in throughput: the autocorrelation is 0.87, but for 16 independent blocks it would stay below 0.50
      -> Something changes slowly and affects the arms differently: a background job, credits that refill, or a volume that fills up. Find the cause, or pause between trials; more blocks alone do not help.
    ");
}

#[test]
fn noise_says_what_a_decision_takes() {
    let mut bed = pair();
    let trials: Vec<Trial> = (0..6)
        .flat_map(|block| {
            let swing = if block % 4 < 2 { 1.15 } else { 0.87 };
            bed.block(block, &[500.0, 500.0 * swing])
        })
        .collect();
    insta::assert_snapshot!(said(&bed.analyze(&trials), Check::Precision), @"
    [other, 6 trials] the difference for other varied by 14 % from block to block over 6 blocks
      -> Measure on a quieter machine, or at another time. An effect much larger than this noise would have been visible.
    ");
}

#[test]
fn noise_within_trials_asks_for_longer_ones() {
    let mut bed = pair();
    let mut trials: Vec<Trial> = (0..6)
        .flat_map(|block| {
            let swing = if block % 4 < 2 { 1.1 } else { 0.9 };
            bed.block(block, &[500.0, 500.0 * swing])
        })
        .collect();
    for trial in &mut trials {
        job(trial).read.per_second_ios = vec![300, 320, 700, 720, 460];
    }
    insta::assert_snapshot!(said(&bed.analyze(&trials), Check::Precision), @"
    [other, 6 trials] the difference for other varied by 10 % from block to block over 6 blocks
      -> Most of the noise is within trials. Longer trials (--time 60s) narrow the interval in less time than more blocks would.
    ");
}

#[test]
fn stalls() {
    let analysis = changed(&mut pair(), |trial| {
        if trial.block == 1 {
            job(trial).read.per_second_ios = vec![600, 600, 60, 600, 600];
        }
    });
    insta::assert_snapshot!(said(&analysis, Check::Precision), @"
    [other, 1 trials] stalls: the slowest second reached only 12 % of its trial's mean throughput (seconds below half the mean occurred in 1 of 4 trials)
      -> A mean hides stalls, but users notice them. Look at the second-by-second throughput of these trials, and compare p99 at an offered rate (--set rate=...).
    [other, 4 trials] the difference for other varied by 11 % from block to block over 4 blocks
      -> Most of the noise is within trials. Longer trials (--time 60s) narrow the interval in less time than more blocks would.
    ");
    assert!(!asked(&analysis).iter().any(|q| q.starts_with("No stall")));
}

#[test]
fn too_few_ios_behind_a_tail() {
    let analysis = changed(&mut pair().offer(500.0), |trial| {
        job(trial).offered_ios = Some(job(trial).read.ios);
    });
    insta::assert_snapshot!(said(&analysis, Check::Precision), @"
    [base, 4 trials] a trial has 2500 I/Os on average; a p99 needs 10000, so that 100 of them exceed the p99
      -> Use longer trials: at this rate, --time 20s or more. More trials do not help.
    [other, 4 trials] a trial has 2496 I/Os on average; a p99 needs 10000, so that 100 of them exceed the p99
      -> Use longer trials: at this rate, --time 21s or more. More trials do not help.
    ");
}

#[test]
fn a_target_in_memory_is_no_disk() {
    let mut bed = pair();
    bed.experiment.sites[1].file_system = Some("tmpfs".into());
    insta::assert_snapshot!(said(&changed(&mut bed, |_| ()), Check::CacheAnswered), @"
    [other, 4 trials] the target is on tmpfs, which is in memory: no disk was measured
      -> Measure a directory on the disk in question. For stacks, --dir sets the directory for the stack's file.
    ");
}

#[test]
fn a_depth_without_effect() {
    let analysis = changed(&mut pair(), |trial| job(trial).queue_depth = 32);
    insta::assert_snapshot!(said(&analysis, Check::Precision), @"
    [other, 4 trials] job reader: the requested depth was 32 I/Os, but only 1.0 were in flight (in 4 of 4 trials)
      -> The depth has no effect here. A stack without a work queue serves one I/O at a time: add queue(workers=N) on top, or use more threads.
    ");
}
