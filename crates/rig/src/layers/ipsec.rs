//! ESP in transport mode by the kernel, with one key per direction that both ends share.

use iotax_layers::Ipsec;

use zeroize::Zeroizing;

use crate::layers::maker::prelude::*;

impl Network for Ipsec {
    fn make(&self, below: Link, context: &mut BuildContext<'_>) -> Result<Link, Error> {
        let (near, far) = (&below.near, &below.far);
        // The settings of one direction are the same at both ends, except for the word `in` or
        // `out`.
        let directions = [(near, far), (far, near)];
        for (at, (from, to)) in directions.into_iter().enumerate() {
            let pair = format!("src {} dst {}", from.address, to.address);
            let id = 2 * usize::from(below.number()) + at;
            let algorithm = algorithm(&self.cipher)?;
            let lines = |end: &End| {
                let word = if end.address == from.address { "out" } else { "in" };
                Zeroizing::new(format!(
                    "xfrm state add {pair} proto esp spi {} reqid {id} mode transport {}\n\
                     xfrm policy add {pair} dir {word} tmpl {pair} proto esp reqid {id} mode \
                     transport\n",
                    LEAST_SPI + id,
                    *algorithm,
                ))
            };
            for end in [near, far] {
                end.ip_lines(&lines(end), context)?;
            }
        }
        Ok(below)
    }
}

/// Lower values are reserved (RFC 4303).
const LEAST_SPI: usize = 256;

/// The kernel's words for the cipher, with a new key.
fn algorithm(cipher: &str) -> Result<Zeroizing<String>, Error> {
    let key = Key::new()?;
    let key = |bytes| key.hexadecimal(bytes);
    // Keys of AEADs have four bytes of salt behind them (RFC 4106, RFC 7634).
    Ok(Zeroizing::new(match cipher {
        "aes-256-gcm" => format!("aead rfc4106(gcm(aes)) 0x{} 128", *key(36)),
        "chacha20-poly1305" => format!("aead rfc7539esp(chacha20,poly1305) 0x{} 128", *key(36)),
        "aes-128-cbc-sha256" => {
            // Two independent keys.
            let own = Key::new()?.hexadecimal(32);
            format!("auth-trunc hmac(sha256) 0x{} 128 enc cbc(aes) 0x{}", *own, *key(16))
        }
        _ => format!("aead rfc4106(gcm(aes)) 0x{} 128", *key(20)),
    }))
}
