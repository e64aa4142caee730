//! Findings, and what they are about.

use crate::machine::Finding;

/// What a finding is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Of {
    Cluster,
    /// A storage class, by name.
    Class(String),
    /// A node, by name.
    Node(String),
}

/// Findings, each with what it is about.
pub(super) type Found = Vec<(Of, Finding)>;
