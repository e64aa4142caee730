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
            "This storage loses or mixes up data under this load: its speed means nothing until \
             that is solved, and nothing you need should be on it."
        }
        DoubtKind::IoErrors { .. } => {
            let unit = workload.unit();
            let where_to_look = if workload.is_network() {
                "the peer, its host, packets dropped on the way"
            } else {
                "kernel log, device health, free space"
            };
            return format!(
                "Failed {unit}s are not counted as done, but the time lost on them is in the \
                 figures: find out why they fail ({where_to_look}) before trusting the comparison."
            );
        }
        DoubtKind::Failed { .. } if spec.is_of_results() => {
            "Figures are of the other results. A verdict on these stands only if it would with \
             those that are missing counted as results that did nothing."
        }
        DoubtKind::Failed { .. } => {
            "The blocks of these trials are left out of the comparison. A verdict on the others \
             stands only if it would with the missing trials counted as trials that did nothing: \
             solve the error and measure again."
        }
        DoubtKind::Paused { .. } => {
            "It was stopped by a signal, frozen by its control group, or the whole machine was: a \
             live migration, a snapshot, a suspension. It says nothing about the storage. Find out \
             what stops it, and measure again."
        }
        DoubtKind::StalledTrials { .. } => {
            "That is a result, not a failure: slower than could be measured. A longer window \
             (--time) may show how slow; the machine's counters show what it waited for."
        }
        DoubtKind::LittlesLaw { .. } if spec.is_of_results() => {
            "Latencies, rates, threads or depth in these results cannot all be right: do not rest \
             anything on them before it is clear which are."
        }
        DoubtKind::LittlesLaw { .. } => {
            "Latencies or rates of this arm are wrong, or I/Os were taken that the job did not \
             issue: do not use them. With sqpoll, turn it off; else try engine=psync, and report \
             this if it stays."
        }
        DoubtKind::ImpossibleSpeed { .. } => {
            "No storage was measured: the bytes were not moved, or never left the CPU's caches. \
             Use a larger span (--set size=...) of real data, and check that the target is not a \
             hole in a sparse file."
        }
        DoubtKind::WrongSign { .. } => {
            "Do not take this as a gain before it is explained. Usual reasons: direct I/O became \
             buffered I/O, a cache answered, small I/Os were merged, or the arms lie on different \
             storage. The device's own counters (iostat) show which."
        }
        DoubtKind::CacheAnswered { way: CacheWay::NeverSynced, .. } => {
            "The rate of writes is that of memory, not of the storage. Set direct=true, or sync as \
             the application does (fsync-every=...)."
        }
        DoubtKind::NotBypassed
        | DoubtKind::CacheAnswered { way: CacheWay::DirectRead | CacheWay::DirectWrite, .. } => {
            "The figures are those of a cache, not of the storage. Check that direct I/O reaches \
             the device on this file system; else use a span larger than memory, and fsync for \
             writes."
        }
        DoubtKind::InMemory { .. } => {
            "Measure on a directory of the disk in question; for stacks, --dir says where their \
             file lies."
        }
        DoubtKind::LayerCache { .. } => {
            "What is below such a layer is only measured where its cache misses. Use a span larger \
             than memory, or look at the device's own counters (iostat)."
        }
        DoubtKind::ColdCache { found: ColdCache::NoDevice { .. } } => {
            "There is no cold cache here: the figures are those of memory. Name a target on a disk \
             (--dir for files made by iotax), or set invalidate=false."
        }
        DoubtKind::ColdCache { found: ColdCache::Unknown } => {
            "Take the figures as those of a warm cache until something else shows otherwise, such \
             as iostat beside the run."
        }
        DoubtKind::ColdCache { found: ColdCache::Short { .. } } => {
            "Part of the data came from a cache: of this machine (another process keeps the file \
             mapped, or the span fits read-ahead) or of the server behind a mount. Use a span \
             larger than memory, or direct=true."
        }
        DoubtKind::ColdCache { found: ColdCache::Excess { .. } } => {
            "Read-ahead, or a large device block, fetched what nobody asked for: later reads may \
             have found it in memory, so not every read was cold, and the excess costs bandwidth. \
             Tell the kernel that the order is random (advise=true), or use direct=true."
        }
        DoubtKind::DifferentStorage => {
            "Put all arms on the same volume, or swap the volumes and measure again: what follows \
             the volume is the volume's."
        }
        DoubtKind::SharedStorage { .. } => {
            "They share what that device can do: name targets on devices of their own, unless that \
             is what you ask."
        }
        DoubtKind::NotGranted { .. } => {
            "What was measured is what was granted. Ask for that, or raise what the server allows \
             (Linux: /proc/fs/nfsd/max_block_size, set before nfsd starts)."
        }
        DoubtKind::RateNotReached { .. } => {
            "The arm is overloaded: its response times measure the backlog and grow with the \
             trial. Offer at most 0.7 times the throughput of the slowest arm (--set rate=...)."
        }
        DoubtKind::Late { .. } => {
            "Either all slots (threads x depth) were in flight, or this machine woke the load \
             generator late; response times count the wait, as they should. A greater depth (--set \
             depth=...) or an idle machine tells which."
        }
        DoubtKind::GeneratorShare { .. } => {
            return format!(
                "This share is the same with and without a layer, so the layer's tax looks smaller \
                 than it is. Larger blocks, or {} instead of throughput, show it better.",
                name::metric(Metric::cpu(workload))
            );
        }
        DoubtKind::CpusBusy { .. } if workload.is_network() => {
            "CPU-bound: the rate, and a tax, are CPU time of the path's ends and not the wire's. \
             Ends on hosts of their own, or more CPUs, show the wire."
        }
        DoubtKind::CpusBusy { .. } => {
            "CPU-bound: the rate, and a tax, are CPU time and not the storage's. Fewer threads, \
             larger blocks or more CPUs show the storage."
        }
        DoubtKind::OneCore(_) => {
            "The rate is that of one core and not the wire's. More flows (--set threads=N) use \
             more of them; interrupts of one flow stay on one core."
        }
        DoubtKind::EffectChanged { change, .. } if change.in_depth_check => {
            "Something ended in between: burst credits, a cache, another load. Compare what lasts \
             with --drain, or measure bursts with `iotax limits`."
        }
        DoubtKind::EffectChanged { .. } => {
            "Something came or went that this arm alone has: a cache that filled up, credits of \
             its own, a background job on its device. Run again: if the cost is what it has been \
             since the change, that is the one that lasts."
        }
        DoubtKind::LevelChanged { metric, ratio, .. } => {
            let is_worse = (*ratio < 1.0) == (metric.better() == Better::Higher);
            match is_worse {
                true if workload.writes() => {
                    "Probably burst credits ran out, or a fresh SSD had no erased blocks left; \
                     early in a run it may also be a cache that filled up, or a neighbour that \
                     began. If what lasts is to be measured, drain the credits (--drain), or write \
                     the span first (--precondition); if the burst, let the volume rest and run \
                     shorter."
                }
                true => {
                    "Probably burst credits ran out; early in a run it may also be a cache that \
                     filled up, or a neighbour that began. If what lasts is to be measured, drain \
                     the credits first (--drain); if the burst, let the volume rest and run \
                     shorter."
                }
                false => {
                    "Probably something else used the storage and ended, or the volume grew \
                     faster. If only the level since is of interest, run again."
                }
            }
        }
        DoubtKind::LevelSince { arms } => {
            let is_worse = arms.first().is_some_and(|shift| shift.iops[1] < shift.iops[0]);
            if is_worse {
                "Burst credits or a cache were used up, or another load began: verdicts are about \
                 the level before that. Use --drain to compare what lasts; `iotax limits` measures \
                 bursts."
            } else {
                "Another load ended, or credits came back: run again for a verdict at the level \
                 that lasts."
            }
        }
        DoubtKind::ShortSlices { metric, ratio, outcome, .. } => {
            let is_worse = (*ratio < 1.0) == (metric.better() == Better::Higher);
            match is_worse {
                true if *outcome == SlicesOutcome::Withheld => {
                    "Burst credits or a cache ran out, and come back while the other arms have their \
                     turns. --drain compares what lasts, --time trials of any length; `iotax limits` \
                     measures bursts."
                }
                true if workload.writes() => {
                    "Something helps for a moment and runs out: burst credits, which come back while \
                     the other arms have their turn, or a write cache, which drains meanwhile. \
                     `iotax limits` measures bursts, and --drain compares what lasts."
                }
                true => {
                    "Something helps for a moment and runs out: burst credits, which come back while \
                     the other arms have their turn. `iotax limits` measures bursts, and --drain \
                     compares what lasts."
                }
                false => {
                    "Something is slow at first: a cache or read-ahead that has to warm up again, a \
                     device or CPU that wakes up from a power state."
                }
            }
        }
        DoubtKind::NotSteady { .. } => {
            "What is measured next is a moment of a level that moves, or of storage noisier than \
             SNIA's limits: comparisons within blocks stand, single figures do not. A longer \
             --time makes rounds longer, and their noise less."
        }
        DoubtKind::Trend { is_preconditioned: true, .. } => {
            "The storage went on changing after it was preconditioned. More trials, or a longer \
             --time, which also makes the rounds longer, show where it ends."
        }
        DoubtKind::Trend { is_preconditioned: false, .. } => {
            "A fresh SSD, or a volume whose blocks were never written, is filled by the \
             measurement itself. --precondition writes the span first, and then the workload until \
             it is steady."
        }
        DoubtKind::OrderMatters(_) => {
            "Something belongs to the order of trials, not to an arm: a cache that the first trial \
             fills for the next, credits that one uses up, writes of the last trial that still go \
             on. Begin each trial with a longer ramp (--ramp), or spend the credits first \
             (--drain), and run again."
        }
        DoubtKind::Dependence { .. } => {
            "Something changes slowly and hits the arms differently: a background job, credits \
             that refill, a volume that fills up. Find it, or pause between trials; more blocks \
             alone do not help."
        }
        DoubtKind::Steal { .. } => {
            "Neighbours on this host share its CPUs, so part of the noise is theirs. The \
             interleaved blocks spread it over all arms; a dedicated host, or another time of day, \
             makes the intervals narrower."
        }
        DoubtKind::OtherPrograms { .. } => {
            return format!(
                "If other programs are running, stop them: they slow some trials and not others. \
                 If none are, it is the kernel's own work for this arm, such as encryption or \
                 networking in kernel threads, and {} does not hold it.",
                name::metric(Metric::cpu(workload))
            );
        }
        DoubtKind::StalledSecond { .. } => {
            "A mean hides stalls, and users feel them. See the throughput per second of these \
             trials, and compare p99 at an offered rate (--set rate=...)."
        }
        DoubtKind::TailSamples { time_ns, .. } => {
            return format!(
                "Measure longer per trial: --time {} or more at this rate. More trials do not help.",
                format_duration(*time_ns)
            );
        }
        DoubtKind::DepthNotKept { .. } => {
            "The depth has no effect here. A stack without a work queue serves one I/O at a time: \
             put queue(workers=N) on it, or use more threads."
        }
        DoubtKind::Noise(Noise { source: Some(source), outlook, .. }) => {
            return noise::advice(source) + &noise::or_more_blocks(outlook.as_ref(), spec);
        }
        DoubtKind::Noise(Noise { best_time_s: Some(best), .. }) => {
            return format!(
                "The noise is mostly within trials: longer ones (--time {}s) narrow the \
                 interval for less time than more blocks do.",
                whole(*best)
            );
        }
        DoubtKind::Noise(Noise { outlook: Some(Outlook::Blocks([_, most])), .. }) => {
            return format!(
                "Give it more blocks ({}), or a quieter machine.",
                noise::more_blocks(*most, spec)
            );
        }
        DoubtKind::Noise(Noise { outlook: Some(Outlook::Withheld(_)), .. }) => {
            "Give it more blocks (--max-blocks), or a quieter machine."
        }
        DoubtKind::Noise(_) => {
            "Measure on a quieter machine, or at another time; an effect much larger than this noise would \
             have shown."
        }
        DoubtKind::Narrow { .. } => {
            "If the size matters, run again with another --seed: it deals out the order of the \
             arms anew, so that what agrees again is not in step with it."
        }
        DoubtKind::UnlikeResults { .. } => {
            "What results differ in is part of every difference below, and what one side lacks is \
             not compared. Compare results of one job, or read them as a comparison of the jobs \
             too."
        }
        DoubtKind::OtherEngines => {
            "Between them there is no verdict. Measure all with engine=libaio."
        }
        DoubtKind::NotInterleaved => {
            "For the difference between the arms alone, measure them in one iotax compare: it runs \
             them in random blocks."
        }
    };
    text.to_owned()
}
