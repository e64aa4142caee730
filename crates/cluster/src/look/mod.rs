//! What a pod, or its node, sees under a volume: a new one, or that of a claim that is there, to
//! which nothing is done.

mod view;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use iotax_record::Machine;
use iotax_run::Error;
use iotax_run::agent::Look;

pub use self::view::View;
use crate::agent::PodAgent;
use crate::connect::Cluster;
use crate::objects::{Container, Member, NODE_ROOT, PodOptions, PodSecurity, Sight};
use crate::placed::node;
use crate::session::{Note, Session};

/// What is looked at in one namespace.
pub struct LookRequest<'a> {
    /// A pod for each.
    pub views: &'a [View],
    /// Whether pods see their nodes as root there.
    pub is_privileged: bool,
    /// What pods are like.
    pub options: &'a PodOptions,
    /// Set by someone else to end whatever is under way.
    pub stop: &'a Arc<AtomicBool>,
    /// Tells the user what is waited for, and what could not be removed.
    pub note: Note,
}

/// What was seen.
#[derive(Debug)]
pub struct Looked {
    /// The node it was seen from.
    pub node: Option<String>,
    /// All that was seen there.
    pub machine: Machine,
}

/// Makes a pod for each view, looks, and removes everything that it made.
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
        containers: vec![Container::only(&request.options.amounts)],
    }
}
