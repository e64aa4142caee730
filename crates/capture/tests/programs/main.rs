//! What is recorded of programs that do a bit of everything, and what is left if something fails.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod by_strace;
mod calls;
mod canary;
mod full_disk;
mod kernels;
mod killed;
mod oracle;
mod subjects;
mod support;

#[test]
fn each_io_of_a_program_is_recorded() {
    oracle::check(20_000);
}

#[test]
fn a_killed_recorder_leaves_a_readable_recording_only() {
    killed::check(3);
}
