//! Datagrams: which ones of a flow arrived, in which order, and how evenly.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::sockopt::ask_for_room;

/// Bytes of a datagram that are ours; the rest is data.
pub(crate) const DATAGRAM_HEAD_BYTES: usize = 24;
/// Datagrams that are told apart in a flow: 8 MiB of memory for each bit of them.
pub(crate) const SEQUENCES: u64 = 1 << 26;
/// As large as a datagram can be.
const LARGEST_BYTES: usize = 64 << 10;
/// Stragglers are waited for until none has come for so long, and at most so long.
const QUIET: Duration = Duration::from_millis(200);
const AT_MOST: Duration = Duration::from_secs(3);

/// The head of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Datagram {
    /// What the far end calls the flow.
    pub session: u64,
    /// From 0, without gaps.
    pub sequence: u64,
    /// On the sender's clock.
    pub sent_ns: u64,
}

impl Datagram {
    /// Puts it at the front of a datagram.
    pub(crate) fn write(self, datagram: &mut [u8]) {
        let fields = [self.session, self.sequence, self.sent_ns];
        for (at, field) in datagram.chunks_exact_mut(8).zip(fields) {
            at.copy_from_slice(&field.to_le_bytes());
        }
    }

    /// `None` of what is too short for one.
    pub(crate) fn read(datagram: &[u8]) -> Option<Self> {
        let head: &[[u8; 8]] = datagram.get(..DATAGRAM_HEAD_BYTES)?.as_chunks().0;
        let [session, sequence, sent_ns] = head else { return None };
        let [session, sequence, sent_ns] =
            [session, sequence, sent_ns].map(|field| u64::from_le_bytes(*field));
        Some(Self { session, sequence, sent_ns })
    }
}

/// What came of a range of datagrams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Received {
    /// Different ones.
    pub datagrams: u64,
    /// Those that came after a later one.
    pub reordered: u64,
    /// Copies of one that had come already, of the whole flow.
    pub duplicates: u64,
    /// How unevenly they came (RFC 3550, 6.4.1), in nanoseconds, of the whole flow.
    pub jitter_ns: u64,
}

impl Received {
    const FIELDS: usize = 4;

    /// Bytes of it on the wire.
    pub(super) const BYTES: usize = Self::FIELDS * 8;

    fn encode(self) -> Vec<u8> {
        let fields = [self.datagrams, self.reordered, self.duplicates, self.jitter_ns];
        fields.map(u64::to_le_bytes).concat()
    }

    pub(super) fn decode(bytes: &[u8; Self::BYTES]) -> Self {
        let field =
            |at: usize| u64::from_le_bytes(bytes[8 * at..][..8].try_into().expect("eight of them"));
        Self { datagrams: field(0), reordered: field(1), duplicates: field(2), jitter_ns: field(3) }
    }
}

/// One flow as the end sees it that it comes to.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    came: Bits,
    late: Bits,
    duplicates: u64,
    /// The next of those that came in order.
    next: u64,
    /// Of the one before: when it was sent and when it came, each on its end's clock.
    before: Option<(u64, u64)>,
    jitter_ns: f64,
    /// Who sent the last one, and when it came.
    last: Option<(SocketAddr, Instant)>,
}

/// A set of small numbers.
#[derive(Debug, Default)]
struct Bits(Vec<u64>);

impl Bits {
    /// Adds a number below [`SEQUENCES`]; false if it was there.
    fn add(&mut self, number: u64) -> bool {
        let (word, bit) = ((number / 64) as usize, 1 << (number % 64));
        if word >= self.0.len() {
            self.0.resize((word + 1).next_multiple_of(1 << 13), 0);
        }
        let is_new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        is_new
    }

    fn count(&self, from: u64, to: u64) -> u64 {
        let mask = |word: u64| {
            let (first, end) = (word * 64, word * 64 + 64);
            let below =
                |to: u64| if to >= end { !0 } else { (1_u64 << (to.max(first) - first)) - 1 };
            below(to) & !below(from)
        };
        (0..).zip(&self.0).map(|(at, word)| u64::from((word & mask(at)).count_ones())).sum()
    }
}

impl Arrivals {
    /// One that allocates nothing later.
    pub(crate) fn preallocated() -> Self {
        let bits = || Bits(vec![0; (SEQUENCES / 64) as usize]);
        Self { came: bits(), late: bits(), ..Self::default() }
    }

    /// The number of datagrams up to the last one that came in order.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Takes one in that came at `now_ns`, on a clock of this end.
    pub(crate) fn takes(&mut self, datagram: Datagram, now_ns: u64) {
        if datagram.sequence >= SEQUENCES {
            return;
        }
        if !self.came.add(datagram.sequence) {
            self.duplicates += 1;
            return;
        }
        if datagram.sequence < self.next {
            self.late.add(datagram.sequence);
        } else {
            self.next = datagram.sequence + 1;
        }
        if let Some((sent_ns, came_ns)) = self.before {
            // The clocks of the two ends differ; the difference of two differences does not.
            let gap_ns =
                |later: u64, earlier: u64| later.wrapping_sub(earlier).cast_signed() as f64;
            let uneven_ns = gap_ns(now_ns, came_ns) - gap_ns(datagram.sent_ns, sent_ns);
            self.jitter_ns += (uneven_ns.abs() - self.jitter_ns) / 16.0;
        }
        self.before = Some((datagram.sent_ns, now_ns));
    }

    /// What came of those from one to another.
    pub(crate) fn received(&self, from: u64, to: u64) -> Received {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "above 0, and small"
        )]
        Received {
            datagrams: self.came.count(from, to),
            reordered: self.late.count(from, to),
            duplicates: self.duplicates,
            jitter_ns: self.jitter_ns as u64,
        }
    }
}

/// All flows of a peer.
#[derive(Debug)]
pub(super) struct Flows {
    socket: UdpSocket,
    all: Mutex<HashMap<u64, Arc<Mutex<Arrivals>>>>,
}

impl Flows {
    /// What comes and goes on `socket`.
    pub(super) fn on(socket: UdpSocket) -> Self {
        Self { socket, all: Mutex::default() }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<u64, Arc<Mutex<Arrivals>>>> {
        self.all.lock().expect("nobody panics with it")
    }

    /// Begins a flow, which lasts as long as what is returned.
    pub(super) fn of(&self, session: u64) -> io::Result<FlowOfSession<'_>> {
        let flow = Arc::<Mutex<Arrivals>>::default();
        if self.all().insert(session, Arc::clone(&flow)).is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Ok(FlowOfSession { flows: self, session, flow })
    }

    /// Takes in what comes for as long as the process lives.
    pub(super) fn receive(&self) {
        let socket = &self.socket;
        ask_for_room(socket);
        let start = Instant::now();
        let mut bytes = vec![0; LARGEST_BYTES];
        let mut latest: Option<(u64, Arc<Mutex<Arrivals>>)> = None;
        loop {
            // Errors are about datagrams sent before, of which there are none of ours.
            let Ok((length, from)) = socket.recv_from(&mut bytes) else { continue };
            let now = Instant::now();
            let Some(datagram) = Datagram::read(&bytes[..length]) else { continue };
            if latest.as_ref().is_none_or(|(session, _)| *session != datagram.session) {
                let found = self.all().get(&datagram.session).cloned();
                latest = found.map(|flow| (datagram.session, flow));
            }
            let Some((_, flow)) = &latest else { continue };
            let mut flow = flow.lock().expect("nobody panics with it");
            let now_ns = u64::try_from((now - start).as_nanos()).unwrap_or(u64::MAX);
            flow.takes(datagram, now_ns);
            flow.last = Some((from, now));
        }
    }
}

/// A flow for as long as somebody asks about it.
pub(super) struct FlowOfSession<'a> {
    flows: &'a Flows,
    session: u64,
    flow: Arc<Mutex<Arrivals>>,
}

impl FlowOfSession<'_> {
    pub(super) fn session(&self) -> u64 {
        self.session
    }

    pub(super) fn socket(&self) -> &UdpSocket {
        &self.flows.socket
    }

    /// Who sent its last datagram, and when that came.
    pub(super) fn heard_from(&self) -> Option<(SocketAddr, Instant)> {
        self.flow.lock().expect("nobody panics with it").last
    }

    /// Tells, whenever it is asked for the datagrams from one to another, what came of them.
    pub(super) fn tell(&self, stream: &mut (impl Read + Write)) -> io::Result<()> {
        loop {
            let mut range = [0; 16];
            match stream.read_exact(&mut range) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                read => read?,
            }
            let [from, to] = [0, 8]
                .map(|at| u64::from_le_bytes(range[at..at + 8].try_into().expect("eight of them")));
            stream.write_all(&self.settled(from, to).encode())?;
        }
    }

    /// What came, once nothing comes any more: what was sent before may still have to be read here.
    fn settled(&self, from: u64, to: u64) -> Received {
        let asked = Instant::now();
        let end = asked + AT_MOST;
        loop {
            let now = Instant::now();
            let flow = self.flow.lock().expect("nobody panics with it");
            let received = flow.received(from, to);
            let latest = flow.last.map_or(asked, |(_, last)| last.max(asked));
            let is_quiet = now.duration_since(latest) > QUIET;
            if received.datagrams >= to.saturating_sub(from) || is_quiet || now > end {
                return received;
            }
            drop(flow);
            sleep(QUIET / 10);
        }
    }
}

impl Drop for FlowOfSession<'_> {
    fn drop(&mut self) {
        self.flows.all().remove(&self.session);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn datagram(sequence: u64, sent_ns: u64) -> Datagram {
        Datagram { session: 3, sequence, sent_ns }
    }

    #[test]
    fn what_was_sent_before_somebody_asked_is_waited_for() {
        let flows = Flows::on(UdpSocket::bind("127.0.0.1:0").unwrap());
        let of_session = flows.of(3).unwrap();
        let received = std::thread::scope(|scope| {
            scope.spawn(|| {
                sleep(QUIET / 4);
                let mut flow = of_session.flow.lock().unwrap();
                flow.takes(datagram(0, 0), 0);
            });
            of_session.settled(0, 1)
        });
        assert_eq!(received.datagrams, 1);
    }

    #[test]
    fn a_head_is_read_as_it_was_written() {
        let head = datagram(17, 12_345);
        let mut bytes = [0; 100];
        head.write(&mut bytes);
        assert_eq!(Datagram::read(&bytes), Some(head));
        assert_eq!(Datagram::read(&bytes[..DATAGRAM_HEAD_BYTES - 1]), None);
    }

    #[test]
    fn lost_late_and_copied_datagrams_are_told_apart() {
        let mut flow = Arrivals::default();
        for (at, sequence) in [0, 1, 2, 5, 4, 5, 8].into_iter().enumerate() {
            flow.takes(datagram(sequence, sequence * 1000), at as u64 * 1000);
        }
        let of = |from, to| {
            let Received { datagrams, reordered, duplicates, .. } = flow.received(from, to);
            (datagrams, reordered, duplicates)
        };
        assert_eq!(of(0, 10), (6, 1, 1));
        assert_eq!(of(5, 9), (2, 0, 1));
        assert_eq!(of(3, 4), (0, 0, 1));
    }

    /// RFC 3550: J += (|D| - J) / 16.
    #[test]
    fn jitter_is_that_of_rfc_3550_whatever_the_clocks_say() {
        let mut flow = Arrivals::default();
        let offset_ns = u64::MAX - 500;
        for (sequence, came_ns) in [(0, 0), (1, 1_000), (2, 2_160), (3, 3_000)] {
            flow.takes(datagram(sequence, sequence * 1_000), offset_ns.wrapping_add(came_ns));
        }
        let first = 160.0 / 16.0;
        let expected = first + (160.0 - first) / 16.0;
        assert!((flow.jitter_ns - expected).abs() < 1e-9, "{} {expected}", flow.jitter_ns);
    }

    #[test]
    fn a_sequence_beyond_what_is_told_apart_takes_no_memory() {
        let mut flow = Arrivals::default();
        flow.takes(datagram(u64::MAX, 0), 0);
        flow.takes(datagram(SEQUENCES, 0), 0);
        assert!(flow.came.0.is_empty());
    }

    proptest! {
        #[test]
        fn bits_count_as_a_set_does(
            numbers in prop::collection::vec(0_u64..400, 0..200), from in 0_u64..400, length in 0_u64..400,
        ) {
            let (mut bits, mut set) = (Bits::default(), BTreeSet::new());
            for number in numbers {
                prop_assert_eq!(bits.add(number), set.insert(number));
            }
            let to = from + length;
            prop_assert_eq!(bits.count(from, to), set.range(from..to).count() as u64);
        }
    }
}
