//! Encodes the secrets of peers for agents. Copies are wiped.

use std::collections::BTreeMap;

use iotax_load::{PeerSecret, PeerSecrets};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::Zeroizing;

/// A token that is wiped.
#[derive(PartialEq, Eq)]
struct Token(Zeroizing<String>);

impl Serialize for Token {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Token {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(Zeroizing::new(text)))
    }
}

pub(super) fn serialize<S: Serializer>(
    secrets: &PeerSecrets,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let tokens = secrets.iter().map(|(peer, secret)| (peer, Token(secret.text())));
    serializer.collect_map(tokens)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<PeerSecrets, D::Error> {
    let tokens: BTreeMap<String, Token> = BTreeMap::deserialize(deserializer)?;
    let known = tokens.into_iter().map(|(peer, Token(text))| {
        let secret = PeerSecret::parse(&text);
        // The value is not repeated: it may be a secret nevertheless.
        secret.map(|secret| (peer, secret)).ok_or_else(|| D::Error::custom("not a token"))
    });
    known.collect()
}
