//! The peer in a pod: started there with a secret, ended with its connection.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{IpAddr, SocketAddr};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use iotax_run::agent::{Launched, PeerSecret};

use crate::agent::PodAgent;
use crate::error::Error;
use crate::remove::address;

/// What `iotax peer` says before the address, when it listens.
const LISTENS: &str = "listening at ";
/// How long it may take until it does.
const PATIENCE: Duration = Duration::from_secs(30);

/// A peer in a pod.
pub(super) struct FarEnd {
    pod: PodAgent,
    secret: PeerSecret,
    /// Where it is reached.
    address: SocketAddr,
    /// It ends when this is dropped.
    running: Option<Launched>,
}

impl FarEnd {
    /// Starts one, at `port`; 0 is any that is free.
    pub(super) fn start(pod: PodAgent, secret: PeerSecret, port: u16) -> Result<Self, Error> {
        let ip = pod_ip(&pod)?;
        let address = SocketAddr::new(ip, port);
        let mut far = Self { pod, secret, address, running: None };
        far.launch()?;
        Ok(far)
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Starts it again, where its connection was cut.
    pub(super) fn keep(&mut self) -> Result<(), Error> {
        if self.lives() { Ok(()) } else { self.launch() }
    }

    /// Whether it is there. As it is told something, nobody on the way takes the connection for one
    /// that is not used.
    pub(super) fn lives(&mut self) -> bool {
        self.running.as_mut().is_some_and(|running| {
            let has_ended = running.process.try_wait().map_or(true, |ended| ended.is_some());
            !has_ended && running.input.write_all(b"\n").is_ok()
        })
    }

    fn launch(&mut self) -> Result<(), Error> {
        self.running = None;
        let any: IpAddr = match self.address {
            SocketAddr::V4(_) => [0; 4].into(),
            SocketAddr::V6(_) => [0_u16; 8].into(),
        };
        let listen = SocketAddr::new(any, self.address.port()).to_string();
        let words = ["iotax", "peer", "--listen", &listen, "--token-file", "-"];
        let mut running = self.pod.start(&words)?;
        let ip = pod_ip(&self.pod)?;
        if ip != self.address.ip() {
            let pod = self.pod.pod();
            return Err(Error::Moved { pod, before: self.address.ip(), now: ip });
        }
        let mut token = self.secret.text();
        token.push('\n');
        let said = running.input.write_all(token.as_bytes()).and_then(|()| heard(&mut running));
        match said {
            Ok(port) => self.address.set_port(port),
            Err(error) => {
                let ended = running.process.try_wait().ok().flatten();
                let why = ended.map_or_else(|| error.to_string(), |ended| ended.status);
                return Err(Error::NoPeer { pod: self.pod.pod(), why });
            }
        }
        self.running = Some(running);
        Ok(())
    }
}

/// Without its pod's options: they say nothing of an end.
impl std::fmt::Debug for FarEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FarEnd").field("address", &self.address).finish_non_exhaustive()
    }
}

/// The port that it says it listens at.
fn heard(running: &mut Launched) -> io::Result<u16> {
    let output = std::mem::replace(&mut running.output, Box::new(io::empty()));
    let (tell, told) = channel();
    // Whoever says nothing may do so for ever.
    thread::spawn(move || {
        let mut line = String::new();
        let read = BufReader::new(output).read_line(&mut line);
        let _ = tell.send(read.map(|_| line));
    });
    let silent = |_| io::Error::from(io::ErrorKind::TimedOut);
    let line = told.recv_timeout(PATIENCE).map_err(silent)??;
    listens_at(&line).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

fn pod_ip(pod: &PodAgent) -> Result<IpAddr, Error> {
    address(pod.session.cluster(), pod.session.run(), &pod.member)
}

fn listens_at(line: &str) -> Option<u16> {
    let address = line.strip_prefix(LISTENS)?.split_whitespace().next()?;
    address.parse::<SocketAddr>().ok().map(|address| address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_peer_listens_is_what_it_says() {
        assert_eq!(listens_at("listening at 0.0.0.0:7474 for TCP and UDP\n"), Some(7474));
        assert_eq!(listens_at("listening at [::]:9 for TCP and UDP\n"), Some(9));
        assert_eq!(listens_at("cannot listen"), None);
        assert_eq!(listens_at(""), None);
    }
}
