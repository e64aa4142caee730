//! Trials on another host: an agent performs them there, and reports over a pair of streams.
//!
//! | module | idea |
//! |---|---|
//! | `message` | the messages; both sides must speak the same version |
//! | `frame` | their encoding: length, checksum, JSON |
//! | `serve` | the agent: a rig and load drivers on its machine |
//! | `timing` | how long the two wait for each other |
//! | `kept` | results of trials whose connection was cut |
//! | `keep` | a container that waits for agents |
//! | `contents` | recordings that the client sends, to be replayed |
//! | `launch` | how an agent is started and ended, as a child process or by another crate |
//! | `connection` | a running agent, and the requests to it |
//! | `look` | the storage under paths on the agent's host |
//! | `reach` | how the agent reaches the peer of a path |
//! | `recording` | a recording that another host makes |
//! | `secrets` | encoding of the secrets of peers |
//! | `remote` | the client: a [`crate::Host`] that may die, and is started again |

mod connection;
mod contents;
mod frame;
mod keep;
mod kept;
mod launch;
mod look;
mod message;
mod reach;
mod recording;
mod remote;
mod secrets;
mod serve;
#[cfg(test)]
mod tests;
mod timing;

pub use contents::MOST_RECORDED_BYTES;
pub use iotax_load::{PeerSecret, PeerSecrets};
pub use iotax_rig::GivenUp;
pub use keep::keep;
pub use launch::{ChildAgent, Ended, Launch, Launched, Process};
pub use look::look;
pub use message::{Look, Reached};
pub use recording::{RecordingFailed, RecordingProgress, fetch_recording, serve_recording};
pub use remote::{Remote, RemoteOptions};
pub use serve::{AgentOptions, serve};
