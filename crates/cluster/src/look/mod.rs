//! The storage under a volume, as a pod or its node sees it. The volume is new, or that of an
//! existing claim, which is not changed.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use iotax_record::Machine;
use iotax_record::cluster::{ClaimSeen, ClusterSeen};
use iotax_record::machine::Unseen;
use iotax_run::Error;
use iotax_run::agent::Look;

use crate::agent::PodAgent;
use crate::connect::Cluster;
use crate::host::node;
use crate::objects::{Container, Member, NODE_ROOT, PodOptions, PodSecurity, Sight};
use crate::place::{ArmPlace, Volume};
use crate::session::{Note, Session};

/// What to examine in one namespace.
pub struct LookRequest<'a> {
    /// A pod for each.
    pub views: &'a [View],
    /// Whether pods see their nodes as root.
    pub is_privileged: bool,
    /// Options of the pods.
    pub options: &'a PodOptions,
    /// Set from outside to stop the present work.
    pub stop: &'a Arc<AtomicBool>,
    /// Notes for the user: what iotax waits for, and what could not be removed.
    pub note: Note,
}

/// The result of a view.
#[derive(Debug)]
pub struct Looked {
    /// The node it was seen from.
    pub node: Option<String>,
    /// The facts about it.
    pub machine: Machine,
}

/// Creates a pod for each view, examines the storage, and removes everything that it created.
///
/// # Errors
/// If something cannot be made, a pod does not start, nothing can be seen in it, or something is
/// left; if the user stopped it.
pub fn look(cluster: Cluster, request: &LookRequest<'_>) -> Result<Vec<Looked>, Error> {
    let security = PodSecurity::enough_for(request.is_privileged);
    // Claims are used in the namespace that they are in.
    let has_claims = request.views.iter().any(|view| view.place.volume.is_theirs());
    let is_new = request.options.create_namespace && !has_claims;
    let new_namespace = is_new.then_some(security);
    let note = Arc::clone(&request.note);
    let session = Arc::new(Session::begin(&Arc::new(cluster), new_namespace, note)?);
    match all(&session, request) {
        Ok(looked) => Session::left(session).map(|()| looked).map_err(Error::from),
        Err(error) => Err(Session::gave_up(session, error)),
    }
}

fn all(session: &Arc<Session>, request: &LookRequest<'_>) -> Result<Vec<Looked>, Error> {
    let LookRequest { views, options, stop, .. } = request;
    let members: Vec<Member> =
        views.iter().enumerate().map(|(number, view)| member(number, view, request)).collect();
    for member in &members {
        session.make(member, options)?;
    }
    let pods = session.running(&members, options, stop)?;
    let looked = members.into_iter().zip(&pods).zip(*views).map(|((member, pod), view)| {
        if stop.load(Ordering::Relaxed) {
            return Err(crate::error::Error::Interrupted.into());
        }
        let node = node(pod).map(str::to_owned);
        let member = Member { node: node.clone(), ..member };
        let mut agent = PodAgent::new(session, member, options, stop);
        let look = Look {
            paths: vec![view.place.volume.path()],
            root: request.is_privileged.then(|| PathBuf::from(NODE_ROOT)),
        };
        let machine = iotax_run::agent::look(&mut agent, look, stop)?;
        Ok(Looked { node, machine })
    });
    looked.collect()
}

/// The pod of a view.
pub(crate) fn member(number: usize, view: &View, request: &LookRequest<'_>) -> Member {
    let View { place, told_as, is_raw } = view;
    Member {
        number,
        told_as: told_as.clone(),
        volume: Some(place.volume.clone()),
        node: place.node.clone(),
        apart: None,
        is_on_host_network: false,
        sight: Some(Sight { is_raw: *is_raw, is_privileged: request.is_privileged }),
        recording: None,
        containers: vec![Container::only(&request.options.amounts)],
    }
}

// What can be examined, and from where, without disturbing others.

/// Something to examine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// A volume, and the node to examine it from.
    pub place: ArmPlace,
    /// Its name in messages: `claim shop/data`.
    pub told_as: String,
    /// Whether it is a claim for a device, without a file system.
    pub is_raw: bool,
}

impl View {
    /// Of a new volume of a class.
    pub fn of_class(class: &str) -> Self {
        Self {
            place: ArmPlace { volume: Volume::Class(class.to_owned()), node: None },
            told_as: format!("class {class}"),
            is_raw: false,
        }
    }

    /// Of an existing claim, on the node where it is used or attached, if there is one.
    ///
    /// # Errors
    /// Why a pod would disturb other pods or determine something for them, and how the claim can be
    /// examined nevertheless.
    pub fn of_claim(seen: &ClusterSeen, claim: &ClaimSeen) -> Result<Self, Unseen> {
        let told_as = format!("claim {}", claim.full_name());
        let unseen = |why: String, how: String| Unseen {
            what: format!("the storage under {told_as}"),
            how: format!("{why}; {how}"),
        };
        if claim.phase != "Bound" {
            let phase = claim.phase.to_lowercase();
            let how = "examine a new volume of its class instead: --probe class:CLASS";
            return Err(unseen(
                format!(
                    "it is {phase}, and a probe pod could affect which volume the claim gets \
                     and where that volume is"
                ),
                how.to_owned(),
            ));
        }
        let first = claim.pods.first().map(|pod| pod.name.as_str()).unwrap_or_default();
        let modes = &claim.access;
        let has = |mode: &str| modes.iter().any(|one| one == mode);
        let inside = || {
            format!(
                "if the pod's image contains iotax, run it there: kubectl exec --namespace {} \
                 {first} -- iotax doctor PATH",
                claim.namespace
            )
        };
        if has("ReadWriteOncePod") && !claim.pods.is_empty() {
            let why =
                format!("it is ReadWriteOncePod and in use by {first}, so no other pod can use it");
            return Err(unseen(why, inside()));
        }
        let mut nodes: Vec<&String> =
            claim.pods.iter().filter_map(|pod| pod.node.as_ref()).collect();
        nodes.sort();
        let volume = claim.volume.as_deref().and_then(|name| seen.volume(name));
        let attached = volume.into_iter().flat_map(|volume| &volume.attached_to);
        let node = nodes.into_iter().chain(attached).next().cloned();
        let is_shared = has("ReadWriteMany") || has("ReadOnlyMany");
        if node.is_none() && !claim.pods.is_empty() && !is_shared {
            let why = format!(
                "{first} will use it but has no node yet, and a probe pod could bind the volume to \
                 a different node"
            );
            return Err(unseen(why, "try again when that pod is running".to_owned()));
        }
        let name = claim.name.clone();
        let volume = Volume::Claim { namespace: Some(claim.namespace.clone()), name };
        let is_raw = claim.mode == "Block";
        Ok(Self { place: ArmPlace { volume, node }, told_as, is_raw })
    }
}

#[cfg(test)]
mod tests {
    use iotax_record::cluster::{PodSeen, VolumeSeen};

    use super::*;

    fn claim(access: &str, pods: &[(&str, Option<&str>)]) -> ClaimSeen {
        let pod = |(name, node): &(&str, Option<&str>)| PodSeen {
            name: (*name).to_owned(),
            node: node.map(str::to_owned),
        };
        ClaimSeen {
            namespace: "shop".to_owned(),
            name: "data".to_owned(),
            phase: "Bound".to_owned(),
            volume: Some("pv-1".to_owned()),
            access: vec![access.to_owned()],
            pods: pods.iter().map(pod).collect(),
            ..ClaimSeen::default()
        }
    }

    fn node(seen: &ClusterSeen, claim: &ClaimSeen) -> Option<String> {
        View::of_claim(seen, claim).unwrap().place.node
    }

    #[test]
    fn a_claim_is_seen_from_the_node_that_it_is_used_on() {
        let mut seen = ClusterSeen::default();
        for access in ["ReadWriteOnce", "ReadWriteMany"] {
            let used = claim(access, &[("b", None), ("a", Some("n2"))]);
            assert_eq!(node(&seen, &used).as_deref(), Some("n2"));
            assert_eq!(node(&seen, &claim(access, &[])), None);
        }
        assert_eq!(node(&seen, &claim("ReadOnlyMany", &[("a", None)])), None);
        seen.volumes.push(VolumeSeen {
            name: "pv-1".to_owned(),
            attached_to: vec!["n3".to_owned()],
            ..VolumeSeen::default()
        });
        assert_eq!(node(&seen, &claim("ReadWriteOnce", &[])).as_deref(), Some("n3"));
        let raw = ClaimSeen { mode: "Block".to_owned(), ..claim("ReadWriteOncePod", &[]) };
        let view = View::of_claim(&seen, &raw).unwrap();
        assert_eq!((view.told_as.as_str(), view.is_raw), ("claim shop/data", true));
    }

    #[test]
    fn nobody_is_in_the_way_of_who_uses_a_claim() {
        let why = |claim: &ClaimSeen| {
            let Unseen { what, how } = View::of_claim(&ClusterSeen::default(), claim).unwrap_err();
            format!("{what}: {how}")
        };
        let alone = claim("ReadWriteOncePod", &[("db-0", Some("n1"))]);
        insta::assert_snapshot!(why(&alone), @"the storage under claim shop/data: it is ReadWriteOncePod and in use by db-0, so no other pod can use it; if the pod's image contains iotax, run it there: kubectl exec --namespace shop db-0 -- iotax doctor PATH");
        let waiting = claim("ReadWriteOnce", &[("db-0", None)]);
        insta::assert_snapshot!(why(&waiting), @"the storage under claim shop/data: db-0 will use it but has no node yet, and a probe pod could bind the volume to a different node; try again when that pod is running");
        let unbound = ClaimSeen { phase: "Pending".to_owned(), ..claim("ReadWriteOnce", &[]) };
        insta::assert_snapshot!(why(&unbound), @"the storage under claim shop/data: it is pending, and a probe pod could affect which volume the claim gets and where that volume is; examine a new volume of its class instead: --probe class:CLASS");
    }
}
