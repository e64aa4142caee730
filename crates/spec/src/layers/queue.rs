//! A hop through a work queue.

use serde::{Deserialize, Serialize};

use super::info::{Does, Form, LayerInfo, Submitter, Values, World, parameter};
use super::{Declared, Layer};
use crate::units::Unit;

/// A hop through a work queue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Queue {
    /// Worker threads.
    pub workers: u32,
}

impl Declared for Queue {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "queue",
        about: "a hop through a work queue, as kcryptd's",
        example: "queue(workers=4)",
        world: World::InProcess,
        takes: &[Form::File],
        gives: None,
        does: Does::Passes,
        submitter: Submitter::Caller,
        needs: &[],
        parameters: &[parameter("workers", Unit::Count, Some("2"), "worker threads")],
        read: |arguments| Ok(Layer::Queue(Queue { workers: arguments.small("workers")? })),
    }];

    fn values(&self) -> Values {
        vec![("workers", Some(u64::from(self.workers).into()))]
    }
}
