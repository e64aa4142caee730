//! Agents in pods as a host: one for each arm, or at the near end of paths.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use iotax_experiment::{Driver, Fault, Spec, Workload};
use iotax_load::{LayoutProgress, LoadProgress};
use iotax_record::{HostRecord, Placed, Site, stable_id};
use iotax_run::agent::{PeerSecrets, Remote, RemoteOptions};
use iotax_run::{AgentError, Arms, Error, Files, Host, Measured, Runner, TrialRequest};
use k8s_openapi::api::core::v1::{Node, Pod};

use crate::agent::PodAgent;
use crate::agent::{Claimed, claimed, refuse_unusable};
use crate::connect::Cluster;
use crate::error::Call;
use crate::objects::{Member, PodOptions, PodSecurity};
use crate::pair::{self, Pair};
use crate::place::{ArmPlace, Volume};
use crate::session::{Note, Session};

/// What a run needs in a cluster.
pub struct ArmsRequest<'a> {
    /// Its arms' targets are those of their volumes ([`Volume::target`]).
    pub spec: &'a Spec,
    /// Of each arm.
    pub places: &'a [ArmPlace],
    /// Options of the pods.
    pub options: &'a PodOptions,
    /// Set from outside to stop the present work.
    pub stop: &'a Arc<AtomicBool>,
    /// Counts what is done.
    pub live: &'a Arc<LoadProgress>,
    /// Notes for the user: what iotax waits for, and what could not be removed.
    pub note: Note,
    /// Called with the name of each arm that is made.
    pub making: &'a mut dyn FnMut(&str),
}

/// A host for each arm, and the facts about it.
pub type Opened = Vec<(ClusterHost, HostRecord)>;

/// Agents in a cluster as a host. With the last one of a run, everything of the run is removed.
pub struct ClusterHost {
    agents: Box<dyn Host + Send>,
    sites: Vec<Site>,
    beside: Beside,
    session: Arc<Session>,
}

/// Facts about agents in a cluster that they do not report themselves.
pub(crate) struct Beside {
    /// What the cluster knows of each arm, for people.
    pub(crate) notes: Vec<Vec<String>>,
    pub(crate) placed: Placed,
    pub(crate) node: Option<String>,
    /// The common storage of all arms, if only the paths to it are compared.
    pub(crate) storage_id: Option<&'static str>,
    /// What an arm needs before its turn.
    pub(crate) before: Box<dyn FnMut(usize) -> Result<(), Error> + Send>,
}

/// Creates a volume and a pod for each arm, and starts an agent in each.
///
/// # Errors
/// If something cannot be made, a pod does not start, an agent refuses its target; if the user
/// stopped it. Then everything is removed again.
pub fn open(cluster: Cluster, mut request: ArmsRequest<'_>) -> Result<Opened, Error> {
    let is_of_node = |place: &ArmPlace| matches!(place.volume, Volume::HostPath(_));
    let security = PodSecurity::enough_for(request.places.iter().any(is_of_node));
    let new_namespace = request.options.create_namespace.then_some(security);
    let note = Arc::clone(&request.note);
    let session = Arc::new(Session::begin(&Arc::new(cluster), new_namespace, note)?);
    let opened = hosts(&session, &mut request);
    opened.map_err(|error| Session::gave_up(session, error))
}

fn hosts(session: &Arc<Session>, request: &mut ArmsRequest<'_>) -> Result<Opened, Error> {
    let cluster = session.cluster();
    let ArmsRequest { spec, places, options, .. } = *request;
    for place in places {
        refuse_unusable(cluster, &place.volume, &options.overrides)?;
    }
    let of_arm = |(number, (arm, place))| Member::of_arm(number, arm, place, options);
    let names = spec.arms.iter().map(|arm| arm.name.as_str());
    let mut members: Vec<Member> = names.zip(places).enumerate().map(of_arm).collect();
    for member in &members {
        (request.making)(&spec.arms[member.number].name);
        session.make(member, options)?;
    }
    let pods = session.running(&members, options, request.stop)?;
    for (member, pod) in members.iter_mut().zip(&pods) {
        // If it is recreated, it must be on the node that the record names.
        member.node = node(pod).map(str::to_owned);
    }
    let mut hosts = Vec::new();
    for ((place, pod), member) in places.iter().zip(&pods).zip(&members) {
        let (agents, record) = agents(session, member, place, request)?;
        let claim = session.run().claim_of(member.number, &place.volume);
        let claimed = claim.map_or_else(Claimed::default, |claim| claimed(cluster, &claim));
        let note = described(&place.volume, claimed.volume.as_deref(), pod, request.options);
        let placed = placed(cluster, pod, claimed.class);
        let beside = Beside {
            notes: vec![vec![note]],
            placed,
            node: member.node.clone(),
            storage_id: None,
            before: Box::new(|_| Ok(())),
        };
        let host = ClusterHost::new(agents, beside, session);
        hosts.push((host, record));
    }
    // A user who chose the nodes does not need this note.
    if places.iter().any(|place| place.node.is_none()) {
        tell_nodes(&pods, &request.note);
    }
    Ok(hosts)
}

/// The agents in the pod of an arm: one, or one that writes and one that reads.
fn agents(
    session: &Arc<Session>,
    member: &Member,
    place: &ArmPlace,
    request: &ArmsRequest<'_>,
) -> Result<(Box<dyn Host + Send>, HostRecord), Error> {
    let ArmsRequest { spec, options, stop, live, .. } = request;
    let open = |container, spec| {
        let finishes_trials = options.driver.is_none();
        let agent = PodAgent::new(session, member.clone(), options, stop);
        let agent = PodAgent { container, finishes_trials, ..agent };
        let remote = Remote::open(RemoteOptions {
            agent: Box::new(agent),
            spec,
            work_dir: place.volume.path(),
            given_up: place.volume.given_up(),
            secrets: PeerSecrets::new(),
            stop: Arc::clone(stop),
            live: Arc::clone(live),
        });
        remote.map_err(|error| advised(error, &place.volume))
    };
    let of_arm = spec.with(|draft| draft.arms = vec![spec.arms[member.number].clone()]);
    if options.driver.is_none() {
        let remote = open(0, of_arm)?;
        let record = remote.host().clone();
        return Ok((Box::new(remote), record));
    }
    let [driving, searching] = pair::divided_spec(&of_arm)?;
    let pair = Pair { driver: open(0, driving)?, searcher: open(1, searching)? };
    let record = pair.searcher.host().clone();
    Ok((Box::new(pair), record))
}

/// Adds advice to an error about permissions on a volume.
fn advised(error: Error, volume: &Volume) -> Error {
    let said = error.to_string();
    match volume.advice_if_denied() {
        Some(advice) if said.contains("ermission denied") => {
            let fault = Fault::Environment;
            AgentError::Failed { error: format!("{said}\n{advice}"), fault }.into()
        }
        _ => error,
    }
}

fn described(asked: &Volume, volume: Option<&str>, pod: &Pod, options: &PodOptions) -> String {
    let volume = volume.map_or_else(String::new, |volume| format!(", volume {volume}"));
    let node = node(pod).map_or_else(String::new, |node| format!(", node {node}"));
    let set = match options.overrides.fields() {
        [] => String::new(),
        fields => format!(", pod fields set by the user: {}", fields.join(", ")),
    };
    format!("{asked}{volume}{node}{set}")
}

/// A note about different nodes: their difference looks like one between volumes.
fn tell_nodes(pods: &[Pod], note: &Note) {
    let mut nodes: Vec<&str> = pods.iter().filter_map(node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    if nodes.len() > 1 {
        note(&format!(
            "the pods are on different nodes ({}), which may cause a difference; if all \
             volumes can be used on the same node, add @NODE to each target",
            nodes.join(", ")
        ));
    }
}

impl ClusterHost {
    pub(crate) fn new(
        agents: Box<dyn Host + Send>,
        beside: Beside,
        session: &Arc<Session>,
    ) -> Self {
        let arms = beside.notes.len();
        let (sites, session) = (vec![Site::default(); arms], Arc::clone(session));
        let mut host = Self { agents, sites, beside, session };
        (0..arms).for_each(|arm| host.look(arm));
        host
    }

    pub fn node(&self) -> Option<&str> {
        self.beside.node.as_deref()
    }

    /// Copies the agents' facts about an arm.
    fn look(&mut self, arm: usize) {
        let Beside { notes, placed, storage_id, .. } = &self.beside;
        let mut site = self.agents.site(arm).clone();
        site.notes.splice(0..0, notes[arm].iter().cloned());
        site.storage_id = storage_id.map_or(site.storage_id, str::to_owned);
        site.placed = Some(placed.clone());
        self.sites[arm] = site;
    }
}

impl Arms for ClusterHost {
    fn up(&mut self, arm: usize) -> Result<Files, Error> {
        (self.beside.before)(arm)?;
        let files = self.agents.up(arm)?;
        self.look(arm);
        Ok(files)
    }

    fn site(&self, arm: usize) -> &Site {
        &self.sites[arm]
    }

    fn is_made_anew(&self, arm: usize) -> bool {
        self.agents.is_made_anew(arm)
    }

    fn down(self: Box<Self>) -> Result<(), Error> {
        let Self { agents, beside, session, .. } = *self;
        let down = agents.down();
        drop(beside);
        down.and(Session::left(session).map_err(Error::from))
    }
}

impl Runner for ClusterHost {
    fn prepare(
        &mut self,
        arm: usize,
        driver: Driver,
        workloads: &[&Workload],
        progress: &LayoutProgress<'_>,
    ) -> Result<(), Error> {
        self.agents.prepare(arm, driver, workloads, progress)
    }

    fn trial(&mut self, request: &TrialRequest) -> Result<Measured, Error> {
        self.agents.trial(request)
    }
}

// Where a pod is: node, zone, cluster.

/// The label of nodes for their zone.
pub(crate) const ZONE: &str = "topology.kubernetes.io/zone";

/// Its place for the record; `class` is that of its volume.
pub(crate) fn placed(cluster: &Cluster, pod: &Pod, class: Option<String>) -> Placed {
    Placed { class, ..on_node(cluster, node(pod), zone(cluster, pod)) }
}

/// The place of something on a node, for the record.
pub(crate) fn on_node(cluster: &Cluster, node: Option<&str>, zone: Option<String>) -> Placed {
    let node = node.map(|node| stable_id("node", &[cluster.id(), node]));
    Placed { cluster: cluster.id().to_owned(), node, zone, class: None }
}

/// The node that a pod is on.
pub(crate) fn node(pod: &Pod) -> Option<&str> {
    pod.spec.as_ref()?.node_name.as_deref()
}

/// The zone of a pod: from its own label if the cluster sets one, otherwise from its node if that
/// may be read.
pub(crate) fn zone(cluster: &Cluster, pod: &Pod) -> Option<String> {
    let of_pod = pod.metadata.labels.as_ref().and_then(|labels| labels.get(ZONE));
    of_pod.cloned().or_else(|| {
        let nodes = cluster.api_of_all::<Node>();
        let found = cluster.ask(Call::new("get", "nodes"), nodes.get(node(pod)?)).ok()?;
        found.metadata.labels?.remove(ZONE)
    })
}
