//! Reasons to doubt the figures.
