//! A connection over which rustls sends and receives, used as its bare socket would be.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::ops::Range;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustls::Connection;

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
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
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

impl io::Write for Sending<'_> {
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
