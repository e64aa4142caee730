//! What was not concluded.
