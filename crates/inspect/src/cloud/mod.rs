//! Which VM of which cloud this machine is, as its metadata service tells.
//!
//! All clouds have that service at one address, which no network routes. They are asked at the same
//! time and each in its own way; the first that answers as its documents say is believed. Nothing is
//! told about this machine, and nothing that is secret is asked for.
//!
//! | module | idea |
//! |---|---|
//! | `client` | a request, held to a limit of time and size; what is believed of an answer |
//! | `azure`, `aws`, `google` | what to ask each of them, and how to read it |
//! | `attached` | which of this machine's devices is which of the cloud's disks |

pub(crate) mod attached;
mod aws;
mod azure;
mod client;
mod google;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use iotax_record::CloudInstance;

pub use self::attached::{DISK_LINKS, cloud_disk};
use self::client::Client;

/// Where all of them answer: link-local, so that it cannot be another machine's.
pub const METADATA_ADDRESS: SocketAddr =
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)), 80);
/// How long may be lost where nobody answers.
const LIMIT: Duration = Duration::from_secs(1);

/// The VM that the metadata service says this is; `None` where there is no such service. Takes a
/// second at most.
pub fn cloud_instance() -> Option<CloudInstance> {
    cloud_instance_at(METADATA_ADDRESS)
}

/// As [`cloud_instance`], of a service at another address.
pub fn cloud_instance_at(address: SocketAddr) -> Option<CloudInstance> {
    within(address, LIMIT)
}

fn within(address: SocketAddr, limit: Duration) -> Option<CloudInstance> {
    let deadline = Instant::now() + limit;
    let (answer, answers) = mpsc::channel();
    for ask in [azure::ask, aws::ask, google::ask] {
        let answer = answer.clone();
        // Left behind at the deadline, and then ended by the client's own.
        thread::spawn(move || {
            if let Some(instance) = ask(&Client::new(address, deadline)) {
                // Another one may have been first.
                let _ = answer.send(instance);
            }
        });
    }
    drop(answer);
    answers.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()
}

#[cfg(test)]
mod tests;
