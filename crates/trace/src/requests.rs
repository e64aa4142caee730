//! Requests of clients, and how long they wait for an answer.

use crate::event::{Event, Op};

/// Maximum number of connections that are distinguished. Higher numbers wrap around.
pub const CONNECTIONS: u64 = 1 << 16;

/// The connection of a request or an answer, below [`CONNECTIONS`].
#[expect(clippy::cast_possible_truncation, reason = "below CONNECTIONS")]
pub const fn connection(event: &Event) -> u16 {
    (event.detail % CONNECTIONS) as u16
}

/// When the request arrived that each connection has not answered yet.
///
/// A request begins when its first data have arrived, and ends when its answer begins to be sent.
#[derive(Debug, Default)]
pub struct OpenRequests {
    since_ns: Vec<Option<u64>>,
}

impl OpenRequests {
    /// Notes an event. If it is the answer to a request, the result is the time that it took.
    pub fn note(&mut self, event: &Event) -> Option<u64> {
        if !matches!(event.op, Op::Request | Op::Answer) {
            return None;
        }
        let connection = usize::from(connection(event));
        if self.since_ns.len() <= connection {
            self.since_ns.resize(connection + 1, None);
        }
        let since_ns = &mut self.since_ns[connection];
        if event.op == Op::Request {
            since_ns.get_or_insert(event.end_ns);
            return None;
        }
        since_ns.take().map(|since_ns| event.start_ns().saturating_sub(since_ns))
    }

    /// Connections seen so far.
    pub fn connections(&self) -> usize {
        self.since_ns.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_ends_the_request_of_its_connection() {
        let mut requests = OpenRequests::default();
        let at = |op, detail, end_ns| Event { detail, end_ns, latency_ns: 5, ..Event::new(op) };
        let found: Vec<_> = [
            at(Op::Answer, 0, 10),
            at(Op::Request, 0, 20),
            at(Op::Request, 1, 30),
            at(Op::Request, 0, 40),
            at(Op::Answer, 0, 105),
            at(Op::Answer, 0, 110),
            at(Op::Answer, CONNECTIONS + 1, 135),
            at(Op::Write, 0, 140),
        ]
        .iter()
        .map(|event| requests.note(event))
        .collect();
        assert_eq!(found, [None, None, None, None, Some(80), None, Some(100), None]);
        assert_eq!(requests.connections(), 2);
    }
}
