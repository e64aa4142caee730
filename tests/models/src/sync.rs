//! loom's types under std's names, with faults that can be planted: a model that does not fail
//! with one proves nothing.

use std::cell::Cell;

pub use loom::sync::{Mutex, MutexGuard};
pub use std::sync::PoisonError;

/// What is wrong with the types of this module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    /// `notify_one` wakes nobody.
    NotifyOne,
    /// `notify_all` wakes nobody.
    NotifyAll,
    /// What is stored is seen in any order.
    Release,
    /// What is loaded is.
    Acquire,
}

thread_local! {
    // loom's threads all run on the thread of their model.
    static FAULT: Cell<Fault> = const { Cell::new(Fault::None) };
}

impl Fault {
    pub(crate) fn plant(self) {
        FAULT.set(self);
    }

    fn is_planted(self) -> bool {
        FAULT.get() == self
    }
}

#[derive(Debug)]
pub struct Condvar(loom::sync::Condvar);

impl Condvar {
    pub fn new() -> Self {
        Self(loom::sync::Condvar::new())
    }

    pub fn wait<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
    ) -> Result<MutexGuard<'a, T>, PoisonError<MutexGuard<'a, T>>> {
        self.0.wait(guard)
    }

    /// loom's time stands still.
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        _: std::time::Duration,
    ) -> Result<(MutexGuard<'a, T>, ()), PoisonError<(MutexGuard<'a, T>, ())>> {
        Ok((self.0.wait(guard).unwrap_or_else(PoisonError::into_inner), ()))
    }

    pub fn notify_one(&self) {
        if !Fault::NotifyOne.is_planted() {
            self.0.notify_one();
        }
    }

    pub fn notify_all(&self) {
        if !Fault::NotifyAll.is_planted() {
            self.0.notify_all();
        }
    }
}

pub mod atomic {
    pub use std::sync::atomic::Ordering;

    use super::Fault;

    fn as_planted(order: Ordering) -> Ordering {
        match order {
            Ordering::Release if Fault::Release.is_planted() => Ordering::Relaxed,
            Ordering::Acquire if Fault::Acquire.is_planted() => Ordering::Relaxed,
            order => order,
        }
    }

    #[derive(Debug)]
    pub struct AtomicBool(loom::sync::atomic::AtomicBool);

    impl AtomicBool {
        pub fn new(value: bool) -> Self {
            Self(loom::sync::atomic::AtomicBool::new(value))
        }

        #[track_caller]
        pub fn load(&self, order: Ordering) -> bool {
            self.0.load(as_planted(order))
        }

        #[track_caller]
        pub fn store(&self, value: bool, order: Ordering) {
            self.0.store(value, as_planted(order));
        }
    }

    #[derive(Debug)]
    pub struct AtomicUsize(loom::sync::atomic::AtomicUsize);

    impl AtomicUsize {
        pub fn new(value: usize) -> Self {
            Self(loom::sync::atomic::AtomicUsize::new(value))
        }

        #[track_caller]
        pub fn load(&self, order: Ordering) -> usize {
            self.0.load(as_planted(order))
        }

        #[track_caller]
        pub fn fetch_sub(&self, value: usize, order: Ordering) -> usize {
            self.0.fetch_sub(value, as_planted(order))
        }
    }
}
