//! The handshake at the start of every connection.
//!
//! The far end sends its name. Without waiting for it, the near end sends a knock: a nonce, its
//! request, and a code over both (HMAC-SHA256 with the secret). Only then does the far end send its
//! own nonce. With a code over all of that, the near end proves that it has not replayed another
//! connection. The far end proves itself in the same way.
//!
//! So the far end waits for a stranger only as long as a knock takes, which comes with the packet
//! that opens the connection. Recorded handshakes are useless, because the next nonce differs.

use std::io::{self, Read, Write};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::tls::Keys;
use crate::target::{PeerSecret, TlsBy};

/// What a peer says first, with its version.
pub(super) const MAGIC: &[u8; 16] = b"iotax peer 0004\n";
const NONCE_BYTES: usize = 32;
const WANTED_BYTES: usize = 8;
const CODE_BYTES: usize = 32;
/// What the near end says to be let in.
const KNOCK_BYTES: usize = NONCE_BYTES + WANTED_BYTES + CODE_BYTES;
/// What the far end says of itself when it has met the near one.
const ANSWER_BYTES: usize = 8 + CODE_BYTES;
/// What the far end says to a knock; a nonce follows the first of them.
const COME_IN: u8 = b'+';
const UNKNOWN: u8 = b'-';
const FULL: u8 = b'!';
/// Blocks and datagrams are at most so large.
const MAX_BLOCK_BYTES: u32 = 64 << 20;

pub(super) type Nonce = [u8; NONCE_BYTES];

/// A secret that nobody can guess.
///
/// # Errors
/// If the system has no random bytes.
pub fn new_secret() -> io::Result<PeerSecret> {
    nonce().map(PeerSecret)
}

/// Bytes that nobody can guess.
pub(super) fn nonce() -> io::Result<Nonce> {
    let mut nonce = Nonce::default();
    rustix::rand::getrandom(&mut nonce, rustix::rand::GetRandomFlags::empty())?;
    Ok(nonce)
}

/// What a connection is for, as the far end sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Takes what comes.
    Sink,
    /// Sends blocks of so many bytes for as long as they are taken.
    Source { bytes: u32 },
    /// Answers each request of so many bytes with as many.
    Answer { bytes: u32 },
    /// Tells its CPU time whenever it is asked.
    Counters,
    /// Counts the datagrams of a flow, and tells which of them came.
    Datagrams,
    /// Sends datagrams of so many bytes, at intervals that it is told.
    DatagramsBack { bytes: u32 },
    /// Takes connections, each with a request of so many bytes, which it answers with as many.
    Connections { bytes: u32 },
    /// Starts a server of iperf3 and tells its port; the server ends with the connection.
    Iperf3,
    /// Tells between which addresses the connection is, as the far end sees it.
    Addresses,
}

/// What the near end wants of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub role: Role,
    /// Who encrypts what follows, if anybody does.
    pub tls: Option<TlsBy>,
}

/// What both ends know when they have met.
pub(super) struct Met {
    pub wanted: Wanted,
    /// What the far end calls the connection.
    pub session: u64,
    /// Of this connection alone.
    pub keys: Keys,
}

impl Role {
    /// Whether what is said is believed, where load is nothing but random bytes.
    pub(super) fn is_control(self) -> bool {
        !matches!(self, Self::Sink | Self::Source { .. } | Self::Answer { .. })
    }
}

impl Wanted {
    fn encode(self) -> [u8; WANTED_BYTES] {
        let (kind, bytes) = match self.role {
            Role::Sink => (0, 0),
            Role::Source { bytes } => (1, bytes),
            Role::Answer { bytes } => (2, bytes),
            Role::Counters => (3, 0),
            Role::Datagrams => (4, 0),
            Role::Connections { bytes } => (5, bytes),
            Role::Iperf3 => (6, 0),
            Role::DatagramsBack { bytes } => (7, bytes),
            Role::Addresses => (8, 0),
        };
        let mut wanted = [0; WANTED_BYTES];
        wanted[0] = kind;
        wanted[1] = match self.tls {
            None => 0,
            Some(TlsBy::Process) => 1,
            Some(TlsBy::Kernel) => 2,
        };
        wanted[4..].copy_from_slice(&bytes.to_le_bytes());
        wanted
    }

    fn decode(wanted: [u8; WANTED_BYTES]) -> Option<Self> {
        let [kind, tls, 0, 0, bytes @ ..] = wanted else { return None };
        let bytes = u32::from_le_bytes(bytes);
        let sized = (1..=MAX_BLOCK_BYTES).contains(&bytes);
        let role = match kind {
            0 => Role::Sink,
            1 if sized => Role::Source { bytes },
            2 if sized => Role::Answer { bytes },
            3 => Role::Counters,
            4 => Role::Datagrams,
            5 if sized => Role::Connections { bytes },
            6 => Role::Iperf3,
            7 if sized => Role::DatagramsBack { bytes },
            8 => Role::Addresses,
            _ => return None,
        };
        let tls = match tls {
            0 if !role.is_control() => None,
            1 => Some(TlsBy::Process),
            2 => Some(TlsBy::Kernel),
            _ => return None,
        };
        Some(Self { role, tls })
    }
}

/// Why a hello is refused.
fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

/// The code by which one end proves what it knows. No two uses have as many bytes.
fn code(secret: &PeerSecret, parts: &[&[u8]]) -> Hmac<Sha256> {
    let mut code = Hmac::<Sha256>::new_from_slice(&secret.0).expect("HMAC takes keys of any size");
    code.update(MAGIC);
    for part in parts {
        code.update(part);
    }
    code
}

/// What the two ends of a connection know each other by when it is encrypted.
fn keys(secret: &PeerSecret, far: &Nonce, near: &Nonce) -> Keys {
    let seed = |end: &[u8]| {
        Zeroizing::new(<[u8; 32]>::from(code(secret, &[end, far, near]).finalize().into_bytes()))
    };
    Keys { near: seed(b"near, TLS"), far: seed(b"far, TLS") }
}

/// The far end of a handshake with whoever connected, over what it says and hears.
///
/// # Errors
/// Whatever it says that does not prove that it knows the secret; it hears a greeting and no more.
pub fn handshake(stream: &mut (impl Read + Write), secret: &PeerSecret) -> io::Result<()> {
    accept(stream, secret, nonce()?, 0).map(drop)
}

fn accept(
    stream: &mut (impl Read + Write),
    secret: &PeerSecret,
    nonce: Nonce,
    session: u64,
) -> io::Result<Met> {
    stream.write_all(MAGIC)?;
    let mut accepting = Accepting::default();
    loop {
        stream.read_exact(accepting.room())?;
        let room = accepting.room().len();
        match accepting.hears(room, secret, || Ok(Some((nonce, session))))? {
            Step::More => {}
            Step::Admit(says) => stream.write_all(&says)?,
            Step::Refuse(status) => {
                stream.write_all(&[status])?;
                return Err(refused("it does not have the right token"));
            }
            Step::Meet(says, met) => {
                stream.write_all(&says)?;
                return Ok(*met);
            }
        }
    }
}

/// What the far end does next.
pub(super) enum Step {
    /// Hears more.
    More,
    /// Says this: the knock was right, and now the near end has to prove itself.
    Admit([u8; 1 + NONCE_BYTES]),
    /// Says this, and no more.
    Refuse(u8),
    /// Says this, and both ends have met.
    Meet([u8; ANSWER_BYTES], Box<Met>),
}

/// The far end of a handshake as far as it has come. Whoever has it reads and writes, and says
/// [`MAGIC`] first.
pub(super) struct Accepting {
    heard: [u8; KNOCK_BYTES],
    filled: usize,
    /// The nonces of both ends, and the session, once the near end has knocked.
    knocked: Option<(Nonce, Nonce, u64, [u8; WANTED_BYTES])>,
}

impl Default for Accepting {
    fn default() -> Self {
        Self { heard: [0; KNOCK_BYTES], filled: 0, knocked: None }
    }
}

impl Accepting {
    /// Where what comes next goes.
    pub(super) fn room(&mut self) -> &mut [u8] {
        let end = if self.knocked.is_none() { KNOCK_BYTES } else { CODE_BYTES };
        &mut self.heard[self.filled..end]
    }

    /// Takes so many bytes in that came to its room. `admit` has a new nonce and a name for the
    /// session, or none if there are too many.
    pub(super) fn hears(
        &mut self,
        bytes: usize,
        secret: &PeerSecret,
        admit: impl FnOnce() -> io::Result<Option<(Nonce, u64)>>,
    ) -> io::Result<Step> {
        self.filled += bytes;
        if !self.room().is_empty() {
            return Ok(Step::More);
        }
        self.filled = 0;
        let Some((far, near, session, wants)) = self.knocked else {
            return self.is_knocked_at(secret, admit);
        };
        let proof = &self.heard[..CODE_BYTES];
        let expected = code(secret, &[b"near", &far, &near, &wants]);
        expected.verify_slice(proof).map_err(|_| refused("it does not have the right token"))?;
        let wanted = Wanted::decode(wants).ok_or_else(|| refused("it sent an unknown request"))?;
        let told = session.to_le_bytes();
        let proof = code(secret, &[b"far", &far, &near, &told]).finalize().into_bytes();
        let mut answer = [0; ANSWER_BYTES];
        answer[..8].copy_from_slice(&told);
        answer[8..].copy_from_slice(&proof);
        let keys = keys(secret, &far, &near);
        Ok(Step::Meet(answer, Box::new(Met { wanted, session, keys })))
    }

    fn is_knocked_at(
        &mut self,
        secret: &PeerSecret,
        admit: impl FnOnce() -> io::Result<Option<(Nonce, u64)>>,
    ) -> io::Result<Step> {
        let (near, rest) = self.heard.split_first_chunk().expect("a knock is longer");
        let (wants, proof) = rest.split_first_chunk().expect("a knock is longer");
        if code(secret, &[b"knock", near, wants]).verify_slice(proof).is_err() {
            return Ok(Step::Refuse(UNKNOWN));
        }
        let Some((far, session)) = admit()? else { return Ok(Step::Refuse(FULL)) };
        self.knocked = Some((far, *near, session, *wants));
        let mut says = [COME_IN; 1 + NONCE_BYTES];
        says[1..].copy_from_slice(&far);
        Ok(Step::Admit(says))
    }
}

/// The near end of a handshake. `nonce` must be new.
pub(super) fn greet(
    stream: &mut (impl Read + Write),
    secret: &PeerSecret,
    nonce: Nonce,
    wanted: Wanted,
) -> io::Result<Met> {
    let wants = wanted.encode();
    let knock = code(secret, &[b"knock", &nonce, &wants]).finalize().into_bytes();
    stream.write_all(&[nonce.as_slice(), &wants, &knock].concat())?;
    if read::<16>(stream)? != *MAGIC {
        return Err(refused("it is not an iotax peer, or it has a different version"));
    }
    let far: Nonce = match read(stream)? {
        [COME_IN] => read(stream)?,
        [FULL] => return Err(refused("it has reached its connection limit")),
        _ => return Err(refused("it rejected the token")),
    };
    let proof = code(secret, &[b"near", &far, &nonce, &wants]).finalize().into_bytes();
    stream.write_all(&proof)?;
    let session: [u8; 8] = read(stream)?;
    let expected = code(secret, &[b"far", &far, &nonce, &session]);
    let answer = read::<CODE_BYTES>(stream)?;
    expected
        .verify_slice(&answer)
        .map_err(|_| refused("it did not prove that it has the token"))?;
    let session = u64::from_le_bytes(session);
    Ok(Met { wanted, session, keys: keys(secret, &far, &nonce) })
}

fn read<const N: usize>(stream: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
