//! Messages on a stream: length and checksum, four bytes each with the lowest first, then JSON.

use std::io::{self, ErrorKind, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use zeroize::Zeroizing;

/// No message is longer: what claims to be is no message.
const LONGEST_BYTES: u32 = 256 << 20;
/// Read at once, so that a claimed length takes no memory before the bytes are there.
const PIECE_BYTES: usize = 1 << 16;

/// Writes one message, whole.
pub(crate) fn send(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    // Some messages hold secrets.
    let body = Zeroizing::new(serde_json::to_vec(message)?);
    let length = u32::try_from(body.len()).ok().filter(|length| *length <= LONGEST_BYTES);
    let length = length.ok_or_else(|| invalid(format!("a message of {} bytes", body.len())))?;
    let mut frame = Zeroizing::new(Vec::with_capacity(body.len() + 8));
    frame.extend(length.to_le_bytes());
    frame.extend(crc32c::crc32c(&body).to_le_bytes());
    frame.extend(body.iter());
    to.write_all(&frame)?;
    to.flush()
}

/// Reads one message; `None` at the end of the stream.
///
/// # Errors
/// [`ErrorKind::InvalidData`] for what is no message; [`ErrorKind::UnexpectedEof`] for half of one.
pub(crate) fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<T>> {
    let mut head = [0; 8];
    if !fill(from, &mut head)? {
        return Ok(None);
    }
    let [length, sum] =
        [0, 4].map(|at| u32::from_le_bytes(head[at..at + 4].try_into().expect("4")));
    if length > LONGEST_BYTES {
        return Err(invalid("it says something that is not of the protocol".to_owned()));
    }
    let mut body = Zeroizing::new(Vec::new());
    while body.len() < length as usize {
        let start = body.len();
        body.resize((start + PIECE_BYTES).min(length as usize), 0);
        from.read_exact(&mut body[start..])?;
    }
    if crc32c::crc32c(&body) != sum {
        return Err(invalid("a message was damaged on its way".to_owned()));
    }
    let message = serde_json::from_slice(&body);
    message.map(Some).map_err(|error| invalid(format!("a message that is not known: {error}")))
}

/// Fills `buffer`; false if the stream ended before its first byte.
fn fill(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    loop {
        match from.read(&mut buffer[..1]) {
            Ok(0) => return Ok(false),
            Ok(_) => return from.read_exact(&mut buffer[1..]).map(|()| true),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn invalid(what: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frame(message: &str) -> Vec<u8> {
        let mut frame = Vec::new();
        send(&mut frame, &message).unwrap();
        frame
    }

    #[test]
    fn messages_come_as_they_were_sent_and_the_end_is_no_error() {
        let mut stream = frame("one");
        stream.extend(frame(&"two".repeat(100_000)));
        let mut stream = stream.as_slice();
        assert_eq!(receive::<String>(&mut stream).unwrap().unwrap(), "one");
        assert_eq!(receive::<String>(&mut stream).unwrap().unwrap().len(), 300_000);
        assert_eq!(receive::<String>(&mut stream).unwrap(), None);
    }

    #[test]
    fn a_length_alone_takes_no_memory() {
        let mut claims = LONGEST_BYTES.to_le_bytes().to_vec();
        claims.extend([0; 100]);
        assert_eq!(
            receive::<String>(&mut claims.as_slice()).unwrap_err().kind(),
            ErrorKind::UnexpectedEof
        );
        let claims = [0xff; 100];
        assert_eq!(
            receive::<String>(&mut claims.as_slice()).unwrap_err().kind(),
            ErrorKind::InvalidData
        );
    }

    proptest! {
        #[test]
        fn one_wrong_bit_never_passes(at in 0usize..32, bit in 0u32..8) {
            let mut frame = frame("twenty-four bytes, or so");
            let at = at.min(frame.len() - 1);
            frame[at] ^= 1 << bit;
            prop_assert!(receive::<String>(&mut frame.as_slice()).is_err());
        }

        #[test]
        fn what_anybody_writes_is_read_without_panic(bytes: Vec<u8>) {
            let mut stream = bytes.as_slice();
            while let Ok(Some(_)) = receive::<String>(&mut stream) {}
        }
    }
}
