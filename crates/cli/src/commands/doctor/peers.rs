//! Peers among the arguments of `iotax doctor`.

use std::path::Path;

use iotax_experiment::layers::Peer as PeerLayer;
use iotax_experiment::{Layer, Target};
use iotax_inspect::NetworkSubject;
use iotax_load::PeerSecrets;
use iotax_load::probe_path;
use iotax_record::Machine;
use iotax_record::machine::{PathProbe, Unseen};
use iotax_rig::{has_token, peer_elsewhere};

use crate::exit::{Result, usage};

/// How arguments that name a peer begin; existing paths do not.
const STARTS: [&str; 4] = ["tcp://", "ssh://", "peer(", "remote("];

/// A listening `iotax peer`, and its name as an argument.
pub(super) struct Peer {
    name: String,
    layer: PeerLayer,
}

/// The peer that an argument names, if it is not a path.
pub(super) fn named(argument: &Path) -> Result<Option<(NetworkSubject, Option<Peer>)>> {
    let text = argument.to_str().filter(|text| STARTS.iter().any(|start| text.starts_with(start)));
    let Some(name) = text.map(str::to_owned) else { return Ok(None) };
    let target = Target::parse(&name).map_err(|error| usage(error.to_string()))?;
    let subject = iotax_run::subject(&target).filter(|_| target.layers().len() == 1);
    let Some(NetworkSubject::Peer { host, is_for_ssh, .. }) = subject else {
        let problem =
            format!("{name} has layers on top of a peer; give only the peer, tcp://HOST:PORT");
        return Err(usage(problem));
    };
    let peer = match target.layers() {
        [Layer::Peer(layer)] => Some(Peer { name: name.clone(), layer: layer.clone() }),
        _ => None,
    };
    Ok(Some((NetworkSubject::Peer { name, host, is_for_ssh }, peer)))
}

/// Sends datagrams to peers whose token is known, and records which sizes arrive.
pub(super) fn probe(machine: &mut Machine, peers: &[Peer]) {
    for peer in peers {
        let Some((place, mtu)) = way(machine, &peer.name) else { continue };
        let what = format!("which packet sizes arrive at {}", peer.name);
        if !has_token(&peer.layer) {
            let how =
                format!("use the peer's token: IOTAX_TOKEN_FILE=FILE iotax doctor {}", peer.name);
            machine.unseen.push(Unseen { what, how });
            continue;
        }
        match arriving(peer, mtu) {
            Ok(probe) => {
                if probe.arrived_bytes.is_none() {
                    let how = "no datagram arrived; allow UDP traffic to the peer's port";
                    machine.unseen.push(Unseen { what, how: how.to_owned() });
                }
                let route = machine.nodes[place].layer.route_mut();
                route.expect("its place was found").probe = Some(probe);
            }
            Err(problem) => machine.unseen.push(Unseen { what, how: problem.to_string() }),
        }
    }
}

fn arriving(peer: &Peer, mtu: u32) -> Result<PathProbe> {
    Ok(probe_path(&peer_elsewhere(&peer.layer, &PeerSecrets::new())?, mtu)?)
}

/// The index of the path to a peer, and the MTU at its start.
fn way(machine: &Machine, name: &str) -> Option<(usize, u32)> {
    let place = machine.paths.iter().find(|path| path.path == name)?.top?;
    let node = machine.nodes.get(place)?;
    node.layer.route()?;
    let first = machine.nodes.get(*node.below.first()?)?;
    Some((place, first.layer.interface()?.mtu_bytes?))
}
