//! What judges this machine: rates, verdicts and caps as they come out of real runs. Not part of
//! `cargo test`, because a busy machine decides them; `cargo xtask measure` runs them.
#![allow(clippy::print_stderr, clippy::unwrap_used, reason = "measurements: attempts are told")]

mod caps;
mod disks;
mod drain;
mod guests;
mod hidden;
mod masked;
mod paths;
#[path = "../support/mod.rs"]
mod support;
mod throttles;
mod uplink;
mod verdicts;
#[path = "../vm/mod.rs"]
mod vm;
