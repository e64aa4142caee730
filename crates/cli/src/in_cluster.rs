//! Arms in Kubernetes: what is asked for, and its hosts.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use iotax_cluster::{Cluster, Place, PodOptions, Request};
use iotax_record::HostRecord;
use iotax_rig::Progress;
use iotax_run::{Host, Hosts};
use iotax_spec::units::{parse_bytes, parse_duration};
use iotax_spec::{Spec, Target};

use crate::args::{ClusterArgs, PodArgs};
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

impl InCluster<'_> {
    /// Makes a host for each arm.
    pub(crate) fn open(
        &self,
        spec: &Spec,
        (stop, live): Flags<'_>,
        progress: &mut dyn FnMut(&Progress<'_>),
    ) -> Result<(Hosts, Vec<HostRecord>)> {
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
        let (mut hosts, mut known): (Vec<(Box<dyn Host>, _)>, Vec<_>) = Default::default();
        for (arm, (host, record)) in opened.into_iter().enumerate() {
            hosts.push((Box::new(host), vec![arm]));
            known.push(record);
        }
        Ok((Hosts::new(hosts), known))
    }
}

/// Reads the targets of all arms, and puts directories of volumes in their place. Test files are
/// fitted to the volumes.
pub(crate) fn place(spec: &mut Spec, size_bytes: u64) -> Result<Vec<Place>> {
    let mut places = Vec::new();
    for arm in &mut spec.arms {
        let text = match &arm.target {
            Target::Path(path) => path.display().to_string(),
            other => other.to_string(),
        };
        let place: Place = text
            .parse()
            .map_err(iotax_run::Error::from)
            .with_context(|| format!("arm {}", arm.name))?;
        arm.target = Target::Path(place.directory());
        places.push(place);
    }
    let (part, of) = ROOM;
    spec.fit(Some((0, size_bytes / of * part)));
    Ok(places)
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
    let wait_ns = parse_duration(&args.wait).context("option --wait")?;
    Ok(PodOptions {
        image: args.image.clone(),
        pull_secrets: args.pull_secret.clone(),
        size_bytes: parse_bytes(&args.size).context("option --size")?,
        cpu: args.cpu.clone(),
        memory_bytes: parse_bytes(&args.memory).context("option --memory")?,
        node_selector,
        user,
        wait: Duration::from_nanos(wait_ns),
    })
}
