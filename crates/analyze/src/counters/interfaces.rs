//! Network interfaces and their queueing disciplines in a stretch of time: what `sar -n DEV,EDEV`
//! and `tc -s qdisc` show.

use iotax_record::{INTERFACE_COUNTERS, QDISC_COUNTERS};
use serde::Serialize;

use super::figures::per_s;

/// One direction of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct WayFigures {
    /// Bits per second, headers included.
    pub bits_per_s: f64,
    /// Packets per second, each as it crosses the interface: it may carry many segments.
    pub packets_per_s: f64,
    /// Packets dropped, per second.
    pub dropped_per_s: f64,
    /// Packets with an error, per second.
    pub errors_per_s: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct InterfaceFigures {
    pub received: WayFigures,
    pub sent: WayFigures,
}

/// A queueing discipline.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct QdiscFigures {
    /// Bits per second that left it.
    pub bits_per_s: f64,
    /// Packets per second that left it.
    pub packets_per_s: f64,
    /// Packets dropped, per second.
    pub drops_per_s: f64,
    /// Times that something was over its limit, per second.
    pub overlimits_per_s: f64,
    /// Packets that the device did not take and that were queued again, per second.
    pub requeues_per_s: f64,
    /// Bytes that wait in it.
    pub backlog_bytes: f64,
}

impl InterfaceFigures {
    /// Between two readings, `length_ns` nanoseconds apart.
    pub(super) fn between(
        before: &[u64; INTERFACE_COUNTERS],
        after: &[u64; INTERFACE_COUNTERS],
        length_ns: u64,
    ) -> Self {
        let counted = |at: usize| per_s(after[at].saturating_sub(before[at]) as f64, length_ns);
        let way = |at: usize| WayFigures {
            bits_per_s: 8.0 * counted(2 + at),
            packets_per_s: counted(at),
            dropped_per_s: counted(6 + at),
            errors_per_s: counted(4 + at),
        };
        Self { received: way(0), sent: way(1) }
    }
}

impl QdiscFigures {
    /// Between two readings, `length_ns` nanoseconds apart; what waits is the mean of both.
    pub(super) fn between(
        before: &[u64; QDISC_COUNTERS],
        after: &[u64; QDISC_COUNTERS],
        length_ns: u64,
    ) -> Self {
        // Those of 32 bits wrap around, and whatever else fell was made anew.
        let counted = |at: usize| per_s(after[at].saturating_sub(before[at]) as f64, length_ns);
        Self {
            bits_per_s: 8.0 * counted(0),
            packets_per_s: counted(1),
            drops_per_s: counted(2),
            overlimits_per_s: counted(3),
            requeues_per_s: counted(4),
            backlog_bytes: f64::midpoint(before[5] as f64, after[5] as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_become_rates_of_each_way() {
        let figures = InterfaceFigures::between(
            &[10, 0, 0, 0, 0, 0, 0, 0],
            &[30, 40, 1_000, 3_000, 2, 4, 6, 8],
            2_000_000_000,
        );
        let received = WayFigures {
            bits_per_s: 4_000.0,
            packets_per_s: 10.0,
            dropped_per_s: 3.0,
            errors_per_s: 1.0,
        };
        assert_eq!(figures.received, received);
        assert_eq!((figures.sent.packets_per_s, figures.sent.dropped_per_s), (20.0, 4.0));
    }

    #[test]
    fn what_waits_in_a_queue_is_no_counter() {
        let figures = QdiscFigures::between(
            &[0, 0, 0, 0, 9, 3_000, 2],
            &[1_000, 10, 4, 20, 7, 1_000, 1],
            1_000_000_000,
        );
        let expected = QdiscFigures {
            bits_per_s: 8_000.0,
            packets_per_s: 10.0,
            drops_per_s: 4.0,
            overlimits_per_s: 20.0,
            requeues_per_s: 0.0,
            backlog_bytes: 2_000.0,
        };
        assert_eq!(figures, expected);
    }
}
