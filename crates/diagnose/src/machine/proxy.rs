//! NFS whose server is a process of this machine: a proxy that encrypts, or a server.

use iotax_record::machine::{Listener, MountSeen, NfsSeen};
use serde::Serialize;

use super::snapshot::own_address;
use super::{At, Certainty, Component, Field, Finder, Finding, Observation, Rule, rule};

pub(super) const RULES: &[Rule] = &[rule(&["nfs-local-proxy"], Finder::Nfs(local))];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProxyWhy {
    Local {
        /// What listens, where that is seen.
        program: Option<String>,
        address: String,
        port: String,
        has_tls: Option<bool>,
        threads: Option<u64>,
        /// CPUs that it used on average since it started.
        cpus: Option<f64>,
    },
}

/// The port of the kernel's own NFS server.
const NFS_PORT: &str = "2049";
/// Programs that encrypt what goes through them.
const TLS_PROXIES: [&str; 3] = ["efs-proxy", "stunnel", "ghostunnel"];

/// CPUs that a process has used, on average since it started.
fn cpus(listener: &Listener) -> Option<f64> {
    let (used, age) = (listener.cpu_ms?, listener.age_ms.filter(|age| *age > 0)?);
    Some(used as f64 / age as f64)
}

/// A process between the mount and its server.
fn local(mount: &At<'_, '_, MountSeen>, nfs: &NfsSeen) -> Option<Finding> {
    let address = own_address(mount)?;
    let port = nfs.option("port").or_else(|| mount.option("port")).unwrap_or(NFS_PORT);
    let listener = nfs.network.as_ref().and_then(|way| way.listener.as_ref());
    let program = listener.map(|by| by.program.clone());
    let why = ProxyWhy::Local {
        program: program.clone(),
        address: address.to_owned(),
        port: port.to_owned(),
        has_tls: program.as_ref().map(|name| TLS_PROXIES.iter().any(|known| name.contains(known))),
        threads: listener.and_then(|by| by.threads),
        cpus: listener.and_then(cpus),
    };
    let listens = program.map(|program| {
        Observation::field("/proc/net/tcp", Field::ListensOn(port.to_owned()), program)
    });
    mount
        .finding(Certainty::Likely, why)
        .on(Component::mount(mount).also(mount.source.as_str()))
        .observed(Observation::mount(mount, "addr, port", format!("{address}, {port}")))
        .observed_all(listens)
        .run("seqread-1m", mount.path, "--set depth=16")
        .run("randread-4k", mount.path, "--set depth=32")
        // Nobody listens on the kernel's own server's port but the kernel.
        .when(listener.is_some() || port != NFS_PORT)
}
