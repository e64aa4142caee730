//! Rules, and why they could not be decided.
