//! Findings in English. What was concluded is data until here: whoever wants to change a sentence
//! about a finding changes it in this crate, and a new kind of finding without words does not
//! compile. Numbers are made text by `iotax_quantity`.
#![forbid(unsafe_code)]
#![deny(clippy::wildcard_enum_match_arm)]

pub mod arms;
pub mod cap;
pub mod cause;
pub mod doubt;
pub mod effect;
pub mod ending;
pub mod interaction;
pub mod limit;
pub mod name;
mod outlook;
pub mod question;
pub mod rule;
pub mod trial;

/// Text with a full stop, unless it ends a sentence already or is empty.
pub fn sentence(text: &str) -> String {
    let text = text.trim_end();
    let ends = text.is_empty() || text.ends_with(['.', '!', '?', ':']);
    format!("{text}{}", if ends { "" } else { "." })
}
