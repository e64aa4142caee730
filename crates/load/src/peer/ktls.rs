//! TLS by the kernel: it is given the keys that the two ends have agreed on, and from then on the
//! socket takes and gives plain text (the kernel's Documentation/networking/tls.rst).

use std::io;
use std::net::TcpStream;
use std::os::fd::AsRawFd as _;

use rustls::{Connection, ConnectionTrafficSecrets};
use zeroize::Zeroizing;

/// From linux/tls.h.
const TLS_TX: libc::c_int = 1;
const TLS_RX: libc::c_int = 2;
const TLS_1_3: u16 = 0x0304;
const AES_GCM_128: u16 = 51;
const AES_GCM_256: u16 = 52;
const CHACHA20_POLY1305: u16 = 54;

/// Gives the kernel what it needs for either direction.
pub(super) fn hand_over(socket: TcpStream, connection: Connection) -> io::Result<TcpStream> {
    set(&socket, libc::SOL_TCP, libc::TCP_ULP, b"tls").map_err(|error| {
        let why = format!(
            "the kernel does no TLS ({error}): load its module (modprobe tls) at both ends, or take \
             the layer `tls`, which does it without"
        );
        io::Error::new(error.kind(), why)
    })?;
    let secrets = connection.dangerous_extract_secrets().map_err(io::Error::other)?;
    for (direction, (sequence, secrets)) in [(TLS_TX, secrets.tx), (TLS_RX, secrets.rx)] {
        set(&socket, libc::SOL_TLS, direction, &crypto_info(sequence, &secrets)?)?;
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

#[expect(unsafe_code, reason = "rustix has no words for these options")]
fn set(socket: &TcpStream, level: libc::c_int, name: libc::c_int, value: &[u8]) -> io::Result<()> {
    let length = libc::socklen_t::try_from(value.len()).expect("they are short");
    // SAFETY: the kernel reads `length` bytes of `value`, which is so long.
    let set =
        unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, value.as_ptr().cast(), length) };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
