//! A hop through a work queue.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{Does, IN_PROCESS, LayerInfo, parameter};
use crate::declaration::{Arguments, Declared, Values};
use crate::error::Error;
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
        does: Does::Passes,
        parameters: &[parameter("workers", Unit::Count, Some("2"), "worker threads")],
        ..IN_PROCESS
    }];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        Ok(Self { workers: arguments.small("workers")? })
    }

    fn values(&self) -> Values {
        vec![("workers", Some(u64::from(self.workers).into()))]
    }
}
