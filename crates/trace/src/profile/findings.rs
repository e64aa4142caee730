//! What stands out in a summary, as figures. A share of time is only judged if latencies were
//! recorded, and a share of calls only if there are enough of them.

use serde::{Deserialize, Serialize};

use super::operations::SECTOR_BYTES;
use super::pages::PAGE_BYTES;
use super::summary::{Bin, Operation, Order, Sizes, Summary};
use super::{Class, share};
use crate::event::{File, Op, TURNS_OVERLAP_ONE_IN, Thread};
use crate::head::{Head, Unseen};

/// A share of fewer calls than this says little: at 50 %, its standard error is 5 points.
const ENOUGH: u64 = 100;
/// With a third of the time of all I/O in syncs, halving their latency saves a sixth.
const MUCH_SYNC_TIME: f64 = 1.0 / 3.0;
/// Less than one thread waiting in a sync for a twentieth of the time changes little.
const SYNCS_IN_FLIGHT: f64 = 0.05;
/// Below two writes per sync, there is hardly anything that one sync makes durable for several
/// writes.
const SYNCS_PER_WRITE: f64 = 0.5;
/// At most one I/O in five overlaps another: more parallel devices or queues do not help.
const ONE_AT_A_TIME: f64 = 1.2;
/// With I/O in flight for less of the time, its latency does not limit the application.
const BUSY: f64 = 0.3;
/// Reads below a quarter of Linux's default read-ahead of 128 KiB: each window takes more than four
/// calls.
const SMALL_READ_BYTES: u64 = 32 << 10;
/// Read-ahead serves most reads from this share on.
const SEQUENTIAL: f64 = 0.7;
/// Up to this share of sequential reads, read-ahead hardly helps.
const RANDOM: f64 = 0.2;
/// Larger reads are limited by bandwidth rather than by latency, also in random order.
const RANDOM_READ_BYTES: u64 = 256 << 10;
/// Every byte is written twice, as with a journal. More is avoidable.
const REWRITTEN: f64 = 2.5;
/// Threshold for "most".
const MOST: f64 = 0.5;
/// From this share of think time on, waits between threads pass on device latency.
const MUCH_WAITING: f64 = 0.2;
/// With I/O calls for less of the time, storage without any latency would save less than this.
const LITTLE_IO: f64 = 0.1;
/// With 80 % of the time in one file, where that file is stored matters most.
const HOT: f64 = 0.8;
/// A single unaligned I/O may be a header; one in a hundred is a pattern.
const SOME_DIRECT: f64 = 0.01;
/// Fewer calls, at about 1 µs each, take less than 0.1 % of a CPU.
const MANY_PER_S: f64 = 1_000.0;
/// Syncs in flight for a tenth of the time would overlap by chance in one of ten, not in one of
/// fifty.
const TURNS_IN_FLIGHT: f64 = 0.1;
/// A replay refuses a trace that lost a larger share.
const TOLERABLE_LOSS: f64 = 0.001;

/// Something that stands out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub severity: Severity,
    pub about: Trait,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Helps to understand the other figures.
    Low,
    /// Probably costs time, or makes figures uncertain.
    Medium,
    /// Concerns most of the time or of the calls, or makes figures unreliable.
    High,
}

/// A property of a trace. Shares are from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Trait {
    /// Much of the time of all calls on files is spent in syncs and write-through writes.
    TimeInSyncs { share: f64 },
    /// Nearly every write is made durable on its own. Write-through writes count as a sync each.
    SyncPerWrite { ratio: f64 },
    /// Several threads sync this file, and their syncs do not overlap: a lock, or group commit.
    SyncsTakeTurns { file: File, threads: u64, overlapping_share: f64 },
    /// The median write is smaller than a page.
    SmallWrites { median_bytes: u64 },
    /// While I/O is in flight, it is one at a time. The busy share is of the length of the trace.
    OneAtATime { mean_depth: f64, busy_share: f64 },
    /// Calls on files and faults take little time, all threads together. The share is of the length
    /// of the trace.
    LittleIo { share: f64 },
    /// Reads are sequential but small.
    SequentialSmallReads { median_bytes: u64, sequential_share: f64 },
    /// Reads do not continue any of the last ones of their file.
    RandomReads { median_bytes: u64, sequential_share: f64 },
    /// Page faults of mapped files do not continue any of the last ones of their file.
    RandomFaults { faults_per_s: f64, sequential_share: f64 },
    /// The same bytes are written again and again.
    RewrittenPages { factor: f64 },
    /// Most of the time that threads wait for each other, several wait for this one.
    OneBlocksOthers { thread: Thread, share: f64 },
    /// Threads spend much of the time outside of I/O waiting for each other.
    ThreadsWait { share_of_think_time: f64 },
    /// One of several files takes most of the time of all calls on files; of the bytes, if
    /// latencies are unknown.
    HotFile { file: File, share: f64 },
    /// Writes begin or end within a page.
    Unaligned { share: f64 },
    /// `O_DIRECT` I/Os are not aligned to 4 KiB. The share is of I/Os with `O_DIRECT`.
    DirectUnaligned { share: f64 },
    /// Most calls on files move no data and sync nothing. `share_of_time` is unknown without
    /// latencies.
    MetadataHeavy { share: f64, share_of_time: Option<f64> },
    /// Reads of less than a sector, so many that the calls themselves matter.
    ManyTinyReads { share: f64, per_s: f64 },
    /// The recorder lost events. The share is of all events.
    LossReported { lost: u64, share: f64 },
    /// The recording has no end block, and its loss is unknown.
    CutOff,
    /// The recorder cannot see this.
    Unseen { what: Unseen },
}

pub(super) fn of(summary: &Summary, head: &Head) -> Vec<Finding> {
    let rules: &[fn(&Summary) -> Option<Finding>] = &[
        loss,
        cut_off,
        little_io,
        time_in_syncs,
        sync_per_write,
        syncs_take_turns,
        one_at_a_time,
        one_blocks_others,
        threads_wait,
        hot_file,
        small_writes,
        rewritten_pages,
        random_reads,
        random_faults,
        sequential_small_reads,
        many_tiny_reads,
        metadata_heavy,
        direct_unaligned,
        unaligned,
    ];
    let unseen = head.unseen.iter().map(|what| low(Trait::Unseen { what: *what }));
    let mut findings: Vec<_> =
        rules.iter().filter_map(|rule| rule(summary)).chain(unseen).collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings
}

const fn low(about: Trait) -> Finding {
    Finding { severity: Severity::Low, about }
}

fn medium_or_high(is_high: bool, about: Trait) -> Finding {
    Finding { severity: if is_high { Severity::High } else { Severity::Medium }, about }
}

/// The operation, if there are enough of it to judge.
fn enough(summary: &Summary, op: Op) -> Option<&Operation> {
    summary.operation(op).filter(|operation| operation.count >= ENOUGH)
}

fn sizes(summary: &Summary, op: Op) -> Option<&Sizes> {
    enough(summary, op)?.sizes.as_ref()
}

fn order(summary: &Summary, op: Op) -> Option<Order> {
    enough(summary, op)?.order.filter(|order| order.compared >= ENOUGH)
}

fn loss(summary: &Summary) -> Option<Finding> {
    let lost = summary.lost;
    let share = share(lost, lost.saturating_add(summary.events));
    (lost > 0).then(|| medium_or_high(share > TOLERABLE_LOSS, Trait::LossReported { lost, share }))
}

fn cut_off(summary: &Summary) -> Option<Finding> {
    summary.is_cut_off.then(|| medium_or_high(false, Trait::CutOff))
}

fn little_io(summary: &Summary) -> Option<Finding> {
    let calls: u64 = summary.operations.iter().map(|operation| operation.count).sum();
    let share = io_time_ns(summary)? / summary.length_ns as f64;
    (calls >= ENOUGH && share < LITTLE_IO).then(|| medium_or_high(true, Trait::LittleIo { share }))
}

fn time_in_syncs(summary: &Summary) -> Option<Finding> {
    let times = summary.syncs.times?;
    let share = times.share_of_io_time;
    (share >= MUCH_SYNC_TIME && times.mean_in_flight >= SYNCS_IN_FLIGHT)
        .then(|| medium_or_high(share >= 2.0 * MUCH_SYNC_TIME, Trait::TimeInSyncs { share }))
}

fn sync_per_write(summary: &Summary) -> Option<Finding> {
    let writes = enough(summary, Op::Write)?.count;
    let syncs = summary.syncs.count + summary.syncs.write_through;
    let ratio = syncs as f64 / writes as f64;
    (ratio >= SYNCS_PER_WRITE).then(|| medium_or_high(ratio >= 1.0, Trait::SyncPerWrite { ratio }))
}

fn syncs_take_turns(summary: &Summary) -> Option<Finding> {
    summary.syncs.times?;
    let takes_turns = summary.files.by_syncs.iter().find_map(|hot| {
        let figures = summary.files.named.iter().find(|figures| figures.file == hot.file)?;
        let in_flight = share(figures.totals.sync_ns, summary.length_ns);
        let is_one = figures.syncing_threads > 1
            && figures.totals.syncs >= ENOUGH
            && figures.overlapping_syncs_share * TURNS_OVERLAP_ONE_IN as f64 <= 1.0
            && in_flight >= TURNS_IN_FLIGHT;
        is_one.then_some((figures, in_flight))
    });
    takes_turns.map(|(figures, in_flight)| {
        let about = Trait::SyncsTakeTurns {
            file: figures.file,
            threads: figures.syncing_threads,
            overlapping_share: figures.overlapping_syncs_share,
        };
        medium_or_high(in_flight >= MOST, about)
    })
}

fn one_at_a_time(summary: &Summary) -> Option<Finding> {
    let depth = summary.depth.as_ref()?;
    let about =
        Trait::OneAtATime { mean_depth: depth.mean_when_busy, busy_share: depth.busy_share };
    (depth.busy_share >= BUSY && depth.mean_when_busy <= ONE_AT_A_TIME)
        .then(|| medium_or_high(depth.busy_share >= HOT, about))
}

fn one_blocks_others(summary: &Summary) -> Option<Finding> {
    let waits = summary.threads.waits.as_ref()?;
    let blocker = waits.holds_up_most?;
    let share = share(blocker.held_up_ns, waits.all.waited_ns);
    let is_one = blocker.holds_up_several
        && waits.all.wakes >= ENOUGH
        && waits.share_of_think_time >= MUCH_WAITING
        && share >= MOST;
    let about = Trait::OneBlocksOthers { thread: blocker.thread, share };
    is_one.then(|| medium_or_high(share >= HOT, about))
}

fn threads_wait(summary: &Summary) -> Option<Finding> {
    let share_of_think_time = summary.threads.waits.as_ref()?.share_of_think_time;
    (share_of_think_time >= MUCH_WAITING).then(|| {
        medium_or_high(share_of_think_time >= MOST, Trait::ThreadsWait { share_of_think_time })
    })
}

fn hot_file(summary: &Summary) -> Option<Finding> {
    let files = &summary.files;
    let by = if summary.depth.is_some() { &files.by_time } else { &files.by_bytes };
    let hottest = by.first()?;
    let is_one_of_several = by.len() > 1 && files.all.operations >= ENOUGH;
    (is_one_of_several && hottest.share >= HOT)
        .then(|| low(Trait::HotFile { file: hottest.file, share: hottest.share }))
}

fn small_writes(summary: &Summary) -> Option<Finding> {
    let median_bytes = sizes(summary, Op::Write)?.median_bytes;
    let about = Trait::SmallWrites { median_bytes };
    (median_bytes < PAGE_BYTES).then(|| {
        if writes_reach_the_device(summary) {
            medium_or_high(median_bytes < SECTOR_BYTES, about)
        } else {
            low(about)
        }
    })
}

/// Whether most writes reach the device uncombined.
fn writes_reach_the_device(summary: &Summary) -> bool {
    let is_direct =
        enough(summary, Op::Write).is_some_and(|writes| writes.issued.direct_share >= MOST);
    is_direct || sync_per_write(summary).is_some()
}

fn rewritten_pages(summary: &Summary) -> Option<Finding> {
    enough(summary, Op::Write)?;
    let factor = summary.pages.rewrite_factor?;
    (factor >= REWRITTEN)
        .then(|| medium_or_high(factor >= 4.0 * REWRITTEN, Trait::RewrittenPages { factor }))
}

fn random_reads(summary: &Summary) -> Option<Finding> {
    let median_bytes = sizes(summary, Op::Read)?.median_bytes;
    let sequential_share = order(summary, Op::Read)?.in_streams_share;
    (sequential_share <= RANDOM && median_bytes < RANDOM_READ_BYTES).then(|| {
        let reads = share_of_io_time(summary, Op::Read).unwrap_or(0.0);
        medium_or_high(reads >= MOST, Trait::RandomReads { median_bytes, sequential_share })
    })
}

fn random_faults(summary: &Summary) -> Option<Finding> {
    let sequential_share = order(summary, Op::Fault)?.in_streams_share;
    (sequential_share <= RANDOM).then(|| {
        let faults = share_of_io_time(summary, Op::Fault).unwrap_or(0.0);
        let faults_per_s = summary.rates.faults_per_s;
        medium_or_high(faults >= MOST, Trait::RandomFaults { faults_per_s, sequential_share })
    })
}

fn sequential_small_reads(summary: &Summary) -> Option<Finding> {
    let median_bytes = sizes(summary, Op::Read)?.median_bytes;
    let sequential_share = order(summary, Op::Read)?.in_streams_share;
    (sequential_share >= SEQUENTIAL && median_bytes < SMALL_READ_BYTES).then(|| {
        let about = Trait::SequentialSmallReads { median_bytes, sequential_share };
        medium_or_high(share_of_io_time(summary, Op::Read).unwrap_or(0.0) >= MOST, about)
    })
}

fn many_tiny_reads(summary: &Summary) -> Option<Finding> {
    let share = sizes(summary, Op::Read)?.below_sector_share;
    let per_s = share * summary.rates.reads_per_s;
    (share >= MOST && per_s >= MANY_PER_S)
        .then(|| medium_or_high(per_s >= 10.0 * MANY_PER_S, Trait::ManyTinyReads { share, per_s }))
}

fn metadata_heavy(summary: &Summary) -> Option<Finding> {
    let sum: Bin = summary.series.bins.iter().sum();
    let all = sum.reads + sum.writes + sum.syncs + sum.faults + sum.metadata;
    let share = share(sum.metadata, all);
    let times =
        summary.operations.iter().filter(|operation| Class::of(operation.op) == Class::Metadata);
    let share_of_time: Option<f64> =
        times.map(|operation| share_of_io_time(summary, operation.op)).sum();
    (all >= ENOUGH && share >= MOST).then(|| {
        let is_high = share_of_time.is_some_and(|share| share >= MOST);
        medium_or_high(is_high, Trait::MetadataHeavy { share, share_of_time })
    })
}

fn direct_unaligned(summary: &Summary) -> Option<Finding> {
    let of = |op| {
        let operation = enough(summary, op)?;
        let direct = operation.issued.direct_share * operation.count as f64;
        let unaligned = operation.sizes.as_ref()?.direct_unaligned_share * direct;
        Some((direct, unaligned))
    };
    let counts = [Op::Read, Op::Write].into_iter().filter_map(of);
    let (direct, unaligned) =
        counts.fold((0.0, 0.0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    let share = if direct == 0.0 { 0.0 } else { unaligned / direct };
    (direct >= ENOUGH as f64 && share >= SOME_DIRECT)
        .then(|| medium_or_high(share >= MOST, Trait::DirectUnaligned { share }))
}

fn unaligned(summary: &Summary) -> Option<Finding> {
    let share = sizes(summary, Op::Write)?.unaligned_share;
    (share >= MOST).then(|| low(Trait::Unaligned { share }))
}

/// The share of one operation in the time of all calls on files; `None` without latencies.
fn share_of_io_time(summary: &Summary, op: Op) -> Option<f64> {
    let all = io_time_ns(summary)?;
    let part = summary.operation(op).map_or(Some(0.0), time_of)?;
    Some(if all == 0.0 { 0.0 } else { part / all })
}

/// The time of all calls on files and faults; `None` without latencies.
fn io_time_ns(summary: &Summary) -> Option<f64> {
    summary.operations.iter().map(time_of).sum()
}

fn time_of(operation: &Operation) -> Option<f64> {
    operation.latency.as_ref().map(|latency| latency.mean_ns * operation.count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, Flags};
    use crate::head::{End, FileState};
    use crate::profile::Profile;
    use crate::profile::testing::{head, io, wake};

    const US: u64 = 1_000;
    const LENGTH_NS: u64 = 10_000_000_000;
    const ROUNDS: u64 = 1_000;
    const ROUND_NS: u64 = LENGTH_NS / ROUNDS;

    /// One of several threads that each read and write a file of their own in large steps, half of
    /// them in sequence, and rarely sync.
    fn neutral_round(thread: u32, round: u64) -> Vec<Event> {
        let begin_ns = round * ROUND_NS + u64::from(thread) * 300 * US;
        // Runs of two, and then elsewhere.
        let place = (round / 2 * 7 + round % 2) << 17;
        let at = |end_us, event| Event {
            thread,
            file: thread,
            end_ns: begin_ns + end_us * US,
            latency_ns: 1_000 * US,
            ..event
        };
        let mut events =
            vec![at(1_000, io(Op::Read, place, 1 << 17)), at(2_000, io(Op::Write, place, 1 << 16))];
        if round.is_multiple_of(20) {
            events.push(at(3_000, io(Op::Fsync, 0, 0)));
        }
        events
    }

    fn neutral() -> Vec<Event> {
        (0..ROUNDS)
            .flat_map(|round| (0..4).flat_map(move |thread| neutral_round(thread, round)))
            .collect()
    }

    /// The neutral trace with each event changed, and others added.
    fn changed(change: impl Fn(usize, &mut Event), others: Vec<Event>) -> Vec<Event> {
        let mut events = neutral();
        for (at, event) in events.iter_mut().enumerate() {
            change(at, event);
        }
        events.extend(others);
        events.sort_by_key(|event| event.end_ns);
        events
    }

    fn end() -> End {
        End { length_ns: LENGTH_NS, ..End::default() }
    }

    fn judged_with(events: &[Event], head: &Head, end: Option<&End>) -> Vec<Finding> {
        let mut profile = Profile::default();
        for event in events {
            profile.add(event);
        }
        profile.finish(head, &vec![FileState::default(); 8], end).findings
    }

    fn judged(events: &[Event]) -> Vec<Trait> {
        let findings = judged_with(events, &head(), Some(&end()));
        findings.into_iter().map(|finding| finding.about).collect()
    }

    macro_rules! assert_finds {
        ($events:expr, $pattern:pat $(if $guard:expr)?) => {
            let events = $events;
            let found = judged(&events);
            assert!(
                found.iter().any(|about| matches!(*about, $pattern $(if $guard)?)),
                "{found:?}"
            );
        };
    }

    fn close(figure: f64, right: f64) -> bool {
        (figure / right - 1.0).abs() < 0.01
    }

    #[test]
    fn a_neutral_trace_has_no_findings() {
        assert_eq!(judged(&changed(|_, _| {}, Vec::new())), []);
        assert_eq!(judged(&[]), []);
    }

    #[test]
    fn little_time_in_calls() {
        let shorter = |_: usize, event: &mut Event| event.latency_ns = 50 * US;
        assert_finds!(
            changed(shorter, Vec::new()),
            Trait::LittleIo { share } if close(share, 4.0 * 102.5 / 10_000.0)
        );
        // 24 calls with the same latency.
        let few = neutral_round(0, 0).into_iter().cycle().take(24).collect::<Vec<_>>();
        assert!(!judged(&few).iter().any(|about| matches!(about, Trait::LittleIo { .. })));
    }

    #[test]
    fn time_in_syncs() {
        let longer = |_: usize, event: &mut Event| {
            if event.op == Op::Fsync {
                event.latency_ns = 60_000 * US;
            }
        };
        assert_finds!(changed(longer, Vec::new()), Trait::TimeInSyncs { share } if close(share, 0.6));
    }

    #[test]
    fn a_sync_for_each_write() {
        let durable = |_: usize, event: &mut Event| {
            if event.op == Op::Write {
                event.flags = Flags::DATA_SYNC;
            }
        };
        let right = 1.05;
        assert_finds!(
            changed(durable, Vec::new()),
            Trait::SyncPerWrite { ratio } if close(ratio, right)
        );
    }

    #[test]
    fn syncs_of_several_threads_that_take_turns() {
        let sync = |number: u64, latency_us: u64| Event {
            thread: u32::try_from(number % 2).expect("0 or 1"),
            end_ns: (number + 1) * 2_000 * US,
            latency_ns: latency_us * US,
            ..io(Op::Fdatasync, 0, 0)
        };
        let syncs = |latency_us| (0..5_000).map(|number| sync(number, latency_us)).collect();
        let is_turns = |about: &Trait| matches!(about, Trait::SyncsTakeTurns { .. });
        // Those of file 0 in the neutral trace would overlap by chance.
        let without_others = |_: usize, event: &mut Event| {
            if event.op == Op::Fsync {
                event.file = 1;
            }
        };
        assert_finds!(
            changed(without_others, syncs(1_500)),
            Trait::SyncsTakeTurns { file: 0, threads: 2, overlapping_share: 0.0 }
        );
        assert!(!judged(&changed(without_others, syncs(2_500))).iter().any(is_turns));
        // So short that they would not overlap anyway.
        assert!(!judged(&changed(without_others, syncs(50))).iter().any(is_turns));
    }

    #[test]
    fn small_and_unaligned_writes() {
        let smaller = |_: usize, event: &mut Event| {
            if event.op == Op::Write {
                event.length = 859;
                event.result = 859;
            }
        };
        let events = changed(smaller, Vec::new());
        let about = Trait::SmallWrites { median_bytes: 859 };
        let unaligned = Trait::Unaligned { share: 1.0 };
        assert_eq!(judged_with(&events, &head(), Some(&end())), [low(about), low(unaligned)]);
        let durable = changed(
            |at, event| {
                smaller(at, event);
                event.flags = Flags::DATA_SYNC;
            },
            Vec::new(),
        );
        let found = judged_with(&durable, &head(), Some(&end()));
        assert!(found.contains(&Finding { severity: Severity::Medium, about }), "{found:?}");
    }

    #[test]
    fn one_at_a_time() {
        let in_turn: Vec<_> = (1..=2_000)
            .map(|number| Event {
                end_ns: number * 5_000 * US,
                latency_ns: 4_000 * US,
                ..io(Op::Read, (number / 2 * 7 + number % 2) << 17, 1 << 17)
            })
            .collect();
        assert_finds!(
            in_turn,
            Trait::OneAtATime { mean_depth, busy_share } if close(mean_depth, 1.0) && close(busy_share, 0.8)
        );
    }

    fn reads_of(bytes: u64, place: impl Fn(u64) -> u64) -> Vec<Event> {
        let mut number = 0;
        let mut events = changed(|_, _| {}, Vec::new());
        for event in events.iter_mut().filter(|event| event.op == Op::Read) {
            number += 1;
            let all = io(Op::Read, place(number), bytes);
            *event = Event { end_ns: event.end_ns, latency_ns: event.latency_ns, ..all };
        }
        events
    }

    #[test]
    fn small_reads_in_sequence() {
        assert_finds!(
            reads_of(4096, |number| number * 4096),
            Trait::SequentialSmallReads { median_bytes: 4096, sequential_share: 1.0 }
        );
        let large = judged(&reads_of(1 << 17, |number| number << 17));
        assert!(!large.iter().any(|about| matches!(about, Trait::SequentialSmallReads { .. })));
    }

    #[test]
    fn random_reads() {
        assert_finds!(
            reads_of(8192, |number| number * 7 % 1_000 * 8192),
            Trait::RandomReads { median_bytes: 8192, sequential_share: 0.0 }
        );
    }

    #[test]
    fn random_faults() {
        let faults: Vec<_> = (0..1_000)
            .map(|number| Event {
                end_ns: (number + 1) * ROUND_NS,
                latency_ns: 100 * US,
                ..io(Op::Fault, number * 7 % 1_000 * 4096, 4096)
            })
            .collect();
        assert_finds!(
            changed(|_, _| {}, faults),
            Trait::RandomFaults { faults_per_s: 100.0, sequential_share: 0.0 }
        );
    }

    #[test]
    fn tiny_reads() {
        let tiny: Vec<_> = (0..20_000)
            .map(|number| Event { end_ns: number * 500 * US, ..io(Op::Read, number * 40, 40) })
            .collect();
        assert_finds!(
            changed(|_, _| {}, tiny),
            Trait::ManyTinyReads { share, per_s } if share > 0.8 && close(per_s, 2_000.0)
        );
    }

    #[test]
    fn rewritten_pages() {
        let same = |_: usize, event: &mut Event| {
            if event.op == Op::Write {
                event.offset %= 100 << 16;
            }
        };
        assert_finds!(
            changed(same, Vec::new()),
            Trait::RewrittenPages { factor } if factor > REWRITTEN
        );
    }

    #[test]
    fn one_thread_blocks_others() {
        let waits = |by: fn(u64) -> u32| {
            let wake = |number| {
                let waits = u32::try_from(1 + number % 3).expect("a small number");
                wake(by(number), waits, 5_000 * US, (number + 1) * 4_500 * US)
            };
            (0..2_000).map(wake).collect::<Vec<_>>()
        };
        assert_finds!(
            changed(|_, _| {}, waits(|_| 0)),
            Trait::OneBlocksOthers { thread: 0, share: 1.0 }
        );
        let by_turns = waits(|number| u32::try_from((number + 1) % 4).expect("a small number"));
        let found = judged(&changed(|_, _| {}, by_turns));
        assert!(found.iter().any(|about| matches!(about, Trait::ThreadsWait { .. })), "{found:?}");
        assert!(!found.iter().any(|about| matches!(about, Trait::OneBlocksOthers { .. })));
    }

    #[test]
    fn a_hot_file() {
        let others = |at: usize, event: &mut Event| {
            event.file = if at.is_multiple_of(10) { 1 } else { 3 };
        };
        assert_finds!(
            changed(others, Vec::new()),
            Trait::HotFile { file: 3, share } if close(share, 0.9)
        );
        let all_in_one = judged(&changed(|_, event| event.file = 0, Vec::new()));
        assert!(!all_in_one.iter().any(|about| matches!(about, Trait::HotFile { .. })));
    }

    #[test]
    fn direct_and_unaligned() {
        let direct = |at: usize, event: &mut Event| {
            event.flags = Flags::DIRECT;
            if at.is_multiple_of(10) && event.op.moves_data() {
                event.offset += 512;
            }
        };
        assert_finds!(
            changed(direct, Vec::new()),
            Trait::DirectUnaligned { share } if share > 0.05 && share < 0.15
        );
        let aligned = judged(&changed(|_, event| event.flags = Flags::DIRECT, Vec::new()));
        assert_eq!(aligned, []);
    }

    #[test]
    fn metadata() {
        let stats: Vec<_> = (0..20_000)
            .map(|number| Event {
                end_ns: (number + 1) * 500 * US,
                latency_ns: 10 * US,
                ..io(Op::Stat, 0, 0)
            })
            .collect();
        assert_finds!(
            changed(|_, _| {}, stats),
            Trait::MetadataHeavy { share, share_of_time: Some(time) } if share > 0.7 && time < 0.1
        );
    }

    #[test]
    fn what_the_recording_lacks() {
        let events = changed(|_, _| {}, Vec::new());
        let head = Head { unseen: vec![Unseen::Latencies, Unseen::Wakes], ..head() };
        let lossy = End { lost: 1_000, ..end() };
        let findings = judged_with(&events, &head, Some(&lossy));
        assert_eq!(findings.len(), 3);
        assert_eq!(findings[0].severity, Severity::High);
        assert!(matches!(findings[0].about, Trait::LossReported { lost: 1_000, .. }));
        assert_eq!(findings[1], low(Trait::Unseen { what: Unseen::Latencies }));
        assert_eq!(findings[2], low(Trait::Unseen { what: Unseen::Wakes }));
    }

    #[test]
    fn a_recording_without_an_end() {
        let events = changed(|_, _| {}, Vec::new());
        let findings = judged_with(&events, &head(), None);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].about, Trait::CutOff);
    }
}
