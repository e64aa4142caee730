//! A page of a mapped file that is not available (the device failed, the file was truncated) raises
//! `SIGBUS`. By default, that kills the process and everything measured so far is lost.
//!
//! Here a handler puts an empty page in the place of the faulting one, so that the interrupted
//! instruction can continue, and counts the fault. The copy in progress then contains some zeros.
//! The engine checks the count after every copy, reports an error, and maps the file back. (Jumping
//! out of the handler instead would skip frames that Rust assumes to run to their end.)
//!
//! The handler only touches atomics and only calls `mmap`, a bare system call.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use rustix::io::Errno;

use crate::file_assignment::PAGE_BYTES;

/// Mappings guarded at a time.
const MAX_GUARDED: usize = 1024;

/// A guarded range; free while `end` is 0.
struct Range {
    start: AtomicUsize,
    end: AtomicUsize,
    faults: AtomicU64,
}

static RANGES: [Range; MAX_GUARDED] = [const {
    Range { start: AtomicUsize::new(0), end: AtomicUsize::new(0), faults: AtomicU64::new(0) }
}; MAX_GUARDED];

/// A range of addresses in which `SIGBUS` is survived, until dropped.
pub(crate) struct Guarded {
    range: &'static Range,
    start: usize,
}

/// Guards `len` bytes from address `start`, which must be a mapping of a file.
pub(crate) fn guard(start: usize, len: usize) -> io::Result<Guarded> {
    install()?;
    for range in &RANGES {
        // Claimed by a non-empty `start`; the handler looks at ranges with an `end` only.
        if range.start.compare_exchange(0, start, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            range.faults.store(0, Ordering::Relaxed);
            range.end.store(start + len.next_multiple_of(PAGE_BYTES), Ordering::Release);
            return Ok(Guarded { range, start });
        }
    }
    Err(io::Error::other(format!("more than {MAX_GUARDED} threads map files at the same time")))
}

impl Guarded {
    /// Pages that could not be had so far.
    #[inline]
    pub(crate) fn faults(&self) -> u64 {
        self.range.faults.load(Ordering::Relaxed)
    }

    /// Maps `len` bytes of `file` from `offset` on over the guarded range, `at` bytes after its
    /// start; all whole pages.
    pub(crate) fn put_back(
        &self,
        file: &File,
        at: usize,
        len: usize,
        offset: u64,
    ) -> Result<(), Errno> {
        let end = self.range.end.load(Ordering::Relaxed);
        let first = self.start + at;
        assert!(first + len <= end, "only guarded regions are remapped");
        let writable = rustix::fs::fcntl_getfl(file)?.contains(rustix::fs::OFlags::RDWR);
        let protection = libc::PROT_READ | if writable { libc::PROT_WRITE } else { 0 };
        let offset = libc::off_t::try_from(offset).map_err(|_| Errno::OVERFLOW)?;
        // SAFETY: the addresses belong to the mapping whose owner holds this guard, as asserted;
        // nobody holds references into it, and its owner unmaps them as part of the whole.
        let mapped = unsafe {
            libc::mmap(
                std::ptr::with_exposed_provenance_mut(first),
                len,
                protection,
                libc::MAP_SHARED | libc::MAP_FIXED,
                file.as_raw_fd(),
                offset,
            )
        };
        if mapped == libc::MAP_FAILED { Err(Errno::IO) } else { Ok(()) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.range.end.store(0, Ordering::Release);
        self.range.start.store(0, Ordering::Release);
    }
}

/// What was there before us, for faults that are not ours.
static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();

fn install() -> io::Result<()> {
    static INSTALLED: OnceLock<Result<(), i32>> = OnceLock::new();
    let installed = INSTALLED.get_or_init(|| {
        // SAFETY: sigaction is plain data for which all-zero is valid; both pointers are to live
        // values; the handler is async-signal-safe, see the module.
        unsafe {
            let mut previous: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(libc::SIGBUS, std::ptr::null(), &raw mut previous) != 0 {
                return Err(io::Error::last_os_error().raw_os_error().unwrap_or(0));
            }
            // Before the handler is in place, which reads it.
            let _ = PREVIOUS.set(previous);
            let mut action: libc::sigaction = std::mem::zeroed();
            let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) = on_sigbus;
            action.sa_sigaction = handler as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigemptyset(&raw mut action.sa_mask);
            if libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut()) != 0 {
                return Err(io::Error::last_os_error().raw_os_error().unwrap_or(0));
            }
        }
        Ok(())
    });
    installed.map_err(io::Error::from_raw_os_error)
}

extern "C" fn on_sigbus(signal: i32, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid siginfo_t; SIGBUS fills in the address.
    let address = unsafe { (*info).si_addr() }.addr();
    for range in &RANGES {
        let end = range.end.load(Ordering::Acquire);
        let start = range.start.load(Ordering::Acquire);
        if end != 0 && (start..end).contains(&address) {
            range.faults.fetch_add(1, Ordering::Relaxed);
            if put_empty_page(address - address % PAGE_BYTES) {
                return;
            }
            break;
        }
    }
    if let Some(previous) = PREVIOUS.get() {
        // SAFETY: a value that the kernel gave us. On return the instruction faults again, and
        // whoever was responsible before gets the signal.
        unsafe { libc::sigaction(signal, previous, std::ptr::null_mut()) };
    }
}

fn put_empty_page(page: usize) -> bool {
    // SAFETY: replaces a page of a mapping that its owner has put under guard for this purpose;
    // errno, which the interrupted code may be about to read, is put back.
    unsafe {
        let errno = libc::__errno_location();
        let saved = *errno;
        let mapped = libc::mmap(
            std::ptr::with_exposed_provenance_mut(page),
            PAGE_BYTES,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
            -1,
            0,
        );
        *errno = saved;
        mapped != libc::MAP_FAILED
    }
}
