//! Paths of a pod network: pods at both ends, peers at the far one, agents at the near one.
//!
//! | module | idea |
//! |---|---|
//! | `layout` | which pods paths need, and on which nodes |
//! | `far` | the peer in a pod |
//! | `facts` | what is known of a path |

mod facts;
mod far;
mod layout;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use iotax_experiment::{Arm, Spec, Target};
use iotax_load::{LoadProgress, new_peer_secret};
use iotax_record::HostRecord;
use iotax_run::agent::{GivenUp, PeerSecret, PeerSecrets, Reached, Remote, RemoteOptions};
use k8s_openapi::api::core::v1::Pod;

use self::facts::{Between, Nodes, facts};
use self::far::FarEnd;
pub use self::layout::NetPath;
use self::layout::Role;
pub use self::layout::{Ends, host_network_refused};
use self::layout::{Layout, member};
use crate::agent::PodAgent;
use crate::connect::Cluster;
use crate::error::Error;
use crate::host::{Beside, ClusterHost};
use crate::host::{node, on_node};
use crate::objects::{Member, PodOptions, PodSecurity};
use crate::session::{Note, Session};

/// What all paths of a run lie on.
const NETWORK: &str = "the network of one cluster";
/// Where peers in pods listen.
pub const PORT: u16 = 7474;
/// How long it may take until rules of Services and names are known where the near end is.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is asked of a cluster's network.
pub struct NetRequest<'a> {
    /// Its arms are the paths.
    pub spec: &'a Spec,
    /// Of each arm.
    pub paths: &'a [NetPath],
    /// Which nodes.
    pub ends: &'a Ends,
    /// Where peers listen; `None`: [`PORT`] in pods, any that is free on nodes.
    pub port: Option<u16>,
    /// What pods are like.
    pub options: &'a PodOptions,
    /// Set by someone else to end whatever is under way.
    pub stop: &'a Arc<AtomicBool>,
    /// Counts what is done.
    pub live: &'a Arc<LoadProgress>,
    /// Tells the user what is waited for, and what could not be removed.
    pub note: Note,
    /// Is told what is made.
    pub making: &'a mut dyn FnMut(&str),
}

/// The near ends: a host for each, the arms that it has, what is known of it.
pub type NetOpened = Vec<(ClusterHost, Vec<usize>, HostRecord)>;

/// Makes the pods of all paths, starts a peer at each far end and an agent at each near one, and waits
/// until each path is there.
///
/// # Errors
/// If something cannot be made, a pod does not start, a path does not come about; if the user stopped
/// it. Then everything is removed again.
pub fn open_net(
    cluster: &Arc<Cluster>,
    request: NetRequest<'_>,
) -> Result<NetOpened, iotax_run::Error> {
    if let Ends { from: Some(from), to: Some(to), .. } = request.ends
        && from == to
    {
        return Err(Error::OneNode { node: from.clone() }.into());
    }
    let security = PodSecurity::enough_for(request.paths.contains(&NetPath::Node));
    let new_namespace = request.options.create_namespace.then_some(security);
    let note = Arc::clone(&request.note);
    let session = Arc::new(Session::begin(cluster, new_namespace, note)?);
    let opened = Opening {
        cluster: session.cluster(),
        session: &session,
        arms: request.spec.arms.clone(),
        request,
    }
    .open();
    opened.map_err(|error| Session::gave_up(session, error))
}

struct Opening<'a, 'r> {
    cluster: &'a Arc<Cluster>,
    session: &'a Arc<Session>,
    /// With the addresses of the far ends as targets, once they are known.
    arms: Vec<Arm>,
    request: NetRequest<'r>,
}

/// The pods that were made, as they are to be made again.
type Members = BTreeMap<Role, Member>;

/// What is known of each far end.
type Secrets = BTreeMap<Role, PeerSecret>;

impl Opening<'_, '_> {
    fn open(mut self) -> Result<NetOpened, iotax_run::Error> {
        let (members, nodes) = self.pods()?;
        let service = self.service(&members)?;
        let (far_ends, secrets) = self.far_ends(&members)?;
        let mut known = PeerSecrets::new();
        for (arm, path) in self.request.paths.iter().enumerate() {
            let address = match (path, &service) {
                (NetPath::Service, Some(service)) => service.address.clone(),
                (NetPath::Dns, Some(service)) => service.name.clone(),
                _ => far_ends[&path.far()].address().to_string(),
            };
            let target = format!("tcp://{address}");
            self.arms[arm].target = Target::parse(&target).expect("it is an address");
            known.insert(address, secrets[&path.far()].clone());
        }
        let far_ends = Arc::new(Mutex::new(far_ends));
        let mut hosts = Vec::new();
        let mut seen: BTreeMap<usize, Reached> = BTreeMap::new();
        for near in [Role::NearNode, Role::Near] {
            let arms: Vec<usize> = self.arms_of(near);
            let Some(at) = members.get(&near) else { continue };
            let mut remote = Remote::open(RemoteOptions {
                agent: Box::new(self.agent(at)),
                spec: self.spec_of(&arms),
                work_dir: PathBuf::from("/"),
                given_up: GivenUp::default(),
                secrets: known.clone(),
                stop: Arc::clone(self.request.stop),
                live: Arc::clone(self.request.live),
            })?;
            for (there, arm) in arms.iter().enumerate() {
                seen.insert(*arm, remote.reach(there, PATIENCE)?);
            }
            hosts.push((remote, arms));
        }
        let of_nodes = self.request.paths.iter().position(|path| *path == NetPath::Node);
        let of_nodes = of_nodes.and_then(|arm| seen.get(&arm));
        let of_arm = |arm: &usize| {
            let path = self.request.paths[*arm];
            let between = Between {
                path,
                near: nodes.of_role(path.near()),
                far: nodes.of_role(path.far()),
                service: service.as_ref().map(|service| service.ip.as_str()),
            };
            facts(&between, &seen[arm], of_nodes)
        };
        let host = |(remote, arms): (Remote, Vec<usize>)| {
            let record = remote.host().clone();
            let near = nodes.of_role(self.request.paths[arms[0]].near());
            let far_of: Vec<Role> = arms.iter().map(|arm| self.request.paths[*arm].far()).collect();
            let far_ends = Arc::clone(&far_ends);
            let before = move |arm: usize| {
                for (role, far) in &mut *far_ends.lock().unwrap_or_else(PoisonError::into_inner) {
                    if *role == far_of[arm] {
                        far.keep()?;
                    } else {
                        // Whether it is there is asked when it is needed.
                        far.lives();
                    }
                }
                Ok(())
            };
            let beside = Beside {
                notes: arms.iter().map(of_arm).collect(),
                placed: on_node(self.cluster, Some(&near.name), near.zone.clone()),
                node: None,
                // What is compared is the ways through one network, whatever their ends are called.
                storage_id: Some(NETWORK),
                before: Box::new(before),
            };
            (ClusterHost::new(Box::new(remote), beside, self.session), arms, record)
        };
        Ok(hosts.into_iter().map(host).collect())
    }

    /// Makes all pods, first those that decide where the others are.
    fn pods(&mut self) -> Result<(Members, Nodes), Error> {
        let layout = Layout::of(self.request.paths);
        let mut leaders = layout.leaders(self.request.ends, self.request.options);
        let mut pods = self.made(&leaders)?;
        let [mut near, mut far] = [None, None];
        for ((role, member), pod) in layout.leaders.iter().zip(&mut leaders).zip(&pods) {
            // Made again, it is to be where it was.
            (member.node, member.apart) = (node(pod).map(str::to_owned), None);
            let end = if role.is_far() { &mut far } else { &mut near };
            end.clone_from(&member.node);
        }
        let others = layout.others.iter().map(|role| {
            let node = if role.is_far() { &far } else { &near };
            member(*role, node.clone(), self.request.options)
        });
        let others: Vec<Member> = others.collect();
        pods.extend(self.made(&others)?);
        let roles: Vec<Role> = layout.leaders.into_iter().chain(layout.others).collect();
        let nodes = Nodes::of(self.cluster, roles.iter().copied().zip(&pods));
        let members = roles.into_iter().zip(leaders.into_iter().chain(others)).collect();
        Ok((members, nodes))
    }

    fn made(&mut self, members: &[Member]) -> Result<Vec<Pod>, Error> {
        let NetRequest { options, stop, making, .. } = &mut self.request;
        for member in members {
            making(&member.told_as);
            self.session.make(member, options)?;
        }
        self.session.running(members, options, stop)
    }

    fn service(&self, members: &Members) -> Result<Option<Reachable>, Error> {
        if !self.request.paths.iter().any(|path| path.is_through_service()) {
            return Ok(None);
        }
        let port = self.request.port.unwrap_or(PORT);
        let member = &members[&Role::Far];
        let made = self.session.make_service(member, port)?;
        let ip = made.spec.and_then(|spec| spec.cluster_ip).unwrap_or_default();
        let host = if ip.contains(':') { format!("[{ip}]") } else { ip.clone() };
        let name = self.session.run().member(member.number);
        let namespace = self.cluster.namespace();
        Ok(Some(Reachable {
            ip,
            address: format!("{host}:{port}"),
            name: format!("{name}.{namespace}.svc:{port}"),
        }))
    }

    /// Starts the peers.
    fn far_ends(&self, members: &Members) -> Result<(BTreeMap<Role, FarEnd>, Secrets), Error> {
        let mut secrets = BTreeMap::new();
        let mut far_ends = BTreeMap::new();
        for (role, member) in members.iter().filter(|(role, _)| role.has_peer()) {
            let secret = new_peer_secret()?;
            let of_pods = if role.is_on_host_network() { 0 } else { PORT };
            let port = self.request.port.unwrap_or(of_pods);
            far_ends.insert(*role, FarEnd::start(self.agent(member), secret.clone(), port)?);
            secrets.insert(*role, secret);
        }
        Ok((far_ends, secrets))
    }

    fn agent(&self, member: &Member) -> PodAgent {
        PodAgent::new(self.session, member.clone(), self.request.options, self.request.stop)
    }

    fn arms_of(&self, near: Role) -> Vec<usize> {
        let paths = self.request.paths.iter().enumerate();
        paths.filter(|(_, path)| path.near() == near).map(|(arm, _)| arm).collect()
    }

    fn spec_of(&self, arms: &[usize]) -> Spec {
        let arms = arms.iter().map(|arm| self.arms[*arm].clone()).collect();
        self.request.spec.with(|draft| draft.arms = arms)
    }
}

/// How a Service is reached.
struct Reachable {
    ip: String,
    /// With its port.
    address: String,
    /// Its name in the cluster, likewise.
    name: String,
}
