//! Network paths in Kubernetes: what is asked for, and its hosts.

use std::sync::Arc;

use iotax_cluster::{Cluster, Ends, NetPath, NetRequest, PodOptions, open_net};
use iotax_experiment::Spec;
use iotax_rig::Preparing;
use iotax_run::{Host, Hosts};

use crate::exit::Result;
use crate::session::{OpenedHosts, Session};

/// What is asked of a cluster's network.
pub(crate) struct NetInCluster {
    pub cluster: Arc<Cluster>,
    pub options: PodOptions,
    /// Of each arm.
    pub paths: Vec<NetPath>,
    pub ends: Ends,
    pub port: Option<u16>,
}

impl NetInCluster {
    /// Makes the ends of all paths, whose targets lead to the addresses of the far ends.
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
