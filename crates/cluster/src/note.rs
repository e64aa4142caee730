//! What the user is told meanwhile.

use std::sync::Arc;

/// Tells the user something while it goes on.
pub type Note = Arc<dyn Fn(&str) + Send + Sync>;
