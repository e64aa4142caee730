//! Models the clients of the program, which were not recorded.
//!
//! A client thinks after an answer, and then sends its next request. Clients do so at the same time:
//! a thread that serves several of them waits for whichever is first. So the replay does not repeat
//! the time that the thread waited, but how long the client thought after its answer.
//!
//! A connection can also carry the requests of many clients (HTTP/2, gRPC), or of the program itself.
//! Its next request does not wait for the last answer.

use std::collections::{HashMap, HashSet};

use super::{ClockedArrivals, Graph, Mark, Pending, Span, Track};

/// A thread that has slept for less than this before it read a request may have been late for it.
const ASLEEP_NS: u64 = 50_000;
/// A connection is shared by clients if more of its requests arrive before the last one is answered. The
/// parts of one request arrive at about the same time.
const SHARED_PERCENT: u64 = 10;
/// A connection is the program's own if the program woke the thread that reads for more of its
/// requests. A thread that waits for clients is sometimes woken by the program for another reason.
const INSIDE_PERCENT: u64 = 5;

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
    is_answered: bool,
    requests: u64,
    /// Those that arrived before the last one was answered.
    overlapping: u64,
    /// Those whose thread was woken by the program itself.
    from_inside: u64,
}

impl Clients {
    pub(super) fn answered(&mut self, connection: u16, answer: Answer) {
        let client = self.by_connection.entry(connection).or_default();
        client.answer = Some(answer);
        client.is_answered = true;
    }

    /// A request was read, by a thread that had slept for this long.
    fn asked(&mut self, connection: u16, slept_ns: u64, is_from_inside: bool) {
        let client = self.by_connection.entry(connection).or_default();
        let overlaps = !client.is_answered && client.requests > 0 && slept_ns >= ASLEEP_NS;
        client.requests += 1;
        client.overlapping += u64::from(overlaps);
        client.from_inside += u64::from(is_from_inside);
        client.is_answered = false;
    }

    /// The answer before its next request.
    fn answer(&self, connection: u16) -> Option<Answer> {
        self.by_connection.get(&connection)?.answer
    }

    fn forget_answer(&mut self, connection: u16) {
        if let Some(client) = self.by_connection.get_mut(&connection) {
            client.answer = None;
        }
    }

    /// Connections whose next request does not wait for the last answer.
    pub(super) fn shared(&self) -> HashSet<u16> {
        let is_more = |part: u64, whole: u64, percent: u64| part * 100 > whole * percent;
        let is_shared = |client: &Client| {
            is_more(client.overlapping, client.requests, SHARED_PERCENT)
                || is_more(client.from_inside, client.requests, INSIDE_PERCENT)
        };
        let shared = self.by_connection.iter().filter(|(_, client)| is_shared(client));
        shared.map(|(connection, _)| *connection).collect()
    }

    /// A request that was read this long after the answer, by a thread that had slept for this long.
    fn think(&mut self, connection: u16, most_ns: u64, slept_ns: u64) -> Thought {
        let client = self.by_connection.entry(connection).or_default();
        let was_awaited = slept_ns >= ASLEEP_NS;
        if was_awaited {
            client.think_ns = most_ns;
        }
        Thought { connection, think_ns: client.think_ns.min(most_ns), was_awaited }
    }
}

impl Graph<'_> {
    /// A thread reads a request.
    pub(super) fn arrive_by_read(&mut self, own: Track, connection: u16, arrived: Span) {
        let (_, slept_ns) = self.idle_before(own, arrived);
        let is_from_inside = self.thread(own.thread).has_message;
        self.clients.asked(connection, slept_ns, is_from_inside);
        self.arrive(own, connection, arrived);
        self.clients.forget_answer(connection);
    }

    /// The first wake-up that a request leads to. The thread was waiting for clients only if it has
    /// slept since the answer.
    pub(super) fn arrive_by_wake_up(&mut self, own: Track, connection: u16, arrived: Span) {
        let since_ns = self.end_ns(own);
        let was_waiting = |answer: Answer| answer.by.track != own && answer.sent_ns > since_ns;
        if self.clients.answer(connection).is_some_and(was_waiting) {
            self.arrive(own, connection, arrived);
        }
    }

    /// The thread waits for the client's last answer, and then until the client has thought.
    fn arrive(&mut self, own: Track, connection: u16, arrived: Span) {
        let Some(Answer { by, sent_ns }) = self.clients.answer(connection) else { return };
        let since_ns = self.end_ns(own);
        let is_clocked = self.roles.clocked == ClockedArrivals::Requests
            || self.roles.thread(own.thread).is_clocked;
        let is_shared = self.roles.shared_connections.contains(&connection);
        if is_clocked || is_shared && (by.track == own || sent_ns <= since_ns) {
            return;
        }
        self.clients.forget_answer(connection);
        if by.track != own {
            let is_bounded = self.roles.thread(by.track.thread).is_clocked;
            let at_most_ns = is_bounded.then_some(sent_ns.saturating_sub(since_ns));
            let before = Pending::default();
            let end_ns = sent_ns.max(since_ns);
            self.receive(own, by, Span { begin_ns: since_ns, end_ns, before }, at_most_ns);
        }
        if !is_shared {
            let (delay_ns, slept_ns) = self.idle_before(own, arrived);
            let most_ns = arrived.begin_ns.saturating_sub(sent_ns).saturating_sub(delay_ns);
            self.track(own).thought = Some(self.clients.think(connection, most_ns, slept_ns));
        }
    }

    /// How long a thread has waited for a CPU since its last node, and how long it has slept.
    fn idle_before(&mut self, own: Track, now: Span) -> (u64, u64) {
        let gap_ns = now.begin_ns.saturating_sub(self.end_ns(own));
        let idle_ns = gap_ns.saturating_sub(now.before.cpu_ns);
        let delay_ns = now.before.run_delay_ns.min(idle_ns);
        (delay_ns, idle_ns - delay_ns)
    }
}
