//! Messages on a stream: length and checksum, four bytes each with the lowest first, then JSON.
//!
//! The other side is not trusted. So no memory is allocated for a length before its bytes arrive,
//! and a message is measured before it is decoded: decoded, it may take a thousand times its bytes.

use std::io::{self, ErrorKind, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use zeroize::Zeroizing;

/// Bytes read at a time, so that a claimed length takes no memory before its bytes arrive.
const PIECE_BYTES: usize = 1 << 16;
/// Maximum memory of a decoded object or array: the largest type in a message, and its list entry.
const OBJECT_BYTES: u64 = 1 << 10;
/// Memory of a value in a list, and of a text besides its bytes.
const VALUE_BYTES: u64 = 32;
/// Memory of a latency histogram, and the start of its text: `HdrHistogram`'s magic number in
/// base64.
pub(crate) const HISTOGRAM_BYTES: u64 = 328 << 10;
const HISTOGRAM: &[u8] = b"HISTF";

/// How large a message may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limit {
    /// On the stream.
    pub bytes: u32,
    /// Decoded.
    pub memory_bytes: u64,
}

impl Limit {
    /// For messages without samples and histograms.
    pub(crate) const PLAIN: Self = Self { bytes: 16 << 20, memory_bytes: 128 << 20 };
    /// For a file that this program wrote.
    pub(crate) const KEPT: Self = Self { bytes: 256 << 20, memory_bytes: 4 << 30 };
}

/// Writes one whole message.
pub(crate) fn send(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    to.write_all(&framed(message)?)?;
    to.flush()
}

/// A message as bytes on a stream.
pub(crate) fn framed(message: &impl Serialize) -> io::Result<Zeroizing<Vec<u8>>> {
    // Some messages hold secrets.
    let body = Zeroizing::new(serde_json::to_vec(message)?);
    let most = Limit::KEPT.bytes;
    let length = u32::try_from(body.len()).ok().filter(|length| *length <= most);
    let length =
        length.ok_or_else(|| invalid(format!("a {}-byte message is too large", body.len())))?;
    let mut frame = Zeroizing::new(Vec::with_capacity(body.len() + 8));
    frame.extend(length.to_le_bytes());
    frame.extend(crc32c::crc32c(&body).to_le_bytes());
    frame.extend(body.iter());
    Ok(frame)
}

/// Reads one message; `None` at the end of the stream. `limit` is called once it has begun.
///
/// # Errors
/// [`ErrorKind::InvalidData`] if it is not a message, or too large; [`ErrorKind::UnexpectedEof`] if
/// it is incomplete.
pub(crate) fn receive<T: DeserializeOwned>(
    from: &mut impl Read,
    limit: impl FnOnce() -> Limit,
) -> io::Result<Option<T>> {
    let mut head = [0; 8];
    if !fill(from, &mut head)? {
        return Ok(None);
    }
    let limit = limit();
    let [length, sum] =
        [0, 4].map(|at| u32::from_le_bytes(head[at..at + 4].try_into().expect("4")));
    if length > Limit::KEPT.bytes {
        return Err(invalid("it sent data that is not part of the protocol".to_owned()));
    }
    if length > limit.bytes {
        let most = limit.bytes;
        return Err(invalid(format!(
            "it announced a {length}-byte message, but the limit is {most} bytes"
        )));
    }
    let mut body = Zeroizing::new(Vec::new());
    while body.len() < length as usize {
        let start = body.len();
        body.resize((start + PIECE_BYTES).min(length as usize), 0);
        from.read_exact(&mut body[start..])?;
    }
    if crc32c::crc32c(&body) != sum {
        return Err(invalid("a message was corrupted in transit".to_owned()));
    }
    let needed = decoded_bytes(&body);
    if needed > limit.memory_bytes {
        let [length, needed, most] =
            [length.into(), needed, limit.memory_bytes].map(iotax_quantity::size);
        return Err(invalid(format!(
            "it sent a {length} message that needs {needed} of memory, but the limit is {most}"
        )));
    }
    let message = serde_json::from_slice(&body);
    message.map(Some).map_err(|error| invalid(format!("unknown message: {error}")))
}

/// Maximum memory of a JSON text when decoded.
fn decoded_bytes(body: &[u8]) -> u64 {
    let (mut bytes, mut at) = (body.len() as u64, 0);
    while let Some(byte) = body.get(at) {
        at += 1;
        bytes += match byte {
            b'{' | b'[' => OBJECT_BYTES,
            b',' => VALUE_BYTES,
            b'"' => {
                let text = &body[at..];
                at += end_of(text);
                if text.starts_with(HISTOGRAM) { HISTOGRAM_BYTES } else { 0 }
            }
            _ => 0,
        };
    }
    bytes
}

/// How long a text is, with the quotation mark at its end.
fn end_of(text: &[u8]) -> usize {
    let mut is_escaped = false;
    let end = text.iter().position(|byte| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |end| end + 1)
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
        assert_eq!(receive::<String>(&mut stream, || Limit::PLAIN).unwrap().unwrap(), "one");
        assert_eq!(
            receive::<String>(&mut stream, || Limit::PLAIN).unwrap().unwrap().len(),
            300_000
        );
        assert_eq!(receive::<String>(&mut stream, || Limit::PLAIN).unwrap(), None);
    }

    #[test]
    fn a_length_alone_takes_no_memory() {
        let read = |bytes: &[u8]| receive::<String>(&mut &*bytes, || Limit::PLAIN).unwrap_err();
        let mut claims = Limit::PLAIN.bytes.to_le_bytes().to_vec();
        claims.extend([0; 100]);
        assert_eq!(read(&claims).kind(), ErrorKind::UnexpectedEof);
        claims[..4].copy_from_slice(&(Limit::PLAIN.bytes + 1).to_le_bytes());
        insta::assert_snapshot!(read(&claims), @"it announced a 16777217-byte message, but the limit is 16777216 bytes");
        insta::assert_snapshot!(read(&[0xff; 100]), @"it sent data that is not part of the protocol");
    }

    /// A few bytes that become many are refused before they do.
    #[test]
    fn what_would_grow_is_not_decoded() {
        let needs = |text: &str| {
            let stream = frame_of(text.as_bytes());
            receive::<serde_json::Value>(&mut stream.as_slice(), || Limit::PLAIN).unwrap_err()
        };
        insta::assert_snapshot!(needs(&format!("[{}0]", "{},".repeat(1 << 18))), @"it sent a 768 KiB message that needs 265 MiB of memory, but the limit is 128 MiB");
        insta::assert_snapshot!(needs(&format!("[{}0]", "0,".repeat(5 << 20))), @"it sent a 10 MiB message that needs 170 MiB of memory, but the limit is 128 MiB");
        insta::assert_snapshot!(needs(&format!("[{}0]", "\"HISTFAAA\",".repeat(1000))), @"it sent a 10.7 KiB message that needs 320 MiB of memory, but the limit is 128 MiB");
        // What stands in a text is text.
        assert_eq!(decoded_bytes(br#""{[,{[\"{\\""#), 12);
        assert_eq!(decoded_bytes(br#"{"a":"#), 5 + OBJECT_BYTES);
    }

    fn frame_of(body: &[u8]) -> Vec<u8> {
        let mut frame = u32::try_from(body.len()).unwrap().to_le_bytes().to_vec();
        frame.extend(crc32c::crc32c(body).to_le_bytes());
        frame.extend(body);
        frame
    }

    proptest! {
        #[test]
        fn one_wrong_bit_never_passes(at in 0usize..32, bit in 0u32..8) {
            let mut frame = frame("twenty-four bytes, or so");
            let at = at.min(frame.len() - 1);
            frame[at] ^= 1 << bit;
            prop_assert!(receive::<String>(&mut frame.as_slice(), || Limit::PLAIN).is_err());
        }

        #[test]
        fn what_anybody_writes_is_read_without_panic(bytes: Vec<u8>) {
            let mut stream = bytes.as_slice();
            while let Ok(Some(_)) = receive::<String>(&mut stream, || Limit::PLAIN) {}
        }
    }
}
