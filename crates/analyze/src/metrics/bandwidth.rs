use super::row::{Better, PLAIN, Role, Row, Trait, Unit};
use crate::facts::JobFacts;

/// Bits per second that pass over a network path, both ways together; of datagrams, those that come.
pub(super) const BANDWIDTH: Row = Row {
    id: "bandwidth",
    name: "bandwidth",
    unit: Unit::BitsPerSecond,
    better: Better::Higher,
    compares: |workload| {
        workload.is_stream() || workload.is_datagrams() && !workload.is_open_loop()
    },
    of: |trial| Some(trial.flows().map(JobFacts::bits_per_s).sum()),
    role: Role::Decides,
    traits: &[Trait::MayChange, Trait::Stalls, Trait::Capped, Trait::AddsUp],
    ..PLAIN
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_does_not_count() {
        let udp = iotax_record::UdpRecord { sent: 100, received: 75, ..Default::default() };
        let job = JobFacts {
            write_bytes: 1_000_000,
            active_ns: 1_000_000_000,
            udp: Some(udp),
            ..JobFacts::default()
        };
        assert_eq!(job.bits_per_s(), 8.0 * 750_000.0);
    }
}
