//! Drives I/O: native engines and pacing.
