//! OpenVPN: a daemon at each end; they recognise each other by their certificate fingerprints.

use std::io;
use std::path::Path;

use iotax_layers::Openvpn;
use rcgen::{Certificate, CertificateParams, KeyPair};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::layers::maker::prelude::*;

const PORT: u16 = 1194;
/// Over IPv4: headers of IP and UDP, peer id, packet id, and the tag of the AEAD; plus 20 that IPv6
/// would need.
const OVERHEAD_BYTES: u32 = 20 + 8 + 4 + 4 + 16 + 20;

impl Network for Openvpn {
    fn make(&self, below: Link, context: &mut BuildContext<'_>) -> Result<Link, Error> {
        let link = below.above("ovpn");
        let mtu = below.near.mtu(context)?.saturating_sub(OVERHEAD_BYTES);
        let [near, far] = [Identity::new()?, Identity::new()?];
        // First the server reports that it listens, then the client that they are connected.
        let far = ("tls-server\ndh none", &far, near.fingerprint(), "link remote: ");
        let near = ("tls-client", &near, far.1.fingerprint(), "Sequence Completed");
        let ends = link.ends().into_iter().zip(below.ends()).rev();
        for (((end, _), (under, other)), (role, own, others, ready)) in ends.zip([far, near]) {
            end.make_tun(mtu, context)?;
            let config = Zeroizing::new(format!(
                "{role}\ndev {}\ndev-type tun\ntun-mtu {mtu}\nproto udp\nlocal {}\nremote {}\n\
                 port {}\ndata-ciphers {}\nreneg-sec 0\npeer-fingerprint {others}\ndisable-dco\n\
                 <cert>\n{}</cert>\n<key>\n{}</key>\n",
                end.interface,
                under.address,
                other.address,
                PORT + u16::from(below.number()),
                self.cipher.to_uppercase(),
                own.certificate.pem(),
                *own.key,
            ));
            let openvpn = end.program("openvpn").args(["--config", "stdin"]);
            let openvpn = openvpn.input(config.as_bytes());
            context.serve_until_said(openvpn, |said| said.contains(ready).then_some(()))?;
        }
        Ok(link)
    }
}

/// The identity of an end, made in memory for one tunnel.
struct Identity {
    certificate: Certificate,
    /// As PEM.
    key: Zeroizing<String>,
}

impl Identity {
    fn new() -> Result<Self, Error> {
        let make = || {
            let key = KeyPair::generate()?;
            let certificate = CertificateParams::new(Vec::new())?.self_signed(&key)?;
            Ok(Self { certificate, key: Zeroizing::new(key.serialize_pem()) })
        };
        make().map_err(|error: rcgen::Error| {
            Error::cannot("generate a certificate", Path::new("openvpn"))(io::Error::other(error))
        })
    }

    /// In the format of OpenVPN.
    fn fingerprint(&self) -> String {
        let digest = Sha256::digest(self.certificate.der());
        digest.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(":")
    }
}
