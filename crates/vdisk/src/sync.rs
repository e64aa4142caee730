//! Synchronisation types. `tests/models` replaces them with types that try every order.

pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
