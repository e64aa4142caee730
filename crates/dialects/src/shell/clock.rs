//! When commands start that a shell runs one after the other, or at once.

/// When one of several commands starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Start {
    /// Which of those that wait for each other, from 0.
    pub phase: u32,
    /// Which of all commands, from 0.
    pub command: u32,
    /// After the start of its phase.
    pub offset_ns: u64,
}

/// What a shell would do next.
#[derive(Debug, Default)]
pub(super) struct Clock {
    phase: u32,
    /// When the first command of the phase started.
    began_ns: Option<u64>,
    now_ns: u64,
    command: u32,
}

impl Clock {
    /// A command starts; the next one waits for it, or not.
    pub(super) fn start(&mut self, next_waits: bool) -> Start {
        let began = *self.began_ns.get_or_insert(self.now_ns);
        let offset_ns = self.now_ns - began;
        let start = Start { phase: self.phase, command: self.command, offset_ns };
        self.command += 1;
        if next_waits {
            self.wait();
        }
        start
    }

    pub(super) fn pause(&mut self, ns: u64) {
        self.now_ns = self.now_ns.saturating_add(ns);
    }

    /// All commands so far end before the next one starts.
    pub(super) fn wait(&mut self) {
        if self.began_ns.take().is_some() {
            self.phase += 1;
            self.now_ns = 0;
        }
    }
}
