//! A device's queue: `/sys/block/NAME/queue`, described in the kernel's
//! `Documentation/ABI/stable/sysfs-block`.

use std::path::Path;

use iotax_record::machine::Queue;

use crate::block::{names_in, number_in, text_in};

/// The settings of the disk with this directory in sysfs.
pub(super) fn queue(disk: &Path) -> Queue {
    let queue = disk.join("queue");
    let number = |name: &str| number_in(&queue.join(name));
    let text = |name: &str| text_in(&queue.join(name));
    let kib = |name: &str| number(name)?.checked_mul(1024);
    let flag = |name: &str| number(name).map(|flag| flag != 0);
    let queues = names_in(&disk.join("mq"));
    Queue {
        rotational: flag("rotational"),
        zoned: text("zoned"),
        logical_block_bytes: number("logical_block_size"),
        physical_block_bytes: number("physical_block_size"),
        scheduler: text("scheduler").and_then(|text| chosen(&text)),
        requests: number("nr_requests"),
        depth: number_in(&disk.join("device/queue_depth")),
        hardware_queues: (!queues.is_empty()).then_some(queues.len() as u64),
        read_ahead_bytes: kib("read_ahead_kb"),
        max_io_bytes: kib("max_sectors_kb"),
        max_hardware_io_bytes: kib("max_hw_sectors_kb"),
        no_merges: number("nomerges"),
        completion_affinity: number("rq_affinity"),
        write_cache: text("write_cache"),
        forced_unit_access: flag("fua"),
        discard_max_bytes: number("discard_max_bytes"),
        timeout_ms: number("io_timeout"),
        writeback_throttling_us: number("wbt_lat_usec"),
    }
}

/// The word in brackets of `[none] mq-deadline kyber`; without brackets there is no choice.
fn chosen(text: &str) -> Option<String> {
    let in_brackets = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    let word = in_brackets.map_or(text, |(word, _)| word).trim();
    (!word.is_empty()).then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;

    #[test]
    fn settings_are_in_bytes_and_what_is_absent_is_none() {
        let disk = tempfile::tempdir().unwrap();
        let files = [
            ("queue/rotational", "1\n"),
            ("queue/scheduler", "none [mq-deadline] kyber\n"),
            ("queue/nr_requests", "128\n"),
            ("queue/read_ahead_kb", "8\n"),
            ("queue/max_sectors_kb", "1280\n"),
            ("queue/write_cache", "write back\n"),
            ("queue/fua", "0\n"),
            ("queue/wbt_lat_usec", "-1\n"),
            ("device/queue_depth", "32\n"),
            ("mq/0/cpu_list", "0\n"),
            ("mq/1/cpu_list", "1\n"),
        ];
        for (name, text) in files {
            let path = disk.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let expected = Queue {
            rotational: Some(true),
            scheduler: Some("mq-deadline".to_owned()),
            requests: Some(128),
            depth: Some(32),
            hardware_queues: Some(2),
            read_ahead_bytes: Some(8 << 10),
            max_io_bytes: Some(1280 << 10),
            write_cache: Some("write back".to_owned()),
            forced_unit_access: Some(false),
            ..Queue::default()
        };
        assert_eq!(queue(disk.path()), expected);
        assert_eq!(queue(Path::new("/no/such/disk")), Queue::default());
    }

    #[test]
    fn the_scheduler_in_brackets_is_the_chosen_one() {
        assert_eq!(chosen("[none] mq-deadline").as_deref(), Some("none"));
        assert_eq!(chosen("none").as_deref(), Some("none"));
        assert_eq!(chosen("[]"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in ".*", brackets in r"[\[\] a]{0,9}") {
            chosen(&text);
            chosen(&brackets);
        }
    }
}
