//! Figures of one stretch of time, from the counters at its two ends.
//!
//! Those of devices and CPUs are computed as sysstat 12.6 computes them (`iostat.c`, `common.c`),
//! whose rules for counters that go back are kept:
//!
//! - times are 32-bit counters of milliseconds and wrap around;
//! - a device whose counters all fell was removed and added again: it counts from zero;
//! - anything else that fell counts as 0. (iostat prints a huge number there.)

use iotax_record::{CPU_MODES, DISK_COUNTERS, NFS_COUNTERS, NFS_TRANSPORT_COUNTERS};
use serde::Serialize;

/// Sectors of `/proc/diskstats` have 512 bytes, whatever the device's own have.
const SECTOR_BYTES: f64 = 512.0;
const SECTORS_PER_MIB: f64 = 2048.0;
const SECTORS_PER_KIB: f64 = 2.0;
/// iostat's clock has hundredths of a second; an interval without any counts as one.
const HUNDREDTH_NS: u64 = 10_000_000;

/// Counts per second, in the order of iostat's own operations, so that both round alike.
pub(super) fn per_s(count: f64, length_ns: u64) -> f64 {
    count / (length_ns.max(HUNDREDTH_NS) as f64 / HUNDREDTH_NS as f64) * 100.0
}

/// One direction of a device.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct DirectionFigures {
    /// Requests completed per second: `r/s`.
    pub per_s: f64,
    /// MiB per second: `rMB/s`.
    pub mib_per_s: f64,
    /// Requests merged into others before they were queued, per second: `rrqm/s`.
    pub merged_per_s: f64,
    /// Share of requests that were merged: `%rrqm`.
    pub merged_percent: f64,
    /// Mean time from being queued to being completed, in milliseconds: `r_await`.
    pub await_ms: f64,
    /// Mean size of a request in KiB: `rareq-sz`.
    pub size_kib: f64,
}

/// A device, as `iostat -mx` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct DeviceFigures {
    pub read: DirectionFigures,
    pub write: DirectionFigures,
    pub discard: DirectionFigures,
    /// Flushes per second: `f/s`.
    pub flushes_per_s: f64,
    /// Mean time of a flush, in milliseconds: `f_await`.
    pub flush_await_ms: f64,
    /// Mean number of requests queued or being served: `aqu-sz`.
    pub queue_size: f64,
    /// Time in which at least one request was under way: `%util`.
    pub util_percent: f64,
    /// Mean time of reads, writes and discards together, in milliseconds: `await` of `iostat -s`.
    pub await_ms: f64,
}

/// CPU time of the whole machine, in percent of all CPUs, as iostat shows it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct CpuFigures {
    /// In programs.
    pub user_percent: f64,
    /// In programs of low priority.
    pub nice_percent: f64,
    /// In the kernel, interrupts included.
    pub system_percent: f64,
    /// Idle while a task waited for I/O.
    pub iowait_percent: f64,
    /// Taken by the hypervisor.
    pub steal_percent: f64,
    pub idle_percent: f64,
    /// Part of `system_percent`: interrupts.
    pub interrupt_percent: f64,
}

/// Time in which tasks waited for a resource, in percent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct StallFigures {
    /// At least one task waited.
    pub some_percent: f64,
    /// All tasks that were not idle waited.
    pub full_percent: f64,
}

/// Pressure stall information; what the kernel does not tell is absent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct PressureFigures {
    /// Waiting for a CPU.
    pub cpu: Option<StallFigures>,
    /// Waiting for I/O.
    pub io: Option<StallFigures>,
    /// Waiting for memory.
    pub memory: Option<StallFigures>,
}

/// Page faults and page cache of the whole machine.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct MemoryFigures {
    /// Faults that waited for a device, per second.
    pub major_faults_per_s: f64,
    /// Bytes waiting to be written.
    pub dirty_bytes: f64,
    /// Bytes being written.
    pub writeback_bytes: f64,
    /// Bytes of files and block devices in memory.
    pub cached_bytes: f64,
    /// Bytes waiting to be written at which writers must wait; 0 if the kernel does not tell.
    pub dirty_threshold_bytes: f64,
    /// Bytes of files thrown out of memory and soon read again, per second.
    pub refault_bytes_per_s: f64,
}

/// One kind of NFS operation, as nfsiostat shows it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct NfsFigures {
    /// Operations per second.
    pub per_s: f64,
    /// KiB sent and received per second, headers included.
    pub kib_per_s: f64,
    /// Transmissions beyond the first of an operation, per second.
    pub retransmissions_per_s: f64,
    /// Mean time before being sent, in milliseconds.
    pub queue_ms: f64,
    /// Mean time from sending to the reply, in milliseconds.
    pub rtt_ms: f64,
    /// Mean time from the request to its end, in milliseconds.
    pub execute_ms: f64,
    /// Operations that failed, per second.
    pub errors_per_s: f64,
}

/// One connection to an NFS server.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct NfsTransportFigures {
    /// Calls sent per second.
    pub sends_per_s: f64,
    /// Calls without a reply when another was sent, on the average.
    pub in_flight: f64,
    /// Calls for which no slot was free then.
    pub backlog: f64,
    /// Calls that waited to be sent then.
    pub sending: f64,
    /// Times it was connected anew.
    pub reconnects: f64,
}

/// All NFS mounts of the machine together.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct NfsClientFigures {
    /// Calls per second.
    pub calls_per_s: f64,
    /// Calls sent again, per second.
    pub retransmissions_per_s: f64,
    /// Credentials that were looked at a second time, since the server had refused them: lost
    /// contexts of Kerberos. How many there were, on the average of the trials.
    pub credentials_again: f64,
}

impl DirectionFigures {
    /// Bytes per second.
    pub fn bytes_per_s(&self) -> f64 {
        self.mib_per_s * (SECTORS_PER_MIB * SECTOR_BYTES)
    }

    /// Mean size of a request in bytes.
    pub fn size_bytes(&self) -> f64 {
        self.size_kib * (SECTORS_PER_KIB * SECTOR_BYTES)
    }
}

impl DeviceFigures {
    /// Between two readings of a device, `length_ns` nanoseconds apart.
    pub fn between(
        before: &[u64; DISK_COUNTERS],
        after: &[u64; DISK_COUNTERS],
        length_ns: u64,
    ) -> Self {
        let counted = disk_difference(before, after).map(|count| count as f64);
        let per_s = |count| per_s(count, length_ns);
        let [rio, rmerge, rsect, ruse, wio, wmerge, wsect, wuse, _running, busy, queued, ..] =
            counted;
        let [.., dio, dmerge, dsect, duse, fio, fuse] = counted;
        let direction = |ios, merges, sectors, use_ms| DirectionFigures {
            per_s: per_s(ios),
            mib_per_s: per_s(sectors) / SECTORS_PER_MIB,
            merged_per_s: per_s(merges),
            merged_percent: ratio(merges, merges + ios) * 100.0,
            await_ms: ratio(use_ms, ios),
            size_kib: ratio(sectors, ios) / SECTORS_PER_KIB,
        };
        Self {
            read: direction(rio, rmerge, rsect, ruse),
            write: direction(wio, wmerge, wsect, wuse),
            discard: direction(dio, dmerge, dsect, duse),
            flushes_per_s: per_s(fio),
            flush_await_ms: ratio(fuse, fio),
            queue_size: per_s(queued) / 1000.0,
            util_percent: per_s(busy) / 10.0,
            await_ms: ratio(ruse + wuse + duse, rio + wio + dio),
        }
    }

    /// MiB per second in all directions.
    pub fn mib_per_s(&self) -> f64 {
        self.read.mib_per_s + self.write.mib_per_s + self.discard.mib_per_s
    }
}

/// What was counted in between.
fn disk_difference(
    before: &[u64; DISK_COUNTERS],
    after: &[u64; DISK_COUNTERS],
) -> [u64; DISK_COUNTERS] {
    const IOS: [usize; 4] = [0, 4, 11, 15];
    const SECTORS: [usize; 3] = [2, 6, 13];
    const TIMES: [usize; 6] = [3, 7, 9, 10, 14, 16];
    let ios = |counters: &[u64; DISK_COUNTERS]| {
        IOS.iter().fold(0, |sum: u64, i| sum.wrapping_add(counters[*i]))
    };
    let fell = |i: &usize| before[*i] == 0 || after[*i] < before[*i];
    let was_replaced = ios(after) < ios(before) && SECTORS.iter().all(fell);
    let before = if was_replaced { &[0; DISK_COUNTERS] } else { before };
    std::array::from_fn(|i| {
        if TIMES.contains(&i) {
            let low = |value: u64| value & u64::from(u32::MAX);
            let wrapped = low(after[i].wrapping_sub(before[i]));
            // No interval is weeks long: a step that far ahead is one back.
            if wrapped > u64::from(u32::MAX / 2) { 0 } else { wrapped }
        } else {
            after[i].saturating_sub(before[i])
        }
    })
}

impl CpuFigures {
    /// Between two readings, in ticks.
    pub fn between(before: &[u64; CPU_MODES], after: &[u64; CPU_MODES]) -> Self {
        // Guests are part of user and nice.
        let total = |ticks: &[u64; CPU_MODES]| {
            ticks[..8].iter().fold(0, |sum: u64, mode| sum.wrapping_add(*mode))
        };
        let all = total(after).saturating_sub(total(before)).max(1) as f64;
        let percent = |modes: &[usize]| {
            let sum = |ticks: &[u64; CPU_MODES]| {
                modes.iter().fold(0, |sum: u64, i| sum.wrapping_add(ticks[*i]))
            };
            sum(after).saturating_sub(sum(before)) as f64 / all * 100.0
        };
        Self {
            user_percent: percent(&[0]),
            nice_percent: percent(&[1]),
            system_percent: percent(&[2, 5, 6]),
            iowait_percent: percent(&[4]),
            steal_percent: percent(&[7]),
            idle_percent: percent(&[3]),
            interrupt_percent: percent(&[5, 6]),
        }
    }
}

impl NfsFigures {
    /// Several kinds of calls as one: rates add up, times are means over the calls.
    pub fn together(all: &[Self]) -> Self {
        let sum = |of: fn(&Self) -> f64| all.iter().map(of).sum::<f64>();
        let mean = |of: fn(&Self) -> f64| {
            ratio(all.iter().map(|one| one.per_s * of(one)).sum(), sum(|one| one.per_s))
        };
        Self {
            per_s: sum(|one| one.per_s),
            kib_per_s: sum(|one| one.kib_per_s),
            retransmissions_per_s: sum(|one| one.retransmissions_per_s),
            errors_per_s: sum(|one| one.errors_per_s),
            queue_ms: mean(|one| one.queue_ms),
            rtt_ms: mean(|one| one.rtt_ms),
            execute_ms: mean(|one| one.execute_ms),
        }
    }

    /// Between two readings of an operation, `length_ns` nanoseconds apart.
    pub(super) fn between(
        before: &[u64; NFS_COUNTERS],
        after: &[u64; NFS_COUNTERS],
        length_ns: u64,
    ) -> Self {
        let counted: [f64; NFS_COUNTERS] =
            std::array::from_fn(|i| after[i].saturating_sub(before[i]) as f64);
        let [ops, sent, _timeouts, bytes_sent, bytes_received, queue, rtt, execute, errors] =
            counted;
        let per_s = |count| per_s(count, length_ns);
        Self {
            per_s: per_s(ops),
            kib_per_s: per_s(bytes_sent + bytes_received) / 1024.0,
            retransmissions_per_s: per_s((sent - ops).max(0.0)),
            queue_ms: ratio(queue, ops),
            rtt_ms: ratio(rtt, ops),
            execute_ms: ratio(execute, ops),
            errors_per_s: per_s(errors),
        }
    }
}

impl NfsTransportFigures {
    /// Between two readings of a connection, `length_ns` nanoseconds apart.
    pub(super) fn between(
        before: &[u64; NFS_TRANSPORT_COUNTERS],
        after: &[u64; NFS_TRANSPORT_COUNTERS],
        length_ns: u64,
    ) -> Self {
        let counted: [f64; NFS_TRANSPORT_COUNTERS] =
            std::array::from_fn(|i| after[i].saturating_sub(before[i]) as f64);
        let [connects, sends, _replies, _to_no_call, in_flight, backlog, sending, _waiting] =
            counted;
        Self {
            sends_per_s: per_s(sends, length_ns),
            in_flight: ratio(in_flight, sends),
            backlog: ratio(backlog, sends),
            sending: ratio(sending, sends),
            reconnects: connects,
        }
    }
}

/// 0 of nothing.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BEFORE: [u64; 17] =
        [1000, 10, 8000, 500, 2000, 20, 16000, 900, 0, 700, 1400, 5, 0, 40, 3, 7, 70];

    fn after(added: [u64; 17]) -> [u64; 17] {
        std::array::from_fn(|i| BEFORE[i].wrapping_add(added[i]))
    }

    #[test]
    fn figures_are_those_of_iostat() {
        let added = [200, 50, 4096, 100, 400, 0, 8192, 1000, 3, 500, 1500, 2, 2, 2048, 8, 4, 20];
        let figures = DeviceFigures::between(&BEFORE, &after(added), 2_000_000_000);
        let read = DirectionFigures {
            per_s: 100.0,
            mib_per_s: 1.0,
            merged_per_s: 25.0,
            merged_percent: 20.0,
            await_ms: 0.5,
            size_kib: 10.24,
        };
        assert_eq!(figures.read, read);
        assert_eq!((figures.write.await_ms, figures.write.merged_percent), (2.5, 0.0));
        assert_eq!((figures.discard.merged_percent, figures.discard.await_ms), (50.0, 4.0));
        assert_eq!((figures.flushes_per_s, figures.flush_await_ms), (2.0, 5.0));
        assert_eq!((figures.queue_size, figures.util_percent), (0.75, 25.0));
        assert_eq!(figures.mib_per_s(), 3.5);
    }

    #[test]
    fn times_wrap_around_at_32_bits_and_nothing_else_does() {
        let mut before = BEFORE;
        (before[3], before[10]) = (u64::from(u32::MAX) - 49, u64::from(u32::MAX));
        let mut after = BEFORE;
        (after[0], after[3], after[10]) = (1001, 50, 999);
        (before[6], after[6]) = (u64::from(u32::MAX), 5);
        let figures = DeviceFigures::between(&before, &after, 1_000_000_000);
        assert_eq!(figures.read.await_ms, 100.0);
        assert_eq!(figures.queue_size, 1.0);
        assert_eq!(figures.write.mib_per_s, 0.0);
    }

    #[test]
    fn a_counter_that_falls_a_little_counts_as_zero() {
        let mut after = BEFORE;
        (after[0], after[3], after[10]) = (1100, 490, 1399);
        let figures = DeviceFigures::between(&BEFORE, &after, 1_000_000_000);
        assert_eq!((figures.read.await_ms, figures.queue_size), (0.0, 0.0));
    }

    #[test]
    fn a_device_that_was_plugged_in_again_counts_from_zero() {
        let after = [10, 0, 80, 5, 0, 0, 0, 0, 0, 7, 9, 0, 0, 0, 0, 0, 0];
        let figures = DeviceFigures::between(&BEFORE, &after, 1_000_000_000);
        assert_eq!((figures.read.per_s, figures.read.await_ms), (10.0, 0.5));
    }

    #[test]
    fn cpu_time_is_shared_out_without_guests() {
        let before = [10, 0, 20, 500, 3, 1, 1, 0, 5, 0];
        let after = [30, 10, 40, 540, 3, 6, 6, 0, 25, 0];
        let cpu = CpuFigures::between(&before, &after);
        assert_eq!((cpu.user_percent, cpu.nice_percent, cpu.system_percent), (20.0, 10.0, 30.0));
        assert_eq!((cpu.idle_percent, cpu.interrupt_percent), (40.0, 10.0));
        let back = CpuFigures::between(&after, &before);
        assert_eq!((back.user_percent, back.idle_percent), (0.0, 0.0));
    }

    #[test]
    fn nfs_operations_are_averaged() {
        let nfs =
            NfsFigures::between(&[0; 9], &[10, 12, 0, 1024, 9216, 20, 50, 80, 1], 2_000_000_000);
        assert_eq!((nfs.per_s, nfs.kib_per_s, nfs.retransmissions_per_s), (5.0, 5.0, 1.0));
        assert_eq!(
            (nfs.queue_ms, nfs.rtt_ms, nfs.execute_ms, nfs.errors_per_s),
            (2.0, 5.0, 8.0, 0.5)
        );
    }

    #[test]
    fn sums_over_calls_become_means_of_a_connection() {
        let figures = NfsTransportFigures::between(
            &[1, 100, 100, 0, 50, 0, 0, 0],
            &[1, 300, 299, 0, 850, 100, 20, 9],
            2_000_000_000,
        );
        let expected = NfsTransportFigures {
            sends_per_s: 100.0,
            in_flight: 4.0,
            backlog: 0.5,
            sending: 0.1,
            reconnects: 0.0,
        };
        assert_eq!(figures, expected);
    }

    proptest! {
        #[test]
        fn any_counters_give_numbers(
            before in any::<[u64; 17]>(), after in any::<[u64; 17]>(), length_ns in 0..10_000_000_000_u64,
        ) {
            let figures = DeviceFigures::between(&before, &after, length_ns);
            for direction in [figures.read, figures.write, figures.discard] {
                prop_assert!(direction.per_s >= 0.0 && direction.await_ms.is_finite());
                prop_assert!((0.0..=100.0).contains(&direction.merged_percent));
            }
            prop_assert!(figures.queue_size >= 0.0 && figures.util_percent.is_finite());
            let cpu: [u64; 10] = before[..10].try_into().unwrap();
            let later: [u64; 10] = after[..10].try_into().unwrap();
            prop_assert!(CpuFigures::between(&cpu, &later).user_percent >= 0.0);
        }
    }
}
