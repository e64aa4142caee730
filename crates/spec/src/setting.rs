//! A level of a factor.

use serde::{Deserialize, Serialize};

/// The level that an arm has of a factor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// The factor.
    pub factor: String,
    /// Its level.
    pub level: String,
}
