//! A small part of `cargo run --release -p iotax-analyze --example known_truth`, with fixed seeds.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod noise;
mod play;
