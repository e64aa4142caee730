//! Log pages of `NVMe` controllers, through the admin commands that Linux passes to them
//! (`linux/nvme_ioctl.h`). A `Get Log Page` changes nothing, but needs root.
//!
//! The call itself has not been tried on such a controller; what comes back is checked by those who
//! ask for it.
#![expect(unsafe_code, reason = "the one call here that Rust has no safe words for")]

use std::fs::File;
use std::path::Path;

use rustix::ioctl::{Opcode, Updater, ioctl};

pub(super) const PAGE_BYTES: usize = 4096;
/// `NVME_IOCTL_ADMIN_CMD`: `_IOWR('N', 0x41, struct nvme_admin_cmd)`.
const ADMIN_COMMAND: Opcode = 0xC048_4E41;
/// `Get Log Page`.
const GET_LOG_PAGE: u8 = 0x02;
/// Double words of a page, where the command has their number.
const PAGE_WORDS: u32 = 1024 << 16;
/// Amazon's log pages are those of the volume, which is the first namespace.
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

/// The log page with this number of the device at `path`; `None` if it does not tell, or if it may
/// not be asked.
pub(super) fn log_page(path: &Path, number: u8) -> Option<Box<[u8; PAGE_BYTES]>> {
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
    // SAFETY: the opcode has the size of `Command` in it, which is laid out as the kernel's struct.
    let update = unsafe { Updater::<ADMIN_COMMAND, _>::new(&mut command) };
    // SAFETY: the kernel writes `result` in the command, and at most `data_bytes` at `address`,
    // which is `page`: it lives until after the call, and nothing else looks at it meanwhile.
    unsafe { ioctl(&device, update) }.ok()?;
    Some(page)
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
}
