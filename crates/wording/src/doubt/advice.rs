//! What to do about a doubt.

use iotax_analyze::{
    Better, CacheWay, ColdCache, Doubt, DoubtKind, Metric, Noise, Outlook, SlicesOutcome,
};
use iotax_experiment::units::format_duration;
use iotax_quantity::whole;
use iotax_record::ExperimentHead;

use super::noise;
use crate::name;

#[expect(clippy::too_many_lines, reason = "one sentence after the other")]
pub(super) fn advice(doubt: &Doubt, experiment: &ExperimentHead) -> String {
    let spec = &experiment.spec;
    let workload = spec.workload();
    let text = match &doubt.kind {
        DoubtKind::Mismatch { .. } => {
            "This storage loses or corrupts data under this load: do not store important data on \
             it. The speed of the storage is meaningless until this problem is fixed."
        }
        DoubtKind::IoErrors { .. } => {
            let unit = workload.unit();
            let where_to_look = if workload.is_network() {
                "check the peer and its host, and look for packets dropped on the way"
            } else {
                "check the kernel log, device health, and free space"
            };
            return format!(
                "Find out why {unit}s fail ({where_to_look}) before you trust the comparison. \
                 Failed {unit}s do not count as completed, but the figures include the time lost \
                 on them."
            );
        }
        DoubtKind::Failed { .. } if spec.is_of_results() => {
            "The figures come from the remaining results. A verdict is given only if it stays the \
             same when each missing result counts as one that completed nothing."
        }
        DoubtKind::Failed { .. } => {
            "The blocks that contain these trials are left out of the comparison. A verdict is \
             given only if it stays the same when each failed trial counts as one that completed \
             nothing. Fix the error and measure again."
        }
        DoubtKind::ReplayLate { .. } => {
            "The delay comes from this machine, not from the storage, and makes the arms look more \
             alike than they are. Stop other programs, or use a machine with more CPUs."
        }
        DoubtKind::Paused { .. } => {
            "A signal stopped the load generator, its control group was frozen, or the whole \
             machine was paused (live migration, snapshot, suspend). The pause says nothing about \
             the storage. Find out what pauses the load generator, and measure again."
        }
        DoubtKind::StalledTrials { .. } => {
            "This is a result, not a failure: the arm was too slow to be measured in this window. \
             A longer window (--time) may show how slow the arm is. The machine's counters show \
             what the arm waited for."
        }
        DoubtKind::LittlesLaw { .. } if spec.is_of_results() => {
            "The latencies, rates, threads and depth in these results cannot all be right: do not \
             rely on them until you know which are wrong."
        }
        DoubtKind::LittlesLaw { .. } => {
            "This arm's latencies or rates are wrong, or the counts include I/Os that the job did \
             not issue: do not use these figures. If sqpoll is on, turn it off; if not, try \
             engine=psync. If the warning persists, report it as a bug."
        }
        DoubtKind::ImpossibleSpeed { .. } => {
            "No storage was measured: the bytes were not moved, or never left the CPU's caches. \
             Use a larger span (--set size=...) of real data, and check that the target is not a \
             hole in a sparse file."
        }
        DoubtKind::WrongSign { .. } => {
            "Do not treat this as a gain until you can explain it. Common reasons: direct I/O \
             became buffered I/O, a cache answered, small I/Os were merged, or the arms are on \
             different storage. The device's counters (iostat) show which of these applies."
        }
        DoubtKind::CacheAnswered { way: CacheWay::NeverSynced, .. } => {
            "The write rate reflects memory, not the storage. Set direct=true, or sync as the \
             application does (fsync-every=...)."
        }
        DoubtKind::NotBypassed
        | DoubtKind::CacheAnswered { way: CacheWay::DirectRead | CacheWay::DirectWrite, .. } => {
            "The figures reflect a cache, not the storage. Check whether direct I/O reaches \
             the device on this file system. If it does not, use a span larger than memory, and \
             sync the writes."
        }
        DoubtKind::InMemory { .. } => {
            "Measure a directory on the disk in question. For stacks, --dir sets the directory for \
             the stack's file."
        }
        DoubtKind::LayerCache { .. } => {
            "I/Os that this cache answers say nothing about the layers below it. Use a span larger \
             than memory, or look at the device's counters (iostat)."
        }
        DoubtKind::ColdCache { found: ColdCache::NoDevice { .. } } => {
            "A cold cache is impossible here: the figures reflect memory. Choose a target on a \
             disk (--dir for files that iotax creates), or set invalidate=false."
        }
        DoubtKind::ColdCache { found: ColdCache::Unknown } => {
            "Assume that the cache was warm, unless other evidence, such as iostat output from the \
             run, shows that it was not."
        }
        DoubtKind::ColdCache { found: ColdCache::Short { .. } } => {
            "Part of the data came from a cache on this machine or on a mount's server. On this \
             machine, another process may have the file mapped, or the span may fit into the \
             read-ahead window. Use a span larger than memory, or direct=true."
        }
        DoubtKind::ColdCache { found: ColdCache::Excess { .. } } => {
            "Because of read-ahead or a large device block size, more data was fetched than the \
             job requested. Later reads may have found this data in memory, so some reads may not \
             have been cold. The extra data also uses up bandwidth. Tell the kernel that the \
             access order is random (advise=true), or use direct=true."
        }
        DoubtKind::DifferentStorage => {
            "To separate the effect of the storage from that of the settings, swap the volumes and \
             measure again. If the difference moves with a volume, that volume causes it."
        }
        DoubtKind::SharedStorage { .. } => {
            "Both targets share that device's throughput. Choose targets on different devices, \
             unless you want to measure this sharing."
        }
        DoubtKind::NotGranted { .. } => {
            "The figures are for the options that the server granted. Request these options, or \
             raise the server's limit (Linux: /proc/fs/nfsd/max_block_size, set before nfsd \
             starts)."
        }
        DoubtKind::RateNotReached { .. } => {
            "The arm is overloaded: its response times reflect the backlog and grow during the \
             trial. Offer at most 0.7 times the throughput of the slowest arm (--set rate=...)."
        }
        DoubtKind::Late { .. } => {
            "Either all slots (threads x depth) were in use, or this machine woke the load \
             generator late. Response times include this wait, as they should. Try a greater depth \
             (--set depth=...) or an idle machine to find out which was the cause."
        }
        DoubtKind::GeneratorShare { .. } => {
            return format!(
                "Generating the load takes the same time with and without a layer, so the layer's \
                 tax looks smaller than it is. To see the tax more clearly, use larger blocks, or \
                 compare {} instead of throughput.",
                name::metric(Metric::cpu(workload))
            );
        }
        DoubtKind::CpusBusy { .. } if workload.is_network() => {
            "CPU-bound: the CPUs at the ends of the path, not the wire, limit the rate, so a tax \
             reflects CPU time. To measure the wire, use a separate host for each end, or more \
             CPUs."
        }
        DoubtKind::CpusBusy { .. } => {
            "CPU-bound: the CPUs, not the storage, limit the rate, so a tax reflects CPU time. To \
             measure the storage, use fewer threads, larger blocks or more CPUs."
        }
        DoubtKind::OneCore(_) => {
            "One core, not the wire, limits the rate. More flows (--set threads=N) use more cores; \
             the interrupts of one flow stay on one core."
        }
        DoubtKind::EffectChanged { change, .. } if change.in_depth_check => {
            "Something changed between the comparison and the depth check: burst credits or cache \
             space ran out, or another load ended. Use --drain to compare the sustained level, and \
             `iotax limits` to measure bursts."
        }
        DoubtKind::EffectChanged { .. } => {
            "Something that affects only this arm changed: its cache, its credits, or a background \
             job on its device. Run again. If the new run shows the same cost as after the change, \
             that cost is the lasting one."
        }
        DoubtKind::LevelChanged { metric, ratio, .. } => {
            let is_worse = (*ratio < 1.0) == (metric.better() == Better::Higher);
            match is_worse {
                true if workload.writes() => {
                    "Burst credits probably ran out, or a fresh SSD had no erased blocks left. \
                     Other possible causes are a cache that filled up early in the run, or a \
                     neighbor's load that started. To measure the sustained level, drain the \
                     credits (--drain) or write the span first (--precondition). To measure the \
                     burst, let the volume rest and use a shorter run."
                }
                true => {
                    "Burst credits probably ran out. Other possible causes are a cache that filled \
                     up early in the run, or a neighbor's load that started. To measure the \
                     sustained level, drain the credits first (--drain). To measure the burst, let \
                     the volume rest and use a shorter run."
                }
                false => {
                    "Another load on the storage probably ended, or the volume became faster. To \
                     measure only the new level, run again."
                }
            }
        }
        DoubtKind::LevelSince { arms } => {
            let is_worse = arms.first().is_some_and(|shift| shift.iops[1] < shift.iops[0]);
            if is_worse {
                "Burst credits or cache space ran out, or another load started. The verdicts apply \
                 to the level before this change. Use --drain to compare the sustained level, and \
                 `iotax limits` to measure bursts."
            } else {
                "Another load ended, or credits refilled. Run again for a verdict at the lasting \
                 level."
            }
        }
        DoubtKind::ShortSlices { metric, ratio, outcome, .. } => {
            let is_worse = (*ratio < 1.0) == (metric.better() == Better::Higher);
            match is_worse {
                true if *outcome == SlicesOutcome::Withheld => {
                    "Burst credits or cache space ran out, but became available again during the \
                     other arms' turns. Use --drain to compare the sustained level, --time to set \
                     longer trials, and `iotax limits` to measure bursts."
                }
                true if workload.writes() => {
                    "Something speeds up the start of a slice and then runs out: burst credits, or \
                     free space in a write cache. Both become available again during the other \
                     arms' turns. Use `iotax limits` to measure bursts, and --drain to compare the \
                     sustained level."
                }
                true => {
                    "Burst credits speed up the start of a slice, run out, and refill during the \
                     other arms' turns. Use `iotax limits` to measure bursts, and --drain to \
                     compare the sustained level."
                }
                false => {
                    "The start of a slice is slow: a cache or read-ahead warms up again, or a \
                     device or CPU wakes up from a low-power state."
                }
            }
        }
        DoubtKind::NotSteady { .. } => {
            "The level is still changing, or the storage is noisier than SNIA's limits allow. \
             Comparisons within blocks are valid, but single figures are not. A longer --time \
             makes rounds longer and less noisy."
        }
        DoubtKind::Trend { is_preconditioned: true, .. } => {
            "The storage kept changing after preconditioning. To see where it settles, run more \
             trials, or use a longer --time, which also makes the rounds longer."
        }
        DoubtKind::Trend { is_preconditioned: false, .. } => {
            "The measurement itself fills a fresh SSD, or a volume whose blocks have never been \
             written. --precondition writes the span first, then runs the workload until it is \
             steady."
        }
        DoubtKind::OrderMatters(_) => {
            "Each trial affects the next one, whichever arm runs next: a trial fills a cache, uses \
             up credits, or leaves writes in progress. Run again with a longer ramp (--ramp), or \
             spend the credits first (--drain)."
        }
        DoubtKind::Dependence { .. } => {
            "Something changes slowly and affects the arms differently: a background job, credits \
             that refill, or a volume that fills up. Find the cause, or pause between trials; more \
             blocks alone do not help."
        }
        DoubtKind::Steal { .. } => {
            "Neighbors on this host use its CPUs and cause part of the noise. Interleaved blocks \
             spread the noise over all arms. A dedicated host, or another time of day, makes the \
             intervals narrower."
        }
        DoubtKind::OtherPrograms { .. } => {
            return format!(
                "If other programs are running, stop them: they slow down some trials and not \
                 others. If none are running, this CPU time is the kernel's own work for this arm, \
                 such as encryption or networking in kernel threads. This work is not included in \
                 {}.",
                name::metric(Metric::cpu(workload))
            );
        }
        DoubtKind::StalledSecond { .. } => {
            "A mean hides stalls, but users notice them. Look at the second-by-second throughput \
             of these trials, and compare p99 at an offered rate (--set rate=...)."
        }
        DoubtKind::TailSamples { time_ns, .. } => {
            return format!(
                "Use longer trials: at this rate, --time {} or more. More trials do not help.",
                format_duration(*time_ns)
            );
        }
        DoubtKind::DepthNotKept { .. } => {
            "The depth has no effect here. A stack without a work queue serves one I/O at a time: \
             add queue(workers=N) on top, or use more threads."
        }
        DoubtKind::Noise(Noise { source: Some(source), outlook, .. }) => {
            return noise::advice(source) + &noise::or_more_blocks(outlook.as_ref(), spec);
        }
        DoubtKind::Noise(Noise { best_time_s: Some(best), .. }) => {
            return format!(
                "Most of the noise is within trials. Longer trials (--time {}s) narrow the \
                 interval in less time than more blocks would.",
                whole(*best)
            );
        }
        DoubtKind::Noise(Noise { outlook: Some(Outlook::Blocks([_, most])), .. }) => {
            return format!(
                "Run more blocks ({}), or use a quieter machine.",
                noise::more_blocks(*most, spec)
            );
        }
        DoubtKind::Noise(Noise { outlook: Some(Outlook::Withheld(_)), .. }) => {
            "Run more blocks (--max-blocks), or use a quieter machine."
        }
        DoubtKind::Noise(_) => {
            "Measure on a quieter machine, or at another time. An effect much larger than this \
             noise would have been visible."
        }
        DoubtKind::Narrow { .. } => {
            "If the size of the effect matters, run again with another --seed, which changes the \
             order of the arms. If the result is the same, it does not depend on the order."
        }
        DoubtKind::UnlikeResults { .. } => {
            "Every difference below includes the difference between the jobs, and figures that are \
             missing on one side are not compared. Compare results of the same job, or treat this \
             as a comparison of the jobs as well."
        }
        DoubtKind::OtherEngines => {
            "iotax gives no verdict on results from different engines. Measure all arms with \
             engine=libaio."
        }
        DoubtKind::NotInterleaved => {
            "To measure only the difference between the arms, run them in a single `iotax \
             compare`, which repeatedly runs them in random order and then in reverse order."
        }
    };
    text.to_owned()
}
