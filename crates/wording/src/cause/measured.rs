//! Evidence from a measurement, for a cause or against it: lower case, without a final period.

use iotax_diagnose::evidence::above::{AboveEvidence, Between, CryptEvidence, MountOf};
use iotax_diagnose::evidence::device::{DeviceEvidence, GroupRate, OtherJobs};
use iotax_diagnose::evidence::limiter::{LimiterEvidence, RegimeEvidence};
use iotax_diagnose::evidence::memory::MemoryEvidence;
use iotax_diagnose::evidence::network::{Dropped, DroppedBy, NetworkEvidence, QueueOf};
use iotax_diagnose::evidence::nfs::NfsEvidence;
use iotax_diagnose::evidence::processor::{NoneLeft, ProcessorEvidence};
use iotax_diagnose::evidence::waiting::WaitingEvidence;
use iotax_diagnose::evidence::{NthLayer, PutIn};
use iotax_quantity::{
    bit_rate, bytes, count, exact, grouped, iops, list, mb_per_s, mib_per_s, percent, time, times,
    two_digits, whole,
};

use super::names::listed;

pub(super) fn above(evidence: &AboveEvidence) -> String {
    match evidence {
        AboveEvidence::Between { upper, above_ms, lower, below_ms, share } => format!(
            "an I/O took {} at {upper} and {} at {lower} below it: {} of the I/O's time was spent \
             between the two",
            time(1e6 * above_ms),
            time(1e6 * below_ms),
            percent(*share)
        ),
        AboveEvidence::EncryptingMounts(mounts) => {
            let mount = |MountOf { file_system, mount_point }: &MountOf| {
                format!("{file_system} on {mount_point}")
            };
            let mounts: Vec<String> = mounts.iter().map(mount).collect();
            format!("all data that passes through {} is encrypted", mounts.join(" and "))
        }
        AboveEvidence::AtDisk { share, disks } => {
            let disks = listed(disks);
            format!("I/Os spent {} of their time at {disks} below this layer", percent(*share))
        }
    }
}

pub(super) fn crypt(evidence: &CryptEvidence) -> String {
    match evidence {
        CryptEvidence::Layers { count } => format!("{count} layers encrypt"),
        CryptEvidence::Own { ns, waited } => {
            let own = time(*ns);
            let took = if *waited {
                format!("took at most {own}; the rest of the time was spent waiting")
            } else {
                format!("took up to {own} of CPU time")
            };
            format!("encrypting an I/O and the other I/Os in flight {took}")
        }
    }
}

pub(super) fn device(evidence: &DeviceEvidence) -> String {
    match evidence {
        DeviceEvidence::OtherLoad { disks, bytes_per_s, others } => format!(
            "{} moved {}, {} of it for other programs",
            listed(disks),
            mib_per_s(*bytes_per_s),
            percent(*others)
        ),
        DeviceEvidence::Busy { share } => {
            format!("the disk was busy for {} of the time", percent(*share))
        }
        DeviceEvidence::OtherJobs(OtherJobs { disks, busy, share, job, of_others, others }) => {
            format!(
                "I/Os from {job} spent {} of their time at {} (busy for {} of the time), where {} \
                 of all bytes were for {}",
                percent(*share),
                listed(disks),
                percent(*busy),
                percent(*of_others),
                listed(others)
            )
        }
        DeviceEvidence::InQueue { requests } => {
            format!("the disk's queue held {} requests on average", two_digits(*requests))
        }
        DeviceEvidence::GroupLimit { reached, allowed, held, group, file } => {
            let what = match held {
                GroupRate::Reads => "reads/s",
                GroupRate::Writes => "writes/s",
                GroupRate::BytesRead => "bytes read/s",
                GroupRate::BytesWritten => "bytes written/s",
            };
            format!(
                "the load reached {} {what}, and the control group {group} allows {} ({file})",
                grouped(whole(*reached)),
                grouped(whole(*allowed))
            )
        }
        DeviceEvidence::AtDiskItself { share } => {
            format!("I/Os spent {} of their time at the disk itself", percent(*share))
        }
        DeviceEvidence::Split { asked_bytes, device, pieces, size_bytes, most_bytes } => format!(
            "each {} I/O reached {device} as {} requests of {} \
             (/sys/block/{device}/queue/max_sectors_kb: {})",
            bytes(*asked_bytes),
            grouped(whole(*pieces)),
            bytes(*size_bytes),
            exact(most_bytes / 1024.0)
        ),
        DeviceEvidence::ShortQueue { in_flight, device, holds, waited } => format!(
            "the load has {} I/Os in flight, but {device}'s queue has room for only {} \
             (/sys/block/{device}/queue/nr_requests): I/Os spent {} of their time waiting for room",
            grouped(whole(*in_flight)),
            grouped(whole(*holds)),
            percent(*waited)
        ),
    }
}

pub(super) fn limiter(evidence: &LimiterEvidence) -> String {
    match evidence {
        LimiterEvidence::Held { iops: rate, bytes_per_s, seconds, within } => format!(
            "something limits the rate to {} ({}): for {seconds} seconds, the rate varied by at \
             most {}",
            iops(*rate),
            mb_per_s(*bytes_per_s),
            percent(*within)
        ),
        LimiterEvidence::BeforeDisk { share } => {
            format!("{} of an I/O's time passed before the I/O reached the disk", percent(*share))
        }
        LimiterEvidence::Calm { times: factor } => {
            format!(
                "the rate was {} steadier than it would be with independent I/Os",
                times(*factor)
            )
        }
        LimiterEvidence::DeeperBroughtNoMore => {
            "deeper queues did not raise throughput, and each I/O took proportionally longer"
                .to_owned()
        }
        LimiterEvidence::Beside { arm, iops: rate, times: factor } => format!(
            "{arm} reached {} under the same load, and each I/O was {} faster there",
            iops(*rate),
            times(*factor)
        ),
        LimiterEvidence::HoldsRate { within } => format!(
            "the rate varied by at most {} from second to second, which does not point to a lack \
             of CPU time",
            percent(*within)
        ),
        LimiterEvidence::Test { command } => {
            format!("`{command}` shows whether there is a limit and, if so, what it is")
        }
    }
}

pub(super) fn memory(evidence: &MemoryEvidence) -> String {
    match evidence {
        MemoryEvidence::SmallReadAhead { request_bytes, asked_bytes, window_bytes, file } => {
            format!(
                "the device was read in requests of {}, but the program asked for {} at a time: \
                 the kernel reads at most {} ahead ({file})",
                bytes(*request_bytes),
                bytes(*asked_bytes),
                bytes(*window_bytes as f64)
            )
        }
        MemoryEvidence::InFlight { requests } => {
            format!("{} requests were in flight on average", two_digits(*requests))
        }
        MemoryEvidence::LargeReadAhead { times: factor, request_bytes, window_bytes, file } => {
            format!(
                "the device read {} as many bytes as the program asked for, in requests of {}: \
                 random reads fetch up to {} around each position ({file})",
                times(*factor),
                bytes(*request_bytes),
                bytes(*window_bytes as f64)
            )
        }
        MemoryEvidence::Dirty { waiting_bytes, share, threshold_bytes } => format!(
            "{} of data was waiting to be written: {} of the threshold at which writers have to \
             wait (/proc/vmstat, nr_dirty_threshold: {})",
            bytes(*waiting_bytes),
            percent(*share),
            bytes(*threshold_bytes)
        ),
        MemoryEvidence::DirtyRates { written_per_s, reached_per_s } => format!(
            "programs wrote at {}, but the disk wrote at {}",
            mib_per_s(*written_per_s),
            mib_per_s(*reached_per_s)
        ),
        MemoryEvidence::Refaults { bytes_per_s, share } => format!(
            "file data that had recently been in memory was read again at {} (/proc/vmstat, \
             workingset_refault_file): {} of all reads",
            mib_per_s(*bytes_per_s),
            percent(*share)
        ),
        MemoryEvidence::GroupMayHave { group, bytes: most } => {
            format!("the control group {group} is limited to {} of memory", bytes(*most as f64))
        }
        MemoryEvidence::FromCache { read_per_s, is_buffered, from_device_per_s } => format!(
            "the program read at {} {} the page cache, but devices delivered only {}",
            mib_per_s(*read_per_s),
            if *is_buffered { "through" } else { "while bypassing" },
            mib_per_s(*from_device_per_s)
        ),
    }
}

pub(super) fn network(evidence: &NetworkEvidence) -> String {
    match evidence {
        NetworkEvidence::Lost { share } => {
            format!("{} of the datagrams did not arrive", percent(*share))
        }
        NetworkEvidence::SentAgain { per_gib, share, segment_bytes } => format!(
            "TCP resent {} per GiB ({} of all segments; {} bytes per segment)",
            count(whole(*per_gib), "segment"),
            percent(*share),
            grouped(whole(*segment_bytes))
        ),
        NetworkEvidence::NoCpuLeft { cpus } => format!(
            "this machine's {} had no idle time, so the receiver itself may be the cause",
            count(*cpus, "CPU")
        ),
        NetworkEvidence::Dropped(all) => {
            let each = |Dropped { per_s, by }: &Dropped| {
                let count = rounded(*per_s);
                match by {
                    DroppedBy::Received(interface) => {
                        format!("{count} received at {interface}")
                    }
                    DroppedBy::Sent(interface) => format!("{count} sent at {interface}"),
                    DroppedBy::Queue(queue) => format!("{count} by {}", queue_of(queue)),
                }
            };
            let who: Vec<String> = all.iter().map(each).collect();
            format!("packets dropped per second: {}", listed(&who))
        }
        NetworkEvidence::Shaped { queue, overlimits_per_s, bits_per_s, backlog_bytes } => format!(
            "{} exceeded its limit {} times per second and let {} through while {} waited",
            queue_of(queue),
            rounded(*overlimits_per_s),
            bit_rate(*bits_per_s),
            bytes(*backlog_bytes)
        ),
    }
}

fn queue_of(QueueOf { kind, place, interface }: &QueueOf) -> String {
    format!("queue {kind} {place} of {interface}")
}

fn rounded(per_s: f64) -> String {
    match whole(per_s) {
        0 => "less than 1".to_owned(),
        per_s => grouped(per_s),
    }
}

pub(super) fn nfs(evidence: &NfsEvidence) -> String {
    match evidence {
        NfsEvidence::Kerberos { ns_per_byte, copies_ns, encrypts } => {
            let does = if *encrypts { "krb5p encrypts" } else { "krb5i computes checksums over" };
            format!(
                "this machine's CPUs spent {} per byte, although copying takes at most {}: \
                 sec={does} all bytes",
                time(*ns_per_byte),
                time(*copies_ns)
            )
        }
        NfsEvidence::AfterReply { share } => {
            format!("{} of a call's time passed after its reply had arrived", percent(*share))
        }
        NfsEvidence::Slots { queue_ms, share, in_flight, slots, setting } => format!(
            "a call waited {} before it was sent, {} of its total time. On average, {} calls \
             were in flight, and at most {slots} are allowed ({setting})",
            time(1e6 * queue_ms),
            percent(*share),
            two_digits(*in_flight)
        ),
        NfsEvidence::SentAgain { share } => {
            format!("{} of the calls were resent", percent(*share))
        }
        NfsEvidence::Refused { credentials } => format!(
            "the server rejected {} in a trial: calls waited for a new Kerberos context",
            count(whole(*credentials), "credential")
        ),
        NfsEvidence::SmallCalls { brought_bytes, most_bytes, window_bytes, bdi } => format!(
            "a call fetched {}, although one call can fetch {}: the kernel reads only {} ahead \
             (/sys/class/bdi/{bdi}/read_ahead_kb)",
            bytes(*brought_bytes),
            bytes(*most_bytes),
            bytes(*window_bytes as f64)
        ),
        NfsEvidence::CallsInFlight { calls } => {
            format!("{} calls were in flight on average", two_digits(*calls))
        }
        NfsEvidence::Attributes { per_operation, share, off } => format!(
            "for each operation, {} attribute calls (GETATTR, ACCESS, LOOKUP) took {} of the time: \
             {off} turns off the attribute cache",
            two_digits(*per_operation),
            percent(*share)
        ),
    }
}

pub(super) fn processor(evidence: &ProcessorEvidence) -> String {
    match evidence {
        ProcessorEvidence::QuotaUsedUp { share } => format!(
            "for {} of the time, the control group had used up its CPU quota, and completions had \
             to wait",
            percent(*share)
        ),
        ProcessorEvidence::Quota { group, cpus, file } => {
            format!("{group} allows {cpus} CPUs ({file})")
        }
        ProcessorEvidence::Stolen { share } => {
            format!("the hypervisor took {} of the CPU time", percent(*share))
        }
        ProcessorEvidence::AllBusy { share, in_kernel } => format!(
            "all CPUs were busy for {} of the time, {} of it in the kernel",
            percent(*share),
            percent(*in_kernel)
        ),
        ProcessorEvidence::Waited { share } => {
            format!("tasks waited for a CPU for {} of the time", percent(*share))
        }
        ProcessorEvidence::Taken { share } => taken(*share),
        ProcessorEvidence::TakenFrom { share } => {
            format!("{}: the I/Os may have waited for a CPU", taken(*share))
        }
        ProcessorEvidence::NotOurs { share } => {
            format!(
                "other programs and kernel threads used {} of the busy CPU time",
                percent(*share)
            )
        }
        ProcessorEvidence::AtDisk { share, disks } => {
            format!("I/Os spent {} of their time at {} itself", percent(*share), listed(disks))
        }
        ProcessorEvidence::NoneLeft(meaning) => {
            let then = match meaning {
                NoneLeft::AnotherBegan => ": another program may have started",
                NoneLeft::EncryptionNeedsThem => ", and encryption needs them",
                NoneLeft::SlowOnesWaited => ": the slow I/Os may have waited for a CPU",
                NoneLeft::MayWait => ": the program may be waiting for a CPU",
            };
            format!("all CPUs were busy{then}")
        }
    }
}

fn taken(share: f64) -> String {
    format!("other programs took {} of the CPU time", percent(share))
}

pub(super) fn regime(evidence: &RegimeEvidence) -> String {
    match evidence {
        RegimeEvidence::Step { peak_iops, seconds, rate_iops, within } => format!(
            "{} in the first {seconds} seconds of a trial, then {} until its end (varying by at \
             most {})",
            iops(*peak_iops),
            iops(*rate_iops),
            percent(*within)
        ),
    }
}

pub(super) fn stack(between: &Between) -> String {
    let Between { layers, upper, lower, at_upper, at_lower, share } = between;
    format!(
        "I/Os spent {} of their time at {upper}, and {} at {lower} below it, so {} was spent in \
         between, in {} (added by iotax)",
        percent(*at_upper),
        percent(*at_lower),
        percent(*share),
        list(layers)
    )
}

pub(super) fn waiting(evidence: &WaitingEvidence) -> String {
    match evidence {
        WaitingEvidence::OneByOne { in_flight, latency_ns } => format!(
            "with only {} in flight, each I/O waits for an earlier one: throughput cannot exceed \
             {in_flight} / {} ({}), however fast the disk is",
            count(*in_flight, "I/O"),
            time(*latency_ns),
            iops(f64::from(*in_flight) * 1e9 / latency_ns)
        ),
        WaitingEvidence::Written { disks, per_operation, share, mount, option } => format!(
            "each operation wrote {} times to {}, and these writes took {} of the operation's \
             time: {mount} is mounted with {option}",
            two_digits(*per_operation),
            listed(disks),
            percent(*share)
        ),
        WaitingEvidence::InFsync { share, each_ns } => format!(
            "threads spent {} of their time in fsync, {} per call",
            percent(*share),
            time(*each_ns)
        ),
        WaitingEvidence::Flushed { disks, per_s, each_ms } => format!(
            "the kernel flushed {} {} times per second, and each flush took {}",
            listed(disks),
            grouped(whole(*per_s)),
            time(1e6 * each_ms)
        ),
        WaitingEvidence::OfFsync { disks, share } => format!(
            "flushes and writes on {} account for {} of the time in fsync",
            listed(disks),
            percent(*share)
        ),
    }
}

/// `the second luks (added by iotax) took 49 ms per I/O (between loop1 and vda)`.
pub fn put_in(put_in: &PutIn) -> String {
    let PutIn { layers, took_ns, more_than, upper, lower } = put_in;
    let names: Vec<String> = layers.iter().map(nth_layer).collect();
    let per_io = more_than
        .as_ref()
        .map_or_else(|| " per I/O".to_owned(), |arm| format!(" more per I/O than in {arm}"));
    format!(
        "{} (added by iotax) took {}{per_io} (between {upper} and {lower})",
        listed(&names),
        time(*took_ns)
    )
}

/// `luks`, or `the second luks` if there are several.
fn nth_layer(NthLayer { name, nth }: &NthLayer) -> String {
    const ORDINALS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];
    match nth.and_then(|nth| ORDINALS.get(nth)) {
        Some(ordinal) => format!("the {ordinal} {name}"),
        None => (*name).to_owned(),
    }
}
