//! Which classes and nodes are asked about.

use std::collections::BTreeSet;

use iotax_record::cluster::{ClaimSeen, ClusterSeen};

use crate::machine::{Component, ComponentKind};

/// What is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClusterSubject {
    /// A claim: `NAMESPACE/NAME`, its class, and the nodes that it is used on.
    Claim(String),
    Class(String),
    /// A node, and the classes of claims that are used on it.
    Node(String),
}

impl ClusterSubject {
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
pub fn unknown<'a>(
    seen: &ClusterSeen,
    subjects: &'a [ClusterSubject],
) -> Option<&'a ClusterSubject> {
    subjects.iter().find(|subject| match subject {
        ClusterSubject::Claim(name) => !seen.claims.iter().any(|claim| claim.full_name() == *name),
        ClusterSubject::Class(name) => seen.knows_classes && seen.class(name).is_none(),
        ClusterSubject::Node(name) => !seen.nodes.is_empty() && seen.node(name).is_none(),
    })
}

/// Names of what is asked about; `None` if that is everything.
pub(super) struct Focus<'a> {
    named: Option<(BTreeSet<&'a str>, BTreeSet<&'a str>)>,
}

impl<'a> Focus<'a> {
    pub(super) fn new(seen: &'a ClusterSeen, subjects: &'a [ClusterSubject]) -> Self {
        if subjects.is_empty() {
            return Self { named: None };
        }
        let (mut classes, mut nodes) = (BTreeSet::new(), BTreeSet::new());
        for subject in subjects {
            match subject {
                ClusterSubject::Class(name) => drop(classes.insert(name.as_str())),
                ClusterSubject::Node(name) => drop(nodes.insert(name.as_str())),
                ClusterSubject::Claim(_) => {}
            }
            for claim in seen.claims.iter().filter(|claim| subject.has_claim(seen, claim)) {
                classes.extend(claim.class.as_deref());
                if matches!(subject, ClusterSubject::Claim(_)) {
                    nodes.extend(seen.nodes_of(claim).iter().map(|node| node.name.as_str()));
                }
            }
        }
        Self { named: Some((classes, nodes)) }
    }

    /// Whether it is asked about what a finding is about; the cluster itself only with everything.
    pub(super) fn has(&self, seen: &ClusterSeen, about: &Component) -> bool {
        let Some((classes, nodes)) = &self.named else { return true };
        match about.kind {
            ComponentKind::Class => classes.contains(about.name.as_str()),
            ComponentKind::Node => nodes.contains(about.name.as_str()),
            ComponentKind::Volume => {
                let class = seen.volume(&about.name).and_then(|one| seen.class(&one.class));
                class.is_some_and(|class| classes.contains(class.name.as_str()))
            }
            _ => false,
        }
    }
}
