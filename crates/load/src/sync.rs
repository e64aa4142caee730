//! What threads meet at. `tests/models` has other types in its place, which try every order.

pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, atomic};
