//! A connection to the other end: a bare one, or one whose bytes are encrypted here.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::encrypted::Encrypted;

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
        io::Error::new(io::ErrorKind::TimedOut, why)
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
