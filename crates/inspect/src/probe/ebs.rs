//! What the controller of an Amazon EBS volume counts: log page 0xD0.
//!
//! Source: <https://docs.aws.amazon.com/ebs/latest/userguide/nvme-detailed-performance-stats.html>.

use std::path::Path;
use std::time::Duration;

use iotax_record::machine::{Device, DeviceKind, EbsCounters, Unseen};

use super::nvme::{PAGE_BYTES, log_page};
use crate::deadline::within;

const MODEL: &str = "Amazon Elastic Block Store";
const PAGE: u8 = 0xD0;
const MAGIC: u64 = 0x3C23_B510;
/// Longer than the command itself may take.
const LIMIT: Duration = Duration::from_secs(1);

/// Asks the volumes among `devices`.
pub(super) fn fill<'a>(devices: impl Iterator<Item = &'a mut Device>, unseen: &mut Vec<Unseen>) {
    let is_volume = |device: &&mut Device| {
        // The hidden paths of a disk that has several have no number.
        device.kind == DeviceKind::Disk
            && device.model.as_deref() == Some(MODEL)
            && !device.number.is_empty()
    };
    for device in devices.filter(is_volume) {
        let path = Path::new("/dev").join(&device.name);
        let page = within(LIMIT, move || log_page(&path, PAGE)).flatten();
        device.ebs = page.and_then(|page| counters(&page));
        // Volumes of the first Nitro instances do not tell root either.
        if device.ebs.is_none() && !rustix::process::geteuid().is_root() {
            unseen.push(Unseen {
                what: format!("how long {} was held at the limits of EBS", device.name),
                how: "as root: iotax doctor".to_owned(),
            });
        }
    }
}

/// Numbers of eight bytes, the lowest first; `None` if the page is not of the kind.
fn counters(page: &[u8; PAGE_BYTES]) -> Option<EbsCounters> {
    let (words, _) = page.as_chunks::<8>();
    let word = |place: usize| u64::from_le_bytes(words[place]);
    // Behind the magic stand operations, bytes and times, of reads and of writes.
    (word(0) == MAGIC).then(|| EbsCounters {
        volume_iops_exceeded_us: word(7),
        volume_throughput_exceeded_us: word(8),
        instance_iops_exceeded_us: word(9),
        instance_throughput_exceeded_us: word(10),
        queue_length: word(11),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(words: &[u64]) -> [u8; PAGE_BYTES] {
        let mut page = [0; PAGE_BYTES];
        for (bytes, word) in page.chunks_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        page
    }

    #[test]
    fn times_at_each_limit_stand_behind_the_totals() {
        let found = counters(&page(&[MAGIC, 1, 2, 3, 4, 5, 6, 70, 80, 90, 100, 11])).unwrap();
        let expected = EbsCounters {
            volume_iops_exceeded_us: 70,
            volume_throughput_exceeded_us: 80,
            instance_iops_exceeded_us: 90,
            instance_throughput_exceeded_us: 100,
            queue_length: 11,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn other_pages_are_none() {
        assert_eq!(counters(&page(&[])), None);
        assert_eq!(counters(&page(&[MAGIC + 1, 1, 2, 3])), None);
    }

    #[test]
    fn other_disks_are_not_asked() {
        let mut disk = Device { model: Some("virtio disk".to_owned()), ..Device::default() };
        let mut unseen = Vec::new();
        fill([&mut disk].into_iter(), &mut unseen);
        assert_eq!((disk.ebs, unseen.len()), (None, 0));
    }
}
