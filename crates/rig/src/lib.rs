//! Turns a target into something a load can be driven at, and takes it down again.
