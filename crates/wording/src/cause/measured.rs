//! What speaks for a cause in a measurement, or against it: without a capital and without an end.

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
    bit_rate, bytes, count, grouped, list, mb_per_s, percent, time, times, whole,
};

use super::names::listed;

pub(super) fn above(evidence: &AboveEvidence) -> String {
    match evidence {
        AboveEvidence::Between { upper, above_ms, lower, below_ms, share } => format!(
            "an I/O took {above_ms:.3} ms at {upper} and {below_ms:.3} ms at {lower} below it: {} \
             of its time passed in between",
            percent(*share)
        ),
        AboveEvidence::EncryptingMounts(mounts) => {
            let mount = |MountOf { file_system, mount_point }: &MountOf| {
                format!("{file_system} on {mount_point}")
            };
            let mounts: Vec<String> = mounts.iter().map(mount).collect();
            format!("what passes {} is encrypted there", mounts.join(" and "))
        }
        AboveEvidence::AtDisk { share, disks } => {
            let disks = listed(disks);
            format!("{} of the time of I/Os passed at {disks} below it", percent(*share))
        }
    }
}

pub(super) fn crypt(evidence: &CryptEvidence) -> String {
    match evidence {
        CryptEvidence::Layers { count } => format!("{count} layers encrypt"),
        CryptEvidence::Own { ns, waited } => {
            let own = time(*ns);
            let took = if *waited {
                format!("took {own} at most: it waited")
            } else {
                format!("took up to {own} of CPU time")
            };
            format!("to encrypt it, and what was in flight with it, {took}")
        }
    }
}

pub(super) fn device(evidence: &DeviceEvidence) -> String {
    match evidence {
        DeviceEvidence::OtherLoad { disks, bytes_per_s, others } => format!(
            "{} moved {}/s, of which {} were not this program's",
            listed(disks),
            bytes(*bytes_per_s),
            percent(*others)
        ),
        DeviceEvidence::Busy { share } => {
            format!("it was busy for {} of the time", percent(*share))
        }
        DeviceEvidence::OtherJobs(OtherJobs { disks, busy, share, job, of_others, others }) => {
            format!(
                "{} was busy for {} of the time, and {} of the time of I/Os of {job} passed there: {} \
             of all bytes were those of {}",
                listed(disks),
                percent(*busy),
                percent(*share),
                percent(*of_others),
                listed(others)
            )
        }
        DeviceEvidence::InQueue { requests } => {
            format!("{requests:.1} requests were in its queue")
        }
        DeviceEvidence::GroupLimit { reached, allowed, held, group, file } => {
            let what = match held {
                GroupRate::Reads => "reads/s",
                GroupRate::Writes => "writes/s",
                GroupRate::BytesRead => "bytes read/s",
                GroupRate::BytesWritten => "bytes written/s",
            };
            format!(
                "{reached:.0} {what} were reached, and the control group {group} allows \
                 {allowed:.0} ({file})"
            )
        }
        DeviceEvidence::AtDiskItself { share } => {
            format!("{} of the time of I/Os passed at the disk itself", percent(*share))
        }
        DeviceEvidence::Split { asked_bytes, device, pieces, size_bytes, most_bytes } => format!(
            "I/Os of {} came to {device} as {pieces:.0} requests of {} each \
             (/sys/block/{device}/queue/max_sectors_kb: {:.0})",
            bytes(*asked_bytes),
            bytes(*size_bytes),
            most_bytes / 1024.0
        ),
        DeviceEvidence::ShortQueue { in_flight, device, holds, waited } => format!(
            "{in_flight:.0} I/Os were to be in flight, but the queue of {device} holds {holds:.0} \
             (/sys/block/{device}/queue/nr_requests): {} of an I/O's time passed before it",
            percent(*waited)
        ),
    }
}

pub(super) fn limiter(evidence: &LimiterEvidence) -> String {
    match evidence {
        LimiterEvidence::Held { iops, bytes_per_s, seconds, within } => format!(
            "something limits it to {} IOPS ({}): over {seconds} seconds the rate stayed within {}",
            grouped(whole(*iops)),
            mb_per_s(*bytes_per_s),
            percent(*within)
        ),
        LimiterEvidence::BeforeDisk { share } => {
            format!("{} of the time of I/Os passed before the disk saw them", percent(*share))
        }
        LimiterEvidence::Calm { times: factor } => {
            format!("it varied {} less than independent I/Os would make it", times(*factor))
        }
        LimiterEvidence::DeeperBroughtNoMore => {
            "deeper queues brought no more, and each I/O took longer in proportion".to_owned()
        }
        LimiterEvidence::Beside { arm, iops, times: factor } => format!(
            "{arm} reached {} IOPS under the same load, where each I/O took {} less time",
            grouped(whole(*iops)),
            times(*factor)
        ),
        LimiterEvidence::HoldsRate { within } => format!(
            "the rate stayed within {} from second to second, which a want of CPU does not give",
            percent(*within)
        ),
        LimiterEvidence::Test { command } => {
            format!("`{command}` shows whether it is a limit, and which")
        }
    }
}

pub(super) fn memory(evidence: &MemoryEvidence) -> String {
    match evidence {
        MemoryEvidence::SmallReadAhead { request_bytes, asked_bytes, window_bytes, file } => {
            format!(
                "the device read in requests of {} while {} were asked for: the kernel reads {} ahead \
             at most ({file})",
                bytes(*request_bytes),
                bytes(*asked_bytes),
                bytes(*window_bytes as f64)
            )
        }
        MemoryEvidence::InFlight { requests } => {
            format!("{requests:.1} requests were in flight on the average")
        }
        MemoryEvidence::LargeReadAhead { times, request_bytes, window_bytes, file } => format!(
            "the device read {times:.0} times as many bytes as were asked for, in requests of {}: \
             random reads fetch up to {} around each place ({file})",
            bytes(*request_bytes),
            bytes(*window_bytes as f64)
        ),
        MemoryEvidence::Dirty { waiting_bytes, share, threshold_bytes } => format!(
            "{} waited to be written, {} of what makes writers wait (/proc/vmstat, \
             nr_dirty_threshold: {})",
            bytes(*waiting_bytes),
            percent(*share),
            bytes(*threshold_bytes)
        ),
        MemoryEvidence::DirtyRates { written_per_s, reached_per_s } => format!(
            "programs wrote {}/s, the disk {}/s",
            bytes(*written_per_s),
            bytes(*reached_per_s)
        ),
        MemoryEvidence::Refaults { bytes_per_s, share } => format!(
            "{}/s of files had been in memory shortly before and were read again (/proc/vmstat, \
             workingset_refault_file), {} of what was read",
            bytes(*bytes_per_s),
            percent(*share)
        ),
        MemoryEvidence::GroupMayHave { group, bytes: most } => {
            format!("the control group {group} may have {}", bytes(*most as f64))
        }
        MemoryEvidence::FromCache { read_per_s, is_buffered, from_device_per_s } => format!(
            "{}/s were read {} the page cache, but devices read only {}/s",
            bytes(*read_per_s),
            if *is_buffered { "through" } else { "past" },
            bytes(*from_device_per_s)
        ),
    }
}

pub(super) fn network(evidence: &NetworkEvidence) -> String {
    match evidence {
        NetworkEvidence::Lost { share } => {
            format!("{} of the datagrams did not arrive", percent(*share))
        }
        NetworkEvidence::SentAgain { per_gib, share, segment_bytes } => format!(
            "{per_gib:.0} segments were sent again for each GiB, {} of what it takes at \
             {segment_bytes:.0} bytes each",
            percent(*share)
        ),
        NetworkEvidence::NoCpuLeft { cpus } => format!(
            "nothing was left of this machine's {}, so that it may be the receiver itself",
            count((*cpus).into(), "CPU")
        ),
        NetworkEvidence::Dropped(all) => {
            let each = |Dropped { per_s, by }: &Dropped| {
                let count = rounded(*per_s);
                match by {
                    DroppedBy::Received(interface) => {
                        format!("{count} that arrived at {interface}")
                    }
                    DroppedBy::Sent(interface) => format!("{count} that left by {interface}"),
                    DroppedBy::Queue(queue) => format!("{count} by {}", queue_of(queue)),
                }
            };
            let who: Vec<String> = all.iter().map(each).collect();
            format!("packets were dropped, each second {}", listed(&who))
        }
        NetworkEvidence::Shaped { queue, overlimits_per_s, bits_per_s, backlog_bytes } => format!(
            "{} was over its limit {} times a second and let {} pass, with {} waiting",
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
                "this machine's CPUs worked {ns_per_byte:.1} ns for each byte, where copies take \
                 {copies_ns} at most: sec={does} all of them"
            )
        }
        NfsEvidence::AfterReply { share } => {
            format!("{} of a call's time passed after its reply had come", percent(*share))
        }
        NfsEvidence::Slots { queue_ms, share, in_flight, slots, setting } => format!(
            "a call waited {queue_ms:.3} ms before it was sent, {} of its time, and {in_flight:.1} \
             were on their way on the average, of {slots} that may be ({setting})",
            percent(*share)
        ),
        NfsEvidence::SentAgain { share } => {
            format!("{} of the calls were sent again", percent(*share))
        }
        NfsEvidence::Refused { credentials } => format!(
            "the server refused {credentials:.0} credentials in a trial: calls waited for a new \
             context"
        ),
        NfsEvidence::SmallCalls { brought_bytes, most_bytes, window_bytes, bdi } => format!(
            "a call brought {}, where {} fit into one: the kernel reads {} ahead \
             (/sys/class/bdi/{bdi}/read_ahead_kb)",
            bytes(*brought_bytes),
            bytes(*most_bytes),
            bytes(*window_bytes as f64)
        ),
        NfsEvidence::CallsInFlight { calls } => {
            format!("{calls:.1} calls were in flight on the average")
        }
        NfsEvidence::Attributes { per_operation, share, off } => format!(
            "for each operation the server was asked {per_operation:.1} times whether what is \
             known of a file still holds (GETATTR, ACCESS, LOOKUP), {} of the time: {off} \
             remembers nothing",
            percent(*share)
        ),
    }
}

pub(super) fn processor(evidence: &ProcessorEvidence) -> String {
    match evidence {
        ProcessorEvidence::QuotaUsedUp { share } => format!(
            "the control group had used up its CPU quota in {} of the time, and whatever was to \
             complete then had to wait",
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
            format!("{}: the time may be that of waiting for a CPU", taken(*share))
        }
        ProcessorEvidence::NotOurs { share } => {
            format!("{} of that was other programs and the kernel's threads", percent(*share))
        }
        ProcessorEvidence::AtDisk { share, disks } => {
            format!("{} of the time of I/Os passed at {} itself", percent(*share), listed(disks))
        }
        ProcessorEvidence::NoneLeft(meaning) => {
            let then = match meaning {
                NoneLeft::AnotherBegan => ": another program may have begun",
                NoneLeft::EncryptionNeedsThem => ", and encryption needs them",
                NoneLeft::SlowOnesWaited => ": the slow ones may be those that waited for a CPU",
                NoneLeft::MayWait => ": it may wait for a CPU",
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
            "{peak_iops:.0} IOPS in the first {seconds} seconds of a trial, then {rate_iops:.0} \
             within {} until its end",
            percent(*within)
        ),
    }
}

pub(super) fn stack(between: &Between) -> String {
    let Between { layers, upper, lower, at_upper, at_lower, share } = between;
    format!(
        "{} of the time of I/Os passed at {upper}, and {} at {lower} below it: {} passed in \
         between, at {}, which iotax put in",
        percent(*at_upper),
        percent(*at_lower),
        percent(*share),
        list(layers)
    )
}

pub(super) fn waiting(evidence: &WaitingEvidence) -> String {
    match evidence {
        WaitingEvidence::OneByOne { in_flight, latency_ns } => format!(
            "with {in_flight} in flight each I/O waits for the one before: throughput cannot \
             exceed {in_flight} / {}, which is {:.0} IOPS, however fast the disk is",
            time(*latency_ns),
            f64::from(*in_flight) * 1e9 / latency_ns
        ),
        WaitingEvidence::Written { disks, per_operation, share, mount, option } => format!(
            "{} was written {per_operation:.1} times for each operation, {} of its time: {mount} \
             is mounted with {option}",
            listed(disks),
            percent(*share)
        ),
        WaitingEvidence::InFsync { share, each_ns } => format!(
            "threads spent {} of their time in fsync, {} each",
            percent(*share),
            time(*each_ns)
        ),
        WaitingEvidence::Flushed { disks, per_s, each_ms } => format!(
            "{} was flushed {per_s:.0} times per second, {each_ms:.2} ms each",
            listed(disks)
        ),
        WaitingEvidence::OfFsync { disks, share } => format!(
            "flushes and writes of {} account for {} of the time in fsync",
            listed(disks),
            percent(*share)
        ),
    }
}

/// `the second luks, which iotax put in: 49 ms of its device's time per I/O (loop1 above vda)`.
pub fn put_in(put_in: &PutIn) -> String {
    let PutIn { layers, took_ns, more_than, upper, lower } = put_in;
    let names: Vec<String> = layers.iter().map(nth_layer).collect();
    let owner = if layers.len() == 1 { "its" } else { "their" };
    let than = more_than.as_ref().map_or(String::new(), |arm| format!(" more than in {arm}"));
    format!(
        "{}, which iotax put in: {} of {owner} device's time per I/O{than} ({upper} above {lower})",
        listed(&names),
        time(*took_ns)
    )
}

/// `luks`, or of several of its kind `the second luks`.
fn nth_layer(NthLayer { name, nth }: &NthLayer) -> String {
    const ORDINALS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];
    match nth.and_then(|nth| ORDINALS.get(nth)) {
        Some(ordinal) => format!("the {ordinal} {name}"),
        None => (*name).to_owned(),
    }
}
