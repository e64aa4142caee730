//! Finds the threads that the requests of a trace wake.
//!
//! A request can wake another thread than the one that reads it: a thread that polls for all clients
//! wakes a worker, or a chain of them. The first thread of the chain is then the one that waits for
//! the client.

use std::collections::{HashMap, VecDeque};

use iotax_trace::{Event, Op, Thread, connection};

use super::narrow;

/// Longest chain of wake-ups from the arrival of a request to the thread that reads it.
const MOST_HOPS: usize = 16;

/// The first wake-up of the chain behind each request. It is found when the request enters the buffer
/// of events, and needed when the wake-up leaves it.
#[derive(Default)]
pub(super) struct Arrivals {
    /// By connection: when its last answer was sent, until the next request.
    answered_ns: HashMap<u16, u64>,
    /// The wake-ups in the buffer, and what is between them.
    wakes: VecDeque<Wake>,
    /// Wake-ups before these.
    forgotten: u64,
    last_of_thread: HashMap<Thread, u64>,
}

struct Wake {
    /// Of the event.
    number: u64,
    end_ns: u64,
    /// The last wake-up of the thread that wakes.
    cause: Option<u64>,
    /// The connection of the first request that it led to.
    connection: Option<u16>,
    has_left: bool,
}

impl Arrivals {
    /// An event enters the buffer under this number.
    pub(super) fn note(&mut self, event: &Event, number: u64) {
        match event.op {
            Op::Wake if event.is_dependency() => {
                let cause = self.last_of_thread.get(&event.thread).copied();
                let at = self.forgotten + self.wakes.len() as u64;
                let end_ns = event.end_ns;
                let wake = Wake { number, end_ns, cause, connection: None, has_left: false };
                self.wakes.push_back(wake);
                self.last_of_thread.insert(narrow(event.detail), at);
            }
            Op::Answer => {
                self.answered_ns.insert(connection(event), event.start_ns());
            }
            Op::Request => self.request(event.thread, connection(event)),
            _ => {}
        }
    }

    fn request(&mut self, thread: Thread, connection: u16) {
        let Some(sent_ns) = self.answered_ns.remove(&connection) else { return };
        let mut first = None;
        let mut next = self.last_of_thread.get(&thread).copied();
        for _ in 0..MOST_HOPS {
            let at = next.and_then(|at| usize::try_from(at.checked_sub(self.forgotten)?).ok());
            let Some((at, wake)) = at.and_then(|at| Some((at, self.wakes.get(at)?))) else { break };
            if wake.end_ns <= sent_ns {
                break;
            }
            (first, next) = (Some(at), wake.cause);
        }
        if let Some(at) = first {
            self.wakes[at].connection.get_or_insert(connection);
        }
    }

    /// A wake-up leaves the buffer. Returns the connection whose next request is behind it.
    pub(super) fn take(&mut self, number: u64) -> Option<u16> {
        let at = self.wakes.binary_search_by_key(&number, |wake| wake.number).ok()?;
        self.wakes[at].has_left = true;
        let connection = self.wakes[at].connection;
        while self.wakes.pop_front_if(|wake| wake.has_left).is_some() {
            self.forgotten += 1;
        }
        connection
    }
}
