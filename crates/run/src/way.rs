//! The path to a peer that was not made for this run, and what limits the rate of packets on a
//! path.

use iotax_catalog::Direction;
use iotax_experiment::documented::LimitBy;
use iotax_experiment::{Elsewhere, KnownLimit, Layer, Target};
use iotax_inspect::NetworkSubject;
use iotax_record::Machine;
use iotax_record::machine::{Interface, PathSeen, Qdisc};

/// Of a policer where packets come in, as `tc filter show dev NAME ingress` has it.
const INGRESS: &str = "ingress";

/// The network facts to examine for a target on another machine.
pub fn subject(target: &Target) -> Option<NetworkSubject> {
    let Elsewhere { name, host, is_for_ssh } = target.elsewhere()?;
    Some(NetworkSubject::Peer { name, host: host.to_owned(), is_for_ssh })
}

/// Traffic shapers on a network path: its layers, and those of the interfaces on the path to a peer
/// elsewhere. Their rates include the headers of frames.
pub fn shapers(machine: Option<&Machine>, target: &Target) -> Vec<KnownLimit> {
    let way = target.elsewhere().zip(machine).into_iter().flat_map(|(to, machine)| {
        let is_it = |path: &&PathSeen| path.path == to.name;
        machine.paths.iter().find(is_it).map_or_else(Vec::new, |path| machine.under(path))
    });
    let seen = way.filter_map(|node| node.layer.interface()).flat_map(of_interface);
    target.layers().iter().filter_map(of_layer).chain(seen).collect()
}

/// At both ends.
fn of_layer(layer: &Layer) -> Option<KnownLimit> {
    let (kind, rate_bits) = match layer {
        Layer::Tbf(tbf) => ("tbf", tbf.rate_bits),
        Layer::Htb(htb) => ("htb", htb.rate_bits),
        Layer::Netem(netem) => ("netem", netem.rate_bits?),
        _ => return None,
    };
    Some(limit(kind, "the path", None, rate_bits / 8.0))
}

fn of_interface(interface: &Interface) -> impl Iterator<Item = KnownLimit> {
    let of_qdisc = |qdisc: &Qdisc| {
        let is_inward = qdisc.handle == INGRESS;
        let direction = if is_inward { Direction::Read } else { Direction::Write };
        Some(limit(&qdisc.kind, &interface.name, Some(direction), qdisc.rate_bytes_per_s?))
    };
    interface.qdiscs.iter().filter_map(of_qdisc)
}

fn limit(kind: &str, of: &str, direction: Option<Direction>, bw_bytes: f64) -> KnownLimit {
    let (by, of) = (LimitBy::Shaper(kind.to_owned()), of.to_owned());
    KnownLimit { by, of, direction, iops: None, bw_bytes: Some(bw_bytes) }
}

#[cfg(test)]
mod tests {
    use iotax_record::machine::{Node, Route, SeenLayer};

    use super::*;

    fn told(machine: &Machine, target: &str) -> Vec<String> {
        let target = Target::parse(target).unwrap();
        let told = |limit: KnownLimit| {
            let way = match limit.direction {
                None | Some(Direction::Both) => "both ways",
                Some(Direction::Read) => "read",
                Some(Direction::Write) => "write",
            };
            format!("{} {}: {way} {}", limit.by, limit.of, limit.bw_bytes.unwrap())
        };
        shapers(Some(machine), &target).into_iter().map(told).collect()
    }

    #[test]
    fn shapers_are_those_of_the_layers_and_of_the_interfaces_on_the_way() {
        let qdisc = |kind: &str, handle: &str, rate_bytes_per_s| Qdisc {
            kind: kind.to_owned(),
            handle: handle.to_owned(),
            rate_bytes_per_s,
            ..Qdisc::default()
        };
        let qdiscs = vec![
            qdisc("htb", "1:", None),
            qdisc("htb class", "1:10", Some(5e6)),
            qdisc("police", INGRESS, Some(2e6)),
        ];
        let interface = |name: &str, qdiscs| Node {
            layer: SeenLayer::Interface(Interface {
                name: name.to_owned(),
                qdiscs,
                ..Interface::default()
            }),
            below: Vec::new(),
        };
        let route = Node { layer: SeenLayer::Route(Route::default()), below: vec![1] };
        let other = interface("eth1", vec![qdisc("tbf", "1:", Some(1.0))]);
        let path = "tcp://10.0.0.2:7474".to_owned();
        let machine = Machine {
            paths: vec![PathSeen { path, top: Some(0), ..PathSeen::default() }],
            nodes: vec![route, interface("eth0", qdiscs), other],
            ..Machine::default()
        };
        assert_eq!(
            told(&machine, "tcp://10.0.0.2:7474"),
            ["htb class eth0: write 5000000", "police eth0: read 2000000"]
        );
        assert_eq!(told(&machine, "tcp://10.0.0.3:7474"), [""; 0]);
        assert_eq!(
            told(&machine, "netns + tbf(rate=80Mbit) + netem(delay=1ms) + htb(rate=8Mbit)"),
            ["tbf the path: both ways 10000000", "htb the path: both ways 1000000"]
        );
    }
}
