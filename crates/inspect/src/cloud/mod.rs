//! Which VM of which cloud this machine is, as its metadata service tells.
//!
//! All clouds have that service at one address, which no network routes. They are asked at the same
//! time and each in its own way; the first that answers as its documents say is believed. Nothing is
//! told about this machine, and nothing that is secret is asked for.
//!
//! | module | idea |
//! |---|---|
//! | `azure`, `aws`, `google` | what to ask each of them, and how to read it |
//! | `attached` | which of this machine's devices is which of the cloud's disks |

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

// A request to a metadata service, held to a limit of time and size; and what is believed of an
// answer.

/// The longest answer that is read: what is asked for has a few kilobytes.
const LONGEST_BYTES: u64 = 64 << 10;
/// The status of an answer.
const WELL: u16 = 200;

/// What a service wants to see in a request.
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
            // The service is this machine's; a proxy would tell of the proxy's.
            .proxy(None)
            .max_redirects(0)
            .http_status_as_error(false)
            .user_agent(concat!("iotax/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: config.into(), address, deadline }
    }

    /// The answer to GET, if it is one: text, and with status 200.
    fn get(&self, path: &str, header: Header<'_>) -> Option<String> {
        self.answer(Method::GET, path, header)?.ok()
    }

    /// The answer to PUT without content.
    fn put(&self, path: &str, header: Header<'_>) -> Option<String> {
        self.answer(Method::PUT, path, header)?.ok()
    }

    /// The text of an answer; an error where its status is another: some refuse in words that help.
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

/// A name as clouds give them, and not just any text that some server answers with.
fn word(text: &str) -> Option<String> {
    const LONGEST: usize = 64;
    let text = text.trim();
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_word = (1..=LONGEST).contains(&text.len()) && text.chars().all(is_name);
    is_word.then(|| text.to_owned())
}
