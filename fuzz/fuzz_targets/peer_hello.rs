//! No bytes make a peer believe a stranger, or say more than its greeting; and whoever knows the
//! token is answered, or refused, whatever it wants.
#![no_main]
#![allow(clippy::unwrap_used, reason = "a key of any size is one")]

use std::io::{self, Cursor, Read, Write};

use hmac::{Hmac, KeyInit as _, Mac as _};
use iotax_load::peer_handshake;
use iotax_vdisk::PeerSecret;
use libfuzzer_sys::fuzz_target;
use sha2::Sha256;

/// What it is to speak its magic word and a nonce.
const GREETING_BYTES: usize = 48;
/// A nonce, and what is wanted.
const HELLO_BYTES: usize = 40;
/// A session, and a code.
const ANSWER_BYTES: usize = 40;
const SECRET: PeerSecret = PeerSecret([7; 32]);

struct Stranger<'a> {
    says: Cursor<&'a [u8]>,
    heard: usize,
}

impl Read for Stranger<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.says.read(bytes)
    }
}

impl Write for Stranger<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.heard += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Its code over a hello is right, whatever that wants.
struct Acquainted<'a> {
    says: &'a [u8; HELLO_BYTES],
    code: Vec<u8>,
    heard: Vec<u8>,
}

impl Read for Acquainted<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.code.is_empty() {
            let mut code = Hmac::<Sha256>::new_from_slice(&SECRET.0).unwrap();
            let (magic, nonce) = self.heard.split_at(16);
            [magic, b"near", nonce, self.says].iter().for_each(|part| code.update(part));
            self.code = [self.says.as_slice(), &code.finalize().into_bytes()].concat();
        }
        let said = bytes.len().min(self.code.len());
        bytes[..said].copy_from_slice(&self.code[..said]);
        self.code.drain(..said);
        Ok(said)
    }
}

impl Write for Acquainted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.heard.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut stranger = Stranger { says: Cursor::new(bytes), heard: 0 };
    assert!(peer_handshake(&mut stranger, &SECRET).is_err());
    assert_eq!(stranger.heard, GREETING_BYTES);
    if let Some(says) = bytes.first_chunk() {
        let mut acquainted = Acquainted { says, code: Vec::new(), heard: Vec::new() };
        let is_served = peer_handshake(&mut acquainted, &SECRET).is_ok();
        let answer = if is_served { ANSWER_BYTES } else { 0 };
        assert_eq!(acquainted.heard.len(), GREETING_BYTES + answer);
    }
});
