//! The statistics behind a verdict, over plain slices of `f64`.
//!
//! It uses no I/O, no clock, no randomness and no types of other crates, so the conclusions are
//! reproducible from the numbers.
//!
//! The quantity under test is the block difference `d_b = ln(X_arm / X_base)` of block `b`
//! (for latencies, time per I/O and layer contrasts: any per-block linear contrast). One
//! block is one measurement of the baseline and of every open arm in a balanced random order: the
//! second block of each pair runs in the reverse order of the first, so that drift hits all arms
//! alike (Abedi & Brecht, "Conducting Repeatable Experiments in Highly Variable Cloud Computing
//! Environments", ICPE 2017).
//!
//! | module | question |
//! |---|---|
//! | [`design`] | when may the data be looked at, and at which nominal level? |
//! | [`rci`] | which interval is valid at any look? |
//! | [`verdict`] | which verdict follows from the interval? |
//! | [`stopping`] | are the data sufficient, and how many blocks are missing? |
//! | [`measuring_time`] | how long should one measurement take? |
//! | [`sequential`] | all of the above, for one arm or a family of arms |
//! | [`trimmed`] | the same for the trimmed mean, without outliers |
//! | [`holm`] | several arms against one baseline |
//! | [`place`] | does the order within a block matter? |
//! | [`dependence`] | are the blocks independent? |
//! | [`tail`] | are there enough samples for a percentile? |
//! | [`stalls`] | which arm is slower if some measurements completed nothing? |
//! | [`gate`] | is a rule broken or kept? |
//! | [`steady`] | has preconditioning reached steady state? |
//! | [`trend`] | did a level fall or rise steadily over the run? |
//! | [`ceiling`] | is there a repeated highest level, as with a limiter? |
//! | [`levels`] | does a rate alternate between two levels? |
//! | [`bucket`] | does one saturated run show a token bucket? |
//! | [`regime`] | did a level change during the run? |
//! | [`factorial`] | what does each layer cost, and which pairs interact? |
//! | [`matrix`] | what does each level of each factor cost, and which factors interact? |
//! | [`fleet`] | which of many nodes are outliers? |
//! | [`screening`] | the same in stages, with more probes of suspects |
//! | [`unpaired`] | two arms whose results are not in blocks |
#![forbid(unsafe_code)]

pub mod bucket;
mod calibration;
pub mod ceiling;
pub mod dependence;
pub mod design;
pub mod factorial;
pub mod fleet;
pub mod gate;
pub mod holm;
pub mod levels;
pub mod matrix;
pub mod measuring_time;
pub mod place;
pub mod plateau;
pub mod rci;
pub mod regime;
pub mod sample;
pub mod screening;
pub mod sequential;
pub mod stalls;
pub mod steady;
pub mod stopping;
pub mod student;
pub mod tail;
pub mod trend;
pub mod trimmed;
pub mod unpaired;
pub mod verdict;
