//! Questions to the kernel's rtnetlink, of the network namespace in which the socket was made.

use std::io;
use std::os::fd::OwnedFd;

use netlink_packet_core::{
    NLM_F_DUMP, NLM_F_REQUEST, NLMSG_DONE, NLMSG_ERROR, NetlinkBuffer, NetlinkHeader, NlasIterator,
};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with,
};

/// The kernel puts no more into one datagram of an answer.
const ROOM_BYTES: usize = 32 << 10;
/// `NLMSG_ALIGNTO`.
const ALIGNED: usize = 4;

/// A socket for questions.
#[derive(Debug)]
pub(super) struct Netlink {
    socket: OwnedFd,
    asked: u32,
    buffer: Vec<u8>,
}

impl Netlink {
    /// In the namespace of the calling thread.
    pub(super) fn open() -> io::Result<Self> {
        // `NETLINK_ROUTE` is protocol 0.
        let socket =
            socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
        Ok(Self { socket, asked: 0, buffer: vec![0; ROOM_BYTES] })
    }

    /// Asks for all there are of a kind; each message of the answer goes to `take`, without its header.
    pub(super) fn dump(
        &mut self,
        kind: u16,
        payload: &[u8],
        mut take: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        self.ask(kind, NLM_F_DUMP, payload)?;
        loop {
            for message in self.answer()? {
                match message? {
                    None => return Ok(()),
                    Some(message) => take(message),
                }
            }
        }
    }

    /// Asks for one thing; the message that answers, without its header.
    pub(super) fn get(&mut self, kind: u16, payload: &[u8]) -> io::Result<Vec<u8>> {
        self.ask(kind, 0, payload)?;
        let first = self.answer()?.next();
        let message = first.unwrap_or(Ok(None))?;
        message.map(<[u8]>::to_vec).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    fn ask(&mut self, kind: u16, flags: u16, payload: &[u8]) -> io::Result<()> {
        use netlink_packet_core::Emitable as _;
        self.asked = self.asked.wrapping_add(1);
        let mut header = NetlinkHeader::default();
        header.message_type = kind;
        header.flags = NLM_F_REQUEST | flags;
        header.sequence_number = self.asked;
        let mut request = vec![0; header.buffer_len()];
        request.extend(payload);
        header.length = u32::try_from(request.len()).map_err(io::Error::other)?;
        header.emit(&mut request);
        send(&self.socket, &request, SendFlags::empty())?;
        Ok(())
    }

    /// The next datagram of the answer; `None` is the end of it. Answers to earlier questions, whose
    /// end was not waited for, are left out.
    fn answer(&mut self) -> io::Result<impl Iterator<Item = io::Result<Option<&[u8]>>>> {
        let (length, _) = recv(&self.socket, &mut self.buffer[..], RecvFlags::empty())?;
        let mut rest = &self.buffer[..length];
        let asked = self.asked;
        let messages = std::iter::from_fn(move || {
            let message = NetlinkBuffer::new_checked(rest).ok()?;
            let length = message.length() as usize;
            let (kind, sequence) = (message.message_type(), message.sequence_number());
            let payload = &rest[16..length];
            rest = rest.get(length.next_multiple_of(ALIGNED)..).unwrap_or_default();
            Some((kind, sequence, payload))
        });
        Ok(messages.filter(move |(_, sequence, _)| *sequence == asked).map(|(kind, _, payload)| {
            match kind {
                NLMSG_DONE => Ok(None),
                NLMSG_ERROR => {
                    let code = payload.first_chunk().map_or(0, |code| i32::from_ne_bytes(*code));
                    Err(io::Error::from_raw_os_error(code.saturating_neg()))
                }
                _ => Ok(Some(payload)),
            }
        }))
    }
}

/// The attributes of a message, or nested in one: kind and value.
pub(super) fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    NlasIterator::new(bytes).map_while(Result::ok).map(|attribute| {
        let (kind, length) = (attribute.kind(), usize::from(attribute.length()));
        (kind, &attribute.into_inner()[4..length])
    })
}
