//! The tests of `tests/programs` with as many I/Os and as many kills as a release must stand.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../programs/killed.rs"]
mod killed;
#[path = "../programs/oracle.rs"]
mod oracle;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "../programs/support.rs"]
mod support;

#[test]
fn each_of_a_million_ios_is_recorded() {
    oracle::check(1_000_000);
}

#[test]
fn each_of_200_killed_recorders_leaves_a_readable_recording_only() {
    killed::check(200);
}
