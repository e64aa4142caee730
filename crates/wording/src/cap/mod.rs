//! The search for caps.
