//! What may be overwritten.

use std::path::{Path, PathBuf};

use iotax_experiment::Stack;
use serde::{Deserialize, Serialize};

/// Block devices that may be overwritten.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenUp {
    pub devices: Vec<PathBuf>,
    /// Whether they were made for this run and are removed with it, so that nothing on them is
    /// anybody's: what they hold is neither looked at nor wiped.
    pub are_new: bool,
}

impl GivenUp {
    /// Those that a user named.
    pub fn by_user(devices: &[PathBuf]) -> Self {
        Self { devices: devices.to_vec(), are_new: false }
    }

    /// Whether a stack is a new device and nothing else, for which this machine needs nothing.
    pub(crate) fn is_new(&self, stack: &Stack, base: &Path) -> bool {
        self.are_new && stack.layers.len() == 1 && self.devices.iter().any(|path| path == base)
    }
}
