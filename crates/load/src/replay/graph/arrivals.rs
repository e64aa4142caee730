//! Finds the threads that the requests of a trace wake.
//!
//! A client that was not recorded thinks after an answer, and then sends its next request. Its
//! arrival can wake another thread than the one that reads the request: a thread that polls for
//! all clients wakes a worker, or a chain of them. The first thread of the chain then waits for
//! the answer.

use std::collections::{HashMap, VecDeque};

use iotax_trace::{Event, Op, Thread, connection};

use super::{Mark, narrow};

/// Connections whose last answer is remembered; after one more, all are forgotten.
const MOST_ANSWERED: usize = 1 << 16;
/// Wake-ups that are remembered.
const MOST_WAKES: usize = 1 << 16;
/// Longest chain of wake-ups from the arrival of a request to the thread that reads it.
const MOST_HOPS: usize = 16;

/// The first wake-up of the chain behind each request, found when the request enters the buffer,
/// before the wake-up leaves it.
#[derive(Default)]
pub(super) struct Arrivals {
    /// By connection: when its last answer was sent, until the next request.
    answered_ns: HashMap<usize, u64>,
    wakes: VecDeque<Wake>,
    /// Wake-ups that are no longer remembered.
    forgotten: usize,
    last_of_thread: HashMap<Thread, usize>,
}

struct Wake {
    /// Of the event.
    number: u64,
    end_ns: u64,
    /// The last wake-up of the thread that wakes.
    cause: Option<usize>,
    /// The connection of the first request that it led to.
    connection: Option<usize>,
}

impl Arrivals {
    /// The next event to be buffered, and its number.
    pub(super) fn note(&mut self, event: &Event, number: u64) {
        match event.op {
            Op::Wake if event.is_dependency() => {
                let cause = self.last_of_thread.get(&event.thread).copied();
                let wake = Wake { number, end_ns: event.end_ns, cause, connection: None };
                if self.wakes.len() == MOST_WAKES {
                    self.wakes.pop_front();
                    self.forgotten += 1;
                }
                self.wakes.push_back(wake);
                let at = self.forgotten + self.wakes.len() - 1;
                self.last_of_thread.insert(narrow(event.detail), at);
            }
            Op::Answer => {
                if self.answered_ns.len() == MOST_ANSWERED {
                    self.answered_ns.clear();
                }
                self.answered_ns.insert(connection(event), event.start_ns());
            }
            Op::Request => self.request(event.thread, connection(event)),
            _ => {}
        }
    }

    fn request(&mut self, thread: Thread, connection: usize) {
        let Some(sent_ns) = self.answered_ns.remove(&connection) else { return };
        let mut first = None;
        let mut next = self.last_of_thread.get(&thread).copied();
        for _ in 0..MOST_HOPS {
            let Some(at) = next.and_then(|at| at.checked_sub(self.forgotten)) else { break };
            let wake = &self.wakes[at];
            if wake.end_ns <= sent_ns {
                break;
            }
            (first, next) = (Some(at), wake.cause);
        }
        if let Some(at) = first {
            self.wakes[at].connection.get_or_insert(connection);
        }
    }

    /// The connection whose next request is behind this wake-up.
    pub(super) fn behind(&self, number: u64) -> Option<usize> {
        let at = self.wakes.binary_search_by_key(&number, |wake| wake.number).ok()?;
        self.wakes[at].connection
    }
}

/// The last answer of each connection, until its next request.
#[derive(Default)]
pub(super) struct Answers(HashMap<usize, Answer>);

/// An answer, and when it was sent in the recording.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer {
    pub by: Mark,
    pub sent_ns: u64,
}

impl Answers {
    pub(super) fn insert(&mut self, connection: usize, answer: Answer) {
        if self.0.len() == MOST_ANSWERED {
            self.0.clear();
        }
        self.0.insert(connection, answer);
    }

    pub(super) fn get(&self, connection: usize) -> Option<Answer> {
        self.0.get(&connection).copied()
    }

    pub(super) fn remove(&mut self, connection: usize) {
        self.0.remove(&connection);
    }
}
