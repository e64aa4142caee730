//! Network paths: what a workload is about that is driven over one, and where one leads.

use iotax_layers::Layer;

use crate::spec::Target;
use crate::workload::{Job, Workload};

/// The far end of a path that leads to another host, or out of this namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elsewhere<'a> {
    /// As it is asked for: `tcp://HOST:PORT`, `ssh://HOST`.
    pub name: String,
    /// Its name or address.
    pub host: &'a str,
    /// Whether the host is one that ssh knows, perhaps by another name.
    pub is_for_ssh: bool,
}

impl Target {
    /// Where the path leads, if it is one that was not made for this run.
    pub fn elsewhere(&self) -> Option<Elsewhere<'_>> {
        let (scheme, place, is_for_ssh) = match self.layers().first()? {
            Layer::Peer(peer) => ("tcp", &peer.address, false),
            Layer::Remote(remote) => ("ssh", &remote.host, true),
            _ => return None,
        };
        let host = place.rsplit_once(':').filter(|_| !is_for_ssh).map_or(place.as_str(), |at| at.0);
        Some(Elsewhere { name: format!("{scheme}://{place}"), host, is_for_ssh })
    }
}

impl Workload {
    /// Whether its load is driven over a network path.
    pub fn is_network(&self) -> bool {
        self.jobs.iter().any(|job| job.engine.is_network())
    }

    /// What the primary job does one after the other: see [`Engine::unit`](crate::Engine::unit).
    pub fn unit(&self) -> &'static str {
        self.primary_job().map_or("I/O", |job| job.engine.unit())
    }

    /// Whether the primary job is about how much passes, in one direction.
    pub fn is_stream(&self) -> bool {
        self.primary_job().is_some_and(|job| job.engine.is_stream())
    }

    /// Whether all its jobs are streams, some to the peer and some from it, so that what counts is
    /// what passes both ways together.
    pub fn goes_both_ways(&self) -> bool {
        self.jobs.iter().all(|job| job.engine.is_stream())
            && self.jobs.iter().any(Job::reads)
            && self.jobs.iter().any(Job::writes)
    }

    /// Whether the primary job sends datagrams.
    pub fn is_datagrams(&self) -> bool {
        self.primary_job().is_some_and(|job| job.engine.is_datagrams())
    }

    /// Whether it is bytes over a network path that count, and no single I/O of them.
    pub fn moves_bytes(&self) -> bool {
        self.is_stream() || self.is_datagrams()
    }

    /// Whether the primary job is about how long a request waits for its answer.
    pub fn is_round_trips(&self) -> bool {
        self.primary_job().is_some_and(|job| job.engine.is_round_trips())
    }

    /// Whether the primary job makes a connection for each request.
    pub fn is_connections(&self) -> bool {
        self.primary_job().is_some_and(|job| job.engine.is_connections())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_tells_where_it_leads() {
        let told = |text: &str| {
            let target = Target::parse(text).unwrap();
            target.elsewhere().map(|to| format!("{} {} {}", to.name, to.host, to.is_for_ssh))
        };
        let [v4, v6, ssh] =
            ["tcp://10.0.0.2:7474", "peer(address=\"[fd00::2]:74\") + tls", "ssh://root@db-1"]
                .map(told);
        assert_eq!(v4.as_deref(), Some("tcp://10.0.0.2:7474 10.0.0.2 false"));
        assert_eq!(v6.as_deref(), Some("tcp://[fd00::2]:74 [fd00::2] false"));
        assert_eq!(ssh.as_deref(), Some("ssh://root@db-1 root@db-1 true"));
        assert_eq!([told("netns"), told("/data"), told("mem")], [None, None, None]);
    }
}
