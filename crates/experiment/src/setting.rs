//! A level of a factor.

use serde::{Deserialize, Serialize};

/// The level that an arm has of a factor.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Setting {
    pub factor: String,
    pub level: String,
}
