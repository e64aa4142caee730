//! A request to a metadata service, held to a limit of time and size; and what is believed of an
//! answer.

use std::net::SocketAddr;
use std::time::Instant;

use ureq::Agent;
use ureq::http::Method;

/// The longest answer that is read: what is asked for has a few kilobytes.
const LONGEST_BYTES: u64 = 64 << 10;
/// The status of an answer.
const WELL: u16 = 200;

/// What a service wants to see in a request.
#[derive(Clone, Copy)]
pub(super) struct Header<'a> {
    pub(super) name: &'a str,
    pub(super) value: &'a str,
}

/// Asks one service.
pub(super) struct Client {
    agent: Agent,
    address: SocketAddr,
    deadline: Instant,
}

impl Client {
    pub(super) fn new(address: SocketAddr, deadline: Instant) -> Self {
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
    pub(super) fn get(&self, path: &str, header: Header<'_>) -> Option<String> {
        self.answer(Method::GET, path, header)?.ok()
    }

    /// The answer to PUT without content.
    pub(super) fn put(&self, path: &str, header: Header<'_>) -> Option<String> {
        self.answer(Method::PUT, path, header)?.ok()
    }

    /// The text of an answer; an error where its status is another: some refuse in words that help.
    pub(super) fn answer(
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
pub(super) fn word(text: &str) -> Option<String> {
    const LONGEST: usize = 64;
    let text = text.trim();
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_word = (1..=LONGEST).contains(&text.len()) && text.chars().all(is_name);
    is_word.then(|| text.to_owned())
}
