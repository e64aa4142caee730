//! The interface between layers of a network path: a link, and the place of its queueing
//! disciplines.

use std::ffi::OsStr;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use iotax_load::{Peer, PeerSecret};

use crate::build_context::BuildContext;
use crate::error::Error;
use crate::namespace::Namespace;
use crate::programs::Program;

/// A network path so far: an interface with an address at each end.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    /// The end with the load.
    pub(crate) near: End,
    /// The end with the peer.
    pub(crate) far: End,
    /// Number of networks made so far, each with its own addresses.
    networks: u8,
    /// Queueing disciplines of the interfaces.
    qdiscs: u8,
    /// The address by which the near end reaches the far end, if that is not its own.
    service: Option<IpAddr>,
}

#[derive(Debug, Clone)]
pub(crate) struct End {
    /// `None` for the namespace of this process.
    pub(crate) namespace: Option<Arc<Namespace>>,
    /// The CPUs that its programs run on; empty means any.
    pub(crate) cpus: Vec<u32>,
    pub(crate) interface: String,
    pub(crate) address: IpAddr,
}

impl Link {
    /// From this machine to itself.
    pub(crate) fn loopback([near, far]: [Vec<u32>; 2]) -> Self {
        let end = |cpus| End {
            namespace: None,
            cpus,
            interface: "lo".to_owned(),
            address: Ipv4Addr::LOCALHOST.into(),
        };
        Self { near: end(near), far: end(far), networks: 0, qdiscs: 0, service: None }
    }

    /// Between two namespaces, over a pair of interfaces that is still to be made.
    pub(crate) fn between(near: Namespace, far: Namespace, cpus: [Vec<u32>; 2]) -> Self {
        let [near_cpus, far_cpus] = cpus;
        let end = |namespace, cpus, host| End {
            namespace: Some(Arc::new(namespace)),
            cpus,
            interface: "eth0".to_owned(),
            address: address(0, host),
        };
        let (near, far) = (end(near, near_cpus, 1), end(far, far_cpus, 2));
        Self { near, far, networks: 1, qdiscs: 0, service: None }
    }

    /// The same ends with new interfaces of this name, in a new network.
    pub(crate) fn above(&self, word: &str) -> Self {
        let end = |below: &End, host| End {
            namespace: below.namespace.clone(),
            cpus: below.cpus.clone(),
            interface: format!("{word}{}", self.networks),
            address: address(self.networks, host),
        };
        Self {
            near: end(&self.near, 1),
            far: end(&self.far, 2),
            networks: self.networks + 1,
            qdiscs: 0,
            service: None,
        }
    }

    /// The same with one more queueing discipline at its interfaces, and its place.
    pub(crate) fn with_qdisc(self) -> (Self, Qdisc) {
        (Self { qdiscs: self.qdiscs + 1, ..self }, Qdisc::behind(self.qdiscs))
    }

    /// The same, with its far end reached at a service address.
    pub(crate) fn reached_at(self, service: IpAddr) -> Self {
        Self { service: Some(service), ..self }
    }

    /// The address by which the near end reaches the far end.
    pub(crate) fn destination(&self) -> IpAddr {
        self.service.unwrap_or(self.far.address)
    }

    /// The peer at the far end, as seen from the near end.
    pub(crate) fn peer(&self, port: u16, secret: PeerSecret) -> Peer {
        let namespace = |end: &End| end.namespace.as_ref().map(|own| own.path().to_owned());
        Peer {
            address: SocketAddr::new(self.destination(), port),
            namespace: namespace(&self.near),
            far_namespace: namespace(&self.far),
            cpus: self.near.cpus.clone(),
            secret,
            tls: None,
        }
    }

    /// Each end with the other one.
    pub(crate) fn ends(&self) -> [(&End, &End); 2] {
        [(&self.near, &self.far), (&self.far, &self.near)]
    }

    /// Index of its network, which makes other numbers unique.
    pub(crate) fn number(&self) -> u8 {
        self.networks
    }
}

/// In the range reserved for network benchmarks (RFC 2544).
fn address(network: u8, host: u8) -> IpAddr {
    Ipv4Addr::new(198, 18, network, host).into()
}

impl End {
    /// A program that runs at this end.
    pub(crate) fn program(&self, name: impl AsRef<OsStr>) -> Program {
        let program = Program::new(name).on_cpus(&self.cpus);
        match &self.namespace {
            Some(namespace) => program.in_namespace(Arc::clone(namespace)),
            None => program,
        }
    }

    /// `ip` at this end, with its arguments in one text.
    pub(crate) fn ip(&self, words: &str, context: &BuildContext<'_>) -> Result<String, Error> {
        context.run(self.program("ip").args(words.split_whitespace()))
    }

    /// `ip` at this end with one command per line. Nobody else can see them: some contain keys.
    pub(crate) fn ip_lines(&self, lines: &str, context: &BuildContext<'_>) -> Result<(), Error> {
        let ip = self.program("ip").args(["-batch", "-"]).input(lines.as_bytes());
        context.run(ip).map(drop)
    }

    /// `tc` at this end, with its arguments in one text.
    pub(crate) fn tc(&self, words: &str, context: &BuildContext<'_>) -> Result<(), Error> {
        context.run(self.program("tc").args(words.split_whitespace())).map(drop)
    }

    /// `nft` at this end, with a file of rules.
    pub(crate) fn nft(&self, rules: &str, context: &BuildContext<'_>) -> Result<(), Error> {
        let nft = self.program("nft").args(["-f", "-"]).input(rules.as_bytes());
        context.run(nft).map(drop)
    }

    /// The largest packet that its interface takes, in bytes.
    pub(crate) fn mtu(&self, context: &BuildContext<'_>) -> Result<u32, Error> {
        self.shown("mtu", context)
    }

    /// The interface's own address.
    pub(crate) fn ethernet_address(&self, context: &BuildContext<'_>) -> Result<String, Error> {
        self.shown("link/ether", context)
    }

    /// The value that `ip` shows for the interface after `name`.
    fn shown<T: FromStr>(
        &self,
        name: &'static str,
        context: &BuildContext<'_>,
    ) -> Result<T, Error> {
        let shown = self.ip(&format!("-oneline link show dev {}", self.interface), context)?;
        let mut words = shown.split_whitespace().skip_while(|word| *word != name).skip(1);
        let found = words.next().and_then(|word| word.parse().ok());
        let unknown = Error::cannot(
            "read the settings of this interface with `ip`",
            Path::new(&self.interface),
        );
        found.ok_or(io::ErrorKind::NotFound).map_err(unknown)
    }

    /// Makes an interface whose packets a program handles.
    pub(crate) fn make_tun(&self, mtu: u32, context: &BuildContext<'_>) -> Result<(), Error> {
        let Self { interface, .. } = self;
        self.ip(&format!("tuntap add dev {interface} mode tun"), context)?;
        self.ip(&format!("link set dev {interface} mtu {mtu}"), context)?;
        self.bring_up(context)
    }

    /// Gives the interface its address, and brings it up.
    pub(crate) fn bring_up(&self, context: &BuildContext<'_>) -> Result<(), Error> {
        let Self { interface, address, .. } = self;
        self.ip(&format!("address add {address}/24 dev {interface}"), context)?;
        self.ip(&format!("link set dev {interface} up"), context).map(drop)
    }
}

/// Size of a bucket as time at its rate, and its minimum size: some packets of the largest size on
/// a virtual wire. A bucket smaller than the rate times the kernel's tick cannot reach the rate.
const BURST_S: f64 = 0.002;
const LEAST_BURST_BYTES: u64 = 128 << 10;

/// The place of a queueing discipline, in the order in which they were put on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Qdisc(u8);

impl Qdisc {
    /// The one behind `others` others.
    pub(crate) fn behind(others: u8) -> Self {
        Self(others + 1)
    }

    /// The major number of its classes; the next discipline is in the first class.
    pub(crate) fn handle(self) -> u8 {
        self.0
    }

    /// Its place, in the syntax of `tc`.
    pub(crate) fn place(self) -> String {
        match self.0 {
            1 => "root handle 1:".to_owned(),
            handle => format!("parent {}:1 handle {handle}:", handle - 1),
        }
    }
}

/// A rate that a bucket keeps.
pub(crate) struct Rate {
    pub(crate) bits: u64,
    /// Bytes that may leave at once.
    pub(crate) burst_bytes: u64,
}

impl Rate {
    pub(crate) fn of(bits: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rate is above 0"
        )]
        let (bits, own) = (bits as u64, (bits / 8.0 * BURST_S) as u64);
        Self { bits, burst_bytes: own.max(LEAST_BURST_BYTES) }
    }
}
