//! Reads the kernel's state: its settings and those of its modules (`/sys/module/*/parameters`,
//! `/proc/sys`, `/proc/crypto`), counters that are read twice, memory, pressure and interrupts.

use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, thread};

use iotax_record::machine::{
    Counting, KernelSettings, MemorySeen, MountSeen, PressureAverages, Swap, WritebackSettings,
};

use super::nfs::sent_again;
use crate::block::number_in;
use crate::counters::{NfsMount, counter, nfs_mounts};
use crate::machine::available_memory_bytes;
use crate::mounts::unescape;

/// The settings of a system with this root.
pub(super) fn settings(root: &Path) -> KernelSettings {
    let parameter = |module: &str, name: &str| {
        number_in(&root.join("sys/module").join(module).join("parameters").join(name))
    };
    let crypto = fs::read_to_string(root.join("proc/crypto")).unwrap_or_default();
    KernelSettings {
        nvme_timeout_s: parameter("nvme_core", "io_timeout"),
        nvme_sleep_latency_us: parameter("nvme_core", "default_ps_max_latency_us"),
        crypt_max_read_bytes: parameter("dm_crypt", "max_read_size"),
        crypt_max_write_bytes: parameter("dm_crypt", "max_write_size"),
        nfs_most_slots: number_in(&root.join("proc/sys/sunrpc/tcp_max_slot_table_entries")),
        nfs_session_slots: parameter("nfs", "max_session_slots"),
        xts_driver: preferred(&crypto, "xts(aes)"),
    }
}

/// The driver that the kernel uses for an algorithm: the one with the highest priority. Algorithms
/// are blocks of lines `key : value`; some are only building blocks for others.
fn preferred(text: &str, algorithm: &str) -> Option<String> {
    let blocks = text.split("\n\n").filter_map(|block| {
        let value = |key: &str| {
            let pairs = block.lines().filter_map(|line| line.split_once(':'));
            pairs.map(|(key, value)| (key.trim(), value.trim())).find(|(name, _)| *name == key)
        };
        let is_it = value("name")?.1 == algorithm;
        let is_internal = value("internal").is_some_and(|(_, value)| value == "yes");
        let priority: i64 = value("priority")?.1.parse().ok()?;
        (is_it && !is_internal).then_some((priority, value("driver")?.1))
    });
    let best = blocks.max_by_key(|(priority, _)| *priority)?;
    Some(best.1.to_owned())
}

// Counters that are read twice, to distinguish past problems from current ones.

/// The first reading.
pub(super) struct Watch {
    began: Instant,
    first: Reading,
}

struct Reading {
    file_refaults: Option<u64>,
    nfs: Vec<NfsMount>,
}

impl Reading {
    fn now(has_nfs: bool) -> Self {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let nfs = if has_nfs { nfs_mounts(&text("/proc/self/mountstats")) } else { Vec::new() };
        Self { file_refaults: counter(&text("/proc/vmstat"), "workingset_refault_file"), nfs }
    }

    fn of(&self, mount: &MountSeen) -> Option<u64> {
        let is_it = |stats: &&NfsMount| stats.mount_point.to_str() == Some(&*mount.mount_point);
        self.nfs.iter().rev().find(is_it).map(sent_again)
    }
}

impl Watch {
    /// Reads for the first time.
    pub(super) fn begin(has_nfs: bool) -> Self {
        Self { began: Instant::now(), first: Reading::now(has_nfs) }
    }

    /// Reads again once `least` has passed, and reports how much the counters grew.
    pub(super) fn end<'a>(
        self,
        least: Duration,
        mounts: impl Iterator<Item = &'a mut MountSeen>,
    ) -> Counting {
        thread::sleep(least.saturating_sub(self.began.elapsed()));
        let watched = self.began.elapsed();
        let second = Reading::now(!self.first.nfs.is_empty());
        for mount in mounts {
            let more = self.first.of(mount).zip(second.of(mount));
            if let (Some(nfs), Some((before, after))) = (&mut mount.nfs, more) {
                nfs.sent_again_while_watched = Some(after.saturating_sub(before));
            }
        }
        let refaults = self.first.file_refaults.zip(second.file_refaults);
        Counting {
            up_s: up_s(),
            watched_ms: u64::try_from(watched.as_millis()).ok(),
            more_file_refaults: refaults.map(|(before, after)| after.saturating_sub(before)),
        }
    }
}

/// Seconds since boot, the first word of `/proc/uptime`: `350735.47 234388.90`.
pub(super) fn up_s() -> Option<u64> {
    let text = fs::read_to_string("/proc/uptime").ok()?;
    text.split('.').next()?.parse().ok()
}

// Memory, page cache and swap: `/proc/vmstat`, `/proc/swaps`, `/proc/sys/vm/dirty_*`.

/// Memory of this machine.
pub(super) fn memory() -> MemorySeen {
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let vmstat = text("/proc/vmstat");
    let page_bytes = rustix::param::page_size() as u64;
    let bytes = |name: &str| counter(&vmstat, name)?.checked_mul(page_bytes);
    MemorySeen {
        available_bytes: available_memory_bytes(),
        writeback: writeback(Path::new("/proc/sys/vm")),
        dirty_bytes: bytes("nr_dirty"),
        being_written_bytes: bytes("nr_writeback"),
        dirty_threshold_bytes: bytes("nr_dirty_threshold"),
        file_refaults: counter(&vmstat, "workingset_refault_file"),
        pressure: averages(&text("/proc/pressure/memory")),
        io_pressure: averages(&text("/proc/pressure/io")),
        swaps: swaps(&text("/proc/swaps")),
    }
}

fn writeback(settings: &Path) -> WritebackSettings {
    let number = |name: &str| number_in(&settings.join(name));
    WritebackSettings {
        dirty_percent: number("dirty_ratio"),
        dirty_bytes: number("dirty_bytes"),
        background_percent: number("dirty_background_ratio"),
        background_bytes: number("dirty_background_bytes"),
        expire_centiseconds: number("dirty_expire_centisecs"),
    }
}

/// `/dev/sda2  partition  8388604  12  -2`, sizes in KiB, below a header line.
fn swaps(text: &str) -> Vec<Swap> {
    let swap = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let (path, _kind) = (words.next()?, words.next()?);
        let mut bytes = || words.next()?.parse::<u64>().ok()?.checked_mul(1024);
        Some(Swap { path: unescape(path), size_bytes: bytes()?, used_bytes: bytes()? })
    };
    text.lines().skip(1).filter_map(swap).collect()
}

// Shares of time in which tasks waited: `/proc/pressure/*` and `*.pressure` of control groups,
// described in the kernel's `Documentation/accounting/psi.rst`.

/// `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`, and the same for `full`.
pub(super) fn averages(text: &str) -> Option<PressureAverages> {
    let average = |kind: &str, over: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(kind)?.strip_prefix(' '))?;
        let value = line.split_ascii_whitespace().find_map(|word| word.strip_prefix(over))?;
        value.strip_prefix('=')?.parse().ok().filter(|share: &f64| share.is_finite())
    };
    Some(PressureAverages {
        some_10s_percent: average("some", "avg10")?,
        some_300s_percent: average("some", "avg300")?,
        full_10s_percent: average("full", "avg10").unwrap_or(0.0),
        full_300s_percent: average("full", "avg300").unwrap_or(0.0),
    })
}

// Which CPUs handle a device's interrupts: `/proc/interrupts`, described in proc(5).

/// Interrupts of a device's queues for each CPU, summed over its queues; empty if it has none of
/// its own. `owner` is the driver's name for them: `nvme0` or `virtio3`.
pub(super) fn per_cpu(text: &str, owner: &str) -> Vec<u64> {
    let cpus = text.lines().next().map_or(0, |line| {
        line.split_ascii_whitespace().filter(|word| word.starts_with("CPU")).count()
    });
    let mut sums: Vec<u64> = Vec::new();
    for line in text.lines().skip(1) {
        let mut words = line.split_ascii_whitespace();
        let (Some(_number), Some(last)) = (words.next(), line.split_ascii_whitespace().next_back())
        else {
            continue;
        };
        if !is_queue(last, owner) {
            continue;
        }
        let counts: Vec<u64> = words.take(cpus).map_while(|word| word.parse().ok()).collect();
        if counts.len() < cpus {
            continue;
        }
        sums.resize(cpus, 0);
        for (sum, count) in sums.iter_mut().zip(counts) {
            *sum = sum.saturating_add(count);
        }
    }
    sums
}

/// `nvme0q1`, where queue 0 is not for I/O; `virtio3-req.0`, `virtio3-requests`.
fn is_queue(name: &str, owner: &str) -> bool {
    let Some(rest) = name.strip_prefix(owner) else { return false };
    match rest.strip_prefix('q') {
        Some(queue) => queue.parse::<u32>().is_ok_and(|queue| queue > 0),
        None => rest.starts_with("-req"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CRYPTO: &str = "\
name         : xts(aes)
driver       : xts(ecb(aes-fixed-time))
priority     : 101
internal     : no

name         : xts(aes)
driver       : __xts-aes-aesni
priority     : 900
internal     : yes

name         : xts(aes)
driver       : xts-aes-vaes-avx512
priority     : 800
internal     : no

name         : cbc(aes)
driver       : cbc-aes-aesni
priority     : 999
internal     : no
";

    #[test]
    fn the_driver_of_highest_priority_that_can_be_used_is_preferred() {
        assert_eq!(preferred(CRYPTO, "xts(aes)").as_deref(), Some("xts-aes-vaes-avx512"));
        assert_eq!(preferred(CRYPTO, "gcm(aes)"), None);
    }

    #[test]
    fn settings_of_modules_that_are_there_are_read() {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("sys/module/nvme_core/parameters/io_timeout", "4294967295\n"),
            ("sys/module/dm_crypt/parameters/max_read_size", "0\n"),
            ("proc/sys/sunrpc/tcp_max_slot_table_entries", "65536\n"),
            ("proc/crypto", CRYPTO),
        ] {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let expected = KernelSettings {
            nvme_timeout_s: Some(4_294_967_295),
            crypt_max_read_bytes: Some(0),
            nfs_most_slots: Some(65536),
            xts_driver: Some("xts-aes-vaes-avx512".to_owned()),
            ..KernelSettings::default()
        };
        assert_eq!(settings(root.path()), expected);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_of_ciphers_panic(text in ".*", value in "[0-9a-z: \n]{0,40}") {
            preferred(&text, "xts(aes)");
            preferred(&format!("name: a\ndriver: {value}\npriority: {value}"), "a");
        }
    }

    #[test]
    fn counters_are_read_again_after_a_while() {
        let least = Duration::from_millis(20);
        let counting = Watch::begin(true).end(least, std::iter::empty());
        assert!(counting.watched_ms >= Some(20));
        assert!(counting.up_s > Some(0));
        // Kernels before 5.9 count anonymous and file pages together.
        let text = fs::read_to_string("/proc/vmstat").unwrap();
        assert_eq!(
            counting.more_file_refaults.is_some(),
            counter(&text, "workingset_refault_file").is_some()
        );
    }

    #[test]
    fn what_an_nfs_mount_sent_again_meanwhile_is_told_of_that_mount() {
        let of = |transmissions: u64| {
            nfs_mounts(&format!(
                "device s:/x mounted on /m with fstype nfs4 statvers=1.1\n\tage:\t7\n\
                 \tper-op statistics\n\tREAD: 10 {transmissions} 0 1 1 1 1 1\n"
            ))
        };
        let first = Reading { file_refaults: None, nfs: of(12) };
        let second = Reading { file_refaults: None, nfs: of(15) };
        let mount = MountSeen { mount_point: "/m".to_owned(), ..MountSeen::default() };
        assert_eq!((first.of(&mount), second.of(&mount)), (Some(2), Some(5)));
        assert_eq!(first.of(&MountSeen::default()), None);
    }

    #[test]
    fn swaps_are_in_bytes() {
        let text = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n\
                    /dev/zram0                              partition\t1024\t\t4\t\t100\n\
                    /swap\\040file                          file\t\t2\t\t0\t\t-2\n\
                    broken partition x 1 1\n";
        let swap = |path: &str, size_bytes, used_bytes| Swap {
            path: path.to_owned(),
            size_bytes,
            used_bytes,
        };
        assert_eq!(swaps(text), [swap("/dev/zram0", 1 << 20, 4096), swap("/swap file", 2048, 0)]);
    }

    #[test]
    fn this_machine_tells_of_its_memory() {
        let found = memory();
        assert!(found.available_bytes.unwrap() > 0);
        assert!(found.dirty_threshold_bytes.unwrap() > 0);
        assert!(found.writeback.expire_centiseconds.is_some());
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parsers_panic(text in ".*", line in r"[a-z0-9\\ ]{0,30}") {
            swaps(&text);
            swaps(&format!("titles\n{line}"));
        }
    }

    #[test]
    fn both_lines_are_read() {
        let text = "some avg10=55.54 avg60=52.97 avg300=29.62 total=2442676233\n\
                    full avg10=51.35 avg60=39.67 avg300=17.68 total=1364767186\n";
        let found = averages(text).unwrap();
        assert_eq!((found.some_10s_percent, found.some_300s_percent), (55.54, 29.62));
        assert_eq!((found.full_10s_percent, found.full_300s_percent), (51.35, 17.68));
        assert_eq!(averages("some avg10=1 avg60=2\n"), None);
        assert_eq!(averages("some avg10=NaN avg300=NaN\n"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_of_pressure_panic(text in ".*", value in "[a-z0-9=. ]{0,30}") {
            averages(&text);
            averages(&format!("some avg10={value} avg300={value}"));
        }
    }

    const FIXTURE: &str = "           CPU0       CPU1
 24:          1          0  IO-APIC   5-edge      ACPI:Ged
 26:          9          9 PCI-MSIX-0000:00:04.0   0-edge      nvme0q0
 27:          3          0 PCI-MSIX-0000:00:04.0   1-edge      nvme0q1
 28:          0          4 PCI-MSIX-0000:00:04.0   2-edge      nvme0q2
 29:          7          7 PCI-MSIX-0000:00:05.0   2-edge      nvme01q2
 35:          0          1 PCI-MSIX-0000:00:02.0   0-edge      virtio1-config
 36:          0   23421531 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0
 37:          8          8 PCI-MSIX-0000:00:02.0   1-edge      virtio11-req.0
LOC:    7728930    7928187   Local timer interrupts
ERR:          0
";

    #[test]
    fn queues_of_one_device_are_summed() {
        assert_eq!(per_cpu(FIXTURE, "nvme0"), [3, 4]);
        assert_eq!(per_cpu(FIXTURE, "virtio1"), [0, 23_421_531]);
        assert_eq!(per_cpu(FIXTURE, "virtio2"), [0; 0]);
        assert_eq!(per_cpu("", "nvme0"), [0; 0]);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_of_interrupts_panic(text in ".*", line in "[0-9: ]{0,40}") {
            per_cpu(&text, "nvme0");
            per_cpu(&format!("CPU0 CPU1\n{line} nvme0q1\n{line}{line}"), "nvme0");
        }
    }
}
