//! The ends of a network path that are on this machine, and the interfaces there.

use std::array;
use std::path::Path;

use iotax_inspect::{InterfaceMeter, InterfaceStats, QdiscStats};
use iotax_load::{IoTarget, within_namespace};
use iotax_record::{InterfaceCounters, PathEnd, QdiscCounters};

use super::columns::{Sample, column};

/// See the module. What cannot be looked at is left out.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    /// Which end each of the meters is at.
    pub(crate) names: Vec<PathEnd>,
    pub(crate) meters: Vec<InterfaceMeter>,
}

impl Ends {
    /// Those of the paths to a target.
    pub(crate) fn of(target: IoTarget<'_>) -> Self {
        let mut ends = Self::default();
        match target {
            IoTarget::Several(targets) => {
                for (_, target) in targets {
                    ends.add(*target);
                }
            }
            one => ends.add(one),
        }
        ends
    }

    fn add(&mut self, target: IoTarget<'_>) {
        let IoTarget::Peer(peer) = target else { return };
        let all =
            |namespace: &Path| within_namespace(Some(namespace), InterfaceMeter::of_namespace);
        let near = match &peer.namespace {
            Some(namespace) => all(namespace),
            None => InterfaceMeter::towards(peer.address.ip()),
        };
        let far = peer.far_namespace.as_deref().map(all);
        let ends = [(PathEnd::Near, Some(near)), (PathEnd::Far, far)];
        for (end, meter) in ends {
            if let Some(Ok(meter)) = meter {
                self.names.push(end);
                self.meters.push(meter);
            }
        }
    }
}

/// What the meters at these ends have read, as the record keeps it: interfaces of any sample.
pub(crate) fn columns(ends: &[PathEnd], samples: &[Sample]) -> Vec<InterfaceCounters> {
    let of_meter = |(meter, end): (usize, &PathEnd)| {
        let readings: Vec<&[InterfaceStats]> = samples
            .iter()
            .map(|sample| sample.reading.interfaces.get(meter).map_or(&[][..], Vec::as_slice))
            .collect();
        let mut found: Vec<InterfaceCounters> = Vec::new();
        for interface in readings.iter().copied().flatten() {
            if !found.iter().any(|known| known.name == interface.name) {
                found.push(of_interface(*end, interface, &readings));
            }
        }
        found
    };
    ends.iter().enumerate().flat_map(of_meter).collect()
}

fn of_interface(
    end: PathEnd,
    interface: &InterfaceStats,
    readings: &[&[InterfaceStats]],
) -> InterfaceCounters {
    let again: Vec<Option<&InterfaceStats>> = readings
        .iter()
        .map(|reading| reading.iter().find(|other| other.name == interface.name))
        .collect();
    let counters = array::from_fn(|counter| column(&again, |i| Some(i?.counters[counter])));
    let mut qdiscs: Vec<QdiscCounters> = Vec::new();
    for qdisc in again.iter().flatten().flat_map(|interface| &interface.qdiscs) {
        let is = |other: &QdiscStats| (&other.kind, &other.place) == (&qdisc.kind, &qdisc.place);
        if qdiscs.iter().any(|known| (&known.kind, &known.place) == (&qdisc.kind, &qdisc.place)) {
            continue;
        }
        let value = |counter: usize| {
            column(&again, |i| Some(i?.qdiscs.iter().find(|other| is(other))?.counters[counter]))
        };
        qdiscs.push(QdiscCounters {
            kind: qdisc.kind.clone(),
            place: qdisc.place.clone(),
            counters: Box::new(array::from_fn(value)),
        });
    }
    InterfaceCounters {
        end: if interface.is_loopback { PathEnd::Both } else { end },
        name: interface.name.clone(),
        counters: Box::new(counters),
        qdiscs,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use iotax_inspect::Reading;

    use super::*;

    fn interface(name: &str, count: u64, qdiscs: &[(&str, u64)]) -> InterfaceStats {
        let qdisc = |(place, count): &(&str, u64)| QdiscStats {
            kind: "tbf".to_owned(),
            place: (*place).to_owned(),
            counters: [*count; 7],
        };
        InterfaceStats {
            name: name.to_owned(),
            counters: [count; 8],
            qdiscs: qdiscs.iter().map(qdisc).collect(),
            ..InterfaceStats::default()
        }
    }

    #[test]
    fn interfaces_of_each_end_have_columns_of_their_own() {
        let sample = |near: Vec<InterfaceStats>, far: Vec<InterfaceStats>| Sample {
            at: Instant::now(),
            reading: Reading { interfaces: vec![near, far], ..Reading::default() },
        };
        let samples = [
            sample(vec![interface("eth0", 1, &[("1:", 5)])], vec![interface("eth0", 3, &[])]),
            sample(
                vec![interface("eth0", 2, &[("1:", 6), ("2:", 0)]), interface("wg0", 7, &[])],
                Vec::new(),
            ),
        ];
        let found = columns(&[PathEnd::Near, PathEnd::Far], &samples);
        let names: Vec<_> = found.iter().map(|one| (one.end, one.name.as_str())).collect();
        let expected = [(PathEnd::Near, "eth0"), (PathEnd::Near, "wg0"), (PathEnd::Far, "eth0")];
        assert_eq!(names, expected);
        let at = |interface: usize| [0, 1].map(|sample| found[interface].counters[2].at(sample));
        assert_eq!(at(0), [Some(1), Some(2)]);
        assert_eq!(at(1), [None, Some(7)], "it came later");
        assert_eq!(at(2), [Some(3), None], "it went");
        let places: Vec<_> = found[0].qdiscs.iter().map(|qdisc| qdisc.place.as_str()).collect();
        assert_eq!(places, ["1:", "2:"]);
        assert_eq!(found[0].qdiscs[0].counters[3].at(1), Some(6));
    }
}
