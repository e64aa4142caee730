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
        self.recv(bytes, RecvFlags::empty()).map_err(said)
    }
}

impl Write for Flow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.send(bytes, SendFlags::NOSIGNAL).map_err(said)
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Bare(_) => Ok(()),
            Self::Tls(encrypted) => encrypted.flush(SendFlags::NOSIGNAL).map_err(said),
        }
    }
}

/// A socket whose time is up says that it should be tried again.
fn said(errno: Errno) -> io::Error {
    match errno {
        Errno::AGAIN => io::Error::new(io::ErrorKind::TimedOut, "it did not answer in time"),
        errno => errno.into(),
    }
}
