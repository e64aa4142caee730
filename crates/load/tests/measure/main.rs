//! Rates, depths and delays as they come out of real runs. Not part of `cargo test`, because a busy
//! machine decides them; `cargo xtask measure` runs them.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "measurements: figures are shown")]

mod flood;
mod rates;
#[path = "../support/mod.rs"]
mod support;
mod tax;
