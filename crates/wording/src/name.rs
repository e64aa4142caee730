//! What things and measures are called.
