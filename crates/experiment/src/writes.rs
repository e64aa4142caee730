//! The data that is written.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// Data of a given kind; by default, random data that neither compresses nor repeats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// Percentage of each chunk, at its end, that is the same everywhere (fio:
    /// `buffer_compress_percentage`).
    pub compress_percent: u8,
    /// Size of a chunk in bytes (fio: `buffer_compress_chunk`).
    pub chunk_bytes: u32,
    /// The pattern that is the same everywhere, repeated; zeroes if empty (fio: `buffer_pattern`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pattern: Vec<u8>,
    /// Percentage of writes that repeat data of another write (fio: `dedupe_percentage`).
    #[serde(default)]
    pub dedupe_percent: u8,
    /// Percentage of the span whose data is repeated, instead of that of the next write (fio:
    /// `dedupe_mode=working_set`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_set_percent: Option<u8>,
    /// Threads with this switch repeat each other's data (fio: `dedupe_global`).
    #[serde(default)]
    pub shared_set: bool,
}

impl Content {
    /// The pattern as hexadecimal digits; `0` if there is none.
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
