//! Made-up records through the analyzer.

mod causes;
mod causes_beside;
mod causes_remote;
mod compare;
mod files;
mod open_loop;
mod peel;
mod phases;
mod questions;
mod regime;
mod robust;
mod stalls;
mod steady;
mod support;
mod warnings;
