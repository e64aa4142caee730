//! The raw facts of a trial: histograms, series, counters, and their files.
#![forbid(unsafe_code)]
