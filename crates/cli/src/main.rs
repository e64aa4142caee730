//! The `iotax` command.
#![forbid(unsafe_code)]

fn main() {}
