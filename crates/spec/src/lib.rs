//! What the user asked for: workloads, stacks, experiment files, units.
#![forbid(unsafe_code)]
