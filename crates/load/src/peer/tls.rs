//! TLS 1.3 between the two ends, without certificates. Each end is identified by a key that is
//! derived from the secret and both nonces of the handshake (raw public keys, RFC 7250). This
//! prevents man-in-the-middle attacks and replays from other connections.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Instant;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{AlwaysResolvesClientRawPublicKeys, Resumption};
use rustls::crypto::aws_lc_rs::{cipher_suite, default_provider, sign::any_eddsa_type};
use rustls::crypto::{CryptoProvider, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{
    CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime,
};
use rustls::server::AlwaysResolvesServerRawPublicKeys;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::sign::{CertifiedKey, SigningKey};
use rustls::{
    ClientConfig, ClientConnection, Connection, ConnectionTrafficSecrets, DigitallySignedStruct,
    DistinguishedName, Error, ServerConfig, ServerConnection, SignatureScheme, version,
};
use zeroize::Zeroizing;

use super::flow::{Encrypted, Flow, Until};
use crate::sockopt::{TlsWay, set_tls_key, start_tls};
use crate::target::{Tls, TlsBy, TlsCipher};

/// For what the far end says of itself.
pub(super) const CONTROL: Tls = Tls { by: TlsBy::Process, cipher: TlsCipher::Aes256Gcm };
/// The far end says so when it has taken the near one for what it is.
const READY: u8 = b'!';

/// What the ends of one connection are known by: seeds of Ed25519.
#[derive(PartialEq, Eq)]
#[cfg_attr(test, derive(Debug))]
pub(super) struct Keys {
    pub near: Zeroizing<[u8; 32]>,
    pub far: Zeroizing<[u8; 32]>,
}

/// The near end of TLS on a connection, which has to be agreed on by `until`.
pub(super) fn connect(
    socket: TcpStream,
    tls: Tls,
    keys: &Keys,
    until: Instant,
) -> io::Result<Flow> {
    let suite = match tls.cipher {
        TlsCipher::Aes128Gcm => cipher_suite::TLS13_AES_128_GCM_SHA256,
        TlsCipher::Aes256Gcm => cipher_suite::TLS13_AES_256_GCM_SHA384,
        TlsCipher::ChaCha20Poly1305 => cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
    };
    let provider = CryptoProvider { cipher_suites: vec![suite], ..default_provider() };
    let other = Other::of(&keys.far, &provider)?;
    let config = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&version::TLS13])
        .map_err(io::Error::other)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(other));
    let own = Arc::new(AlwaysResolvesClientRawPublicKeys::new(certified(&keys.near)?));
    let mut config = config.with_client_cert_resolver(own);
    config.resumption = Resumption::disabled();
    config.enable_secret_extraction = tls.by == TlsBy::Kernel;
    // It stands in no certificate, and is not sent where there is only an address.
    let name = ServerName::from(std::net::Ipv4Addr::LOCALHOST);
    let connection = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    let mut flow = agreed(socket, connection.into(), tls.by, until)?;
    Until::new(flow.socket(), until).set_timeouts()?;
    let mut said = [0];
    flow.read_exact(&mut said)?;
    if said == [READY] { Ok(flow) } else { Err(io::ErrorKind::InvalidData.into()) }
}

/// The far end of it: takes whatever cipher the near one wants.
pub(super) fn accept(
    socket: TcpStream,
    by: TlsBy,
    keys: &Keys,
    until: Instant,
) -> io::Result<Flow> {
    let provider = default_provider();
    let other = Other::of(&keys.near, &provider)?;
    let config = ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&version::TLS13])
        .map_err(io::Error::other)?
        .with_client_cert_verifier(Arc::new(other));
    let own = Arc::new(AlwaysResolvesServerRawPublicKeys::new(certified(&keys.far)?));
    let mut config = config.with_cert_resolver(own);
    config.send_tls13_tickets = 0;
    config.enable_secret_extraction = by == TlsBy::Kernel;
    let connection = ServerConnection::new(Arc::new(config)).map_err(io::Error::other)?;
    let mut flow = agreed(socket, connection.into(), by, until)?;
    Until::new(flow.socket(), until).set_timeouts()?;
    flow.write_all(&[READY])?;
    flow.flush()?;
    Ok(flow)
}

/// A connection whose ends have agreed on keys.
fn agreed(
    socket: TcpStream,
    mut connection: Connection,
    by: TlsBy,
    until: Instant,
) -> io::Result<Flow> {
    let mut bounded = Until::new(&socket, until);
    while connection.is_handshaking() || connection.wants_write() {
        connection.complete_io(&mut bounded)?;
    }
    match by {
        TlsBy::Kernel => hand_over(socket, connection).map(Flow::Bare),
        TlsBy::Process => Ok(Flow::Tls(Box::new(Encrypted::new(socket, connection)))),
    }
}

fn signing_key(seed: &[u8; 32]) -> io::Result<Arc<dyn SigningKey>> {
    /// All of PKCS #8 that is not the seed (RFC 8410, 7).
    const HEAD: [u8; 16] = [
        0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04,
        0x20,
    ];
    let key = Zeroizing::new([HEAD.as_slice(), seed].concat());
    any_eddsa_type(&PrivatePkcs8KeyDer::from(key.as_slice())).map_err(io::Error::other)
}

fn public_key(key: &dyn SigningKey) -> SubjectPublicKeyInfoDer<'static> {
    key.public_key().expect("keys of this type have a public key").into_owned()
}

fn certified(seed: &[u8; 32]) -> io::Result<Arc<CertifiedKey>> {
    let key = signing_key(seed)?;
    let public = CertificateDer::from(public_key(&*key).to_vec());
    Ok(Arc::new(CertifiedKey::new(vec![public], key)))
}

/// Who the other end must be.
#[derive(Debug)]
struct Other {
    public: SubjectPublicKeyInfoDer<'static>,
    provider: CryptoProvider,
}

impl Other {
    fn of(seed: &[u8; 32], provider: &CryptoProvider) -> io::Result<Self> {
        let key = signing_key(seed)?;
        Ok(Self { public: public_key(&*key), provider: provider.clone() })
    }

    fn is(&self, shown: &CertificateDer<'_>) -> Result<(), Error> {
        let is_it = shown.as_ref() == self.public.as_ref();
        is_it.then_some(()).ok_or_else(|| Error::General("its key is not the expected one".into()))
    }

    fn signed(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        let key = SubjectPublicKeyInfoDer::from(shown.as_ref());
        verify_tls13_signature_with_raw_key(message, &key, signature, algorithms)
    }
}

macro_rules! signatures {
    () => {
        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Err(Error::General("only TLS 1.3 is supported".into()))
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            shown: &CertificateDer<'_>,
            signature: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            self.signed(message, shown, signature)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            vec![SignatureScheme::ED25519]
        }

        fn requires_raw_public_keys(&self) -> bool {
            true
        }
    };
}

impl ServerCertVerifier for Other {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.is(shown).map(|()| ServerCertVerified::assertion())
    }

    signatures!();
}

impl ClientCertVerifier for Other {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        shown: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.is(shown).map(|()| ClientCertVerified::assertion())
    }

    signatures!();
}

/// From linux/tls.h.
const TLS_1_3: u16 = 0x0304;
const AES_GCM_128: u16 = 51;
const AES_GCM_256: u16 = 52;
const CHACHA20_POLY1305: u16 = 54;

/// TLS by the kernel: it is given the keys that the two ends have agreed on, and from then on the
/// socket takes and gives plain text (the kernel's Documentation/networking/tls.rst).
fn hand_over(socket: TcpStream, connection: Connection) -> io::Result<TcpStream> {
    start_tls(&socket).map_err(|error| {
        let why = format!(
            "the kernel does not support TLS ({error}): load the tls module (modprobe tls) at both \
             ends, or use the layer `tls`, which does not need the module"
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

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;
    use std::time::Duration;

    use rustix::io::Errno;
    use rustix::net::{RecvFlags, SendFlags, send};

    use super::*;

    fn keys(near: u8, far: u8) -> Keys {
        Keys { near: Zeroizing::new([near; 32]), far: Zeroizing::new([far; 32]) }
    }

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    /// Whether each end takes the other for what it is.
    fn meet(near: &Keys, far: &Keys, by: TlsBy) -> (io::Result<Flow>, io::Result<Flow>) {
        let (near_socket, far_socket) = pair();
        let tls = Tls { by, ..CONTROL };
        let until = Instant::now() + Duration::from_mins(1);
        thread::scope(|scope| {
            let far = scope.spawn(|| accept(far_socket, by, far, until));
            (connect(near_socket, tls, near, until), far.join().unwrap())
        })
    }

    #[test]
    fn what_one_end_says_the_other_hears() {
        let (near, far) = meet(&keys(1, 2), &keys(1, 2), TlsBy::Process);
        let (mut near, mut far) = (near.unwrap(), far.unwrap());
        let said: Vec<u8> = (0..1_000_000_u32).map(|at| at.to_le_bytes()[0]).collect();
        let told = said.clone();
        thread::spawn(move || {
            near.write_all(&told).unwrap();
            near.flush().unwrap();
        });
        let mut heard = vec![0; said.len()];
        far.read_exact(&mut heard).unwrap();
        assert_eq!(heard, said);
        assert_eq!(far.read(&mut [0]).unwrap_or_default(), 0, "it is gone");
    }

    #[test]
    fn whoever_has_another_key_is_refused() {
        for (near, far) in [(keys(1, 2), keys(1, 3)), (keys(1, 2), keys(3, 2))] {
            let (near, far) = meet(&near, &far, TlsBy::Process);
            assert!(near.is_err() && far.is_err());
        }
    }

    #[test]
    fn changed_bytes_are_an_error() {
        let (near, far) = meet(&keys(1, 2), &keys(1, 2), TlsBy::Process);
        let (near, mut far) = (near.unwrap(), far.unwrap());
        let mut record = vec![0x17, 3, 3, 0, 40];
        record.resize(45, 0);
        send(near.socket(), &record, SendFlags::empty()).unwrap();
        assert_eq!(far.recv(&mut [0; 10], RecvFlags::empty()), Err(Errno::BADMSG));
    }
}
