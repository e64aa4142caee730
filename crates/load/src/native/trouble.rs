//! I/Os that fail: counted, the first one described, and too many of them end the thread.

use super::io::{Io, Outcome};
use super::window::Flow;

/// A thread gives up after so many failures without a single success between them: the target is
/// gone, and repeating the failure millions of times tells nothing more.
const TOO_MANY_IN_A_ROW: u32 = 1000;

/// The failures of one thread.
pub struct Trouble {
    target: String,
    /// The first failure, for people.
    pub first: Option<String>,
    in_a_row: u32,
    successes_at_last: u64,
}

impl Trouble {
    /// No failures yet, on a target of this name.
    pub fn new(target: String) -> Self {
        Self { target, first: None, in_a_row: 0, successes_at_last: 0 }
    }

    /// Notes an I/O that did not move all its bytes. `successes` is how many I/Os went well so
    /// far: as long as it stays the same, failures are in a row.
    pub fn note(&mut self, io: Io, outcome: Outcome, successes: u64) -> Flow {
        if self.first.is_none() {
            self.first = Some(describe(&self.target, io, outcome));
        }
        self.in_a_row = if successes == self.successes_at_last { self.in_a_row + 1 } else { 1 };
        self.successes_at_last = successes;
        if self.in_a_row >= TOO_MANY_IN_A_ROW { Flow::Stop } else { Flow::Go }
    }
}

fn describe(target: &str, io: Io, outcome: Outcome) -> String {
    let Io { offset, bytes, op } = io;
    let what = op.name();
    match outcome {
        Ok(0) => format!("{what} at offset {offset} of {target}: moved none of {bytes} bytes"),
        Ok(moved) => {
            format!("{what} at offset {offset} of {target}: moved {moved} of {bytes} bytes")
        }
        Err(errno) => {
            format!("{what} at offset {offset} of {target}: {}", std::io::Error::from(errno))
        }
    }
}
