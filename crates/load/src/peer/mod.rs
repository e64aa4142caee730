//! The two ends of a network path: `iotax peer` serves the far one, the engines `tcp_stream`,
//! `tcp_rr` and `udp_stream` connect from the near one.
//!
//! Every connection begins with a handshake in which both ends prove that they know the same secret
//! ([`hello`]); what follows is bare load in the [`Role`] that was asked for, so that what is
//! measured is the path and nothing of ours.

pub(crate) mod client;
mod hello;
mod iperf3;
mod pending;
mod roles;
mod serve;
mod udp;

pub(crate) use self::hello::Role;
pub use self::hello::{handshake, new_secret};
pub use self::serve::serve;
pub(crate) use self::udp::{DATAGRAM_HEAD_BYTES, Datagram, SEQUENCES};
