//! Identifiers that join records of different days and machines.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// The same for the same parts, different for different ones: 32 hexadecimal digits of a SHA-256.
/// The parts can only be recovered by guessing all of them.
pub fn stable_id(of: &str, parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in [&["iotax", of], parts].concat() {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize()[..16].iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string does not fail");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_the_same_for_ever() {
        assert_eq!(stable_id("host", &["abc"]), "7ae4b69388bc9b3ba296aabf97921f47");
    }

    #[test]
    fn other_parts_have_another() {
        let ids = [
            stable_id("host", &["abc"]),
            stable_id("storage", &["abc"]),
            stable_id("host", &["ab", "c"]),
            stable_id("host", &["a", "bc"]),
        ];
        for (at, id) in ids.iter().enumerate() {
            assert_eq!(id.len(), 32);
            assert!(!ids[..at].contains(id), "{ids:?}");
        }
    }
}
