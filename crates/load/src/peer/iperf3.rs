//! What the far end does for iperf3: a server for one test, as long as the connection.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, TcpListener};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::flow::Flow;
use crate::child::{self, Child, Running};
use crate::error::Error;
use crate::sockopt::keep_alive;

const NAME: &str = "iperf3";
/// What it prints when it can be connected to.
const LISTENS: &str = "Server listening";
/// How long it may take to.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is looked at, and the connection.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Silence after which a near end is asked whether it is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Another program may take the port that was just free.
const TRIES: usize = 3;
/// Of what the far end says when it cannot.
const MOST_WORDS_BYTES: usize = 400;

/// The far end: starts a server where it was connected to, tells its port, and ends it with the
/// connection.
pub(super) fn serve(mut connection: Flow) -> io::Result<()> {
    let socket = connection.socket();
    keep_alive(socket, KEEP_ALIVE)?;
    let at = socket.local_addr()?.ip().to_canonical();
    let (server, port) = match started(at) {
        Ok(started) => started,
        Err(error) => {
            let mut words = error.to_string();
            words.truncate(words.floor_char_boundary(MOST_WORDS_BYTES));
            connection.write_all(&[&[0; 2], words.as_bytes()].concat())?;
            return connection.flush();
        }
    };
    connection.write_all(&port.to_le_bytes())?;
    connection.flush()?;
    connection.socket().set_read_timeout(Some(POLL_INTERVAL))?;
    // The near end says nothing more; what it says is not what was agreed.
    while !server.has_ended() {
        match connection.read(&mut [0]) {
            Err(error) if is_timeout(&error) => {}
            _ => break,
        }
    }
    Ok(())
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// A server that listens, and its port.
fn started(at: IpAddr) -> Result<(Running, u16), Error> {
    let program = child::find_program(NAME)?;
    let attempt = || {
        let port =
            free_port(at).map_err(|source| Error::Start { program: program.clone(), source })?;
        let server = Child::new(NAME, &program, arguments(at, port)).start()?;
        let since = Instant::now();
        while !server.said().contains(LISTENS) {
            if server.has_ended() || since.elapsed() > PATIENCE {
                return Err(server.end()?.failed("cannot be had as a server"));
            }
            sleep(POLL_INTERVAL);
        }
        Ok((server, port))
    };
    let mut last = attempt();
    for _ in 1..TRIES {
        if last.is_ok() {
            break;
        }
        last = attempt();
    }
    last
}

/// One test, then it ends. It has nothing to report while it runs.
fn arguments(at: IpAddr, port: u16) -> Vec<String> {
    let words = format!("--server --one-off --bind {at} --port {port} --interval 0 --forceflush");
    words.split(' ').map(str::to_owned).collect()
}

fn free_port(at: IpAddr) -> io::Result<u16> {
    let listener = TcpListener::bind((at, 0))?;
    Ok(listener.local_addr()?.port())
}
