//! What each self-check says, word for word, and that it stays silent otherwise.

use iotax_analyze::{Analysis, Check};
use iotax_record::Trial;
use iotax_spec::{Engine, Layer};

use crate::support::{BLOCK, Bed, SECOND_NS, SECONDS, aes, disk_site, failed, job, load};

/// The warnings of one check as text.
fn said(analysis: &Analysis, check: Check) -> String {
    let lines = analysis.warnings.iter().filter(|w| w.check == check).map(|w| {
        let arm = w.arm.as_deref().unwrap_or("-");
        format!("[{arm}, {} trials] {}\n  -> {}", w.trials, w.message, w.advice)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Four blocks of two arms, equally fast, with every trial of the second one changed.
fn changed(bed: &mut Bed, change: impl Fn(&mut Trial)) -> Analysis {
    let other = bed.experiment.spec.arms[1].name.clone();
    let mut trials = bed.blocks(4, &[500.0, 500.0], 0.01);
    trials.iter_mut().filter(|trial| trial.arm == other).for_each(change);
    bed.analyze(&trials)
}

fn pair() -> Bed {
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
    insta::assert_snapshot!(said(&analysis, Check::VerifyMismatch), @"");
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
    insta::assert_snapshot!(said(&analysis, Check::IoErrors), @"");
}

#[test]
fn failed_trials() {
    let analysis = changed(&mut pair(), |trial| {
        if trial.block > 1 {
            *trial = failed(trial.clone());
        }
    });
    insta::assert_snapshot!(said(&analysis, Check::FailedTrials), @"");
}

#[test]
fn littles_law_when_the_count_says_otherwise() {
    let analysis = changed(&mut pair(), |trial| job(trial).in_flight_io_ns /= 2);
    insta::assert_snapshot!(said(&analysis, Check::LittlesLaw), @"");
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
    insta::assert_snapshot!(said(&bed.analyze(&trials), Check::LittlesLaw), @"");
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
    bed.experiment.generator_ns_per_io = 300_000.0;
    let analysis = changed(&mut bed, |trial| job(trial).read.ios *= 4);
    insta::assert_snapshot!(said(&analysis, Check::GeneratorBound), @"");
}

#[test]
fn all_cpus_busy() {
    let busy = |own: u64| {
        changed(&mut pair(), move |trial| {
            load(trial).system.cpu_busy_ns = Some(2 * SECONDS * SECOND_NS * 98 / 100);
            load(trial).system.process_cpu_ns = Some(own * SECONDS * SECOND_NS / 10);
        })
    };
    insta::assert_snapshot!(said(&busy(19), Check::GeneratorBound), @"");
    insta::assert_snapshot!(said(&busy(12), Check::GeneratorBound), @"");
}

#[test]
fn the_cpu_limit_of_a_container_counts_as_the_machine() {
    let mut bed = pair();
    bed.experiment.environment.cgroup_cpus = Some(0.5);
    let analysis = changed(&mut bed, |trial| {
        load(trial).system.process_cpu_ns = Some(SECONDS * SECOND_NS / 2);
    });
    insta::assert_snapshot!(said(&analysis, Check::GeneratorBound), @"");
}

#[test]
fn encryption_in_process_is_cpu_bound_by_design() {
    let mut bed = Bed::new(&[("base", &[]), ("aes", &[aes()])], iotax_spec::Design::Compare);
    let analysis = changed(&mut bed, |trial| {
        load(trial).system.cpu_busy_ns = Some(2 * SECONDS * SECOND_NS);
    });
    assert_eq!(said(&analysis, Check::GeneratorBound), "");
    let cpu = analysis.open_questions.iter().find(|q| q.contains("CPU-bound")).unwrap();
    insta::assert_snapshot!(cpu, @"");
}

#[test]
fn schedule_not_reached() {
    let analysis = changed(&mut pair().offer(500.0), |trial| job(trial).offered_ios = Some(3000));
    insta::assert_snapshot!(said(&analysis, Check::ScheduleSlip), @"");
}

#[test]
fn schedule_slip() {
    let analysis = changed(&mut pair().offer(500.0), |trial| {
        job(trial).offered_ios = Some(job(trial).read.ios);
        job(trial).max_slip_ns = 8_000_000;
    });
    insta::assert_snapshot!(said(&analysis, Check::ScheduleSlip), @"");
}

/// The second arm's job was to start with a cold cache, and devices delivered so many times what
/// it read; the first one's reads were cold.
fn cold(bed: Bed, share: Option<f64>) -> Analysis {
    let mut bed = bed;
    bed.experiment.spec.workload.jobs[0].invalidate = true;
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
    insta::assert_snapshot!(words(Some(0.2)), @"");
    insta::assert_snapshot!(words(Some(8.0)), @"");
    insta::assert_snapshot!(words(None), @"");
}

#[test]
fn no_cold_cache_without_a_device() {
    let mut bed = pair().on_disk();
    let site = &mut bed.experiment.sites[1];
    (site.has_device, site.file_system) = (false, Some("tmpfs".into()));
    insta::assert_snapshot!(said(&cold(bed, Some(1.0)), Check::ColdCacheUnproven), @"");
}

#[test]
fn impossible_speed() {
    let mut bed = pair();
    let analysis = changed(&mut bed, |trial| job(trial).read.bytes = 13_000_000_000 * SECONDS);
    insta::assert_snapshot!(said(&analysis, Check::ImpossibleSpeed), @"");
    let mapped = changed(&mut bed, |trial| {
        job(trial).engine = "mmap".into();
        job(trial).read.bytes = 13_000_000_000 * SECONDS;
    });
    assert_eq!(said(&mapped, Check::ImpossibleSpeed), "", "a mapping is read without copying");
}

#[test]
fn cache_answered() {
    let mut bed = pair().on_disk();
    bed.experiment.spec.workload.jobs[0].direct = true;
    let reads = changed(&mut bed, |trial| load(trial).system.device_read_bytes = Some(BLOCK));
    insta::assert_snapshot!(said(&reads, Check::CacheAnswered), @"");
    let writes = changed(&mut bed, |trial| {
        job(trial).write.bytes = 1_000_000_000;
        load(trial).system.device_write_bytes = Some(1_000_000);
    });
    insta::assert_snapshot!(said(&writes, Check::CacheAnswered), @"");
    bed.experiment.sites[1].direct = Some(false);
    insta::assert_snapshot!(said(&changed(&mut bed, |_| ()), Check::CacheAnswered), @"");
}

#[test]
fn buffered_io_may_be_answered_by_a_cache() {
    let mut bed = pair();
    bed.experiment.spec.arms.iter_mut().for_each(|arm| {
        arm.target = iotax_spec::Target::Path("/data".into());
    });
    bed.experiment.spec.workload.jobs[0].engine = Engine::Psync;
    let mut bed = bed.on_disk();
    let analysis = changed(&mut bed, |trial| load(trial).system.device_read_bytes = Some(0));
    assert_eq!(analysis.warnings, []);
}

#[test]
fn wrong_sign() {
    let mut bed = Bed::new(&[("base", &[]), ("aes", &[aes()])], iotax_spec::Design::Compare);
    let trials = bed.blocks(5, &[500.0, 900.0], 0.01);
    insta::assert_snapshot!(said(&bed.analyze(&trials), Check::WrongSign), @"");
    let mut peel = Bed::peel(&["aes", "cache"]);
    let trials = peel.blocks(5, &[500.0, 800.0, 800.0, 1200.0], 0.01);
    insta::assert_snapshot!(said(&peel.analyze(&trials), Check::WrongSign), @"");
}

#[test]
fn faster_with_a_cache_or_on_something_else_is_no_wonder() {
    let cache = [Layer::Cache { size_bytes: 1 << 20 }];
    let queue = [Layer::Queue { workers: 1 }];
    for (base, other) in [(&[][..], &cache[..]), (&queue[..], &cache[..])] {
        let mut bed = Bed::new(&[("base", base), ("other", other)], iotax_spec::Design::Compare);
        let trials = bed.blocks(5, &[500.0, 900.0], 0.01);
        assert_eq!(said(&bed.analyze(&trials), Check::WrongSign), "");
    }
}

#[test]
fn stolen_time() {
    let analysis = changed(&mut pair(), |trial| {
        load(trial).system.cpu_steal_ns = Some(u64::from(trial.block) * SECOND_NS / 10);
    });
    insta::assert_snapshot!(said(&analysis, Check::Steal), @"");
}

#[test]
fn different_storage() {
    let mut bed = pair().on_disk();
    bed.experiment.sites[1].device = Some("vdb".into());
    insta::assert_snapshot!(said(&changed(&mut bed, |_| ()), Check::DifferentStorage), @"");
    bed.experiment.sites[1] = disk_site();
    bed.experiment.sites[1].storage_id = "254:0 /data/elsewhere".into();
    assert_eq!(said(&changed(&mut bed, |_| ()), Check::DifferentStorage), "");
}

#[test]
fn regime_shift() {
    let mut bed = pair();
    let mut trials = bed.blocks(2, &[1000.0, 1000.0], 0.01);
    trials.extend(bed.blocks(10, &[500.0, 500.0], 0.01).into_iter().skip(4));
    insta::assert_snapshot!(said(&bed.analyze(&trials), Check::RegimeShift), @"");
}

#[test]
fn dependent_blocks() {
    let mut bed = pair();
    let trials: Vec<Trial> = (0..16)
        .flat_map(|block| {
            let drift = 500.0 * (0.01 * f64::from(block)).exp();
            [bed.trial(block, 0, 500.0), bed.trial(block, 1, drift)]
        })
        .collect();
    insta::assert_snapshot!(said(&bed.analyze(&trials), Check::Dependence), @"");
}

#[test]
fn noise_says_what_a_decision_takes() {
    let mut bed = pair();
    let trials: Vec<Trial> = (0..6)
        .flat_map(|block| {
            let swing = if block % 2 == 0 { 1.15 } else { 0.87 };
            [bed.trial(block, 0, 500.0), bed.trial(block, 1, 500.0 * swing)]
        })
        .collect();
    insta::assert_snapshot!(said(&bed.analyze(&trials), Check::Precision), @"");
}

#[test]
fn noise_within_trials_asks_for_longer_ones() {
    let mut bed = pair();
    let mut trials: Vec<Trial> = (0..6)
        .flat_map(|block| {
            let swing = if block % 2 == 0 { 1.1 } else { 0.9 };
            [bed.trial(block, 0, 500.0), bed.trial(block, 1, 500.0 * swing)]
        })
        .collect();
    for trial in &mut trials {
        job(trial).read.per_second_ios = vec![300, 320, 700, 720, 460];
    }
    insta::assert_snapshot!(said(&bed.analyze(&trials), Check::Precision), @"");
}

#[test]
fn stalls() {
    let analysis = changed(&mut pair(), |trial| {
        if trial.block == 1 {
            job(trial).read.per_second_ios = vec![600, 600, 60, 600, 600];
        }
    });
    insta::assert_snapshot!(said(&analysis, Check::Precision), @"");
    assert!(!analysis.open_questions.iter().any(|q| q.starts_with("No stall")));
}

#[test]
fn too_few_ios_behind_a_tail() {
    let analysis = changed(&mut pair().offer(500.0), |trial| {
        job(trial).offered_ios = Some(job(trial).read.ios);
    });
    insta::assert_snapshot!(said(&analysis, Check::Precision), @"");
}

#[test]
fn open_questions_of_a_comparison() {
    let mut bed = pair();
    let trials = bed.blocks(4, &[500.0, 500.0], 0.1);
    insta::assert_snapshot!(bed.analyze(&trials).open_questions.join("\n"), @"");
    let quiet = bed.blocks(5, &[500.0, 500.0], 0.005);
    insta::assert_snapshot!(bed.analyze(&quiet).open_questions.join("\n"), @"");
}
