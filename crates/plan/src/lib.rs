//! Arms x blocks to an ordered, seeded schedule of trials.
#![forbid(unsafe_code)]
