//! A hop through a work queue.

use crate::declaration::prelude::*;

/// A hop through a work queue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Queue {
    /// Worker threads.
    pub workers: u32,
}

impl Declared for Queue {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "queue",
        about: "a hop through a work queue, such as kcryptd",
        example: "queue(workers=4)",
        does: Does::Passes,
        parameters: Self::PARAMETERS,
        ..IN_PROCESS
    }];

    parameters! {
        workers: parameter("workers", Unit::Count, Some("2"), "worker threads"),
    }
}
