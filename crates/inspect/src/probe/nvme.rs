//! Log pages of `NVMe` controllers, through the admin commands that Linux passes to them
//! (`linux/nvme_ioctl.h`). A `Get Log Page` changes nothing, but needs root.
//!
//! The call has not been tried on such a controller. Callers check the data that it returns.
#![expect(unsafe_code, reason = "the only call here without a safe Rust wrapper")]

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use iotax_record::machine::{Device, DeviceKind, EbsCounters, Unseen};
use rustix::ioctl::{Opcode, Updater, ioctl};

use crate::deadline::within;

const PAGE_BYTES: usize = 4096;
/// `NVME_IOCTL_ADMIN_CMD`: `_IOWR('N', 0x41, struct nvme_admin_cmd)`.
const ADMIN_COMMAND: Opcode = 0xC048_4E41;
/// `Get Log Page`.
const GET_LOG_PAGE: u8 = 0x02;
/// Length of a page in double words, which the command contains.
const PAGE_WORDS: u32 = 1024 << 16;
/// Amazon's log pages describe the volume, which is the first namespace.
const NAMESPACE: u32 = 1;
const TIMEOUT_MS: u32 = 500;

/// `struct nvme_passthru_cmd`.
#[repr(C)]
#[derive(Default)]
struct Command {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    words_2_3: [u32; 2],
    metadata: u64,
    address: u64,
    metadata_bytes: u32,
    data_bytes: u32,
    words_10_15: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

/// The log page with this number of the device at `path`; `None` if the device does not have it, or
/// if this user may not read it.
fn log_page(path: &Path, number: u8) -> Option<Box<[u8; PAGE_BYTES]>> {
    let device = File::open(path).ok()?;
    let mut page = Box::new([0_u8; PAGE_BYTES]);
    let mut command = Command {
        opcode: GET_LOG_PAGE,
        namespace: NAMESPACE,
        address: page.as_mut_ptr() as u64,
        data_bytes: u32::try_from(PAGE_BYTES).expect("a page is small"),
        words_10_15: [u32::from(number) | PAGE_WORDS, 0, 0, 0, 0, 0],
        timeout_ms: TIMEOUT_MS,
        ..Command::default()
    };
    // SAFETY: the opcode contains the size of `Command`, which has the layout of the kernel's
    // struct.
    let update = unsafe { Updater::<ADMIN_COMMAND, _>::new(&mut command) };
    // SAFETY: the kernel writes `result` in the command, and at most `data_bytes` at `address`,
    // which is `page`. It lives until after the call, and nothing else accesses it meanwhile.
    unsafe { ioctl(&device, update) }.ok()?;
    Some(page)
}

// Counters in the controller of an Amazon EBS volume: log page 0xD0.
//
// Source: <https://docs.aws.amazon.com/ebs/latest/userguide/nvme-detailed-performance-stats.html>.

const MODEL: &str = "Amazon Elastic Block Store";
const PAGE: u8 = 0xD0;
const MAGIC: u64 = 0x3C23_B510;
/// Longer than the command itself may take.
const LIMIT: Duration = Duration::from_secs(1);

/// Reads the counters of the volumes among `devices`.
pub(super) fn fill<'a>(devices: impl Iterator<Item = &'a mut Device>, unseen: &mut Vec<Unseen>) {
    let is_volume = |device: &&mut Device| {
        // The hidden paths of a multipath disk have no number.
        device.kind == DeviceKind::Disk
            && device.model.as_deref() == Some(MODEL)
            && !device.number.is_empty()
    };
    for device in devices.filter(is_volume) {
        let path = Path::new("/dev").join(&device.name);
        let page = within(LIMIT, move || log_page(&path, PAGE)).flatten();
        device.ebs = page.and_then(|page| counters(&page));
        // Volumes of the first Nitro instances do not report them even to root.
        if device.ebs.is_none() && !rustix::process::geteuid().is_root() {
            let what = format!("for how long {} exceeded its EBS limits", device.name);
            unseen.push(Unseen::new(what, "as root: iotax doctor"));
        }
    }
}

/// Numbers of eight bytes, lowest byte first; `None` if the page has another format.
fn counters(page: &[u8; PAGE_BYTES]) -> Option<EbsCounters> {
    let (words, _) = page.as_chunks::<8>();
    let word = |place: usize| u64::from_le_bytes(words[place]);
    // The magic number is followed by operations, bytes and times, of reads and of writes.
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

    #[test]
    fn the_command_has_the_size_that_the_opcode_says() {
        assert_eq!(size_of::<Command>(), (ADMIN_COMMAND as usize >> 16) & 0x3fff);
        assert_eq!(std::mem::offset_of!(Command, address), 24);
        assert_eq!(std::mem::offset_of!(Command, words_10_15), 40);
    }

    #[test]
    fn what_is_no_controller_tells_nothing() {
        for path in ["/dev/null", "/proc/self/stat", "/no/such/device"] {
            assert!(log_page(Path::new(path), 0xD0).is_none(), "{path}");
        }
    }

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
