//! Paths of a pod network: pods at both ends, with a peer at the far end and an agent at the near
//! end.
//!
//! | module | idea |
//! |---|---|
//! | `layout` | which pods paths need, and on which nodes |
//! | `facts` | facts about a path |

mod facts;
mod layout;

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use iotax_experiment::{Arm, Spec, Target};
use iotax_load::{LoadProgress, new_peer_secret};
use iotax_record::HostRecord;
use iotax_run::agent::{
    GivenUp, Launched, PeerSecret, PeerSecrets, Reached, Remote, RemoteOptions,
};
use k8s_openapi::api::core::v1::Pod;

use self::facts::{Between, Nodes, facts};
pub use self::layout::{Ends, NetPath, host_network_refused};
use self::layout::{Layout, Role, member};
use crate::agent::PodAgent;
use crate::connect::Cluster;
use crate::error::Error;
use crate::host::{Beside, ClusterHost, node, on_node};
use crate::objects::{Member, PodOptions, PodSecurity};
use crate::remove::address;
use crate::session::{Note, Session};

/// The common storage id of all paths of a run.
const NETWORK: &str = "the network of one cluster";
/// Where peers in pods listen.
pub const PORT: u16 = 7474;
/// How long rules of Services and names may take to reach the near end.
const PATIENCE: Duration = Duration::from_secs(30);

/// A request to measure a cluster's network.
pub struct NetRequest<'a> {
    /// Its arms are the paths.
    pub spec: &'a Spec,
    /// Of each arm.
    pub paths: &'a [NetPath],
    /// The nodes.
    pub ends: &'a Ends,
    /// The port of peers; with `None`, [`PORT`] in pods, and any free one on nodes.
    pub port: Option<u16>,
    /// Options of the pods.
    pub options: &'a PodOptions,
    /// Set from outside to stop the present work.
    pub stop: &'a Arc<AtomicBool>,
    /// Counts progress.
    pub live: &'a Arc<LoadProgress>,
    /// Notes for the user: what iotax waits for, and what could not be removed.
    pub note: Note,
    /// Called with what is being created.
    pub making: &'a mut dyn FnMut(&str),
}

/// The near ends: a host for each, its arms, and the facts about it.
pub type NetOpened = Vec<(ClusterHost, Vec<usize>, HostRecord)>;

/// Creates the pods of all paths, starts a peer at each far end and an agent at each near end, and
/// waits until each path works.
///
/// # Errors
/// If something cannot be created, a pod does not start, a path does not work, or the user stopped
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

/// The pods that were created, for recreating them.
type Members = BTreeMap<Role, Member>;

/// The secret of each far end.
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
                // The paths through one network are compared, whatever their ends.
                storage_id: Some(NETWORK),
                before: Box::new(before),
            };
            (ClusterHost::new(Box::new(remote), beside, self.session), arms, record)
        };
        Ok(hosts.into_iter().map(host).collect())
    }

    /// Creates all pods, first those that determine the nodes of the others.
    fn pods(&mut self) -> Result<(Members, Nodes), Error> {
        let layout = Layout::of(self.request.paths);
        let mut leaders = layout.leaders(self.request.ends, self.request.options);
        let mut pods = self.made(&leaders)?;
        let [mut near, mut far] = [None, None];
        for ((role, member), pod) in layout.leaders.iter().zip(&mut leaders).zip(&pods) {
            // If it is recreated, it must be on the same node.
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

/// The addresses of a Service.
struct Reachable {
    ip: String,
    /// With its port.
    address: String,
    /// Its name in the cluster, likewise.
    name: String,
}

// The peer in a pod: started there with a secret, ended with its connection.

/// What `iotax peer` prints before its address when it listens.
const LISTENS: &str = "listening at ";
/// How long it may take until it does.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// A peer in a pod.
struct FarEnd {
    pod: PodAgent,
    secret: PeerSecret,
    /// Its address.
    address: SocketAddr,
    /// It ends when this is dropped.
    running: Option<Launched>,
}

impl FarEnd {
    /// Starts one at `port`; 0 means any free port.
    fn start(pod: PodAgent, secret: PeerSecret, port: u16) -> Result<Self, Error> {
        let ip = pod_ip(&pod)?;
        let address = SocketAddr::new(ip, port);
        let mut far = Self { pod, secret, address, running: None };
        far.launch()?;
        Ok(far)
    }

    fn address(&self) -> SocketAddr {
        self.address
    }

    /// Starts it again if its connection was cut.
    fn keep(&mut self) -> Result<(), Error> {
        if self.lives() { Ok(()) } else { self.launch() }
    }

    /// Whether it is running. Writing to it also keeps proxies from closing an idle connection.
    fn lives(&mut self) -> bool {
        self.running.as_mut().is_some_and(|running| {
            let has_ended = running.process.try_wait().map_or(true, |ended| ended.is_some());
            !has_ended && running.input.write_all(b"\n").is_ok()
        })
    }

    fn launch(&mut self) -> Result<(), Error> {
        self.running = None;
        let any: IpAddr = match self.address {
            SocketAddr::V4(_) => [0; 4].into(),
            SocketAddr::V6(_) => [0_u16; 8].into(),
        };
        let listen = SocketAddr::new(any, self.address.port()).to_string();
        let words = ["iotax", "peer", "--listen", &listen, "--token-file", "-"];
        let mut running = self.pod.start(&words)?;
        let ip = pod_ip(&self.pod)?;
        if ip != self.address.ip() {
            let pod = self.pod.pod();
            return Err(Error::Moved { pod, before: self.address.ip(), now: ip });
        }
        let mut token = self.secret.text();
        token.push('\n');
        let said = running.input.write_all(token.as_bytes()).and_then(|()| heard(&mut running));
        match said {
            Ok(port) => self.address.set_port(port),
            Err(error) => {
                let ended = running.process.try_wait().ok().flatten();
                let why = ended.map_or_else(|| error.to_string(), |ended| ended.status);
                return Err(Error::NoPeer { pod: self.pod.pod(), why });
            }
        }
        self.running = Some(running);
        Ok(())
    }
}

/// Without the options of its pod.
impl std::fmt::Debug for FarEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FarEnd").field("address", &self.address).finish_non_exhaustive()
    }
}

/// The port that it reports.
fn heard(running: &mut Launched) -> io::Result<u16> {
    let output = std::mem::replace(&mut running.output, Box::new(io::empty()));
    let (tell, told) = channel();
    // A separate thread, because a silent program could block forever.
    thread::spawn(move || {
        let mut line = String::new();
        let read = BufReader::new(output).read_line(&mut line);
        let _ = tell.send(read.map(|_| line));
    });
    let silent = |_| io::Error::from(io::ErrorKind::TimedOut);
    let line = told.recv_timeout(ANSWER_WITHIN).map_err(silent)??;
    listens_at(&line).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

fn pod_ip(pod: &PodAgent) -> Result<IpAddr, Error> {
    address(pod.session.cluster(), pod.session.run(), &pod.member)
}

fn listens_at(line: &str) -> Option<u16> {
    let address = line.strip_prefix(LISTENS)?.split_whitespace().next()?;
    address.parse::<SocketAddr>().ok().map(|address| address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_peer_listens_is_what_it_says() {
        assert_eq!(listens_at("listening at 0.0.0.0:7474 for TCP and UDP\n"), Some(7474));
        assert_eq!(listens_at("listening at [::]:9 for TCP and UDP\n"), Some(9));
        assert_eq!(listens_at("cannot listen"), None);
        assert_eq!(listens_at(""), None);
    }
}
