//! The statistics behind a verdict, over plain slices of `f64`.
//!
//! No I/O, no clock, no randomness and no types of other rooms: whoever holds the
//! numbers can repeat the conclusion.
//!
//! The quantity under test is the block difference `d_b = ln(X_arm / X_base)` of block `b`
//! (for latencies, time per I/O and layer contrasts: any per-block linear contrast). One
//! block is one measurement of the baseline and of every open arm in a balanced random order: the
//! second block of each pair runs in the reverse order of the first, so that drift hits all arms
//! alike (Abedi & Brecht, "Conducting Repeatable Experiments in Highly Variable Cloud Computing
//! Environments", ICPE 2017).
//!
//! | module | question it answers |
//! |---|---|
//! | [`design`] | when may the data be looked at, and at which nominal level |
//! | [`rci`] | the interval that stays valid at whichever look one stops |
//! | [`verdict`] | which word the interval earns |
//! | [`stopping`] | is it enough, is it hopeless, how many blocks are missing |
//! | [`measuring_time`] | how long one measurement should take |
//! | [`sequential`] | all of the above, in order, for one arm or a family of arms |
//! | [`trimmed`] | the same of the middle of the differences, without rare ones far away |
//! | [`holm`] | several arms against one baseline |
//! | [`place`] | does it matter which arm came first in a block |
//! | [`dependence`] | are the blocks independent |
//! | [`tail`] | are there enough samples behind a percentile |
//! | [`stalls`] | which arm is slower if some measurements completed nothing |
//! | [`gate`] | is a rule that was set beforehand broken or kept |
//! | [`steady`] | has preconditioning reached steady state |
//! | [`trend`] | did a level fall or rise steadily over the run |
//! | [`ceiling`] | is there a highest level that repeats, as a limiter's does |
//! | [`levels`] | does a rate change between two levels |
//! | [`bucket`] | does one saturated run show a token bucket |
//! | [`regime`] | did a level change in the middle of the run |
//! | [`factorial`] | which layer costs how much, and which pairs interact |
//! | [`matrix`] | what each level of each factor costs, and which factors interact |
//! | [`fleet`] | which of many nodes lie outside of their population |
//! | [`screening`] | the same in stages, with more probes of those that may be slow |
//! | [`unpaired`] | two arms whose results belong to no block |
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
