//! Which classes and nodes are asked about.

use std::collections::BTreeSet;

use iotax_record::cluster::{ClaimSeen, ClusterSeen};

/// What is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A claim: `NAMESPACE/NAME`, its class, and the nodes that it is used on.
    Claim(String),
    Class(String),
    /// A node, and the classes of claims that are used on it.
    Node(String),
}

impl Subject {
    /// Whether a claim is this, or of it.
    pub fn has_claim(&self, seen: &ClusterSeen, claim: &ClaimSeen) -> bool {
        match self {
            Self::Claim(name) => claim.full_name() == *name,
            Self::Class(name) => claim.class.as_ref() == Some(name),
            Self::Node(name) => seen.nodes_of(claim).iter().any(|node| node.name == *name),
        }
    }
}

/// The first of the subjects that is not there, though it would have been seen.
pub fn unknown<'a>(seen: &ClusterSeen, subjects: &'a [Subject]) -> Option<&'a Subject> {
    subjects.iter().find(|subject| match subject {
        Subject::Claim(name) => !seen.claims.iter().any(|claim| claim.full_name() == *name),
        Subject::Class(name) => seen.knows_classes && seen.class(name).is_none(),
        Subject::Node(name) => !seen.nodes.is_empty() && seen.node(name).is_none(),
    })
}

/// Names of what is asked about; `None` if that is everything.
pub(super) struct Focus<'a> {
    named: Option<(BTreeSet<&'a str>, BTreeSet<&'a str>)>,
}

impl<'a> Focus<'a> {
    pub(super) fn new(seen: &'a ClusterSeen, subjects: &'a [Subject]) -> Self {
        if subjects.is_empty() {
            return Self { named: None };
        }
        let (mut classes, mut nodes) = (BTreeSet::new(), BTreeSet::new());
        for subject in subjects {
            match subject {
                Subject::Class(name) => drop(classes.insert(name.as_str())),
                Subject::Node(name) => drop(nodes.insert(name.as_str())),
                Subject::Claim(_) => {}
            }
            for claim in seen.claims.iter().filter(|claim| subject.has_claim(seen, claim)) {
                classes.extend(claim.class.as_deref());
                if matches!(subject, Subject::Claim(_)) {
                    nodes.extend(seen.nodes_of(claim).iter().map(|node| node.name.as_str()));
                }
            }
        }
        Self { named: Some((classes, nodes)) }
    }

    pub(super) fn is_all(&self) -> bool {
        self.named.is_none()
    }

    pub(super) fn has_class(&self, name: &str) -> bool {
        self.named.as_ref().is_none_or(|(classes, _)| classes.contains(name))
    }

    pub(super) fn has_node(&self, name: &str) -> bool {
        self.named.as_ref().is_none_or(|(_, nodes)| nodes.contains(name))
    }
}
