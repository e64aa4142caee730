use serde::{Deserialize, Serialize};

/// The result of iotax for one situation.
#[derive(Serialize, Deserialize)]
pub(crate) enum Outcome {
    /// The causes, in the order of iotax.
    Named(Vec<Named>),
    /// The situation could not be set up or measured.
    Broken(String),
}

/// A cause in the output of iotax.
#[derive(Serialize, Deserialize)]
pub(crate) struct Named {
    /// Its name in the catalogue.
    pub cause: String,
    /// `sure`, `likely`, `possible`.
    pub confidence: String,
    /// The first piece of evidence.
    pub evidence: String,
}
