//! Questions to the kernel's rtnetlink, of the network namespace in which the socket was made.

use std::io;
use std::os::fd::OwnedFd;

use netlink_packet_core::{
    DecodeError, ErrorBuffer, ErrorMessage, NLM_F_DUMP, NLM_F_REQUEST, NLMSG_ALIGNTO, NLMSG_DONE,
    NLMSG_ERROR, NetlinkBuffer, NetlinkMessage, Parseable as _,
};
use netlink_packet_route::RouteNetlinkMessage;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with,
};

/// The kernel puts no more into one datagram of an answer.
const ROOM_BYTES: usize = 32 << 10;

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
        question: RouteNetlinkMessage,
        mut take: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        self.ask(question, NLM_F_DUMP)?;
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
    pub(super) fn get(&mut self, question: RouteNetlinkMessage) -> io::Result<Vec<u8>> {
        self.ask(question, 0)?;
        let first = self.answer()?.next();
        let message = first.unwrap_or(Ok(None))?;
        message.map(<[u8]>::to_vec).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    fn ask(&mut self, question: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.asked = self.asked.wrapping_add(1);
        let mut message = NetlinkMessage::from(question);
        message.header.flags = NLM_F_REQUEST | flags;
        message.header.sequence_number = self.asked;
        message.finalize();
        let mut request = vec![0; message.buffer_len()];
        message.serialize(&mut request);
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
            rest = rest.get(length.next_multiple_of(NLMSG_ALIGNTO.into())..).unwrap_or_default();
            Some(message)
        });
        Ok(messages.filter(move |message| message.sequence_number() == asked).map(|message| {
            match message.message_type() {
                NLMSG_DONE => Ok(None),
                NLMSG_ERROR => Err(refusal(message.payload()).unwrap_or_else(io::Error::other)),
                _ => Ok(Some(message.payload())),
            }
        }))
    }
}

/// What the kernel says that is wrong with a question.
fn refusal(payload: &[u8]) -> Result<io::Error, DecodeError> {
    Ok(ErrorMessage::parse(&ErrorBuffer::new_checked(&payload)?)?.to_io())
}
