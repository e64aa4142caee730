//! What sets the caps of a network path, and a limit that several targets share.

use iotax_caps::{CapKind, Caps, PathCap, Shared, Sharing, TargetCaps};
use iotax_catalog::Cloud;
use iotax_experiment::documented::{Documented, DocumentedLimit};

use super::reason;
use crate::measured::suspect::{Confidence, PathWay, SearchEvidence, Suspect};

/// Headers of a datagram or a segment with time stamps, Ethernet's included.
const HEADER_BYTES: f64 = 66.0;
/// So much of a cap on bytes is that cap, and none on packets.
const NEARLY: f64 = 0.75;

/// What holds each of the caps: limits that are known and fit, and what the others look like.
pub(super) fn limits(
    target: &TargetCaps,
    caps: &Caps,
    cloud: Option<Cloud>,
) -> (Vec<Suspect>, Vec<Suspect>) {
    let (mut by_name, mut by_shape) = (Vec::new(), Vec::new());
    for cap in &target.path {
        let fits = |row: &&Documented| row.is_of(&target.name) && row.quantity == cap.name();
        let named = caps.documented.iter().find(fits).and_then(|row| of_documents(cap, row));
        match named {
            Some(suspect) => Suspect::merge(&mut by_name, suspect),
            None => unnamed(target, cap, cloud)
                .into_iter()
                .for_each(|suspect| Suspect::merge(&mut by_shape, suspect)),
        }
        by_name.extend(burst(cap, cloud));
    }
    (by_name, by_shape)
}

/// A limit that is documented of the VM, or that shapes what passes here.
fn of_documents(cap: &PathCap, row: &Documented) -> Option<Suspect> {
    let (limit, measured) = (row.binding()?, row.measured?);
    let is_here = limit.source.is_none();
    let burst = burst_rate(limit, measured);
    let to_blame = match burst {
        _ if is_here => "shaper-in-path",
        _ if cap.is_per_flow => "vm-flow-limit",
        Some(_) => "vm-network-burst",
        None => "vm-network-limit",
    };
    let (confidence, against) = match cap.cap.kind {
        CapKind::Throttle => (Confidence::Sure, None),
        CapKind::External | CapKind::SaturatedDevice => {
            (Confidence::Likely, Some(reason(&cap.cap)))
        }
        CapKind::ThisMachine => (Confidence::Possible, Some(reason(&cap.cap))),
    };
    let on_the_wire = SearchEvidence::OnTheWire {
        way: way(cap),
        carried_bits_per_s: 8.0 * measured,
        allowed_bits_per_s: 8.0 * burst.unwrap_or(limit.per_s),
        is_here,
    };
    let source = SearchEvidence::Source { of: limit.of.clone(), source: limit.source.clone() };
    let suspect = Suspect::new(to_blame, confidence, SearchEvidence::Beside(row.clone()));
    Some(suspect.and([on_the_wire, source]).but(against))
}

/// What is had for a while, if that is nearer than what lasts.
fn burst_rate(limit: &DocumentedLimit, measured: f64) -> Option<f64> {
    let off = |per_s: f64| (measured / per_s - 1.0).abs();
    limit.burst_per_s.filter(|burst| off(*burst) < off(limit.per_s))
}

fn unnamed(target: &TargetCaps, cap: &PathCap, cloud: Option<Cloud>) -> Vec<Suspect> {
    let why = || reason(&cap.cap);
    match cap.cap.kind {
        CapKind::ThisMachine => vec![Suspect::new("cpu-bound", Confidence::Likely, why())],
        CapKind::Throttle if cap.is_per_flow => {
            let window = Suspect::new("tcp-buffers", Confidence::Possible, why());
            let of_vm = cloud.map(|_| Suspect::new("vm-flow-limit", Confidence::Possible, why()));
            of_vm.into_iter().chain([window]).collect()
        }
        CapKind::Throttle if cap.quantity.is_bytes() => {
            vec![Suspect::new("throttle", Confidence::Likely, why())]
        }
        CapKind::Throttle if !is_bandwidth(target, cap) => {
            let confidence = cloud.map_or(Confidence::Possible, |_| Confidence::Likely);
            let bytes = cap.traffic.block_bytes;
            let small = SearchEvidence::SmallPackets { way: way(cap), bytes };
            vec![Suspect::new("vm-packet-limit", confidence, why()).and([small])]
        }
        CapKind::Throttle | CapKind::External | CapKind::SaturatedDevice => Vec::new(),
    }
}

/// Whether small packets come to the cap on bytes.
fn is_bandwidth(target: &TargetCaps, packets: &PathCap) -> bool {
    let bytes_per_s = packets.cap.cap * (f64::from(packets.traffic.block_bytes) + HEADER_BYTES);
    let of_bytes = target.path.iter().filter(|cap| cap.quantity.is_bytes() && !cap.is_per_flow);
    let rates = of_bytes.map(|cap| cap.wire.map_or(cap.cap.cap, |wire| wire.per_s));
    rates.reduce(f64::min).is_some_and(|least| bytes_per_s >= NEARLY * least)
}

/// Credits that ran out during the search.
fn burst(cap: &PathCap, cloud: Option<Cloud>) -> Option<Suspect> {
    let burst = cap.cap.burst.as_ref()?;
    let to_blame = if cloud == Some(Cloud::Aws) { "vm-network-burst" } else { "burst-spent" };
    let (times, lasted_s) = (burst.per_s / cap.cap.cap, burst.lasted_s);
    let evidence = SearchEvidence::PathBurst { way: way(cap), times, lasted_s };
    Some(Suspect::new(to_blame, Confidence::Sure, evidence))
}

const fn way(cap: &PathCap) -> PathWay {
    PathWay { quantity: cap.quantity, is_per_flow: cap.is_per_flow }
}

// One limit for several targets.

/// What the others have with which a target shares.
pub(super) fn shared(target: &TargetCaps, caps: &Caps) -> Vec<Suspect> {
    let own = caps.sharing.iter().filter(|pair| pair.a == target.name || pair.b == target.name);
    own.filter_map(|pair| of_pair(target, pair, caps)).collect()
}

fn of_pair(target: &TargetCaps, pair: &Sharing, caps: &Caps) -> Option<Suspect> {
    let other = if pair.a == target.name { &pair.b } else { &pair.a };
    let other = caps.targets.iter().find(|target| target.name == *other)?;
    let confidence = match pair.verdict {
        Shared::Shared => Confidence::Sure,
        Shared::Partial => Confidence::Likely,
        Shared::Separate | Shared::Undecided => return None,
    };
    // Of a path beside storage it is the network that both need.
    let is_storage_beside_path = target.path.is_empty() != other.path.is_empty();
    let to_blame = if is_storage_beside_path { "storage-shares-network" } else { "shared-limit" };
    let evidence = SearchEvidence::Together {
        a: pair.a.clone(),
        b: pair.b.clone(),
        share: pair.together / (pair.a_alone + pair.b_alone),
        overlap: [pair.phi, pair.lo, pair.hi],
    };
    let with = SearchEvidence::TakesFromSame { other: other.name.clone() };
    let computed = computed(target, pair).or_else(|| computed(other, pair));
    let confidence = if computed.is_some() { Confidence::Possible } else { confidence };
    Some(Suspect::new(to_blame, confidence, evidence).and([with]).but(computed))
}

/// Why it may be nothing but this machine's CPUs that two targets have in common.
fn computed(target: &TargetCaps, pair: &Sharing) -> Option<SearchEvidence> {
    let of_path = target.path.iter().find(|path| path.name() == pair.quantity);
    let of_storage = if pair.quantity == "iops" { &target.iops } else { &target.bw_bytes };
    let cap = of_path.map(|path| &path.cap).or(of_storage.as_ref())?;
    let (target, why) = (target.name.clone(), cap.reason.clone());
    (cap.kind == CapKind::ThisMachine).then_some(SearchEvidence::Computed { target, why })
}

#[cfg(test)]
mod tests {
    use iotax_caps::{Burst, Cap, CapSign, PathQuantity, Wire};
    use iotax_catalog::Source;
    use iotax_experiment::documented::LimitBy;
    use iotax_experiment::{Engine, Traffic};

    use super::*;

    fn cap(quantity: PathQuantity, per_s: f64, kind: CapKind) -> PathCap {
        let traffic = Traffic {
            engine: Engine::TcpStream,
            is_back: quantity == PathQuantity::BytesFrom,
            flows: 4,
            block_bytes: if quantity.is_bytes() { 128 << 10 } else { 64 },
        };
        let wire = Wire { frame_bytes: 1514, data_bytes: 1448, mtu_bytes: 1500, per_s };
        PathCap {
            quantity,
            is_per_flow: false,
            traffic,
            cap: Cap {
                cap: per_s,
                lo: per_s,
                hi: per_s,
                measurements: 3,
                block_bytes: traffic.block_bytes,
                queue_depth: 1,
                kind,
                reason: CapSign::FlowsHeld.into(),
                burst: None,
            },
            is_plateau: true,
            flows: Vec::new(),
            wire: quantity.is_bytes().then_some(wire),
        }
    }

    fn of_flow(cap: PathCap) -> PathCap {
        PathCap { is_per_flow: true, ..cap }
    }

    fn limit(scope: &str, per_s: f64, burst_per_s: Option<f64>) -> DocumentedLimit {
        let by = LimitBy::from(scope.to_owned());
        let source = Source { text: "a page".to_owned(), as_of: "2026-08-17".to_owned() };
        let source = matches!(by, LimitBy::Documented(_)).then_some(source);
        DocumentedLimit { by, of: "m5.xlarge".to_owned(), per_s, burst_per_s, source }
    }

    /// What is suspected of these caps, where these limits are known of the first.
    fn suspects(path: Vec<PathCap>, known: &[DocumentedLimit], cloud: Option<Cloud>) -> String {
        let row = path.first().and_then(|cap| {
            let measured = cap.wire.map_or(cap.cap.cap, |wire| wire.per_s);
            Documented::of("net", cap.name(), measured, known.to_vec())
        });
        let target = TargetCaps { name: "net".to_owned(), path, ..TargetCaps::default() };
        let caps = Caps {
            format: 1,
            targets: vec![target],
            sharing: Vec::new(),
            documented: row.into_iter().collect(),
            rules: Vec::new(),
            levels: Vec::new(),
            ended: None,
            notes: Vec::new(),
        };
        let (named, unnamed) = limits(&caps.targets[0], &caps, cloud);
        let line = |suspect: Suspect| {
            let against = if suspect.against.is_empty() { "" } else { ", but" };
            format!("{:?} {}{against}", suspect.confidence, suspect.cause)
        };
        named.into_iter().chain(unnamed).map(line).collect::<Vec<_>>().join("\n")
    }

    const GBIT: f64 = 1.25e8;

    #[test]
    fn a_limit_that_is_known_is_named() {
        let to = |per_s, kind| cap(PathQuantity::BytesTo, per_s, kind);
        let shaped =
            suspects(vec![to(6.2e7, CapKind::Throttle)], &[limit("tbf", 6.25e7, None)], None);
        insta::assert_snapshot!(shaped, @"Sure shaper-in-path");
        let aws = [limit("network", 1.25 * GBIT, Some(10.0 * GBIT))];
        let of_aws = |per_s, kind| suspects(vec![to(per_s, kind)], &aws, Some(Cloud::Aws));
        let all = [
            of_aws(1.25 * GBIT, CapKind::Throttle),
            of_aws(9.9 * GBIT, CapKind::External),
            of_aws(1.2 * GBIT, CapKind::ThisMachine),
        ];
        insta::assert_snapshot!(all.join("\n"), @"
        Sure vm-network-limit
        Likely vm-network-burst, but
        Possible vm-network-limit, but
        ");
        let flow = of_flow(to(4.98 * GBIT, CapKind::Throttle));
        let known = [limit("network flow", 5.0 * GBIT, None)];
        insta::assert_snapshot!(suspects(vec![flow], &known, Some(Cloud::Aws)), @"Sure vm-flow-limit");
    }

    #[test]
    fn a_cap_of_which_nothing_is_known_is_told_by_its_shape() {
        let to = |kind| cap(PathQuantity::BytesTo, GBIT, kind);
        let all = [
            suspects(vec![to(CapKind::Throttle)], &[], None),
            suspects(vec![to(CapKind::ThisMachine)], &[], None),
            suspects(vec![of_flow(to(CapKind::Throttle))], &[], None),
            suspects(vec![of_flow(to(CapKind::Throttle))], &[], Some(Cloud::Azure)),
        ];
        insta::assert_snapshot!(all.join("\n"), @"
        Likely throttle
        Likely cpu-bound
        Possible tcp-buffers
        Possible vm-flow-limit
        Possible tcp-buffers
        ");
        assert_eq!(suspects(vec![to(CapKind::External)], &[], None), "");
    }

    #[test]
    fn a_cap_on_packets_is_one_unless_it_is_the_bandwidth() {
        let both = |per_s| {
            let bytes = cap(PathQuantity::BytesTo, GBIT, CapKind::External);
            vec![bytes, cap(PathQuantity::PacketsTo, per_s, CapKind::Throttle)]
        };
        insta::assert_snapshot!(suspects(both(250e3), &[], Some(Cloud::Aws)), @"Likely vm-packet-limit");
        assert_eq!(suspects(both(900e3), &[], Some(Cloud::Aws)), "", "117 MB/s of frames");
    }

    #[test]
    fn credits_that_run_out_are_those_of_the_vm_where_it_has_some() {
        let mut path = vec![cap(PathQuantity::BytesTo, 1.25 * GBIT, CapKind::External)];
        path[0].cap.burst = Some(Burst {
            per_s: 10.0 * GBIT,
            size: 1e12,
            lasted_s: 900.0,
            recoveries: Vec::new(),
            refill_per_s: None,
        });
        let all = [Some(Cloud::Aws), None].map(|cloud| suspects(path.clone(), &[], cloud));
        insta::assert_snapshot!(all.join("\n"), @"
        Sure vm-network-burst
        Sure burst-spent
        ");
    }
}
