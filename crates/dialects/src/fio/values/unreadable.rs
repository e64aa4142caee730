//! Why a value does not read, before it is known where it stands.

/// What is wrong, and what to write instead.
#[derive(Debug, PartialEq)]
pub(super) struct Unreadable {
    pub problem: String,
    pub advice: String,
}

impl Unreadable {
    pub(super) fn new(problem: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { problem: problem.into(), advice: advice.into() }
    }
}
