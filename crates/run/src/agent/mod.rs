//! Trials on another host: an agent there performs them, and tells over a pair of streams.
//!
//! | module | idea |
//! |---|---|
//! | `message` | what is said; both sides must speak the same version |
//! | `frame` | how it is carried: length, checksum, JSON |
//! | `serve` | the agent: a rig and load drivers on its machine |
//! | `timing` | how long the two wait for each other |
//! | `kept` | what a trial came to whose connection was cut |
//! | `keep` | a container that waits for agents |
//! | `launch` | how an agent is started and ended: as a child of this process, or as another crate does |
//! | `connection` | an agent that was started, and what is asked of it |
//! | `look` | what lies under paths where the agent is |
//! | `reach` | how the peer of a path is reached from where the agent is |
//! | `secrets` | what is known of peers, as it is said |
//! | `remote` | the other side: a [`crate::Host`] that may die, and is started again |

mod connection;
mod frame;
mod keep;
mod kept;
mod launch;
mod look;
mod message;
mod reach;
mod remote;
mod secrets;
mod serve;
#[cfg(test)]
mod tests;
mod timing;

pub use iotax_load::{PeerSecret, PeerSecrets};
pub use iotax_rig::GivenUp;
pub use keep::keep;
pub use launch::{ChildAgent, Ended, Launch, Launched, Process};
pub use look::look;
pub use message::{Look, Reached};
pub use remote::{Remote, RemoteOptions};
pub use serve::{AgentOptions, serve};
