//! Rings of `io_uring`, and whether there may be any.

use std::io;
use std::sync::LazyLock;

use io_uring::IoUring as Ring;

/// How long the kernel's polling thread stays awake without work.
const SQPOLL_IDLE_MS: u32 = 1000;

/// The best ring this kernel gives: completions delivered when we ask (6.1), else without
/// interrupting us (5.19), else any (5.1).
pub(crate) fn build(entries: u32, sqpoll: bool) -> io::Result<Ring> {
    if sqpoll {
        return Ring::builder().setup_sqpoll(SQPOLL_IDLE_MS).build(entries);
    }
    let best = Ring::builder()
        .setup_single_issuer()
        .setup_coop_taskrun()
        .setup_defer_taskrun()
        .build(entries);
    let unknown_flag = |error: &io::Error| error.raw_os_error() == Some(libc::EINVAL);
    match best {
        Err(error) if unknown_flag(&error) => {
            match Ring::builder().setup_coop_taskrun().build(entries) {
                Err(error) if unknown_flag(&error) => Ring::builder().build(entries),
                other => other,
            }
        }
        other => other,
    }
}

/// Whether this process may use `io_uring` at all. Where it may not, what is direct is driven with
/// `libaio`.
pub fn io_uring_is_allowed() -> bool {
    static ALLOWED: LazyLock<bool> = LazyLock::new(|| {
        let refused = build(1, false).err().and_then(|error| error.raw_os_error());
        !matches!(refused, Some(libc::EPERM | libc::EACCES | libc::ENOSYS))
    });
    *ALLOWED
}
