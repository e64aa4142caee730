//! Experiments in Kubernetes: turns options into requests, and opens the hosts.
//!
//! | module | contents |
//! |---|---|
//! | `pods` | options of pods |

mod pods;

use std::sync::Arc;

use iotax_cluster::{
    ArmPlace, ArmsRequest, Cluster, Ends, NetPath, NetRequest, PodOptions, Volume, open_net, survey,
};
use iotax_diagnose::{VolumeInUse, choice_of};
use iotax_experiment::documented::named;
use iotax_experiment::{CloudChoice, Draft, Layer, Spec, Stack, Target};
use iotax_rig::Preparing;
use iotax_run::{Host, Hosts};

pub(crate) use self::pods::{of_recorder, options};
use crate::args::{ClusterArgs, Containers, LoadArgs, PodArgs};
use crate::exit::{Context as _, Result, usage};
use crate::session::{OpenedHosts, Session};

/// Connects to the cluster and namespace of the options.
pub(crate) fn connect(args: &ClusterArgs) -> Result<Cluster> {
    Ok(Cluster::connect(args.context.as_deref(), args.namespace.as_deref())?)
}

/// Refuses options for this machine and other hosts.
pub(crate) fn refuse_elsewhere(load: &LoadArgs) -> Result<()> {
    if load.agent.is_empty() && load.destroy.is_empty() {
        return Ok(());
    }
    Err(usage(
        "--agent and --destroy do not apply in a cluster, where iotax starts its own agents and \
         creates volumes; leave out these options",
    ))
}

// Network paths.

/// A request for network paths in a cluster.
pub(crate) struct NetInCluster {
    pub cluster: Arc<Cluster>,
    pub options: PodOptions,
    /// Of each arm.
    pub paths: Vec<NetPath>,
    pub ends: Ends,
    pub port: Option<u16>,
}

impl NetInCluster {
    /// Creates the ends of all paths, and points the targets at the addresses of the far ends.
    pub(crate) fn open(
        &self,
        spec: &Spec,
        session: &Session,
        making: &mut dyn FnMut(&Preparing<'_>),
    ) -> Result<OpenedHosts> {
        let Self { cluster, options, paths, ends, port } = self;
        let opened = open_net(
            cluster,
            NetRequest {
                spec,
                paths,
                ends,
                port: *port,
                options,
                stop: &session.stop,
                live: &session.live,
                note: Arc::new(|told| eprintln!("note: {}", crate::exit::printable(told))),
                making: &mut |what| making(&Preparing::Making { arm: what }),
            },
        )?;
        let (mut hosts, mut records): (Vec<(Box<dyn Host + Send>, _)>, Vec<_>) = Default::default();
        for (host, arms, record) in opened {
            hosts.push((Box::new(host), arms));
            records.push(record);
        }
        Ok(OpenedHosts { hosts: Hosts::new(hosts), records, nodes: Vec::new() })
    }
}

// Volumes.

/// The usable part of a volume of this size; file systems use the rest.
pub(crate) const fn usable_bytes(size_bytes: u64) -> u64 {
    size_bytes / 8 * 7
}

/// A request for arms on volumes of a cluster.
pub(crate) struct InCluster<'a> {
    pub cluster: &'a ClusterArgs,
    pub options: PodOptions,
    /// Of each arm.
    pub places: Vec<ArmPlace>,
}

impl<'a> InCluster<'a> {
    /// A request without arms.
    pub(crate) fn new(cluster: &'a ClusterArgs, asked: &PodArgs) -> Result<Self> {
        Ok(Self { cluster, options: options(asked)?, places: Vec::new() })
    }

    /// Replaces the targets of arms by their paths in the pods.
    pub(crate) fn place(&mut self, spec: Draft, pods: &PodArgs) -> Result<Draft> {
        let (spec, places) = place(spec, self.options.size_bytes, &pods.write_to)?;
        self.places = places;
        let has_index = spec.phases().any(|phase| phase.index.is_some());
        let is_two = pods.containers.map_or(has_index, |asked| asked == Containers::Two);
        self.options.driver =
            is_two.then(|| pods::driver(pods, &self.options.amounts)).transpose()?;
        refuse_driver_of_nobody(pods, is_two)?;
        let is_raw = |place: &&ArmPlace| matches!(place.volume, Volume::Block(_));
        if let Some(raw) = self.places.iter().find(is_raw)
            && is_two
        {
            return Err(usage(format!(
                "{raw} has no file system, but two containers need one to share files; use \
                 class:NAME, or add --containers one",
            )));
        }
        let lacks = spec.phases().find(|phase| phase.driver_and_searcher().is_none());
        if let Some(phase) = lacks.filter(|_| is_two) {
            return Err(usage(format!(
                "{}: two containers need both jobs that write and jobs that only read, but this \
                 workload has only one kind; leave out --containers two",
                phase.name
            )));
        }
        Ok(spec)
    }

    /// Creates a host for each arm.
    pub(crate) fn open(
        &self,
        spec: &Spec,
        session: &Session,
        making: &mut dyn FnMut(&Preparing<'_>),
    ) -> Result<OpenedHosts> {
        let opened = iotax_cluster::open(
            connect(self.cluster)?,
            ArmsRequest {
                spec,
                places: &self.places,
                options: &self.options,
                stop: &session.stop,
                live: &session.live,
                note: Arc::new(|told| eprintln!("note: {}", crate::exit::printable(told))),
                making: &mut |arm| making(&Preparing::Making { arm }),
            },
        )?;
        let (mut hosts, mut records): (Vec<(Box<dyn Host + Send>, _)>, Vec<_>) = Default::default();
        let nodes = opened.iter().map(|(host, _)| host.node().map(str::to_owned)).collect();
        for (arm, (host, record)) in opened.into_iter().enumerate() {
            hosts.push((Box::new(host), vec![arm]));
            records.push(record);
        }
        Ok(OpenedHosts { hosts: Hosts::new(hosts), records, nodes })
    }

    /// Adds the VM size and the kinds of disk that the cluster shows, unless the user names them.
    pub(crate) fn complete(&self, cloud: &mut CloudChoice, nodes: &[Option<String>]) {
        if cloud.vm.is_some() && !cloud.disks.is_empty() {
            return;
        }
        let placed = |(place, node): (&ArmPlace, &Option<String>)| {
            let class = match &place.volume {
                Volume::Class(name) | Volume::Block(name) | Volume::Ephemeral(name) => {
                    Some(name.clone())
                }
                Volume::EmptyDir | Volume::Claim { .. } | Volume::HostPath(_) => None,
            };
            VolumeInUse { class, bytes: self.options.size_bytes, node: node.clone() }
        };
        let placed: Vec<VolumeInUse> = self.places.iter().zip(nodes).map(placed).collect();
        let seen = connect(self.cluster)
            .and_then(|cluster| Ok(survey(&cluster, Some(cluster.namespace()))?));
        // Only the documented limits depend on this, not the measurement.
        let told = match seen {
            Ok(seen) => choice_of(&seen, &placed),
            Err(error) => {
                eprintln!("note: cannot find the documented limits of these volumes: {error}");
                return;
            }
        };
        let vm = cloud.vm.clone().or(told.vm);
        let disks = if cloud.disks.is_empty() { told.disks } else { cloud.disks.clone() };
        let with =
            |vm: Option<String>, disks: Vec<String>| CloudChoice { vm, disks, ..cloud.clone() };
        let choices = [
            with(vm.clone(), disks.clone()),
            with(vm, cloud.disks.clone()),
            with(cloud.vm.clone(), disks),
        ];
        if let Some(known) = choices.into_iter().find(|one| named(one, placed.len()).is_ok()) {
            *cloud = known;
        }
    }
}

/// Reads the targets of all arms, replaces them by their paths in the pods, and fits test files to
/// the volumes. `write_to`: existing volumes that iotax may write to.
fn place(mut spec: Draft, size_bytes: u64, write_to: &[String]) -> Result<(Draft, Vec<ArmPlace>)> {
    let consents: Vec<Volume> = write_to
        .iter()
        .map(|text| text.parse())
        .collect::<Result<_, _>>()
        .context("option --write-to")?;
    let mut places = Vec::new();
    for arm in &mut spec.arms {
        let place: ArmPlace =
            as_written(&arm.target).parse().with_context(|| format!("arm {}", arm.name))?;
        let volume = &place.volume;
        if volume.is_theirs() && !consents.contains(volume) {
            return Err(usage(format!(
                "arm {}: {volume} was not created by iotax; to allow test files there, in a \
                 private folder that iotax removes at the end, add --write-to {volume}",
                arm.name
            )));
        }
        arm.target = volume.target();
        places.push(place);
    }
    let named = |consent: &&Volume| places.iter().any(|place| place.volume == **consent);
    if let Some(vain) = consents.iter().find(|consent| !named(consent)) {
        return Err(usage(format!(
            "--write-to {vain}: no arm uses this volume; correct the option, or leave it out"
        )));
    }
    spec.fit(Some((0, usable_bytes(size_bytes))));
    Ok((spec, places))
}

/// The target as written; a node's directory is parsed as an NFS export of a server `hostpath`.
fn as_written(target: &Target) -> String {
    match target {
        Target::Path(path) => path.display().to_string(),
        Target::Stack(Stack { layers }) => match layers.as_slice() {
            [Layer::Nfs(nfs)] if nfs.server == "hostpath" => format!("hostpath:{}", nfs.export),
            _ => target.to_string(),
        },
        Target::Several(_) => target.to_string(),
    }
}

fn refuse_driver_of_nobody(args: &PodArgs, is_two: bool) -> Result<()> {
    let asked = [("cpu", &args.driver_cpu), ("memory", &args.driver_memory)];
    match asked.into_iter().find(|(_, value)| value.is_some()) {
        Some((name, _)) if !is_two => {
            Err(usage(format!("--driver-{name} needs two containers; add --containers two")))
        }
        _ => Ok(()),
    }
}
