use super::row::{Better, PLAIN, Role, Row, Trait, Unit};

/// Bits per second that pass over a network path; of datagrams, those that come.
pub(super) const BANDWIDTH: Row = Row {
    id: "bandwidth",
    name: "bandwidth",
    unit: Unit::BitsPerSecond,
    better: Better::Higher,
    compares: |workload| {
        workload.is_stream() || workload.is_datagrams() && !workload.is_open_loop()
    },
    of: |trial| trial.primary().map(|job| 8.0 * job.bytes_per_s() * job.delivered().unwrap_or(1.0)),
    role: Role::Decides,
    traits: &[Trait::MayChange, Trait::Stalls, Trait::Capped, Trait::AddsUp],
    ..PLAIN
};

#[cfg(test)]
mod tests {
    use crate::facts::JobFacts;

    #[test]
    fn what_is_lost_does_not_count() {
        let udp = iotax_record::UdpRecord { sent: 100, received: 75, ..Default::default() };
        let job = JobFacts {
            write_bytes: 1_000_000,
            active_ns: 1_000_000_000,
            udp: Some(udp),
            ..JobFacts::default()
        };
        assert_eq!(job.bytes_per_s() * job.delivered().unwrap(), 750_000.0);
    }
}
