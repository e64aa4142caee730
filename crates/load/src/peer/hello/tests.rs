use std::io::Cursor;

use proptest::prelude::*;

use super::*;

const SECRET: PeerSecret = PeerSecret([7; PeerSecret::BYTES]);
const BARE: Wanted = Wanted { role: Role::Sink, tls: None };
const ALL: [Wanted; 10] = [
    BARE,
    Wanted { role: Role::Source { bytes: 1 << 20 }, tls: Some(TlsBy::Process) },
    Wanted { role: Role::Answer { bytes: 64 }, tls: None },
    Wanted { role: Role::Answer { bytes: 64 }, tls: Some(TlsBy::Kernel) },
    Wanted { role: Role::Counters, tls: Some(TlsBy::Process) },
    Wanted { role: Role::Datagrams, tls: Some(TlsBy::Process) },
    Wanted { role: Role::Connections { bytes: 64 }, tls: Some(TlsBy::Process) },
    Wanted { role: Role::Iperf3, tls: Some(TlsBy::Process) },
    Wanted { role: Role::DatagramsBack { bytes: 1200 }, tls: Some(TlsBy::Process) },
    Wanted { role: Role::Addresses, tls: Some(TlsBy::Process) },
];

/// One side's bytes to be read; what it writes is kept.
struct Script {
    input: Cursor<Vec<u8>>,
    said: Vec<u8>,
}

impl Read for Script {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.input.read(bytes)
    }
}

impl Write for Script {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.said.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn hears(input: Vec<u8>) -> Script {
    Script { input: Cursor::new(input), said: Vec::new() }
}

/// A knock, and the proof to who says that nonce.
fn hello(secret: &PeerSecret, far: Nonce, wanted: Wanted) -> Vec<u8> {
    let mut near = hears([MAGIC.as_slice(), &[COME_IN], &far].concat());
    greet(&mut near, secret, [2; NONCE_BYTES], wanted).map(drop).unwrap_err();
    near.said
}

#[test]
fn both_ends_agree_on_the_role_the_session_and_its_keys() {
    for wanted in ALL {
        let mut far = hears(hello(&SECRET, [1; NONCE_BYTES], wanted));
        let heard = accept(&mut far, &SECRET, [1; NONCE_BYTES], 42).unwrap();
        let mut near = hears(far.said);
        let met = greet(&mut near, &SECRET, [2; NONCE_BYTES], wanted).unwrap();
        assert_eq!((heard.wanted, heard.session), (wanted, 42));
        assert_eq!((met.wanted, met.session), (wanted, 42));
        assert_eq!(heard.keys, met.keys);
        assert_ne!(met.keys, keys(&SECRET, &[1; NONCE_BYTES], &[3; NONCE_BYTES]));
        assert_ne!(met.keys.near, met.keys.far);
    }
}

#[test]
fn what_is_believed_is_never_said_in_the_open() {
    for role in [Role::Counters, Role::Datagrams, Role::Addresses] {
        let mut far = hears(hello(&SECRET, [1; NONCE_BYTES], Wanted { role, tls: None }));
        let refused = accept(&mut far, &SECRET, [1; NONCE_BYTES], 42).map(drop).unwrap_err();
        assert_eq!(refused.to_string(), "it sent an unknown request");
    }
}

#[test]
fn a_hello_with_another_secret_or_to_another_greeting_is_refused() {
    let said = |secret, far| hello(secret, far, BARE);
    let other = PeerSecret([8; PeerSecret::BYTES]);
    let wrong = said(&other, [1; NONCE_BYTES]);
    let replayed = said(&SECRET, [9; NONCE_BYTES]);
    let of_wrong = [MAGIC.as_slice(), &[UNKNOWN]].concat();
    let of_replayed = [MAGIC.as_slice(), &[COME_IN], &[1; NONCE_BYTES]].concat();
    for (hello, heard) in [(wrong, of_wrong), (replayed, of_replayed)] {
        let mut far = hears(hello);
        let refused = accept(&mut far, &SECRET, [1; NONCE_BYTES], 42).map(drop).unwrap_err();
        assert_eq!(refused.to_string(), "it does not have the right token");
        assert_eq!(far.said, heard);
    }
}

#[test]
fn the_near_end_is_told_why_it_is_not_let_in() {
    for (status, why) in
        [(UNKNOWN, "it rejected the token"), (FULL, "it has reached its connection limit")]
    {
        let mut far = hears([MAGIC.as_slice(), &[status]].concat());
        let error = greet(&mut far, &SECRET, [2; NONCE_BYTES], BARE).map(drop).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (io::ErrorKind::PermissionDenied, why)
        );
    }
}

#[test]
fn bytes_may_come_one_by_one() {
    let hello = hello(&SECRET, [1; NONCE_BYTES], BARE);
    let mut accepting = Accepting::default();
    let mut steps = String::new();
    for byte in hello {
        accepting.room()[0] = byte;
        steps.push(
            match accepting.hears(1, &SECRET, || Ok(Some(([1; NONCE_BYTES], 42)))).unwrap() {
                Step::More => '.',
                Step::Admit(_) => 'a',
                Step::Refuse(_) => 'r',
                Step::Meet(..) => 'm',
            },
        );
    }
    assert_eq!(steps, format!("{}a{}m", ".".repeat(KNOCK_BYTES - 1), ".".repeat(CODE_BYTES - 1)));
}

#[test]
fn one_more_than_are_served_is_told_so() {
    let mut accepting = Accepting::default();
    let hello = hello(&SECRET, [1; NONCE_BYTES], BARE);
    accepting.room().copy_from_slice(&hello[..KNOCK_BYTES]);
    let step = accepting.hears(KNOCK_BYTES, &SECRET, || Ok(None)).unwrap();
    assert!(matches!(step, Step::Refuse(FULL)));
}

#[test]
fn a_far_end_that_does_not_know_the_secret_is_refused() {
    let other = PeerSecret([8; PeerSecret::BYTES]);
    let mut impostor = hears(hello(&other, [1; NONCE_BYTES], BARE));
    accept(&mut impostor, &other, [1; NONCE_BYTES], 42).unwrap();
    let error = greet(&mut hears(impostor.said), &SECRET, [2; NONCE_BYTES], BARE).map(drop);
    assert_eq!(error.unwrap_err().to_string(), "it did not prove that it has the token");
}

#[test]
fn something_else_that_listens_is_told_apart() {
    let error = greet(&mut hears(vec![b'x'; 200]), &SECRET, [2; NONCE_BYTES], BARE).map(drop);
    assert_eq!(
        error.unwrap_err().to_string(),
        "it is not an iotax peer, or it has a different version"
    );
}

proptest! {
    #[test]
    fn no_changed_bit_passes(wanted in 0..ALL.len(), at in any::<prop::sample::Index>(), bit in 0..8) {
        let mut hello = hello(&SECRET, [1; NONCE_BYTES], ALL[wanted]);
        let at = at.index(hello.len());
        hello[at] ^= 1_u8 << bit;
        prop_assert!(accept(&mut hears(hello), &SECRET, [1; NONCE_BYTES], 42).is_err());
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = accept(&mut hears(bytes.clone()), &SECRET, [1; NONCE_BYTES], 42);
        let _ = greet(&mut hears(bytes), &SECRET, [2; NONCE_BYTES], BARE).map(drop);
    }
}
