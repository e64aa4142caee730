//! Known causes, and what was seen of them.
