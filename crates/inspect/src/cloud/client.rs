//! A request to a metadata service, held to a limit of time and size; and what is believed of an
//! answer.

use std::net::SocketAddr;
use std::time::Instant;

use ureq::Agent;

/// The longest answer that is read: what is asked for has a few kilobytes.
const LONGEST_BYTES: u64 = 64 << 10;
/// The status of an answer.
const WELL: u16 = 200;

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
    pub(super) fn get(&self, path: &str, header: (&str, &str)) -> Option<String> {
        self.told(path, header).filter(|(status, _)| *status == WELL).map(|(_, text)| text)
    }

    /// The answer to GET whatever its status, which is given first: some refuse in words that help.
    pub(super) fn told(&self, path: &str, header: (&str, &str)) -> Option<(u16, String)> {
        self.answer(ureq::http::Method::GET, path, header)
    }

    /// The answer to PUT without content.
    pub(super) fn put(&self, path: &str, header: (&str, &str)) -> Option<String> {
        let answer = self.answer(ureq::http::Method::PUT, path, header);
        answer.filter(|(status, _)| *status == WELL).map(|(_, text)| text)
    }

    fn answer(
        &self,
        method: ureq::http::Method,
        path: &str,
        (name, value): (&str, &str),
    ) -> Option<(u16, String)> {
        let left = self.deadline.checked_duration_since(Instant::now())?;
        let url = format!("http://{}{path}", self.address);
        let request = ureq::http::Request::builder().method(method).uri(url).header(name, value);
        let request = self.agent.configure_request(request.body(()).ok()?);
        let request = request.timeout_global(Some(left)).build();
        let mut response = self.agent.run(request).ok()?;
        let status = response.status().as_u16();
        let text = response.body_mut().with_config().limit(LONGEST_BYTES).read_to_string();
        Some((status, text.ok()?))
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
