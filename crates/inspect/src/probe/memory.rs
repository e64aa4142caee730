//! Memory, page cache and swap: `/proc/vmstat`, `/proc/swaps`, `/proc/sys/vm/dirty_*`.

use std::fs;
use std::path::Path;

use iotax_record::machine::{MemorySeen, Swap, WritebackSettings};

use super::pressure::averages;
use crate::block::number_in;
use crate::counters::counter;
use crate::machine::available_memory_bytes;
use crate::mounts::unescape;

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

/// `/dev/sda2  partition  8388604  12  -2`, sizes in KiB, below a line of titles.
fn swaps(text: &str) -> Vec<Swap> {
    let swap = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let (path, _kind) = (words.next()?, words.next()?);
        let mut bytes = || words.next()?.parse::<u64>().ok()?.checked_mul(1024);
        Some(Swap { path: unescape(path), size_bytes: bytes()?, used_bytes: bytes()? })
    };
    text.lines().skip(1).filter_map(swap).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
}
