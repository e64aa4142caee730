//! Findings in English. What was concluded is data until here: whoever wants to change a sentence
//! about a finding changes it in this crate, and a new kind of finding without words does not
//! compile. Numbers are made text by `iotax_quantity`.
#![forbid(unsafe_code)]
#![deny(clippy::wildcard_enum_match_arm)]

pub mod cap;
pub mod cause;
pub mod doubt;
pub mod ending;
pub mod limit;
pub mod name;
pub mod question;
pub mod rule;
