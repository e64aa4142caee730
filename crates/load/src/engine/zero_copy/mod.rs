//! Zero-copy sends: the kernel reads the load's own buffers until it reports that it is done. See
//! the kernel's `Documentation/networking/msg_zerocopy.rst`.

mod control;

use std::io;
use std::mem::zeroed;
use std::net::TcpStream;
use std::os::fd::AsRawFd as _;
use std::time::{Duration, Instant};

use iotax_record::ZeroCopyRecord;
use rustix::io::Errno;
use rustix::net::{SendFlags, send};

use self::control::{Done, each_done};
use crate::sockopt::allow_zero_copy;

/// Memory that sends of one flow may have under way: as much as a socket takes at most by default
/// (the last of `net.ipv4.tcp_wmem`).
const RING_BYTES: u32 = 4 << 20;
/// Sends under way at most; each block is one, unless the kernel takes it in parts.
const MOST_SENDS: u32 = 1024;
/// How long one wait for the kernel may take.
const LONGEST_WAIT_MS: libc::c_int = 50;
/// How long the last sends may take.
const PATIENCE: Duration = Duration::from_secs(1);

/// A ring of buffers, each of which is used again when all of its sends are done.
pub(crate) struct ZeroCopy {
    /// Of each buffer: its sends under way.
    pending: Vec<u32>,
    current: u32,
    /// Of each send under way, by its number: its buffer.
    owners: Vec<u32>,
    /// Number of the next send; the kernel counts as well.
    next: u32,
    under_way: u32,
    told: ZeroCopyRecord,
}

impl ZeroCopy {
    /// How many buffers there are for blocks of so many bytes.
    pub(crate) fn buffers(block_bytes: u32) -> u32 {
        (RING_BYTES / block_bytes.max(1)).clamp(4, MOST_SENDS / 4)
    }

    /// Switches it on for a connection.
    pub(crate) fn on(socket: &TcpStream, buffers: u32) -> io::Result<Self> {
        allow_zero_copy(socket)?;
        Ok(Self {
            pending: vec![0; buffers as usize],
            current: 0,
            owners: vec![0; MOST_SENDS as usize],
            next: 0,
            under_way: 0,
            told: ZeroCopyRecord::default(),
        })
    }

    /// The buffer of the block that is being sent.
    #[inline]
    pub(crate) fn buffer(&self) -> u32 {
        self.current
    }

    /// Whether that may be filled and sent; waits for it a little.
    #[inline]
    pub(crate) fn is_free(&mut self, socket: &TcpStream) -> bool {
        while self.pending[self.current as usize] > 0 {
            if !self.hear(socket) && !wait(socket) {
                return false;
            }
        }
        true
    }

    /// Sends a part of the block.
    #[inline]
    pub(crate) fn send(&mut self, socket: &TcpStream, bytes: &[u8]) -> Result<usize, Errno> {
        if self.under_way == MOST_SENDS && !self.hear(socket) {
            wait(socket);
            return Err(Errno::AGAIN);
        }
        let flags =
            SendFlags::NOSIGNAL | SendFlags::from_bits_retain(libc::MSG_ZEROCOPY.cast_unsigned());
        match send(socket, bytes, flags) {
            Ok(sent) => {
                self.owners[(self.next % MOST_SENDS) as usize] = self.current;
                self.pending[self.current as usize] += 1;
                self.next = self.next.wrapping_add(1);
                self.under_way += 1;
                Ok(sent)
            }
            // Too much is under way for `net.core.optmem_max` or the limit of locked memory.
            Err(Errno::NOBUFS) if self.under_way > 0 => {
                if !self.hear(socket) {
                    wait(socket);
                }
                Err(Errno::AGAIN)
            }
            Err(errno) => Err(errno),
        }
    }

    /// The block is sent: the next one has another buffer.
    #[inline]
    pub(crate) fn advance(&mut self) {
        self.current += 1;
        if self.current as usize == self.pending.len() {
            self.current = 0;
        }
    }

    /// Waits for all sends, and says what became of them.
    pub(crate) fn finish(&mut self, socket: &TcpStream) -> ZeroCopyRecord {
        let begun = Instant::now();
        while self.under_way > 0 && begun.elapsed() < PATIENCE {
            if !self.hear(socket) {
                wait(socket);
            }
        }
        self.told
    }

    /// The kernel tells of several at once.
    fn done(&mut self, Done { first, last, copied }: Done) {
        let count = last.wrapping_sub(first).wrapping_add(1).min(self.under_way);
        for number in 0..count {
            let owner = self.owners[(first.wrapping_add(number) % MOST_SENDS) as usize];
            let pending = &mut self.pending[owner as usize];
            *pending = pending.saturating_sub(1);
        }
        self.under_way -= count;
        self.told.sends += u64::from(count);
        self.told.copied += if copied { u64::from(count) } else { 0 };
    }

    /// Takes one notification, if there is one.
    fn hear(&mut self, socket: &TcpStream) -> bool {
        let mut control = [0_u64; 16];
        // SAFETY: plain numbers and pointers, for which all zeros are a value.
        let mut message: libc::msghdr = unsafe { zeroed() };
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control) as _;
        let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
        // SAFETY: the message has no data and room for control messages as long as it says.
        if unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) } < 0 {
            return false;
        }
        each_done(&control, message.msg_controllen as _, |done| self.done(done));
        true
    }
}

/// Until there is a notification, or a little later.
fn wait(socket: &TcpStream) -> bool {
    // Errors are told whatever is asked for.
    let mut one = libc::pollfd { fd: socket.as_raw_fd(), events: 0, revents: 0 };
    // SAFETY: one structure, and the descriptor is open.
    unsafe { libc::poll(&raw mut one, 1, LONGEST_WAIT_MS) > 0 }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    const BLOCK: usize = 64 << 10;

    #[test]
    fn a_buffer_is_free_when_all_its_sends_are_done_in_any_order() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut own = ZeroCopy::on(&socket, 4).unwrap();
        // Buffer 0 in two parts, buffer 1 in one; numbers wrap around.
        own.next = u32::MAX;
        for buffer in [0, 0, 1] {
            own.owners[(own.next % MOST_SENDS) as usize] = buffer;
            own.pending[buffer as usize] += 1;
            own.next = own.next.wrapping_add(1);
            own.under_way += 1;
        }
        own.done(Done { first: 1, last: 1, copied: true });
        assert_eq!(own.pending[..2], [2, 0]);
        own.done(Done { first: u32::MAX, last: 0, copied: false });
        assert_eq!((own.pending[0], own.under_way), (0, 0));
        assert_eq!(own.told, ZeroCopyRecord { sends: 3, copied: 1 });
    }

    #[test]
    fn the_kernel_copies_what_goes_to_this_machine_itself() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        let reader = thread::spawn(move || {
            let mut all = Vec::new();
            far.read_to_end(&mut all).unwrap();
            all
        });
        let mut own = ZeroCopy::on(&socket, 4).unwrap();
        let mut blocks = vec![vec![0; BLOCK]; 4];
        let mut expected = Vec::new();
        for round in 0..50_u8 {
            while !own.is_free(&socket) {}
            let block = &mut blocks[own.buffer() as usize];
            // What is still read would be spoilt.
            block.fill(round);
            expected.extend_from_slice(block);
            let mut sent = 0;
            while sent < BLOCK {
                match own.send(&socket, &block[sent..]) {
                    Ok(bytes) => sent += bytes,
                    Err(errno) => assert_eq!(errno, Errno::AGAIN),
                }
            }
            own.advance();
        }
        let told = own.finish(&socket);
        assert!(told.sends >= 50 && own.under_way == 0, "{told:?}");
        assert_eq!(told.copied, told.sends);
        drop(socket);
        assert!(reader.join().unwrap() == expected);
    }
}
