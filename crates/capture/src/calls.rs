//! Which system calls are recorded, and which of their arguments: `struct call` in `bpf/event.h`.

use iotax_trace::{Call, Op};
use libc::c_long;

use crate::raw;

/// As `SHAPE_*` in `bpf/event.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Shape {
    /// Not recorded, but tracked to classify wake-ups.
    Noted = 0,
    OnFile = 1,
    Open = 2,
    OnPath = 3,
    Plain = 4,
    Map = 5,
    AioSubmit = 6,
    AioEvents = 7,
    Close = 8,
}

/// Value that means: no argument.
const NONE: u8 = 0xff;
/// The offset is the descriptor's current position.
const POSITION: u8 = 0xfe;
/// The length is the return value, because the iovec is not read.
const RESULT: u8 = 0xfd;

/// `libc` does not define it on every architecture.
#[cfg(target_arch = "x86_64")]
const IO_PGETEVENTS: c_long = 333;
#[cfg(not(target_arch = "x86_64"))]
const IO_PGETEVENTS: c_long = 292;

/// `libc` does not define it for every C library.
#[cfg(not(target_arch = "x86_64"))]
const RENAMEAT: c_long = 38;

/// The argument in `flags` points to the offset, or is null for the position.
const POINTER: u8 = 0xfc;
/// The detail is the flags that `creat` implies.
const BY_CREAT: u8 = 0xfb;
/// The detail is the first field of the structure that the argument in `flags` points to.
const OF_HOW: u8 = 0xfa;
/// Relative paths begin at the working directory.
const CWD: u8 = 0xf9;

/// How a call is recorded. Fields are argument indexes, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordedCall {
    pub number: c_long,
    shape: Shape,
    op: u8,
    wait: Call,
    descriptor: u8,
    offset: u8,
    length: u8,
    detail: u8,
    flags: u8,
}

impl RecordedCall {
    const fn new(number: c_long, shape: Shape, op: Op, wait: Call) -> Self {
        Self::with_op(number, shape, op as u8, wait)
    }

    const fn with_op(number: c_long, shape: Shape, op: u8, wait: Call) -> Self {
        let [descriptor, offset, length, detail, flags] = [NONE; 5];
        Self { number, shape, op, wait, descriptor, offset, length, detail, flags }
    }

    /// A call on the descriptor in its first argument.
    const fn on_file(number: c_long, op: Op) -> Self {
        Self { descriptor: 0, ..Self::new(number, Shape::OnFile, op, Call::Io) }
    }

    /// Not recorded itself, but threads sleep or wake each other in this call.
    const fn noted(number: c_long, wait: Call) -> Self {
        Self::new(number, Shape::Noted, Op::Exit, wait)
    }

    /// A call on the socket in its first argument: data that arrive or are sent are recorded as
    /// requests and answers.
    const fn on_socket(number: c_long, wait: Call) -> Self {
        Self { descriptor: 0, ..Self::noted(number, wait) }
    }

    /// A call on the path in argument `path`, relative to the directory in argument `directory`.
    const fn on_path(number: c_long, op: Op, directory: u8, path: u8) -> Self {
        let new = Self::new(number, Shape::OnPath, op, Call::Io);
        Self { descriptor: directory, offset: path, ..new }
    }

    const fn open(number: c_long, directory: u8, path: u8, detail: u8) -> Self {
        let new = Self::new(number, Shape::Open, Op::Open, Call::Io);
        Self { descriptor: directory, offset: path, detail, ..new }
    }

    /// A rename to the path in argument `detail`, relative to the directory in argument `flags`.
    const fn to(self, directory: u8, path: u8) -> Self {
        Self { flags: directory, detail: path, ..self }
    }

    const fn at(self, offset: u8, length: u8) -> Self {
        Self { offset, length, ..self }
    }

    const fn length(self, length: u8) -> Self {
        Self { length, ..self }
    }

    const fn detail(self, detail: u8) -> Self {
        Self { detail, ..self }
    }

    const fn flags(self, flags: u8) -> Self {
        Self { flags, ..self }
    }

    /// A call that also works on pipes and sockets, where threads wait for each other.
    const fn waits(self, wait: Call) -> Self {
        Self { wait, ..self }
    }

    /// Encodes the call as `struct call`.
    pub(crate) const fn bytes(self) -> [u8; 8] {
        [
            self.shape as u8, self.op, self.wait as u8, self.descriptor, self.offset, self.length,
            self.detail, self.flags,
        ]
    }
}

/// All calls that are recorded or noted, on this architecture.
pub(crate) fn recorded_calls() -> Vec<RecordedCall> {
    use RecordedCall as C;
    let mut calls = vec![
        C::on_file(libc::SYS_read, Op::Read).at(POSITION, 2).waits(Call::Read),
        C::on_file(libc::SYS_write, Op::Write).at(POSITION, 2).waits(Call::Write),
        C::on_file(libc::SYS_readv, Op::Read).at(POSITION, RESULT).waits(Call::Read),
        C::on_file(libc::SYS_writev, Op::Write).at(POSITION, RESULT).waits(Call::Write),
        C::on_file(libc::SYS_pread64, Op::Read).at(3, 2),
        C::on_file(libc::SYS_pwrite64, Op::Write).at(3, 2),
        C::on_file(libc::SYS_preadv, Op::Read).at(3, RESULT),
        C::on_file(libc::SYS_pwritev, Op::Write).at(3, RESULT),
        C::on_file(libc::SYS_preadv2, Op::Read).at(3, RESULT).flags(5),
        C::on_file(libc::SYS_pwritev2, Op::Write).at(3, RESULT).flags(5),
        C::on_file(libc::SYS_fsync, Op::Fsync),
        C::on_file(libc::SYS_fdatasync, Op::Fdatasync),
        C::on_file(libc::SYS_syncfs, Op::SyncAll),
        C::new(libc::SYS_sync, Shape::Plain, Op::SyncAll, Call::Io),
        C::on_file(libc::SYS_sync_file_range, Op::SyncRange).at(1, 2).detail(3),
        C::on_file(libc::SYS_fallocate, Op::Allocate).at(2, 3).detail(1),
        C::on_file(libc::SYS_ftruncate, Op::Truncate).at(1, NONE),
        C::on_file(libc::SYS_fadvise64, Op::Advise).at(1, 2).detail(3),
        C::on_file(libc::SYS_getdents64, Op::ReadDir).at(NONE, RESULT),
        C::on_file(libc::SYS_fstat, Op::Stat),
        C { descriptor: 1, ..C::on_file(libc::SYS_sendfile, Op::SendFile) }
            .at(POINTER, RESULT)
            .flags(2),
        C::on_file(libc::SYS_copy_file_range, Op::CopyRange).at(POINTER, RESULT).detail(2).flags(1),
        C::on_file(libc::SYS_splice, Op::SendFile).at(POINTER, RESULT).flags(1),
        C::open(libc::SYS_openat, 0, 1, 2),
        C::open(libc::SYS_openat2, 0, 1, OF_HOW).flags(2),
        C { descriptor: 0, ..C::new(libc::SYS_close, Shape::Close, Op::Close, Call::Io) },
        C::on_path(libc::SYS_unlinkat, Op::Unlink, 0, 1),
        C::on_path(libc::SYS_renameat2, Op::Rename, 0, 1).to(2, 3),
        C::on_path(libc::SYS_mkdirat, Op::Mkdir, 0, 1),
        C::on_path(libc::SYS_statx, Op::Stat, 0, 1),
        C::on_path(libc::SYS_faccessat, Op::Stat, 0, 1),
        C::on_path(libc::SYS_truncate, Op::Truncate, CWD, 0).length(1),
        C { descriptor: 4, ..C::new(libc::SYS_mmap, Shape::Map, Op::Map, Call::Io) }
            .at(5, 1)
            .detail(2),
        C::with_op(libc::SYS_munmap, Shape::Plain, raw::UNMAP, Call::Other).at(0, 1),
        C::with_op(libc::SYS_mremap, Shape::Plain, raw::REMAP, Call::Other).at(0, 2).detail(1),
        C { offset: 0, length: 1, ..C::new(libc::SYS_msync, Shape::Plain, Op::Msync, Call::Io) }
            .detail(2),
        C::new(libc::SYS_io_submit, Shape::AioSubmit, Op::Exit, Call::Ring),
        C::new(libc::SYS_io_getevents, Shape::AioEvents, Op::Exit, Call::Ring),
        C::new(IO_PGETEVENTS, Shape::AioEvents, Op::Exit, Call::Ring),
    ];
    let noted = [
        (Call::Futex, &[libc::SYS_futex][..]),
        (Call::Read, &[libc::SYS_accept4]),
        (Call::Poll, &[libc::SYS_epoll_pwait, libc::SYS_ppoll, libc::SYS_pselect6]),
        (Call::Sleep, &[libc::SYS_nanosleep, libc::SYS_clock_nanosleep]),
        (
            Call::Signal,
            &[libc::SYS_kill, libc::SYS_tkill, libc::SYS_tgkill, libc::SYS_pidfd_send_signal],
        ),
        (Call::Process, &[libc::SYS_wait4, libc::SYS_waitid, libc::SYS_exit, libc::SYS_exit_group]),
        (Call::Semaphore, &[libc::SYS_semop, libc::SYS_semtimedop]),
        (Call::Ring, &[libc::SYS_io_uring_enter]),
    ];
    for (wait, numbers) in noted {
        calls.extend(numbers.iter().map(|&number| C::noted(number, wait)));
    }
    let sends = [libc::SYS_sendto, libc::SYS_sendmsg, libc::SYS_sendmmsg];
    calls.extend(sends.map(|number| C::on_socket(number, Call::Write)));
    let receives = [libc::SYS_recvfrom, libc::SYS_recvmsg, libc::SYS_recvmmsg];
    calls.extend(receives.map(|number| C::on_socket(number, Call::Read)));
    calls.extend(of_this_architecture());
    calls
}

/// Legacy calls, missing on newer architectures.
#[cfg(target_arch = "x86_64")]
fn of_this_architecture() -> Vec<RecordedCall> {
    use RecordedCall as C;
    vec![
        C::open(libc::SYS_open, CWD, 0, 1),
        C::open(libc::SYS_creat, CWD, 0, BY_CREAT),
        C::on_path(libc::SYS_unlink, Op::Unlink, CWD, 0),
        C::on_path(libc::SYS_rename, Op::Rename, CWD, 0).to(CWD, 1),
        C::on_path(libc::SYS_renameat, Op::Rename, 0, 1).to(2, 3),
        C::on_path(libc::SYS_mkdir, Op::Mkdir, CWD, 0),
        C::on_path(libc::SYS_stat, Op::Stat, CWD, 0),
        C::on_path(libc::SYS_lstat, Op::Stat, CWD, 0),
        C::on_path(libc::SYS_access, Op::Stat, CWD, 0),
        C::on_path(libc::SYS_newfstatat, Op::Stat, 0, 1),
        C::on_file(libc::SYS_getdents, Op::ReadDir).at(NONE, RESULT),
        C::noted(libc::SYS_poll, Call::Poll),
        C::noted(libc::SYS_select, Call::Poll),
        C::noted(libc::SYS_epoll_wait, Call::Poll),
    ]
}

#[cfg(not(target_arch = "x86_64"))]
fn of_this_architecture() -> Vec<RecordedCall> {
    use RecordedCall as C;
    vec![
        C::on_path(RENAMEAT, Op::Rename, 0, 1).to(2, 3),
        C::on_path(libc::SYS_newfstatat, Op::Stat, 0, 1),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_call_is_declared_once_and_fits_the_table() {
        let calls = recorded_calls();
        let numbers: HashSet<c_long> = calls.iter().map(|call| call.number).collect();
        assert_eq!(numbers.len(), calls.len());
        assert!(numbers.iter().all(|number| (0..512).contains(number)));
    }

    #[test]
    fn constants_are_those_of_the_header() {
        let header = include_str!("../bpf/event.h");
        for (name, value) in [
            ("NO_ARG", NONE),
            ("AT_POSITION", POSITION),
            ("FROM_RESULT", RESULT),
            ("AT_POINTER", POINTER),
            ("BY_CREAT", BY_CREAT),
            ("OF_HOW", OF_HOW),
            ("AT_CWD", CWD),
        ] {
            assert!(header.contains(&format!("{name} = {value:#x}")), "{name}");
        }
        for (name, op) in [
            ("UNMAP", raw::UNMAP),
            ("REMAP", raw::REMAP),
            ("EXEC", raw::EXEC),
            ("FILE", raw::FILE),
            ("JOIN", raw::JOIN),
        ] {
            assert!(header.contains(&format!("OP_{name} = {op}")), "{name}");
        }
        for (name, wait) in [("WRITE", Call::Write), ("READ", Call::Read)] {
            assert!(header.contains(&format!("WAIT_{name} = {}", wait as u8)), "{name}");
        }
        for (op, name) in [
            (Op::Read, "READ"),
            (Op::Write, "WRITE"),
            (Op::Fsync, "FSYNC"),
            (Op::Fdatasync, "FDATASYNC"),
            (Op::SyncRange, "SYNC_RANGE"),
            (Op::Allocate, "ALLOCATE"),
            (Op::Truncate, "TRUNCATE"),
            (Op::Open, "OPEN"),
            (Op::Close, "CLOSE"),
            (Op::Rename, "RENAME"),
            (Op::Unlink, "UNLINK"),
            (Op::Mkdir, "MKDIR"),
            (Op::Stat, "STAT"),
            (Op::Advise, "ADVISE"),
            (Op::CopyRange, "COPY_RANGE"),
            (Op::Fault, "FAULT"),
            (Op::Dirty, "DIRTY"),
            (Op::Wake, "WAKE"),
            (Op::Spawn, "SPAWN"),
            (Op::Exit, "EXIT"),
            (Op::Request, "REQUEST"),
            (Op::Answer, "ANSWER"),
        ] {
            assert!(header.contains(&format!("OP_{name} = {}", op as u8)), "{name}");
        }
    }
}
