//! Made-up records through the analyzer.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agree;
mod boundaries;
mod compare;
mod files;
mod little;
mod matrix;
mod missing;
mod nodes;
mod noise;
mod open_loop;
mod outliers;
mod peel;
mod phases;
mod place;
mod questions;
mod regime;
mod robust;
mod rules;
mod stalls;
mod steady;
mod support;
mod typical;
mod warnings;
