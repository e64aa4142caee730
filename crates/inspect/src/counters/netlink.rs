//! Requests to the kernel's rtnetlink, for the network namespace in which the socket was created.
//! Numbers are those of `linux/netlink.h`.

use std::io;
use std::os::fd::OwnedFd;

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with,
};

const NLM_F_REQUEST: u16 = 1;
const NLM_F_DUMP: u16 = 0x300;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
/// Length (4 bytes), type (2), flags (2), number of the request (4), port (4).
const HEADER_BYTES: usize = 16;
/// Messages and attributes begin at multiples of this.
const ALIGNED_TO: usize = 4;

/// Largest datagram that the kernel sends in an answer.
const ROOM_BYTES: usize = 32 << 10;

/// A socket for requests.
#[derive(Debug)]
pub(super) struct Netlink {
    socket: OwnedFd,
    asked: u32,
    buffer: Vec<u8>,
}

impl Netlink {
    /// Opens it in the namespace of the calling thread.
    pub(super) fn open() -> io::Result<Self> {
        // `NETLINK_ROUTE` is protocol 0.
        let socket =
            socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
        Ok(Self { socket, asked: 0, buffer: vec![0; ROOM_BYTES] })
    }

    /// Requests all objects of a type; passes each message of the answer to `take`, without its
    /// header.
    pub(super) fn dump(
        &mut self,
        question: Question,
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

    /// Requests one object; returns the message of the answer, without its header.
    pub(super) fn get(&mut self, question: Question) -> io::Result<Vec<u8>> {
        self.ask(question, 0)?;
        let first = self.answer()?.next();
        let message = first.unwrap_or(Ok(None))?;
        message.map(<[u8]>::to_vec).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    fn ask(&mut self, (kind, body): Question, flags: u16) -> io::Result<()> {
        self.asked = self.asked.wrapping_add(1);
        let length = u32::try_from(HEADER_BYTES + body.len()).expect("questions are short");
        let mut request = length.to_ne_bytes().to_vec();
        request.extend([kind, NLM_F_REQUEST | flags].map(u16::to_ne_bytes).concat());
        request.extend([self.asked, 0].map(u32::to_ne_bytes).concat());
        request.extend(body);
        send(&self.socket, &request, SendFlags::empty())?;
        Ok(())
    }

    /// The next datagram of the answer; `None` at its end. Skips answers to earlier requests that
    /// were not read to their end.
    fn answer(&mut self) -> io::Result<impl Iterator<Item = io::Result<Option<&[u8]>>>> {
        let (length, _) = recv(&self.socket, &mut self.buffer[..], RecvFlags::empty())?;
        let asked = self.asked;
        let own = messages(&self.buffer[..length]).filter(move |(number, ..)| *number == asked);
        Ok(own.map(|(_, kind, payload)| match kind {
            NLMSG_DONE => Ok(None),
            NLMSG_ERROR => Err(refusal(payload)),
            _ => Ok(Some(payload)),
        }))
    }
}

/// A message type, and the content after its header.
pub(super) type Question = (u16, Vec<u8>);

/// For each message of a datagram: the number of its request, its type, and its content. A
/// truncated message ends the list.
fn messages(mut rest: &[u8]) -> impl Iterator<Item = (u32, u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = u32_at(rest, 0)? as usize;
        let message = (u32_at(rest, 8)?, u16_at(rest, 4)?, rest.get(HEADER_BYTES..length)?);
        rest = rest.get(length.next_multiple_of(ALIGNED_TO)..).unwrap_or_default();
        Some(message)
    })
}

/// The attributes at the end of a message, with their types. A truncated attribute ends the list.
pub(super) fn attributes(mut rest: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    /// A flag in the type for the format of its value, which is known anyway.
    const FLAGS: u16 = 0xc000;
    std::iter::from_fn(move || {
        let length = usize::from(u16_at(rest, 0)?);
        let attribute = (u16_at(rest, 2)? & !FLAGS, rest.get(4..length)?);
        rest = rest.get(length.next_multiple_of(ALIGNED_TO)..).unwrap_or_default();
        Some(attribute)
    })
}

/// An attribute in wire format.
pub(super) fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(4 + value.len()).expect("values are short");
    let mut bytes = [length, kind].map(u16::to_ne_bytes).concat();
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(ALIGNED_TO), 0);
    bytes
}

/// The kernel's error for a request: a negative error number.
fn refusal(payload: &[u8]) -> io::Error {
    match u32_at(payload, 0) {
        Some(code) => io::Error::from_raw_os_error(code.cast_signed().wrapping_neg()),
        None => io::ErrorKind::InvalidData.into(),
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes_at(bytes, at).map(u16::from_ne_bytes)
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes_at(bytes, at).map(u32::from_ne_bytes)
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes_at(bytes, at).map(u64::from_ne_bytes)
}

fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message(kind: u16, number: u32, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(HEADER_BYTES + payload.len()).unwrap();
        let head = [length.to_ne_bytes().to_vec(), [kind, 0].map(u16::to_ne_bytes).concat()];
        let head = [head.concat(), [number, 0].map(u32::to_ne_bytes).concat()].concat();
        let mut bytes = [head.as_slice(), payload].concat();
        bytes.resize(bytes.len().next_multiple_of(ALIGNED_TO), 0);
        bytes
    }

    #[test]
    fn messages_of_a_datagram_are_told_apart() {
        let datagram = [message(16, 7, &[1; 5]), message(NLMSG_DONE, 8, &[])].concat();
        let all: Vec<_> = messages(&datagram).collect();
        assert_eq!(all, [(7, 16, [1; 5].as_slice()), (8, NLMSG_DONE, [].as_slice())]);
        assert_eq!(messages(&datagram[..20]).count(), 0);
    }

    #[test]
    fn what_the_kernel_refuses_is_its_error() {
        let refused = refusal(&(-101_i32).to_ne_bytes());
        assert_eq!(refused.kind(), io::ErrorKind::NetworkUnreachable);
        let mut netlink = Netlink::open().unwrap();
        let no_such = netlink.get((26, vec![0; 12])).unwrap_err();
        assert!(no_such.raw_os_error().is_some(), "{no_such:?}");
    }

    #[test]
    fn flags_of_a_type_are_no_part_of_it() {
        assert_eq!(attributes(&attribute(0x8007, b"ab")).next(), Some((7, b"ab".as_slice())));
    }

    proptest! {
        #[test]
        fn whatever_comes_ends(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(messages(&bytes).count() <= bytes.len());
            prop_assert!(attributes(&bytes).count() <= bytes.len());
        }

        #[test]
        fn attributes_come_as_they_were_sent(
            all in proptest::collection::vec(
                (0..0x4000_u16, proptest::collection::vec(any::<u8>(), 0..60)),
                0..6,
            ),
        ) {
            let sent: Vec<u8> =
                all.iter().flat_map(|(kind, value)| attribute(*kind, value)).collect();
            let read: Vec<_> = attributes(&sent).map(|(kind, value)| (kind, value.to_vec())).collect();
            prop_assert_eq!(read, all);
        }
    }
}
