//! Loads and stores through a shared mapping: I/O by page fault.

use std::fs::File;
use std::io;

use memmap2::{Advice, MmapOptions, MmapRaw, UncheckedAdvice};
use rustix::io::Errno;

use crate::engine::sigbus::{self, Guarded};
use crate::engine::supplies::{Buffers, Trim};
use crate::engine::thread::Thread;
use crate::engine::{Engine, Io, Op, Submitted, forget_pages};
use crate::error::Error;
use crate::file_assignment::{PAGE_BYTES, Span};

pub(crate) struct Mmap {
    files: Vec<Mapped>,
    buffers: Buffers,
    trim: Trim,
}

/// One file.
struct Mapped {
    // Before the mapping: its range must not be guarded any more once it is unmapped.
    guard: Guarded,
    mapping: MmapRaw,
    /// Offset in the file of the mapping's first byte.
    start: u64,
    file: File,
    /// Faults seen so far.
    faults: u64,
}

impl Mmap {
    /// The engine of a thread.
    pub(crate) fn of(thread: &Thread<'_>) -> Result<Self, Error> {
        let advice = thread.job.advise.then_some(if thread.job.jumps() {
            Advice::Random
        } else {
            Advice::Sequential
        });
        if thread.job.direct {
            return Err(Error::unsuitable(
                thread.job,
                "engine `mmap` always goes through the page cache; set `direct = false`, or \
                 choose another engine"
                    .to_owned(),
            ));
        }
        let files = thread.open()?;
        let trim = Trim::of(thread, &files)?;
        let files = files.into_iter().map(|file| Mapped::new(file, thread.span, advice));
        let files: io::Result<_> = files.collect();
        let files = files.map_err(Error::path("map", &thread.files[0].path))?;
        Ok(Self { files, buffers: thread.buffers()?, trim })
    }
}

impl Mapped {
    fn new(file: File, span: Span, advice: Option<Advice>) -> io::Result<Self> {
        let start = span.start - span.start % PAGE_BYTES as u64;
        let bytes = usize::try_from(span.start + span.bytes - start)
            .map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        let writable = rustix::fs::fcntl_getfl(&file)?.contains(rustix::fs::OFlags::RDWR);
        let mut options = MmapOptions::new();
        options.offset(start).len(bytes);
        let mapping =
            if writable { options.map_raw(&file)? } else { options.map_raw_read_only(&file)? };
        if let Some(advice) = advice {
            mapping.advise(advice)?;
        }
        let guard = sigbus::guard(mapping.as_ptr().addr(), mapping.len())?;
        Ok(Self { guard, mapping, start, file, faults: 0 })
    }

    /// A page could not be read from or written to the file; the handler has put an empty page in
    /// its place. Puts the file back, so that the next access tries it again.
    #[cold]
    #[inline(never)]
    fn recover(&mut self, at: usize, len: usize) -> Errno {
        self.faults = self.guard.faults();
        let first = at - at % PAGE_BYTES;
        let end = (at + len).next_multiple_of(PAGE_BYTES);
        match self.guard.put_back(&self.file, first, end - first, self.start + first as u64) {
            Ok(()) => Errno::IO,
            Err(errno) => errno,
        }
    }
}

impl Engine for Mmap {
    const SUBMIT_COSTS: bool = true;

    #[inline]
    fn submit(&mut self, slot: u32, io: Io) -> Submitted {
        let mapped = &mut self.files[usize::from(io.file)];
        if io.op == Op::Sync {
            // Pages that were written through the mapping count as dirty pages of the file.
            return Submitted::Done(rustix::fs::fdatasync(&mapped.file).map(|()| 0));
        }
        if io.op == Op::Trim {
            // Pages of the mapping that were trimmed are gone, and come back empty.
            return Submitted::Done(self.trim.perform(&mapped.file, io));
        }
        let len = io.bytes as usize;
        #[expect(clippy::cast_possible_truncation, reason = "mappings fit in a usize")]
        let at = (io.offset - mapped.start) as usize;
        assert!(at + len <= mapped.mapping.len(), "offsets stay within the span");
        // SAFETY: inside the mapping, as just checked. The mapping is shared with the file, so
        // other threads and processes may change these bytes meanwhile: like every memory mapped
        // database, this relies on a plain copy of bytes that nobody interprets being harmless.
        // A page that cannot be had raises SIGBUS, which `sigbus` turns into an empty page.
        unsafe {
            let pages = mapped.mapping.as_mut_ptr().add(at);
            if io.op == Op::Read {
                let buffer = self.buffers.read_mut(slot)[..len].as_mut_ptr();
                std::ptr::copy_nonoverlapping(pages, buffer, len);
            } else {
                let buffer = self.buffers.write(slot)[..len].as_ptr();
                std::ptr::copy_nonoverlapping(buffer, pages, len);
            }
        }
        if mapped.guard.faults() != mapped.faults {
            return Submitted::Done(Err(mapped.recover(at, len)));
        }
        Submitted::Done(Ok(io.bytes))
    }

    fn write_buffer(&mut self, slot: u32, bytes: u32) -> &mut [u8] {
        &mut self.buffers.write_mut(slot)[..bytes as usize]
    }

    fn read_buffer(&mut self, slot: u32) -> &[u8] {
        self.buffers.read(slot)
    }

    fn forget(&mut self, file: u16, span: Span) {
        let mapped = &self.files[usize::from(file)];
        let at = usize::try_from(span.start.saturating_sub(mapped.start)).unwrap_or(usize::MAX);
        let at = at.min(mapped.mapping.len());
        let len = usize::try_from(span.bytes).unwrap_or(usize::MAX).min(mapped.mapping.len() - at);
        // Pages in use by a mapping cannot be dropped, so this one lets go of them first. That
        // loses nothing: a shared mapping's pages are the file's.
        //
        // SAFETY: nobody holds references into the mapping, and what is read next comes from the
        // file again.
        let _ =
            unsafe { mapped.mapping.unchecked_advise_range(UncheckedAdvice::DontNeed, at, len) };
        forget_pages(&mapped.file, span);
    }
}
