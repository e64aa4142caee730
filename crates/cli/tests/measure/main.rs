//! What judges this machine: rates, verdicts and caps as they come out of real runs. Not part of
//! `cargo test`, because a busy machine decides them; `cargo xtask measure` runs them.
#![allow(
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "measurements: attempts are told"
)]

mod caps;
mod disks;
mod drain;
mod guests;
mod hidden;
mod masked;
mod paths;
mod planted;
#[path = "../planted/mod.rs"]
mod planted_gates;
#[path = "../support/mod.rs"]
mod support;
mod throttles;
mod uplink;
mod verdicts;
#[path = "../vm/mod.rs"]
mod vm;
