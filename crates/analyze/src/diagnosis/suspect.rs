use serde::{Deserialize, Serialize};

/// What is suspected to have made one arm or target as it was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// Name of the arm or target.
    pub of: String,
    /// The surest first.
    pub suspects: Vec<Suspect>,
}

/// A known cause that a measurement points to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Suspect {
    /// The cause's name in the catalogue.
    pub cause: String,
    /// How sure that is.
    pub confidence: Confidence,
    /// Share of the time of an I/O that it explains, 0 to 1; `None` if that cannot be said.
    pub explains: Option<f64>,
    /// What speaks for it.
    pub evidence: Vec<String>,
    /// What speaks against it.
    pub against: Vec<String>,
}

/// How sure a suspicion is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// It would look like this; so would other things.
    Possible,
    /// It fits better than what else was looked for.
    Likely,
    /// It was measured: counters or a test of its own say so.
    Sure,
}

impl Confidence {
    /// For people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Possible => "possible",
            Self::Likely => "likely",
            Self::Sure => "sure",
        }
    }
}

impl Suspect {
    /// With one thing that speaks for it.
    pub(super) fn new(cause: &str, confidence: Confidence, evidence: String) -> Self {
        Self {
            cause: cause.to_owned(),
            confidence,
            explains: None,
            evidence: vec![evidence],
            against: Vec::new(),
        }
    }

    pub(super) fn explaining(mut self, share: f64) -> Self {
        self.explains = share.is_finite().then(|| share.clamp(0.0, 1.0));
        self
    }

    pub(super) fn and(mut self, evidence: impl IntoIterator<Item = String>) -> Self {
        self.evidence.extend(evidence);
        self
    }

    pub(super) fn but(mut self, against: impl IntoIterator<Item = String>) -> Self {
        self.against.extend(against);
        self
    }
}
