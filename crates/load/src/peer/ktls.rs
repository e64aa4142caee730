//! TLS by the kernel: it is given the keys that the two ends have agreed on, and from then on the
//! socket takes and gives plain text (the kernel's Documentation/networking/tls.rst).

use std::io;
use std::net::TcpStream;

use rustls::{Connection, ConnectionTrafficSecrets};
use zeroize::Zeroizing;

use crate::sockopt::{TlsWay, set_tls_key, start_tls};

/// From linux/tls.h.
const TLS_1_3: u16 = 0x0304;
const AES_GCM_128: u16 = 51;
const AES_GCM_256: u16 = 52;
const CHACHA20_POLY1305: u16 = 54;

/// Gives the kernel what it needs for either direction.
pub(super) fn hand_over(socket: TcpStream, connection: Connection) -> io::Result<TcpStream> {
    start_tls(&socket).map_err(|error| {
        let why = format!(
            "the kernel does no TLS ({error}): load its module (modprobe tls) at both ends, or take \
             the layer `tls`, which does it without"
        );
        io::Error::new(error.kind(), why)
    })?;
    let secrets = connection.dangerous_extract_secrets().map_err(io::Error::other)?;
    for (way, (sequence, secrets)) in [(TlsWay::Tx, secrets.tx), (TlsWay::Rx, secrets.rx)] {
        set_tls_key(&socket, way, &crypto_info(sequence, &secrets)?)?;
    }
    Ok(socket)
}

/// A `tls12_crypto_info_*`, whose fields have no gaps: version, cipher, nonce, key, salt, sequence.
fn crypto_info(
    sequence: u64,
    secrets: &ConnectionTrafficSecrets,
) -> io::Result<Zeroizing<Vec<u8>>> {
    use ConnectionTrafficSecrets::{Aes128Gcm, Aes256Gcm, Chacha20Poly1305};
    let (cipher, key, iv, salt_bytes) = match secrets {
        Aes128Gcm { key, iv } => (AES_GCM_128, key, iv, 4),
        Aes256Gcm { key, iv } => (AES_GCM_256, key, iv, 4),
        Chacha20Poly1305 { key, iv } => (CHACHA20_POLY1305, key, iv, 0),
        _ => return Err(io::ErrorKind::Unsupported.into()),
    };
    let (key, (salt, nonce)) = (key.as_ref(), iv.as_ref().split_at(salt_bytes));
    // AES with 128 bits has keys of 16 bytes.
    let key = if cipher == AES_GCM_128 { &key[..16] } else { key };
    let head = [TLS_1_3.to_ne_bytes(), cipher.to_ne_bytes()].concat();
    Ok(Zeroizing::new([head.as_slice(), nonce, key, salt, &sequence.to_be_bytes()].concat()))
}
