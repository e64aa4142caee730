//! Many simultaneous connections, each for one request and its answer.
//!
//! The handshake is not part of the measurement. The authenticated connection only names a separate
//! listener, and stays open as long as that listens. Strangers who connect there do not have the
//! cookie, which is sent over TLS, and usually not the right address. A silent connection blocks
//! nobody else, and no memory is allocated before the cookie has arrived.

use std::io::{self, ErrorKind, Read as _, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::flow::Flow;
use super::hello;
use super::waiting::{Limits, Waiting};
use crate::sockopt::reset_on_close;

/// What every request begins with.
pub(super) type Cookie = [u8; COOKIE_BYTES];
pub(crate) const COOKIE_BYTES: usize = 16;
/// Bytes of an [`Offer`] on the wire.
const OFFER_BYTES: usize = 2 + COOKIE_BYTES;
/// How long a request may take to come, and its answer to go, once it is connected.
const PATIENCE: Duration = Duration::from_secs(5);
/// Connections without a whole cookie, at most.
const MOST_STRANGERS: usize = 256;
/// Requests and answers under way, at most, and how many bytes of them are kept.
const MOST_UNDER_WAY: usize = 64;
const KEPT_BYTES: usize = 64 << 20;
/// How long nobody may ask.
const SILENCE: Duration = Duration::from_mins(2);
/// Between two looks at whose time is up.
const LOOK: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// Where connections of a session are taken, and by what they are known.
pub(super) struct Offer {
    pub port: u16,
    pub cookie: Cookie,
}

impl Offer {
    fn encode(&self) -> Vec<u8> {
        [&self.port.to_le_bytes(), self.cookie.as_slice()].concat()
    }

    /// As the other end says it.
    pub(super) fn read(stream: &mut impl io::Read) -> io::Result<Self> {
        let mut told = [0; OFFER_BYTES];
        stream.read_exact(&mut told)?;
        let [low, high, cookie @ ..] = told;
        Ok(Self { port: u16::from_le_bytes([low, high]), cookie })
    }
}

/// Takes connections for as long as `control` is open, and answers the request of each, of so many
/// bytes, with as many.
pub(super) fn serve(control: &mut Flow, bytes: usize) -> io::Result<()> {
    let near = control.socket().peer_addr()?.ip();
    let listener = TcpListener::bind(SocketAddr::new(control.socket().local_addr()?.ip(), 0))?;
    listener.set_nonblocking(true)?;
    // Whoever is accepted inherits it, as Linux has it, without a call for each.
    reset_on_close(&listener)?;
    let cookie = *hello::nonce()?.first_chunk().expect("it is longer");
    let offer = Offer { port: listener.local_addr()?.port(), cookie };
    control.write_all(&offer.encode())?;
    control.flush()?;
    let mut desk = Desk::new(near, cookie, bytes)?;
    loop {
        let ready = desk.waits(control, &listener)?;
        if ready.is_over || desk.asked.elapsed() > SILENCE {
            return Ok(());
        }
        let now = Instant::now();
        if ready.comes {
            desk.lets_in(&listener, now);
        }
        for number in ready.spoke {
            desk.goes_on(number, now);
        }
        desk.strangers.expire(now);
        desk.under_way.expire(now);
    }
}

/// Who is there, and what they have said.
struct Desk {
    near: IpAddr,
    cookie: Cookie,
    /// Those that have not said the whole cookie.
    strangers: Waiting<Asking>,
    /// Those that have.
    under_way: Waiting<Asking>,
    last: u64,
    /// Where requests are read to.
    request: Box<[u8]>,
    /// Closed by the near end, as a rule; what of that got lost ends with the next one.
    before: Option<TcpStream>,
    /// When somebody was answered last.
    asked: Instant,
}

/// A request that has come, or an answer that has gone, in part.
struct Asking {
    stream: TcpStream,
    said: Vec<u8>,
    answered: usize,
}

/// What has happened.
struct Ready {
    is_over: bool,
    comes: bool,
    /// Numbers of those that have something to be read, or room.
    spoke: Vec<u64>,
}

impl Desk {
    fn new(near: IpAddr, cookie: Cookie, bytes: usize) -> io::Result<Self> {
        let waiting = |most| -> io::Result<Waiting<Asking>> {
            let limits = Limits { all: most, of_one_address: most };
            let seed = u64::from_le_bytes(*hello::nonce()?.first_chunk().expect("it is longer"));
            Ok(Waiting::new(limits, seed))
        };
        let most_under_way = (KEPT_BYTES / bytes.max(1)).clamp(1, MOST_UNDER_WAY);
        Ok(Self {
            near,
            cookie,
            strangers: waiting(MOST_STRANGERS)?,
            under_way: waiting(most_under_way)?,
            last: 0,
            request: vec![0; bytes].into_boxed_slice(),
            before: None,
            asked: Instant::now(),
        })
    }

    /// Waits until somebody comes, says something or has room. Whatever comes on `control`, which
    /// has nothing more to say, is its end.
    fn waits(&self, control: &Flow, listener: &TcpListener) -> io::Result<Ready> {
        let who = || self.strangers.iter().chain(self.under_way.iter());
        let mut fds = vec![
            PollFd::new(control.socket(), PollFlags::IN),
            PollFd::new(listener, PollFlags::IN),
        ];
        fds.extend(who().map(|(_, asking)| {
            let is_answered = asking.said.len() == self.request.len();
            PollFd::new(&asking.stream, if is_answered { PollFlags::OUT } else { PollFlags::IN })
        }));
        match poll(&mut fds, Some(&LOOK)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let [of_control, of_listener, others @ ..] = fds.as_slice() else { unreachable!() };
        let is_ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
        let spoke = who().zip(others).filter(|(_, fd)| is_ready(fd));
        Ok(Ready {
            is_over: is_ready(of_control),
            comes: is_ready(of_listener),
            spoke: spoke.map(|((number, _), _)| number).collect(),
        })
    }

    fn lets_in(&mut self, listener: &TcpListener, now: Instant) {
        match listener.accept() {
            // Others than who proved itself are sent away unheard.
            Ok((stream, from)) => {
                if from.ip() == self.near && stream.set_nonblocking(true).is_ok() {
                    self.last += 1;
                    let asking = Asking { stream, said: Vec::new(), answered: 0 };
                    self.strangers.arrives(self.last, self.near, now + PATIENCE, asking);
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            // Gone before it was accepted, or no descriptor is left.
            Err(_) => {
                if !self.strangers.make_room() {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        }
    }

    /// Takes in what one says, or goes on with its answer.
    fn goes_on(&mut self, number: u64, now: Instant) {
        let is_stranger = self.strangers.until(number).is_some();
        let waiting = if is_stranger { &mut self.strangers } else { &mut self.under_way };
        let (Some(until), Some(asking)) = (waiting.until(number), waiting.get_mut(number)) else {
            return;
        };
        match asking.goes_on(&self.cookie, &mut self.request) {
            Ok(true) => {
                self.asked = now;
                self.before = waiting.leaves(number).map(|asking| asking.stream);
            }
            Ok(false) if is_stranger && asking.said.len() >= COOKIE_BYTES => {
                if let Some(asking) = waiting.leaves(number) {
                    self.under_way.arrives(number, self.near, until, asking);
                }
            }
            Ok(false) => {}
            Err(_) => drop(waiting.leaves(number)),
        }
    }
}

impl Asking {
    /// True when the whole request is answered.
    fn goes_on(&mut self, cookie: &Cookie, request: &mut [u8]) -> io::Result<bool> {
        let bytes = request.len();
        if self.said.len() < bytes {
            let start = self.said.len();
            let Some(read) = moved(self.stream.read(&mut request[start..]))? else {
                return Ok(false);
            };
            let (said, known) = (&request[start..start + read], &cookie[start.min(COOKIE_BYTES)..]);
            if said.iter().zip(known).any(|(said, known)| said != known) {
                return Err(ErrorKind::PermissionDenied.into());
            }
            if read < bytes {
                if start + read >= COOKIE_BYTES {
                    self.said.reserve_exact(bytes - start);
                }
                self.said.extend_from_slice(said);
                if self.said.len() < bytes {
                    return Ok(false);
                }
            }
        }
        let answer = if self.said.is_empty() { &*request } else { &self.said };
        while self.answered < bytes {
            let Some(written) = moved(self.stream.write(&answer[self.answered..]))? else {
                if self.said.is_empty() {
                    self.said = request.to_vec();
                }
                return Ok(false);
            };
            self.answered += written;
        }
        Ok(true)
    }
}

/// How many bytes; `None` if nothing can be done now.
fn moved(done: io::Result<usize>) -> io::Result<Option<usize>> {
    match done {
        Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::thread;

    use super::*;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    #[test]
    fn only_the_cookie_is_answered_and_only_as_long_as_the_session_lasts() {
        let (mut near, far) = pair();
        let mut far = Flow::Bare(far);
        let serving = thread::spawn(move || serve(&mut far, 64));
        let offer = Offer::read(&mut near).unwrap();
        let ask = |cookie: &Cookie| {
            let mut stream = TcpStream::connect(("127.0.0.1", offer.port)).unwrap();
            let request = [cookie.as_slice(), &[7; 64 - COOKIE_BYTES]].concat();
            stream.write_all(&request).unwrap();
            let mut answer = [0; 64];
            stream.read_exact(&mut answer).ok().map(|()| answer == *request)
        };
        let mut wrong = offer.cookie;
        wrong[15] ^= 1;
        for _ in 0..3 {
            assert_eq!(ask(&offer.cookie), Some(true));
            assert_eq!(ask(&wrong), None);
        }
        drop(near);
        serving.join().unwrap().unwrap();
        assert!(TcpStream::connect(("127.0.0.1", offer.port)).is_err(), "nobody listens any more");
    }

    /// The second port serves whoever has the cookie beside those who only hold connections open.
    #[test]
    fn silence_and_halves_of_requests_keep_nobody_waiting() {
        let (mut near, far) = pair();
        let mut far = Flow::Bare(far);
        let serving = thread::spawn(move || serve(&mut far, 100_000));
        let offer = Offer::read(&mut near).unwrap();
        let open = || TcpStream::connect(("127.0.0.1", offer.port)).unwrap();
        let request = [offer.cookie.as_slice(), &vec![7; 100_000 - COOKIE_BYTES]].concat();
        let mut strangers = Vec::new();
        for stranger in 0..3 * MOST_STRANGERS {
            let mut stream = open();
            // Silent ones, ones with half a cookie, and ones that have overheard it.
            let says = [0, COOKIE_BYTES / 2, COOKIE_BYTES][stranger % 3];
            let _ = stream.write_all(&request[..says]);
            strangers.push(stream);
        }
        let begun = Instant::now();
        for _ in 0..20 {
            let mut stream = open();
            stream.write_all(&request).unwrap();
            let mut answer = vec![0; request.len()];
            stream.read_exact(&mut answer).unwrap();
            assert_eq!(answer, request);
        }
        assert!(begun.elapsed() < PATIENCE, "nobody's time had to be up for that");
        drop((strangers, near));
        serving.join().unwrap().unwrap();
    }

    #[test]
    fn no_memory_is_taken_without_the_cookie() {
        let cookie = [3; COOKIE_BYTES];
        let mut request = vec![0; 1 << 20];
        for (says, kept) in [(vec![3; 5], Some(5)), (vec![3, 3, 9], None), (vec![9; 100], None)] {
            let (mut near, far) = pair();
            near.write_all(&says).unwrap();
            let mut asking = Asking { stream: far, said: Vec::new(), answered: 0 };
            let went = asking.goes_on(&cookie, &mut request);
            assert_eq!(went.is_ok(), kept.is_some());
            assert!(asking.said.capacity() < 64, "{} bytes", asking.said.capacity());
        }
    }

    #[test]
    fn another_host_is_sent_away_unheard() {
        let mut desk = Desk::new([198, 18, 0, 1].into(), [3; COOKIE_BYTES], 64).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut other = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        desk.lets_in(&listener, Instant::now());
        assert!(desk.strangers.is_empty());
        assert!(matches!(other.read(&mut [0]), Ok(0) | Err(_)), "it is gone");
        desk.near = other.local_addr().unwrap().ip();
        let _same = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        desk.lets_in(&listener, Instant::now());
        assert!(!desk.strangers.is_empty());
    }
}
