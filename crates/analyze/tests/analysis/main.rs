//! Made-up records through the analyzer.

mod compare;
mod files;
mod little;
mod matrix;
mod nodes;
mod open_loop;
mod outliers;
mod peel;
mod phases;
mod questions;
mod regime;
mod robust;
mod rules;
mod stalls;
mod steady;
mod support;
mod warnings;
