//! No bytes make a peer believe a stranger, or say more than its greeting; and whoever knows the
//! token is answered, or refused, whatever it wants.
#![no_main]
#![allow(clippy::unwrap_used, reason = "a key of any size is one")]

use std::io::{self, Cursor, Read, Write};

use hmac::{Hmac, KeyInit as _, Mac as _};
use iotax_load::{PeerSecret, peer_handshake};
use libfuzzer_sys::fuzz_target;
use sha2::Sha256;

/// The magic word.
const GREETING_BYTES: usize = 16;
/// That somebody may come in, and a nonce.
const ADMITTED_BYTES: usize = 33;
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

/// Its codes over a hello are right, whatever that wants.
struct Acquainted<'a> {
    says: &'a [u8; HELLO_BYTES],
    to_say: Vec<u8>,
    knocked: bool,
    heard: Vec<u8>,
}

impl Acquainted<'_> {
    fn code(&self, end: &[u8], far: &[u8]) -> Vec<u8> {
        let mut code = Hmac::<Sha256>::new_from_slice(&SECRET.0).unwrap();
        let magic = &self.heard[..GREETING_BYTES];
        [magic, end, far, self.says].iter().for_each(|part| code.update(part));
        code.finalize().into_bytes().to_vec()
    }
}

impl Read for Acquainted<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if !self.knocked {
            self.knocked = true;
            self.to_say = [self.says.as_slice(), &self.code(b"knock", &[])].concat();
        } else if self.to_say.is_empty() {
            let far = &self.heard[GREETING_BYTES + 1..GREETING_BYTES + ADMITTED_BYTES];
            self.to_say = self.code(b"near", far);
        }
        let said = bytes.len().min(self.to_say.len());
        bytes[..said].copy_from_slice(&self.to_say[..said]);
        self.to_say.drain(..said);
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
    assert!([GREETING_BYTES, GREETING_BYTES + 1].contains(&stranger.heard));
    if let Some(says) = bytes.first_chunk() {
        let mut acquainted =
            Acquainted { says, to_say: Vec::new(), knocked: false, heard: Vec::new() };
        let is_served = peer_handshake(&mut acquainted, &SECRET).is_ok();
        let answer = if is_served { ANSWER_BYTES } else { 0 };
        assert_eq!(acquainted.heard.len(), GREETING_BYTES + ADMITTED_BYTES + answer);
    }
});
