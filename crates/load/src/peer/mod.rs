//! The two ends of a network path: `iotax peer` serves the far one, the engines `tcp_stream`,
//! `tcp_rr`, `tcp_connect` and `udp_stream` connect from the near one.
//!
//! Every connection begins with a handshake in which both ends prove that they know the same secret
//! ([`hello`]); what follows is bare load in the [`Role`] that was asked for, so that what is
//! measured is the path and nothing of ours.

pub(crate) mod client;
mod connects;
mod hello;
mod pending;
mod roles;
mod serve;
mod udp;
mod udp_back;

pub(crate) use self::connects::COOKIE_BYTES;
pub(crate) use self::hello::Role;
pub use self::hello::{handshake, new_secret};
pub use self::serve::serve;
pub(crate) use self::udp::{BUFFER_BYTES, DATAGRAM_HEAD_BYTES, Datagram, Flow, SEQUENCES};
pub(crate) use self::udp_back::WANTS_MORE;
