//! I/Os that fail: counted, the first one described, and too many of them end the thread.

use rustix::io::Errno;

use crate::engine::window::Flow;
use crate::engine::{Io, Outcome};

/// A thread gives up after so many failures without a single success between them: the target is
/// gone, and repeating the failure millions of times tells nothing more.
const TOO_MANY_IN_A_ROW: u32 = 1000;

/// The failures of one thread.
pub(crate) struct IoErrors {
    /// The thread's files.
    targets: Vec<String>,
    /// The first failure, for people.
    pub first: Option<String>,
    in_a_row: u32,
    successes_at_last: u64,
}

impl IoErrors {
    /// No failures yet, on files of these names.
    pub(crate) fn new(targets: Vec<String>) -> Self {
        Self { targets, first: None, in_a_row: 0, successes_at_last: 0 }
    }

    /// What people call a file.
    pub(crate) fn target(&self, file: u16) -> &str {
        self.targets.get(usize::from(file)).map_or("the target", String::as_str)
    }

    /// Notes an I/O that did not move all its bytes. `successes` is how many I/Os went well so
    /// far: as long as it stays the same, failures are in a row.
    pub(crate) fn note(&mut self, io: Io, outcome: Outcome, successes: u64) -> Flow {
        if self.first.is_none() {
            self.first = Some(describe(self.target(io.file), io, outcome));
        }
        self.in_a_row = if successes == self.successes_at_last { self.in_a_row + 1 } else { 1 };
        self.successes_at_last = successes;
        if self.in_a_row >= TOO_MANY_IN_A_ROW { Flow::Stop } else { Flow::Go }
    }

    /// Not even one I/O at a time keeps the latency that was asked for.
    #[cold]
    pub(crate) fn missed_latency(&mut self) {
        let what = "latency-target: even one I/O at a time takes longer than the target; set a \
                    higher target, or a percentile below 100";
        self.first.get_or_insert_with(|| what.to_owned());
    }
}

fn describe(target: &str, io: Io, outcome: Outcome) -> String {
    let Io { offset, bytes, op, .. } = io;
    let what = op.name();
    match outcome {
        Ok(0) => {
            format!("{what} at offset {offset} of {target}: transferred 0 of {bytes} bytes")
        }
        Ok(moved) => {
            format!(
                "{what} at offset {offset} of {target}: transferred only {moved} of {bytes} \
                     bytes"
            )
        }
        Err(Errno::ADDRNOTAVAIL) => "connect: no local port is free; widen \
                                     net.ipv4.ip_local_port_range, or use fewer threads"
            .to_owned(),
        Err(errno) => {
            format!("{what} at offset {offset} of {target}: {}", std::io::Error::from(errno))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Op;

    const READ: Io = Io { offset: 8192, bytes: 4096, file: 0, op: Op::Read, check: false };

    #[test]
    fn the_first_failure_is_described_with_operation_offset_and_target() {
        let describe = |io, outcome| {
            let mut errors = IoErrors::new(vec!["/data/job.0".to_owned()]);
            errors.note(io, outcome, 0);
            errors.note(READ, Err(Errno::PERM), 0);
            errors.first.unwrap()
        };
        insta::assert_snapshot!(
            describe(READ, Err(Errno::IO)),
            @"read at offset 8192 of /data/job.0: Input/output error (os error 5)"
        );
        insta::assert_snapshot!(
            describe(Io { op: Op::Write, ..READ }, Err(Errno::NOSPC)),
            @"write at offset 8192 of /data/job.0: No space left on device (os error 28)"
        );
        insta::assert_snapshot!(
            describe(READ, Err(Errno::ADDRNOTAVAIL)),
            @"connect: no local port is free; widen net.ipv4.ip_local_port_range, or use fewer threads"
        );
        insta::assert_snapshot!(
            describe(READ, Ok(512)),
            @"read at offset 8192 of /data/job.0: transferred only 512 of 4096 bytes"
        );
        insta::assert_snapshot!(
            describe(READ, Ok(0)),
            @"read at offset 8192 of /data/job.0: transferred 0 of 4096 bytes"
        );
    }

    #[test]
    fn only_failures_in_a_row_end_the_thread() {
        let mut errors = IoErrors::new(Vec::new());
        let note = |errors: &mut IoErrors, successes| errors.note(READ, Err(Errno::IO), successes);
        for failure in 0..5000 {
            assert_eq!(note(&mut errors, failure / 500), Flow::Go);
        }
        for _ in 0..499 {
            assert_eq!(note(&mut errors, 9), Flow::Go);
        }
        assert_eq!(note(&mut errors, 9), Flow::Stop);
    }
}
