//! No bytes make a peer believe a stranger, or say more than its greeting.
#![no_main]

use std::io::{self, Cursor, Read, Write};

use iotax_load::peer_handshake;
use iotax_vdisk::PeerSecret;
use libfuzzer_sys::fuzz_target;

/// What it is to speak its magic word and a nonce.
const GREETING_BYTES: usize = 48;

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

fuzz_target!(|bytes: &[u8]| {
    let mut stranger = Stranger { says: Cursor::new(bytes), heard: 0 };
    assert!(peer_handshake(&mut stranger, &PeerSecret([7; 32])).is_err());
    assert_eq!(stranger.heard, GREETING_BYTES);
});
