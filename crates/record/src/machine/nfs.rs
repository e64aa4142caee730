//! NFS mounts: `/proc/self/mountstats`.

use serde::{Deserialize, Serialize};

/// An NFS mount as reported by the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NfsSeen {
    /// Active options, the line `opts:`; has `vers`, `rsize`, `sec`, `nconnect`.
    pub options: String,
    /// Connections to the server: lines `xprt:`.
    pub transports: Vec<NfsTransport>,
    /// Operations since it was mounted.
    pub operations: u64,
    /// Transmissions of these; more than operations if some were sent again.
    pub transmissions: u64,
    /// Operations that waited longer than `timeo` in all retries.
    pub major_timeouts: u64,
    /// Seconds since it was mounted: the line `age:`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_s: Option<u64>,
    /// Retransmissions while counters were watched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent_again_while_watched: Option<u64>,
    /// The network path to the server.
    pub network: Option<NetworkPath>,
}

impl NfsSeen {
    /// The option that disables caching of attributes or names, if there is one.
    pub fn without_cache(&self) -> Option<&'static str> {
        const OFF: [(&str, &str, &str); 4] = [
            ("noac", "", "noac"),
            ("acregmax", "0", "acregmax=0"),
            ("acdirmax", "0", "acdirmax=0"),
            ("lookupcache", "none", "lookupcache=none"),
        ];
        let is_set = |(name, value, _): &&(&str, &str, &str)| self.option(name) == Some(value);
        OFF.iter().find(is_set).map(|(_, _, option)| *option)
    }

    /// The value of an active option; `Some("")` for options without a value.
    pub fn option(&self, name: &str) -> Option<&str> {
        let pairs = self.options.split(',');
        pairs
            .map(|option| option.split_once('=').unwrap_or((option, "")))
            .find_map(|(key, value)| (key == name).then_some(value))
    }
}

/// One connection.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NfsTransport {
    /// `tcp`, `rdma`, `udp`, `local`.
    pub protocol: String,
    /// Maximum number of requests in flight so far.
    pub most_slots: Option<u64>,
}

/// The interface on the way to the server, from `/sys/class/net/NAME`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkPath {
    /// The server's address.
    pub server: String,
    /// The interface's name.
    pub interface: String,
    /// `mtu`.
    pub mtu_bytes: Option<u32>,
    /// `DEVTYPE` in `uevent`: `wireguard`, `vxlan`; `None` for cards.
    pub kind: Option<String>,
    /// Whether `IPsec` policies apply to traffic to the server; `None` if they cannot be read.
    pub ipsec: Option<bool>,
    /// The process listening on the server's port, if the server is this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listener: Option<Listener>,
}

/// A local process that receives the calls of a mount: a proxy or a server.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Listener {
    /// `/proc/PID/comm`.
    pub program: String,
    /// Its threads: `/proc/PID/stat`.
    pub threads: Option<u64>,
    /// CPU time it has used, in milliseconds.
    pub cpu_ms: Option<u64>,
    /// How long it has been running, in milliseconds.
    pub age_ms: Option<u64>,
}
