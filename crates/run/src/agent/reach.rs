//! How the agent reaches the peer of a path.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use iotax_experiment::{Fault, Layer, layers};
use iotax_load::{PathEnds, path_ends};
use iotax_rig::peer_elsewhere;

use super::message::{Open, Reached};
use crate::clock::nanos;
use crate::error::{AgentError, Error};

/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(200);

/// Connects to the peer of an arm until it answers. Names and the rules of a Service take time to
/// spread through a cluster.
///
/// # Errors
/// If it does not answer within `patience`, or the arm has no peer; if it was stopped.
pub(super) fn reach(
    open: &Open,
    arm: usize,
    patience: Duration,
    stop: &AtomicBool,
) -> Result<Reached, Error> {
    let target = &open.spec.arms[arm].target;
    let Some(Layer::Peer(peer)) = target.layers().first() else {
        let error = format!("{target} is not a network path to a peer");
        return Err(AgentError::Failed { error, fault: Fault::Usage }.into());
    };
    let started = Instant::now();
    loop {
        let failed = match once(peer, open) {
            Ok(reached) => return Ok(reached),
            Err(error) => error,
        };
        if stop.load(Ordering::Relaxed) {
            let error = "stopped while waiting for the peer to answer".to_owned();
            return Err(AgentError::Failed { error, fault: Fault::Interrupted }.into());
        }
        if started.elapsed() > patience {
            return Err(failed);
        }
        thread::sleep(PAUSE);
    }
}

fn once(peer: &layers::Peer, open: &Open) -> Result<Reached, Error> {
    let began = Instant::now();
    let found = peer_elsewhere(peer, &open.secrets)?;
    let took = began.elapsed();
    let is_name = peer.address.parse::<std::net::SocketAddr>().is_err();
    let PathEnds { near, near_seen, far, far_own, mtu_bytes } = path_ends(&found)?;
    Ok(Reached {
        near,
        near_seen,
        far,
        far_own,
        mtu_bytes,
        resolved_ns: is_name.then(|| nanos(took)),
        encrypting: iotax_inspect::encrypting_interfaces(),
    })
}
