//! TLS on the load's own connections: nothing is made, only the load is configured.

use iotax_layers::Tls;
use iotax_load::{Peer, TlsBy, TlsCipher};

use crate::network::OfLoad;

impl OfLoad for Tls {
    fn over(&self, peer: Peer) -> Peer {
        let by = if self.in_kernel { TlsBy::Kernel } else { TlsBy::Process };
        let cipher = match self.cipher.as_str() {
            "aes-128-gcm" => TlsCipher::Aes128Gcm,
            "chacha20-poly1305" => TlsCipher::ChaCha20Poly1305,
            _ => TlsCipher::Aes256Gcm,
        };
        Peer { tls: Some(iotax_load::Tls { by, cipher }), ..peer }
    }
}
