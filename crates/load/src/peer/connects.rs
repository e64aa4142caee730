//! Connections one after the other, each for one request and its answer.
//!
//! The handshake is not in what is measured: the connection that has proved itself only tells of a
//! listener of its own, and stays open as long as that is to listen. Whoever else connects there has
//! neither the cookie nor, but for its own host, the address.

use std::io::{self, ErrorKind, Read as _, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::{Timeout, set_socket_timeout};

use super::flow::Flow;
use super::hello;
use crate::sockopt::reset_on_close;

/// What every request begins with.
pub(super) type Cookie = [u8; COOKIE_BYTES];
pub(crate) const COOKIE_BYTES: usize = 16;
/// Bytes of an [`Offer`] on the wire.
const OFFER_BYTES: usize = 2 + COOKIE_BYTES;
/// How long a request may take to come once it is connected.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long nobody may connect.
const SILENCE: Timespec = Timespec { tv_sec: 120, tv_nsec: 0 };

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
    // Whoever is accepted inherits both, as Linux has it, without a call for each.
    set_socket_timeout(&listener, Timeout::Recv, Some(PATIENCE))?;
    reset_on_close(&listener)?;
    let cookie = *hello::nonce()?.first_chunk().expect("it is longer");
    let offer = Offer { port: listener.local_addr()?.port(), cookie };
    control.write_all(&offer.encode())?;
    control.flush()?;
    let mut request = vec![0; bytes];
    // Closed by the near end, as a rule; what of that got lost ends with the next one.
    let mut before = None;
    while waits(control, &listener)? {
        match listener.accept() {
            Ok((stream, from)) => {
                let answered = answer(stream, (from.ip(), near), &cookie, &mut request);
                drop(std::mem::replace(&mut before, answered));
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            // Gone before it was accepted, or no descriptor is left.
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    Ok(())
}

/// Waits until somebody connects; false if it is over: whatever comes on `control`, which has nothing
/// more to say, is its end.
fn waits(control: &Flow, listener: &TcpListener) -> io::Result<bool> {
    loop {
        let mut fds =
            [PollFd::new(control.socket(), PollFlags::IN), PollFd::new(listener, PollFlags::IN)];
        match poll(&mut fds, Some(&SILENCE)) {
            Ok(ready) => return Ok(ready > 0 && fds[0].revents().is_empty()),
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Answers whoever comes from where the session does and has its cookie; others are sent away.
fn answer(
    mut stream: TcpStream,
    (from, near): (IpAddr, IpAddr),
    cookie: &Cookie,
    request: &mut [u8],
) -> Option<TcpStream> {
    if from != near || stream.read_exact(request).is_err() || !request.starts_with(cookie) {
        return None;
    }
    stream.write_all(request).ok()?;
    Some(stream)
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

    #[test]
    fn another_host_is_sent_away_unheard() {
        let (mut near, far) = pair();
        near.write_all(&[0; 64]).unwrap();
        let hosts = (IpAddr::from([198, 18, 0, 3]), IpAddr::from([198, 18, 0, 1]));
        assert!(answer(far, hosts, &[0; COOKIE_BYTES], &mut [0; 64]).is_none());
    }
}
