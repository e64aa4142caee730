//! Arms in Kubernetes: what is asked for, and its hosts.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use iotax_cluster::{Amounts, Cluster, Place, PodOptions, Request, Toleration, Volume};
use iotax_record::HostRecord;
use iotax_rig::Progress;
use iotax_run::{Host, Hosts};
use iotax_spec::units::{parse_bytes, parse_duration};
use iotax_spec::{Layer, Spec, Stack, Target};

use crate::args::{ClusterArgs, Containers, LoadArgs, PodArgs};
use crate::exit::usage;
use crate::session::Flags;

/// File systems take a part of a volume for themselves.
const ROOM: (u64, u64) = (7, 8);

/// What is asked of a cluster.
pub(crate) struct InCluster<'a> {
    pub cluster: &'a ClusterArgs,
    pub options: PodOptions,
    /// Of each arm.
    pub places: Vec<Place>,
}

impl<'a> InCluster<'a> {
    /// Without arms yet.
    pub(crate) fn new(cluster: &'a ClusterArgs, pods: &PodArgs) -> Result<Self> {
        Ok(Self { cluster, options: options(pods)?, places: Vec::new() })
    }

    /// Puts arms where they are in their pods.
    pub(crate) fn place(&mut self, spec: &mut Spec, pods: &PodArgs) -> Result<()> {
        self.places = place(spec, self.options.size_bytes, &pods.write_to)?;
        let has_index = spec.phases().any(|phase| phase.index.is_some());
        let is_two = pods.containers.map_or(has_index, |asked| asked == Containers::Two);
        self.options.driver = is_two.then(|| driver(pods, &self.options.amounts)).transpose()?;
        refuse_driver_of_nobody(pods, is_two)?;
        let is_raw = |place: &&Place| matches!(place.volume, Volume::Block(_));
        if let Some(raw) = self.places.iter().find(is_raw)
            && is_two
        {
            return Err(usage(format!(
                "{raw}: two containers share files, and this has no file system; name a class:NAME, \
                 or add --containers one",
            )));
        }
        match spec.phases().find(|phase| phase.driver_and_searcher().is_none()) {
            Some(phase) if is_two => Err(usage(format!(
                "{}: two containers are for jobs that write and jobs that only read, and it lacks \
                 one of the two; leave out --containers two",
                phase.name
            ))),
            _ => Ok(()),
        }
    }

    /// Makes a host for each arm.
    pub(crate) fn open(
        &self,
        spec: &Spec,
        (stop, live): Flags<'_>,
        progress: &mut dyn FnMut(&Progress<'_>),
    ) -> Result<(Hosts, Vec<HostRecord>)> {
        let (hosts, known, _) = self.open_on_nodes(spec, (stop, live), progress)?;
        Ok((hosts, known))
    }

    /// The same, with the node of each arm.
    pub(crate) fn open_on_nodes(
        &self,
        spec: &Spec,
        (stop, live): Flags<'_>,
        progress: &mut dyn FnMut(&Progress<'_>),
    ) -> Result<(Hosts, Vec<HostRecord>, Vec<Option<String>>)> {
        let ClusterArgs { context, namespace } = self.cluster;
        let cluster = Cluster::connect(context.as_deref(), namespace.as_deref())?;
        let opened = iotax_cluster::open(
            cluster,
            Request {
                spec,
                places: &self.places,
                options: &self.options,
                stop,
                live,
                note: Arc::new(|told| eprintln!("note: {told}")),
                making: &mut |arm| progress(&Progress::Making { arm }),
            },
        )?;
        let (mut hosts, mut known): (Vec<(Box<dyn Host + Send>, _)>, Vec<_>) = Default::default();
        let nodes = opened.iter().map(|(host, _)| host.node().map(str::to_owned)).collect();
        for (arm, (host, record)) in opened.into_iter().enumerate() {
            hosts.push((Box::new(host), vec![arm]));
            known.push(record);
        }
        Ok((Hosts::new(hosts), known, nodes))
    }
}

/// Reads the targets of all arms, and puts what they are in their pods in their place. Test files are
/// fitted to the volumes. `write_to`: volumes that were there before, and may be written to.
fn place(spec: &mut Spec, size_bytes: u64, write_to: &[String]) -> Result<Vec<Place>> {
    let consents: Vec<Volume> = write_to
        .iter()
        .map(|text| text.parse().map_err(iotax_run::Error::from))
        .collect::<Result<_, _>>()
        .context("option --write-to")?;
    let mut places = Vec::new();
    for arm in &mut spec.arms {
        let place: Place = as_written(&arm.target)
            .parse()
            .map_err(iotax_run::Error::from)
            .with_context(|| format!("arm {}", arm.name))?;
        let volume = &place.volume;
        if volume.is_theirs() && !consents.contains(volume) {
            return Err(usage(format!(
                "arm {}: {volume} is not iotax's: test files would go into a folder of their own \
                 there, which is removed in the end; if that may be, add --write-to {volume}",
                arm.name
            )));
        }
        arm.target = volume.target();
        places.push(place);
    }
    let named = |consent: &&Volume| places.iter().any(|place| place.volume == **consent);
    if let Some(vain) = consents.iter().find(|consent| !named(consent)) {
        return Err(usage(format!(
            "--write-to {vain}: no arm is on it; check it, or leave it out"
        )));
    }
    let (part, of) = ROOM;
    spec.fit(Some((0, size_bytes / of * part)));
    Ok(places)
}

/// A directory of a node looks like an export of a file server of that name.
fn as_written(target: &Target) -> String {
    match target {
        Target::Path(path) => path.display().to_string(),
        Target::Stack(Stack { layers }) => match layers.as_slice() {
            [Layer::Nfs(nfs)] if nfs.server == "hostpath" => format!("hostpath:{}", nfs.export),
            _ => target.to_string(),
        },
        other => other.to_string(),
    }
}

/// What pods are like, by the options.
pub(crate) fn options(args: &PodArgs) -> Result<PodOptions> {
    let user = match args.user.as_str() {
        "cluster" => None,
        id => Some(id.parse().ok().filter(|id| *id != 0).ok_or_else(|| {
            usage(format!("--user {id}: write the number of a user that is not root, or cluster"))
        })?),
    };
    let mut node_selector = BTreeMap::new();
    for text in &args.node_selector {
        let Some((key, value)) = text.split_once('=') else {
            let example = "kubernetes.io/hostname=NODE";
            return Err(usage(format!("--node-selector {text}: write KEY=VALUE, as in {example}")));
        };
        node_selector.insert(key.to_owned(), value.to_owned());
    }
    let memory_bytes = parse_bytes(&args.memory).context("option --memory")?;
    let amounts = Amounts { cpu: args.cpu.clone(), memory_bytes };
    let wait_ns = parse_duration(&args.wait).context("option --wait")?;
    Ok(PodOptions {
        image: args.image.clone(),
        pull_secrets: args.pull_secret.clone(),
        size_bytes: parse_bytes(&args.size).context("option --size")?,
        driver: None,
        amounts,
        node_selector,
        tolerations: args.toleration.iter().map(|text| toleration(text)).collect::<Result<_>>()?,
        user,
        wait: Duration::from_nanos(wait_ns),
    })
}

/// Refuses options of this machine and of other hosts.
pub(crate) fn refuse_elsewhere(load: &LoadArgs) -> Result<()> {
    if load.agent.is_empty() && load.destroy.is_empty() {
        return Ok(());
    }
    Err(usage(
        "in a cluster, agents are started in pods, and volumes are made: leave out --agent and \
         --destroy",
    ))
}

fn refuse_driver_of_nobody(args: &PodArgs, is_two: bool) -> Result<()> {
    let asked = [("cpu", &args.driver_cpu), ("memory", &args.driver_memory)];
    match asked.into_iter().find(|(_, value)| value.is_some()) {
        Some((name, _)) if !is_two => {
            Err(usage(format!("--driver-{name} is for two containers: add --containers two")))
        }
        _ => Ok(()),
    }
}

/// What the container that writes has.
fn driver(args: &PodArgs, other: &Amounts) -> Result<Amounts> {
    let memory = args.driver_memory.as_deref().map(parse_bytes).transpose();
    let memory = memory.context("option --driver-memory")?;
    Ok(Amounts {
        cpu: args.driver_cpu.clone().unwrap_or_else(|| other.cpu.clone()),
        memory_bytes: memory.unwrap_or(other.memory_bytes),
    })
}

/// What a taint may do.
const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// Reads a taint as `kubectl taint` writes it, or the part of it that is to be borne.
fn toleration(text: &str) -> Result<Toleration> {
    let unreadable = || {
        usage(format!(
            "--toleration {text}: write KEY, KEY=VALUE or either with :EFFECT, one of {}; `all` \
             bears all taints",
            EFFECTS.join(", ")
        ))
    };
    let (taint, effect) = match text.split_once(':') {
        Some((taint, effect)) if EFFECTS.contains(&effect) => (taint, Some(effect.to_owned())),
        Some(_) => return Err(unreadable()),
        None => (text, None),
    };
    let (key, value) = match taint.split_once('=') {
        Some((key, value)) => (key, Some(value.to_owned())),
        None => (taint, None),
    };
    let is_all = key == "all";
    if key.is_empty() || is_all && value.is_some() {
        return Err(unreadable());
    }
    let key = (!is_all).then(|| key.to_owned());
    Ok(Toleration { key, value, effect })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerations_are_read_as_taints_are_written() {
        let read = |text: &str| {
            let Toleration { key, value, effect } = toleration(text).unwrap();
            [key, value, effect].map(|part| part.unwrap_or_else(|| "-".to_owned())).join(" ")
        };
        assert_eq!(read("dedicated=disks:NoSchedule"), "dedicated disks NoSchedule");
        assert_eq!(read("dedicated"), "dedicated - -");
        assert_eq!(read("example.org/spot:NoExecute"), "example.org/spot - NoExecute");
        assert_eq!(read("all"), "- - -");
        for text in ["", "=a", ":NoSchedule", "all=a", "a:b", "a:NoSchedule:NoExecute"] {
            assert!(toleration(text).is_err(), "{text}");
        }
        insta::assert_snapshot!(toleration("a:noschedule").unwrap_err(), @"--toleration a:noschedule: write KEY, KEY=VALUE or either with :EFFECT, one of NoSchedule, PreferNoSchedule, NoExecute; `all` bears all taints");
    }
}
