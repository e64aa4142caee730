//! The far end of a network path.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use zeroize::{Zeroize as _, Zeroizing};

/// An iotax that listens at the other end of a network path: `iotax peer`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// Where it listens, as seen from the near end.
    pub address: SocketAddr,
    /// The network namespace that the near end is in, as a file; `None` for that of this process.
    pub namespace: Option<PathBuf>,
    /// The same of the far end, where that is another namespace of this machine.
    pub far_namespace: Option<PathBuf>,
    /// The CPUs from which load is driven unless a job names its own; empty means any.
    pub cpus: Vec<u32>,
    /// What both ends know, and prove to each other that they do.
    pub secret: PeerSecret,
    /// What encrypts load itself, if anything does.
    pub tls: Option<Tls>,
}

impl Peer {
    /// One that is reached from where this process is, without anything in between.
    pub fn at(address: SocketAddr, secret: PeerSecret) -> Self {
        Self { address, namespace: None, far_namespace: None, cpus: Vec::new(), secret, tls: None }
    }
}

/// TLS between load and its peer, without a program in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tls {
    /// Who encrypts.
    pub by: TlsBy,
    pub cipher: TlsCipher,
}

/// Who encrypts for TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsBy {
    /// The process itself, as most applications do it.
    Process,
    /// The kernel: the socket takes and gives plain text.
    Kernel,
}

/// The ciphers of TLS 1.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsCipher {
    /// AES with 128 bits.
    Aes128Gcm,
    /// AES with 256 bits.
    Aes256Gcm,
    /// What is fast without instructions for AES.
    ChaCha20Poly1305,
}

/// What is known of peers that were started elsewhere, by their addresses as targets have them
/// (`host:port`).
pub type PeerSecrets = BTreeMap<String, PeerSecret>;

/// Random bytes that only the two ends of a network path know. They are never shown, and wiped when
/// they are not needed any more.
#[derive(Clone, PartialEq, Eq)]
pub struct PeerSecret(pub [u8; PeerSecret::BYTES]);

impl PeerSecret {
    pub const BYTES: usize = 32;

    /// As hexadecimal text, which is what people hand on: a token.
    pub fn text(&self) -> Zeroizing<String> {
        use std::fmt::Write as _;
        let mut text = Zeroizing::new(String::with_capacity(2 * Self::BYTES));
        for byte in &self.0 {
            write!(text, "{byte:02x}").expect("writing to a string");
        }
        text
    }

    /// Reads a token; `None` if it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_token = text.len() == 2 * Self::BYTES && text.bytes().all(|b| b.is_ascii_hexdigit());
        let byte = |at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok();
        let bytes: Option<Vec<u8>> =
            (0..if is_token { Self::BYTES } else { 0 }).map(byte).collect();
        Some(Self(bytes?.try_into().ok()?))
    }
}

impl Drop for PeerSecret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for PeerSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PeerSecret")
    }
}

/// What people call it.
impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tcp://{}", self.address)
    }
}
