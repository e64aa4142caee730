//! Self-checks: reasons to doubt the figures, each with what to do about it.
//!
//! One file per check. To add one: its file, its `mod` line, and its line in [`CHECKS`].

mod cache_answered;
mod cold_cache;
mod cpu_bound;
mod dependence;
mod depth;
mod failed_trials;
mod generator;
mod granted;
mod impossible_speed;
mod in_memory;
mod io_errors;
mod layer_cache;
mod little;
mod narrow;
mod noise;
mod noise_source;
mod one_core;
mod other_programs;
mod paused;
mod place;
mod regime;
mod replay_late;
mod results;
mod schedule;
mod short_slices;
mod stalls;
mod steady_state;
mod steal;
mod storage;
mod tail_samples;
mod verify;
mod wrong_sign;

use crate::analysis::{Doubt, DoubtKind, NoiseSource};
use crate::evidence::Evidence;
pub(crate) use cpu_bound::{bound_by_design, busiest};
pub(crate) use noise::outlook;
pub(crate) use stalls::stalled;

type SelfCheck = fn(&Evidence<'_>) -> Vec<Doubt>;

/// All checks, the worst findings first: wrong data, then wrong figures, then figures that mean
/// something else than they seem to, then mere doubt. They are shown in this order.
const CHECKS: &[SelfCheck] = &[
    verify::check,
    io_errors::check,
    failed_trials::check,
    paused::check,
    replay_late::check,
    stalls::check_whole_trials,
    little::check,
    impossible_speed::check,
    wrong_sign::check,
    cache_answered::check,
    layer_cache::check,
    in_memory::check,
    cold_cache::check,
    storage::check,
    storage::check_targets,
    granted::check,
    schedule::check,
    generator::check,
    cpu_bound::check,
    one_core::check,
    short_slices::check,
    regime::check,
    steady_state::check,
    place::check,
    dependence::check,
    steal::check,
    other_programs::check,
    stalls::check,
    tail_samples::check,
    depth::check,
    noise::check,
    narrow::check,
];

/// What can be checked of results that other tools have made. The others need to know the machine,
/// the order of trials, or the load generator; that they were not made is an open question.
const CHECKS_OF_RESULTS: &[SelfCheck] =
    &[io_errors::check, failed_trials::check, little::check, results::check];

/// Runs all checks.
pub(crate) fn run(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let checks = if evidence.is_of_results() { CHECKS_OF_RESULTS } else { CHECKS };
    let mut doubts: Vec<Doubt> = checks.iter().flat_map(|check| check(evidence)).collect();
    // One doubt names the source of the noise.
    let names_programs = |doubt: &Doubt| {
        let source = match &doubt.kind {
            DoubtKind::Noise(noise) => noise.source.as_ref(),
            _ => None,
        };
        matches!(source, Some(NoiseSource::Programs { .. }))
    };
    if doubts.iter().any(names_programs) {
        doubts.retain(|doubt| !matches!(doubt.kind, DoubtKind::OtherPrograms { .. }));
    }
    doubts
}
