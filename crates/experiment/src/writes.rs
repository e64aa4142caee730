//! What writes carry.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// Data of a given kind; without it writes carry random data that neither compresses nor repeats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// Of each chunk, the part at its end that is the same everywhere (fio:
    /// `buffer_compress_percentage`); 100 for all of it.
    pub compress_percent: u8,
    /// Bytes of a chunk (fio: `buffer_compress_chunk`).
    pub chunk_bytes: u32,
    /// What is the same everywhere, over and over; zeroes where it is empty (fio:
    /// `buffer_pattern`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pattern: Vec<u8>,
    /// Percentage of writes that repeat data of another one (fio: `dedupe_percentage`).
    #[serde(default)]
    pub dedupe_percent: u8,
    /// Repeated is data of this part of the span, in percent, instead of the next write's (fio:
    /// `dedupe_mode=working_set`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_set_percent: Option<u8>,
    /// All threads with this switch repeat data of each other (fio: `dedupe_global`).
    #[serde(default)]
    pub shared_set: bool,
}

impl Content {
    /// The pattern as hexadecimal digits; `0` where there is none.
    pub fn pattern_digits(&self) -> String {
        digits(&self.pattern)
    }
}

/// Data as hexadecimal digits; `0` for none.
pub(crate) fn digits(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "0".to_owned();
    }
    bytes.iter().fold("0x".to_owned(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

impl Default for Content {
    fn default() -> Self {
        Self {
            compress_percent: 0,
            chunk_bytes: 512,
            pattern: Vec::new(),
            dedupe_percent: 0,
            working_set_percent: None,
            shared_set: false,
        }
    }
}
