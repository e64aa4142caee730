//! What of a workload fio has no word for.

use iotax_experiment::units::{format_bytes, format_duration};
use iotax_experiment::{BlockSizes, Engine, Job, Pattern, RunLength, Workload};

use super::can_stand;
use super::job::{has_words, offered_by_fio, random_percent};

/// A rate that is rounded by less is the same rate.
const RATE_TOLERANCE: f64 = 0.005;
const MICROSECOND_NS: u64 = 1000;

/// What is lost or changed when fio does the workload, one sentence each, for people.
pub fn without(workload: &Workload) -> Vec<String> {
    let mut lost = Vec::new();
    if let Some(index) = &workload.index {
        lost.push(format!(
            "index loads: {} versions of {} per second, loads over {} and queries are not made",
            index.versions_per_second,
            format_bytes(index.index_bytes),
            format_duration(index.slow_load_ns),
        ));
    }
    for job in &workload.jobs {
        let of_job = of_job(job);
        lost.extend(of_job.into_iter().map(|lost| format!("job {}: {lost}", job.name)));
    }
    let ending = workload.jobs.iter().filter(|job| job.ends_all).count();
    if ending > 0 && ending < workload.jobs.len() {
        lost.push("in fio, any job that ends ends all others, not only the one that should".into());
    }
    lost
}

fn of_job(job: &Job) -> Vec<String> {
    if job.engine.has_tree() {
        return vec!["operations on trees of files are left out".into()];
    }
    let mut lost = Vec::new();
    if job.engine == Engine::Vdisk {
        lost.push("it ran on a virtual disk in iotax's process; io_uring stands for it".into());
    }
    if let Pattern::Runs(RunLength::Geometric(mean)) = job.pattern {
        let mixed = job.reads() && job.writes();
        let and = if mixed { ", and reads and writes within a run" } else { "" };
        lost.push(format!(
            "sequential runs have their mean length of {mean}, not varying ones{and}"
        ));
    }
    let several_threads = job.threads > 1;
    // fio 3.33 refuses the second list of zones that its manual has.
    let orders: Vec<_> = job.patterns().map(random_percent).collect();
    let has = |is: fn(&BlockSizes) -> bool| job.all_block_sizes().any(is);
    let has_range = has(|sizes| matches!(sizes, BlockSizes::Range { .. }));
    let has_split = has(|sizes| matches!(sizes, BlockSizes::Split(_)));
    let of_several_sizes = !matches!(job.block_sizes, BlockSizes::Fixed(_));
    let steps = matches!(job.pattern, Pattern::Strided(_) | Pattern::Backward(_));
    let losses = [
        (
            several_threads && matches!(job.pattern, Pattern::Staggered { .. }),
            "all threads begin at the start of the file, not apart",
        ),
        (
            several_threads && matches!(job.pattern, Pattern::Interlocked(_)),
            "each thread goes through the file alone, not in turns",
        ),
        (
            orders.len() > 1 && orders.contains(&None),
            "writes have the order of the reads, not one of their own",
        ),
        (has_range && has_split, "of a range of sizes beside a split there are its two ends only"),
        (job.trims.is_some(), "fio trims block devices only: in a file, its trims fail"),
        (!has_words(&job.priorities), "its I/Os have no priorities of their own"),
        (job.uncached, "what was touched stays in the page cache: fio drops nothing after an I/O"),
        (job.fresh, "from the second trial on its files have been written before"),
        (
            of_several_sizes && steps,
            "fio keeps the gap between I/Os of several sizes the same, not their stride",
        ),
    ];
    lost.extend(losses.iter().filter(|(is_lost, _)| *is_lost).map(|(_, what)| (*what).to_owned()));
    if let (Some(asked), Some(offered)) = (job.pace.offered_iops(), offered_by_fio(job)) {
        lost.push("fio counts latency from the submission, not from the intended start".into());
        if (offered / asked - 1.0).abs() > RATE_TOLERANCE {
            lost.push(format!(
                "its rate of {asked} I/Os per second becomes {offered}: fio offers whole I/Os per \
                 second and thread"
            ));
        }
    }
    let times = [Some(job.start_delay_ns), job.end_after_ns, job.think.map(|think| think.time_ns)];
    if times.into_iter().flatten().any(|ns| !ns.is_multiple_of(MICROSECOND_NS)) {
        lost.push("its pauses are rounded to whole microseconds".into());
    }
    for option in job.fio.iter().filter(|one| !can_stand(&one.name, one.value.as_deref())) {
        lost.push(format!(
            "option {}: a job file cannot hold its value (`;`, `#`, a line's end)",
            option.name.escape_debug()
        ));
    }
    lost
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotax_experiment::{FioOption, Operation, OperationShare, Pace, Think, Tree};

    #[test]
    fn a_preset_for_paths_without_a_rate_loses_its_index_cold_caches_and_fresh_files_alone() {
        let is_plain = |job: &Job| job.tree.is_none() && job.pace == Pace::Closed;
        for workload in Workload::presets().filter(|w| w.jobs.iter().all(is_plain)) {
            let lost = without(&workload);
            let of_job = |job: &Job| usize::from(job.uncached) + usize::from(job.fresh);
            let expected = workload.jobs.iter().map(of_job).sum::<usize>();
            assert_eq!(lost.len(), usize::from(workload.index.is_some()) + expected, "{lost:?}");
        }
    }

    #[test]
    fn what_fio_has_no_word_for_is_named() {
        let mut workload = Workload::preset("driver-searcher").unwrap();
        workload.jobs = vec![
            Job {
                engine: Engine::Vdisk,
                pattern: Pattern::Runs(RunLength::Geometric(3.5)),
                pace: Pace::Poisson { iops: 50.0 },
                threads: 8,
                think: Some(Think { time_ns: 1500, after_ios: 1 }),
                fio: vec![FioOption {
                    name: "replay_redirect".into(),
                    value: Some("/dev/null;x".into()),
                    place: "a command line".into(),
                    beyond: None,
                }],
                ..Job::new("a")
            },
            Job {
                pattern: Pattern::Strided(1 << 20),
                block_sizes: BlockSizes::Range { min: 4096, max: 65_536 },
                ends_all: true,
                ..Job::new("b")
            },
            Job {
                engine: Engine::Metadata,
                tree: Some(Tree {
                    files: 1,
                    files_per_directory: 1,
                    file_bytes: 1,
                    operations: vec![OperationShare { operation: Operation::Stat, weight: 1 }],
                }),
                ..Job::new("c")
            },
        ];
        insta::assert_snapshot!(without(&workload).join("\n"), @"
        index loads: 4 versions of 16M per second, loads over 10ms and queries are not made
        job a: it ran on a virtual disk in iotax's process; io_uring stands for it
        job a: sequential runs have their mean length of 3.5, not varying ones
        job a: fio counts latency from the submission, not from the intended start
        job a: its rate of 50 I/Os per second becomes 48: fio offers whole I/Os per second and thread
        job a: its pauses are rounded to whole microseconds
        job a: option replay_redirect: a job file cannot hold its value (`;`, `#`, a line's end)
        job b: fio keeps the gap between I/Os of several sizes the same, not their stride
        job c: operations on trees of files are left out
        in fio, any job that ends ends all others, not only the one that should
        ");
    }
}
