//! A connection to the other end: plain, or encrypted by this process.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::ops::Range;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustls::Connection;

use crate::sockopt::set_timeouts;

/// See the module. It is used like a socket.
pub(crate) enum Flow {
    /// What is written is on the wire, or the kernel encrypts it.
    Bare(TcpStream),
    /// TLS by this process.
    Tls(Box<Encrypted>),
}

impl Flow {
    /// For options and questions, not for data.
    pub(crate) fn socket(&self) -> &TcpStream {
        match self {
            Self::Bare(socket) => socket,
            Self::Tls(encrypted) => &encrypted.socket,
        }
    }

    /// A socket whose time is up says that it should be tried again.
    fn said(&self, errno: Errno) -> io::Error {
        if errno != Errno::AGAIN {
            return errno.into();
        }
        let longest = self.socket().read_timeout().ok().flatten().unwrap_or_default();
        let why = format!("it did not answer within {longest:?}");
        io::Error::new(ErrorKind::TimedOut, why)
    }

    #[inline]
    pub(crate) fn send(&mut self, bytes: &[u8], flags: SendFlags) -> Result<usize, Errno> {
        match self {
            Self::Bare(socket) => send(&*socket, bytes, flags),
            Self::Tls(encrypted) => encrypted.send(bytes, flags),
        }
    }

    #[inline]
    pub(crate) fn recv(&mut self, bytes: &mut [u8], flags: RecvFlags) -> Result<usize, Errno> {
        match self {
            Self::Bare(socket) => recv(&*socket, bytes, flags).map(|(bytes, _)| bytes),
            Self::Tls(encrypted) => encrypted.recv(bytes, flags - RecvFlags::WAITALL),
        }
    }
}

impl Read for Flow {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.recv(bytes, RecvFlags::empty()).map_err(|errno| self.said(errno))
    }
}

impl Write for Flow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.send(bytes, SendFlags::NOSIGNAL).map_err(|errno| self.said(errno))
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Bare(_) => Ok(()),
            Self::Tls(encrypted) => {
                let flushed = encrypted.flush(SendFlags::NOSIGNAL);
                flushed.map_err(|errno| self.said(errno))
            }
        }
    }
}

// A connection over which rustls sends and receives, used as its bare socket would be.

/// What is taken from the socket at a time.
const READ_BYTES: usize = 64 << 10;

/// A socket whose bytes this process encrypts and decrypts; it is used as a bare one is.
pub(crate) struct Encrypted {
    pub(super) socket: TcpStream,
    connection: Connection,
    /// What the socket gave and is not decrypted yet.
    incoming: Box<[u8]>,
    waiting: Range<usize>,
}

impl Encrypted {
    pub(super) fn new(socket: TcpStream, connection: Connection) -> Self {
        let incoming = vec![0; READ_BYTES].into_boxed_slice();
        Self { socket, connection, incoming, waiting: 0..0 }
    }

    /// Takes as many bytes as there is room for, which may be on their way only with the next call.
    pub(super) fn send(&mut self, bytes: &[u8], flags: SendFlags) -> Result<usize, Errno> {
        self.flush(flags)?;
        let taken = self.connection.writer().write(bytes).map_err(|_| Errno::NOMEM)?;
        match self.flush(flags) {
            Ok(()) | Err(Errno::AGAIN | Errno::INTR) => Ok(taken),
            Err(errno) => Err(errno),
        }
    }

    /// Hands to the socket what is encrypted.
    pub(super) fn flush(&mut self, flags: SendFlags) -> Result<(), Errno> {
        while self.connection.wants_write() {
            let mut socket = Sending { socket: &self.socket, flags };
            self.connection.write_tls(&mut socket).map_err(|error| errno(&error))?;
        }
        Ok(())
    }

    /// As many bytes as there are, at least one; none at the end.
    pub(super) fn recv(&mut self, bytes: &mut [u8], flags: RecvFlags) -> Result<usize, Errno> {
        match self.flush(SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
            Ok(()) | Err(Errno::AGAIN) => {}
            Err(errno) => return Err(errno),
        }
        let mut read = 0;
        loop {
            match self.connection.reader().read(&mut bytes[read..]) {
                Ok(0) => return Ok(read),
                Ok(more) => read += more,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return if read > 0 { Ok(read) } else { Err(errno(&error)) },
            }
            if read == bytes.len() || read > 0 && self.waiting.is_empty() {
                return Ok(read);
            }
            if self.waiting.is_empty() {
                let (more, _) = recv(&self.socket, &mut *self.incoming, flags)?;
                if more == 0 {
                    return Ok(0);
                }
                self.waiting = 0..more;
            }
            let mut waiting = &self.incoming[self.waiting.clone()];
            self.waiting.start +=
                self.connection.read_tls(&mut waiting).map_err(|error| errno(&error))?;
            self.connection.process_new_packets().map_err(|_| Errno::BADMSG)?;
        }
    }
}

/// What rustls writes to.
struct Sending<'a> {
    socket: &'a TcpStream,
    flags: SendFlags,
}

impl Write for Sending<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(send(self.socket, bytes, self.flags)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::CONNRESET)
}

// A socket whose reads and writes are over by one time, however many there are.

pub(super) struct Until<'a> {
    socket: &'a TcpStream,
    end: Instant,
    /// Bytes that came.
    pub heard: u64,
}

impl<'a> Until<'a> {
    pub(super) fn new(socket: &'a TcpStream, end: Instant) -> Self {
        Self { socket, end, heard: 0 }
    }

    /// Lets each read and write of the socket wait no longer than to the end.
    pub(super) fn set_timeouts(&self) -> io::Result<()> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        // The kernel takes nothing below a microsecond.
        set_timeouts(self.socket, left.max(Duration::from_millis(1)))
    }

    fn within<T>(&self, mut act: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        loop {
            self.set_timeouts()?;
            match act() {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return Err(ErrorKind::TimedOut.into());
                }
                done => return done,
            }
        }
    }
}

impl Read for Until<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut socket = self.socket;
        let read = self.within(|| socket.read(bytes))?;
        self.heard += read as u64;
        Ok(read)
    }
}

impl Write for Until<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut socket = self.socket;
        self.within(|| socket.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::time::Duration;

    use super::*;

    #[test]
    fn silence_is_no_error_of_the_system_s() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        near.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let error = Flow::Bare(near).read_exact(&mut [0]).unwrap_err();
        assert_eq!(error.to_string(), "it did not answer within 20ms");
    }
}

#[cfg(test)]
mod tests_of_until {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    /// One byte at a time would restart a limit that is each read's own.
    #[test]
    fn whoever_speaks_slowly_has_no_longer_than_all_may() {
        let (near, mut far) = pair();
        let slow = thread::spawn(move || {
            while far.write_all(&[7]).is_ok() {
                thread::sleep(Duration::from_millis(5));
            }
        });
        let mut until = Until::new(&near, Instant::now() + Duration::from_millis(100));
        let error = until.read_exact(&mut vec![0; 1 << 20]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert!(until.heard > 0);
        drop(near);
        slow.join().unwrap();
    }

    #[test]
    fn silence_ends_and_what_is_over_is_not_begun() {
        let (near, _far) = pair();
        let mut until = Until::new(&near, Instant::now() + Duration::from_millis(20));
        for _ in 0..2 {
            assert_eq!(until.read(&mut [0]).unwrap_err().kind(), ErrorKind::TimedOut);
        }
        assert_eq!(until.write(&[0]).unwrap_err().kind(), ErrorKind::TimedOut);
    }
}
