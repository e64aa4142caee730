//! Files of `/proc` with one fact per line: `stat`, `pressure/*`, `vmstat`, `net/rpc/nfs`.

use iotax_record::CPU_MODES;

/// CPU time of the whole machine by mode, in ticks: the first line of `/proc/stat`. Modes that a
/// kernel lacks are 0; every kernel has four of them.
pub fn cpu_ticks(text: &str) -> Option<[u64; CPU_MODES]> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    figures(line.split_ascii_whitespace(), 4)
}

/// The first figures of a line. Some kernels have fewer, but none less than `fewest`; missing
/// figures are 0.
pub(super) fn figures<'a, const N: usize>(
    words: impl Iterator<Item = &'a str>,
    fewest: usize,
) -> Option<[u64; N]> {
    let read: Vec<u64> = words.take(N).map(|word| word.parse().ok()).collect::<Option<_>>()?;
    (read.len() >= fewest).then(|| std::array::from_fn(|at| read.get(at).copied().unwrap_or(0)))
}

/// Time in which tasks waited, in microseconds since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stall {
    /// At least one task waited.
    pub some_us: u64,
    /// All tasks that were not idle waited; 0 for the CPU before Linux 5.13, which lacks this line.
    pub full_us: u64,
}

/// The totals of a file of `/proc/pressure`, described in the kernel's
/// `Documentation/accounting/psi.rst`.
pub fn stall(text: &str) -> Option<Stall> {
    let total = |kind: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(kind)?.strip_prefix(' '))?;
        line.split(' ').find_map(|word| word.strip_prefix("total="))?.trim().parse().ok()
    };
    Some(Stall { some_us: total("some")?, full_us: total("full").unwrap_or(0) })
}

/// Page faults and the page cache, in pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Memory {
    /// Faults that waited for a device, since boot.
    pub major_faults: u64,
    /// Waiting to be written.
    pub dirty_pages: u64,
    /// Being written.
    pub writeback_pages: u64,
    /// Page cache of files and block devices.
    pub cached_pages: u64,
    /// Number of dirty pages at which writers must wait; 0 if this kernel does not report it.
    pub dirty_threshold_pages: u64,
    /// File pages that were evicted and soon read again, since boot; 0 if this kernel does not
    /// report it.
    pub file_refaults: u64,
}

/// From `/proc/vmstat`.
pub fn memory(text: &str) -> Option<Memory> {
    let of = |name| counter(text, name);
    Some(Memory {
        // Every kernel has the first four.
        major_faults: of("pgmajfault")?,
        dirty_pages: of("nr_dirty")?,
        writeback_pages: of("nr_writeback")?,
        cached_pages: of("nr_file_pages")?,
        dirty_threshold_pages: of("nr_dirty_threshold").unwrap_or(0),
        file_refaults: of("workingset_refault_file")
            .or_else(|| of("workingset_refault"))
            .unwrap_or(0),
    })
}

/// Totals of all NFS mounts of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NfsClient {
    pub calls: u64,
    /// Calls that were resent.
    pub retransmissions: u64,
    /// Credential checks: one for each call, and another if a server refused it.
    pub credentials: u64,
}

/// The line `rpc CALLS RETRANSMISSIONS CREDENTIALS` of `/proc/net/rpc/nfs` (`rpc_proc_show` in the
/// kernel's `net/sunrpc/stats.c`; `call_refresh` in `clnt.c` counts credentials).
pub fn nfs_client(text: &str) -> Option<NfsClient> {
    let line = text.lines().find_map(|line| line.strip_prefix("rpc "))?;
    let mut counts = line.split_ascii_whitespace().map(|word| word.parse().ok());
    let mut next = || counts.next()?;
    Some(NfsClient { calls: next()?, retransmissions: next()?, credentials: next()? })
}

/// Time in which a control group had used up its CPU quota, in microseconds: the field
/// `throttled_usec` of `cpu.stat`, or `throttled_time` (nanoseconds) in version 1.
pub(crate) fn throttled_us(text: &str) -> Option<u64> {
    counter(text, "throttled_usec").or_else(|| Some(counter(text, "throttled_time")? / 1000))
}

/// The figure of a line `NAME FIGURE`, the format of `/proc/vmstat` and the `*.stat` files of
/// control groups.
pub(crate) fn counter(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    value.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ticks_are_those_of_all_cpus_together() {
        let stat = "cpu  113445 0 24700 196237 3068 1 488 1450 7 8\ncpu0 9 9 9 9\n";
        let ticks = [113_445, 0, 24_700, 196_237, 3_068, 1, 488, 1_450, 7, 8];
        assert_eq!(cpu_ticks(stat), Some(ticks));
        assert_eq!(cpu_ticks("cpu  1 2 3 4\n"), Some([1, 2, 3, 4, 0, 0, 0, 0, 0, 0]));
        assert_eq!(cpu_ticks("cpu  1 2 3\n"), None);
        assert_eq!(cpu_ticks("cpu0 1 2 3 4\n"), None);
        assert_eq!(cpu_ticks(""), None);
    }

    #[test]
    fn pressure_has_totals() {
        let text = "some avg10=0.19 avg60=0.50 avg300=1.17 total=21923178\n\
                    full avg10=0.03 avg60=0.25 avg300=0.98 total=19765521\n";
        assert_eq!(stall(text), Some(Stall { some_us: 21_923_178, full_us: 19_765_521 }));
        let cpu = "some avg10=2.00 avg60=0.50 avg300=1.17 total=5\n";
        assert_eq!(stall(cpu), Some(Stall { some_us: 5, full_us: 0 }));
        assert_eq!(stall("something total=5\n"), None);
    }

    #[test]
    fn pages_are_found_by_their_names() {
        let text = "nr_free_pages 9\nnr_file_pages 4\nnr_dirty 1\nnr_writeback 2\n\
                    nr_writeback_temp 9\nworkingset_refault_file 6\nnr_dirty_threshold 5\n\
                    pgfault 9\npgmajfault 3\n";
        let pages = Memory {
            major_faults: 3,
            dirty_pages: 1,
            writeback_pages: 2,
            cached_pages: 4,
            dirty_threshold_pages: 5,
            file_refaults: 6,
        };
        assert_eq!(memory(text), Some(pages));
        assert_eq!(memory("nr_dirty 1\n"), None);
    }

    #[test]
    fn a_counter_is_found_by_its_whole_name() {
        let text = "nr_dirty_threshold 7\nnr_dirty 5\nnr_writeback x\n";
        assert_eq!(counter(text, "nr_dirty"), Some(5));
        assert_eq!(counter(text, "nr_dirty_threshold"), Some(7));
        assert_eq!(counter(text, "nr_writeback"), None);
    }

    #[test]
    fn the_nfs_client_counts_credentials_beside_calls() {
        let text = "net 0 0 0 0\nrpc 1234 5 1240\nproc4 69 0 1\n";
        let client = NfsClient { calls: 1234, retransmissions: 5, credentials: 1240 };
        assert_eq!(nfs_client(text), Some(client));
        assert_eq!(nfs_client("net 0 0\nrpc 1 2\n"), None);
        assert_eq!(nfs_client(""), None);
    }

    #[test]
    fn both_versions_of_groups_tell_how_long_they_waited() {
        let v2 = "usage_usec 5\nnr_periods 10\nnr_throttled 3\nthrottled_usec 1234\n";
        assert_eq!(throttled_us(v2), Some(1234));
        let v1 = "nr_periods 10\nnr_throttled 3\nthrottled_time 1234567\n";
        assert_eq!(throttled_us(v1), Some(1234));
        assert_eq!(throttled_us("usage_usec 5\n"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_a_parser_panic(text in ".*", number in "[0-9 ]{0,30}") {
            for text in [text, format!("cpu  {number}"), format!("some total={number}")] {
                cpu_ticks(&text);
                stall(&text);
                throttled_us(&text);
                nfs_client(&format!("rpc {text}"));
                counter(&text, "a");
                memory(&format!("nr_dirty {text}\n{text}"));
            }
        }
    }
}
