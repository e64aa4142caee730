//! The two ends of a network path: `iotax peer` serves the far one, the engines `tcp_stream`,
//! `tcp_rr`, `tcp_connect` and `udp_stream` connect from the near one.
//!
//! Every connection begins with a handshake in which both ends prove that they know the same secret
//! ([`hello`]). Then it takes the requested [`Role`]. Load is sent plain, so that only the path is
//! measured, or over TLS if TLS is measured. The far end reports facts about itself over TLS
//! ([`tls`]).

pub(crate) mod client;
mod connects;
mod flow;
mod hello;
mod roles;
mod serve;
mod tls;
mod udp;
mod udp_back;
mod waiting;

pub use self::client::ends;
pub(crate) use self::connects::COOKIE_BYTES;
pub(crate) use self::flow::Flow;
pub(crate) use self::hello::Role;
pub use self::hello::{handshake, new_secret};
pub use self::serve::serve;
pub(crate) use self::udp::{Arrivals, DATAGRAM_HEAD_BYTES, Datagram, Received, SEQUENCES};
pub(crate) use self::udp_back::WANTS_MORE;
pub use client::probe_path;
pub use roles::PathEnds;
