//! The progress line of a search for caps.

use std::time::{Duration, Instant};

use indicatif::ProgressBar;

use super::bar::{bar, style};

/// Shows how a search goes, on stderr, only on a terminal.
pub(crate) struct SearchLine {
    bar: ProgressBar,
    started: Instant,
    expected: Duration,
}

impl SearchLine {
    /// A line for a search that takes about so long; hidden if `quiet` or if stderr is no terminal.
    pub(crate) fn new(expected: Duration, quiet: bool) -> Self {
        let bar = bar(quiet, style("{spinner} {wide_msg}"));
        Self { bar, started: Instant::now(), expected }
    }

    /// Shows how far the laying out of files is.
    pub(crate) fn laying_out(&self, done_bytes: u64, total_bytes: u64) {
        let percent = (done_bytes * 100).checked_div(total_bytes).unwrap_or(100);
        self.say(&format!("writing the file to be read: {percent} %"));
    }

    /// Shows a text.
    pub(crate) fn say(&self, text: &str) {
        self.bar.set_message(text.to_owned());
    }

    /// Shows what is measured next, which takes so long, and the time left.
    pub(crate) fn step(&self, what: &str, takes: Duration) {
        let left = self.expected.saturating_sub(self.started.elapsed()).max(takes).as_secs();
        let left = match left {
            seconds @ 0..100 => format!("{seconds} s"),
            seconds => format!("{} min", seconds.div_ceil(60)),
        };
        self.say(&format!("{what} · about {left} left"));
    }
}

impl Drop for SearchLine {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
