//! One job as written: its settings, in fio's order.

use std::sync::Arc;

use super::place::Place;
use super::setting::Setting;

/// A job as written. The settings of `[global]` that apply to it stand in front of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// Name of the job; several may have the same.
    pub name: String,
    /// Where the section begins.
    pub place: Arc<Place>,
    /// In the order in which fio applies them: a later one of the same option counts.
    pub settings: Vec<Setting>,
    /// Which of several command lines joined by `&`, from 0; 0 in a job file.
    pub command: u32,
    /// Which of several command lines that wait for each other (`;`, `&&`, `wait`), from 0.
    pub phase: u32,
    /// Start of its command line after the start of its phase, from `sleep` between them.
    pub start_offset_ns: u64,
    /// What is left out of the same command line (`--output=x`, `sudo`), at its first section.
    pub ignored: Vec<Ignored>,
}

/// A part of a command line that is left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Ignored {
    /// Where it is written.
    pub place: Arc<Place>,
    /// Why, or what it would have done.
    pub why: &'static str,
}
