//! Findings in English. What was concluded is data until here: whoever wants to change a sentence
//! about a finding changes it in this crate, and a new kind of finding without words does not
//! compile. Numbers are made text by `iotax_quantity`.
#![forbid(unsafe_code)]
#![deny(clippy::wildcard_enum_match_arm)]
#![allow(
    clippy::format_push_string,
    reason = "texts are small, and `write!` to a string brings a result that cannot fail"
)]

pub mod arms;
pub mod bandwidth;
pub mod cap;
pub mod catalog;
pub mod cause;
pub mod chart;
pub mod check;
pub mod doubt;
pub mod effect;
pub mod ending;
pub mod format;
pub mod job;
pub mod limit;
pub mod machine;
pub mod method;
pub mod name;
pub mod note;
pub mod provenance;
pub mod question;
pub mod recording;
pub mod replay;
pub mod rule;
pub mod search;
pub mod slices;
pub mod slow_mode;
pub mod start;
pub mod trial;
pub mod units;
pub mod verdict;

/// Text with a full stop, unless it ends a sentence already or is empty.
pub fn sentence(text: &str) -> String {
    let text = text.trim_end();
    let ends = text.is_empty() || text.ends_with(['.', '!', '?', ':']);
    format!("{text}{}", if ends { "" } else { "." })
}
