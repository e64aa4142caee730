//! Models the clients of the program, which were not recorded.
//!
//! A client thinks after an answer, and then sends its next request. Clients do so at the same time:
//! a thread that serves several of them waits for whichever is first. So the replay does not repeat
//! the time that the thread waited, but how long the client thought after its answer.

use std::collections::HashMap;

use super::Mark;

/// A thread that has slept for less than this before it read a request may have been late for it.
const ASLEEP_NS: u64 = 50_000;

/// An answer, and when it was sent in the recording.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer {
    pub by: Mark,
    pub sent_ns: u64,
}

/// A client has sent its next request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Thought {
    pub connection: u16,
    pub think_ns: u64,
    /// The thread slept until the request arrived.
    pub was_awaited: bool,
}

#[derive(Debug, Default)]
pub(super) struct Clients {
    by_connection: HashMap<u16, Client>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Client {
    /// Its last answer, until its next request.
    answer: Option<Answer>,
    /// How long it has last thought, as far as is known.
    think_ns: u64,
}

impl Clients {
    pub(super) fn answered(&mut self, connection: u16, answer: Answer) {
        self.by_connection.entry(connection).or_default().answer = Some(answer);
    }

    /// The answer before its next request.
    pub(super) fn take_answer(&mut self, connection: u16) -> Option<Answer> {
        self.by_connection.get_mut(&connection)?.answer.take()
    }

    /// A request that was read this long after the answer, by a thread that had slept for this long.
    pub(super) fn think(&mut self, connection: u16, most_ns: u64, slept_ns: u64) -> Thought {
        let client = self.by_connection.entry(connection).or_default();
        let was_awaited = slept_ns >= ASLEEP_NS;
        if was_awaited {
            client.think_ns = most_ns;
        }
        Thought { connection, think_ns: client.think_ns.min(most_ns), was_awaited }
    }
}
