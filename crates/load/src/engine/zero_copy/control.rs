//! The kernel's notifications of zero-copy sends, in control messages.

use std::mem::zeroed;

/// `linux/errqueue.h`: what a notification is of, and that the kernel has made a copy.
const SO_EE_ORIGIN_ZEROCOPY: u8 = 5;
const SO_EE_CODE_ZEROCOPY_COPIED: u8 = 1;

/// Sends of these numbers are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Done {
    pub first: u32,
    pub last: u32,
    pub copied: bool,
}

/// The control messages in these bytes.
pub(super) fn each_done(control: &[u64], bytes: usize, mut take: impl FnMut(Done)) {
    // SAFETY: plain numbers and pointers, for which all zeros are a value.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_control = control.as_ptr().cast_mut().cast();
    message.msg_controllen = bytes.min(size_of_val(control)) as _;
    // SAFETY: the message says where its control messages are, and how long.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(&raw const message) };
    while !next.is_null() {
        // SAFETY: it is not null, and so a whole header within the control messages.
        let header = unsafe { next.read_unaligned() };
        let kind = (header.cmsg_level, header.cmsg_type);
        if let (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR) = kind {
            // SAFETY: such a message holds this structure.
            let of =
                unsafe { libc::CMSG_DATA(next).cast::<libc::sock_extended_err>().read_unaligned() };
            if of.ee_origin == SO_EE_ORIGIN_ZEROCOPY {
                let copied = of.ee_code & SO_EE_CODE_ZEROCOPY_COPIED > 0;
                take(Done { first: of.ee_info, last: of.ee_data, copied });
            }
        }
        // SAFETY: both are of the message above.
        next = unsafe { libc::CMSG_NXTHDR(&raw const message, next) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A control message as the kernel lays it out, padded to whole words.
    fn message(level: i32, kind: i32, origin: u8, code: u8, numbers: [u32; 2]) -> [u64; 4] {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&32_u64.to_ne_bytes());
        bytes[8..12].copy_from_slice(&level.to_ne_bytes());
        bytes[12..16].copy_from_slice(&kind.to_ne_bytes());
        bytes[20] = origin;
        bytes[22] = code;
        bytes[24..28].copy_from_slice(&numbers[0].to_ne_bytes());
        bytes[28..].copy_from_slice(&numbers[1].to_ne_bytes());
        let (words, _) = bytes.as_chunks::<8>();
        [words[0], words[1], words[2], words[3]].map(u64::from_ne_bytes)
    }

    fn all(control: &[u64], bytes: usize) -> Vec<Done> {
        let mut all = Vec::new();
        each_done(control, bytes, |done| all.push(done));
        all
    }

    /// Also under miri, which knows of reads that go too far.
    #[test]
    fn notifications_are_told_from_other_messages() {
        let control = [
            message(libc::SOL_IP, libc::IP_RECVERR, 5, 1, [3, 7]),
            message(libc::SOL_IP, libc::IP_RECVERR, 1, 1, [0, 0]),
            message(libc::SOL_SOCKET, libc::SO_TIMESTAMP, 5, 0, [0, 0]),
            message(libc::SOL_IPV6, libc::IPV6_RECVERR, 5, 0, [8, 8]),
        ]
        .concat();
        let first = Done { first: 3, last: 7, copied: true };
        let last = Done { first: 8, last: 8, copied: false };
        assert_eq!(all(&control, 128), [first, last]);
        assert_eq!(all(&control, 1 << 20), [first, last]);
        assert_eq!(all(&control, 96), [first]);
        assert_eq!(all(&control, 0), []);
        assert_eq!(all(&control, 15), []);
    }
}
