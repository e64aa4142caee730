use serde::{Deserialize, Serialize};

/// What iotax said of one situation.
#[derive(Serialize, Deserialize)]
pub(crate) enum Outcome {
    /// The causes it named, in its order.
    Named(Vec<Named>),
    /// The situation could not be made or measured.
    Broken(String),
}

/// A cause that was named.
#[derive(Serialize, Deserialize)]
pub(crate) struct Named {
    /// Its name in the catalogue.
    pub cause: String,
    /// `sure`, `likely`, `possible`.
    pub confidence: String,
    /// The first thing that spoke for it.
    pub evidence: String,
}
