//! A socket whose reads and writes are over by one time, however many there are.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::sockopt::set_timeouts;

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
