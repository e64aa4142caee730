//! Identifies the VM and its cloud from the metadata service.
//!
//! All clouds have that service at one address, which no network routes. All are asked at the same
//! time, each in its own way; the first documented answer counts. iotax sends nothing about this
//! machine and requests nothing secret.
//!
//! | module | purpose |
//! |---|---|
//! | `azure`, `aws`, `google` | the requests to each, and how to parse the answers |
//! | `attached` | which of this machine's devices is which disk of the cloud |

pub(crate) mod attached;
mod aws;
mod azure;
mod google;
#[cfg(test)]
mod tests;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use iotax_record::CloudInstance;
use ureq::Agent;
use ureq::http::Method;

pub use self::attached::{DISK_LINKS, cloud_disk};

/// The address of all services: link-local, so that no other machine can have it.
pub const METADATA_ADDRESS: SocketAddr =
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)), 80);
/// Maximum delay if nobody answers.
const LIMIT: Duration = Duration::from_secs(1);

/// The VM, according to the metadata service; `None` if there is no such service. Takes at most a
/// second.
pub fn cloud_instance() -> Option<CloudInstance> {
    cloud_instance_at(METADATA_ADDRESS)
}

/// As [`cloud_instance`], for a service at another address.
pub fn cloud_instance_at(address: SocketAddr) -> Option<CloudInstance> {
    within(address, LIMIT)
}

fn within(address: SocketAddr, limit: Duration) -> Option<CloudInstance> {
    let deadline = Instant::now() + limit;
    let (answer, answers) = mpsc::channel();
    for ask in [azure::ask, aws::ask, google::ask] {
        let answer = answer.clone();
        // Abandoned at the deadline; the client's own limit ends them later.
        thread::spawn(move || {
            if let Some(instance) = ask(&Client::new(address, deadline)) {
                // Another one may have answered first.
                let _ = answer.send(instance);
            }
        });
    }
    drop(answer);
    answers.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()
}

// A request to a metadata service with limits of time and size, and the checks of its answer.

/// Longest answer that is read: the requested data has a few kilobytes.
const LONGEST_BYTES: u64 = 64 << 10;
/// The status of an answer.
const WELL: u16 = 200;

/// A header that a service requires.
#[derive(Clone, Copy)]
struct Header<'a> {
    name: &'a str,
    value: &'a str,
}

/// Asks one service.
struct Client {
    agent: Agent,
    address: SocketAddr,
    deadline: Instant,
}

impl Client {
    fn new(address: SocketAddr, deadline: Instant) -> Self {
        let config = Agent::config_builder()
            // The service belongs to this machine; a proxy would return that of the proxy.
            .proxy(None)
            .max_redirects(0)
            .http_status_as_error(false)
            .user_agent(concat!("iotax/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: config.into(), address, deadline }
    }

    /// The answer to GET, if it is text with status 200.
    fn get(&self, path: &str, header: Header<'_>) -> Option<String> {
        self.answer(Method::GET, path, header)?.ok()
    }

    /// The answer to an empty PUT.
    fn put(&self, path: &str, header: Header<'_>) -> Option<String> {
        self.answer(Method::PUT, path, header)?.ok()
    }

    /// The text of an answer. Another status is an error, with its text: some refusals help.
    fn answer(
        &self,
        method: Method,
        path: &str,
        Header { name, value }: Header<'_>,
    ) -> Option<Result<String, String>> {
        let left = self.deadline.checked_duration_since(Instant::now())?;
        let url = format!("http://{}{path}", self.address);
        let request = ureq::http::Request::builder().method(method).uri(url).header(name, value);
        let request = self.agent.configure_request(request.body(()).ok()?);
        let request = request.timeout_global(Some(left)).build();
        let mut response = self.agent.run(request).ok()?;
        let status = response.status().as_u16();
        let text = response.body_mut().with_config().limit(LONGEST_BYTES).read_to_string();
        let text = text.ok()?;
        Some(if status == WELL { Ok(text) } else { Err(text) })
    }
}

/// A name in the format of clouds, and not just any text from some server.
fn word(text: &str) -> Option<String> {
    const LONGEST: usize = 64;
    let text = text.trim();
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_word = (1..=LONGEST).contains(&text.len()) && text.chars().all(is_name);
    is_word.then(|| text.to_owned())
}
